package capability

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestA22_ControlFiles(t *testing.T) {
	stated := Control{
		Files: []string{"conf/profile.yaml", "./state/store", "Straße.yaml"},
		Dirs:  []string{"components", "lib/parts/", "../elsewhere", "."},
		Names: []string{"Fetch", "File.Delete"},
	}
	b := newWorkbench(t, nil)
	entries := []*Granted{
		captured(t, FileWrite(b.root), under(stated)),
		captured(t, FileWrite(b.root), under(stated), within("**")),
		captured(t, FileDelete(b.root), under(stated), within("**")),
		captured(t, EnsureDir(b.root), under(stated)),
	}
	for path, refused := range map[string]bool{
		".git": true, ".git/config": true, "sub/.git/hooks/x": true, ".GIT/config": true, "sub/.Git": true,
		".xmd": true, "a/b/.xmd/policy.json": true, ".XMD/x": true, ".ſſ": false, "a.git": false, ".gitignore": false, ".github/x": false,
		"xmd.yaml": true, "XMD.Policy.json": true, "xmd.d/x": true, "sub/xmd.yaml": false, "xmd": false, "axmd.yaml": false,
		".env": true, ".env.local": true, ".ENV": true, ".environment/x": true, "sub/.env": false,
		"components": true, "components/Fetch.md": true, "Components/new/X.md": true, "components2/x": false, "sub/components/x": false,
		"conf/profile.yaml": true, "CONF/Profile.YAML": true, "conf/profile.yaml/x": true, "conf/profile.yml": false, "conf": false,
		"state/store": true, "state/store/run-1": true, "state": false,
		"straße.yaml": true, "STRASSE.yaml": true, "strasse.yaml": true,
		"lib/parts/A.md": true, "lib/parts": true, "lib": false, "lib/part": false,
		"Fetch.md": true, "fetch.MD": true, "Fetch.ts": true, "Fetch/index.md": true, "FETCH/INDEX.TS": true,
		"File/Delete.md": true, "File/Delete/index.ts": true, "File.md": false, "README.md": false, "Fetch.txt": false, "sub/Fetch.md": false,
		"docs/out.txt": false,
	} {
		for i, e := range entries {
			want := ""
			if refused {
				want = "path"
			}
			require.Equal(t, want, classOf(e, use(e.Forms, "", "path", path)), "entry %d, %s", i, path)
			// The same place by another spelling and from another directory.
			require.Equal(t, want, classOf(e, use(e.Forms, "docs", "path", "x/../../"+path)), "entry %d, %s", i, path)
			if refused {
				_, err := e.Do(t.Context(), call("", "x", "path", path))
				if e.Op.Enter != nil {
					err = e.Enter(t.Context(), call("", "x", "path", path))
				}
				require.ErrorAs(t, err, new(*Violation), path)
			}
		}
	}
	require.Empty(t, b.names())
	write := captured(t, FileWrite(b.root))
	require.Equal(t, "path", classOf(write, Use{Props: use(0, "", "path", ".git/x").Props}), "wherever the cursor is")
	require.Empty(t, classOf(write, Use{Props: use(0, "", "path", "xmd.yaml").Props}), "only the root has it")
}

// Composed or not, it is one name to some file systems.
func TestA22_ControlFilesAreComposed(t *testing.T) {
	c := Control{Files: []string{"caf\u00e9.yaml"}, Dirs: []string{"\u1e9b\u0323"}}
	require.True(t, c.decides("cafe\u0301.yaml"))
	require.True(t, c.decides("CAFE\u0301.YAML"))
	require.True(t, c.decides("\u1e9b\u0323/x"))
	require.False(t, c.decides("cafe.yaml"))
	require.True(t, Control{Dirs: []string{"skills"}}.decides("\u017f\u212aills/x"))
	require.Equal(t, fold("K\u00c9\u00df\ufb06"), fold("\u212a\u0065\u0301ss\u017ft"))
}

func TestA22_SecretFiles(t *testing.T) {
	files := map[string]string{}
	secret := []string{".env", "sub/.env.local", ".netrc", "a/.npmrc", ".pypirc", "tls/server.pem", "tls/server.key", "id_rsa", "keys/id_ed25519.pub", ".ssh/config", "a/.ssh/known", ".git/HEAD", ".env.d/x"}
	for _, name := range secret {
		files[name] = "secret"
	}
	for _, name := range []string{"env", "a.key.txt", "idea", "sub/x.txt", ".sshx"} {
		files[name] = "open"
	}
	b := newWorkbench(t, files)
	for _, ceiling := range [][]string{nil, {"**"}, {"{.env,id_rsa}", "**/*", ".ssh/*", "**/.npmrc"}} {
		read, glob := captured(t, FileRead(b.root)), captured(t, Glob(b.root))
		if ceiling != nil {
			read, glob = captured(t, FileRead(b.root), within(ceiling...)), captured(t, Glob(b.root), within(ceiling...))
		}
		for _, name := range secret {
			require.Equal(t, "path", classOf(read, use(SelfClosing, "", "path", name)), name)
			_, err := read.Do(t.Context(), call("", "", "path", name))
			require.ErrorAs(t, err, new(*Violation), name)
		}
		require.Equal(t, "path", classOf(read, use(SelfClosing, "", "path", ".ENV")))
		listed, err := perform(t.Context(), glob, call("", "", "include", []any{"**", ".env", ".git/HEAD"}))
		require.NoError(t, err)
		require.Equal(t, []any{".sshx", "a.key.txt", "env", "idea", "sub/x.txt"}, listed)
	}
	exact := []string{".env", ".git/HEAD", "tls/server.pem"}
	read, glob := captured(t, FileRead(b.root), within(append(exact, "**")...)), captured(t, Glob(b.root), within(exact...))
	for _, name := range exact {
		v, err := perform(t.Context(), read, call("", "", "path", name))
		require.NoError(t, err)
		require.Equal(t, "secret", v)
	}
	require.Equal(t, "path", classOf(read, use(SelfClosing, "", "path", "id_rsa")))
	listed, err := perform(t.Context(), glob, call("", "", "include", []any{"**"}))
	require.NoError(t, err)
	require.Equal(t, []any{".env", ".git/HEAD", "tls/server.pem"}, listed)
}
