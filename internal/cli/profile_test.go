package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/admission"
	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/internal/document"
)

// refusedPath reports whether a fragment that writes a path is refused for it under
// the profile of a command line.
func refusedPath(t *testing.T, dir string, r profileRequest, path string) bool {
	t.Helper()
	c := &command{Process: Process{Dir: dir}}
	s, err := c.profile(t.Context(), r)
	require.NoError(t, err)
	defer s.revoke()
	g, err := s.captured.Select(capability.WriteClass)
	require.NoError(t, err)
	d := admission.Preflight("test", `<File path="`+path+`">x</File>`, g)
	if d.Refusal == nil {
		return false
	}
	require.Equal(t, admission.PathClass, d.Refusal.Class)
	return true
}

// What is behind a link decides as much as what is named, and a working directory
// that was entered through one is the directory it leads to (fragments 10c).
func TestA22_ControlFilesBehindLinks(t *testing.T) {
	outer := t.TempDir()
	real := filepath.Join(outer, "real")
	require.NoError(t, os.MkdirAll(filepath.Join(real, "kept"), 0o755))
	require.NoError(t, os.Mkdir(filepath.Join(real, "shared"), 0o755))
	profile := []byte("version: 1\nwrite: [{use: File}]\n")
	require.NoError(t, os.WriteFile(filepath.Join(real, "kept", "profile.yaml"), profile, 0o600))
	for link, to := range map[string]string{"profile.yaml": "kept/profile.yaml", "parts": "shared"} {
		require.NoError(t, os.Symlink(to, filepath.Join(real, link)))
	}
	require.NoError(t, os.Symlink("real", filepath.Join(outer, "linked")))
	linked := filepath.Join(outer, "linked")

	for _, row := range []struct {
		name    string
		dir     string
		request profileRequest
		refused []string
		free    []string
	}{
		{"a profile that is a link", real, profileRequest{file: "profile.yaml"},
			[]string{"profile.yaml", "kept/profile.yaml"}, []string{"kept/other.yaml"}},
		{"a directory that is a link", real, profileRequest{include: []string{"parts"}},
			[]string{"parts/Note.md", "shared/Note.md"}, []string{"Note.md", "Fetch.md"}},
		{"a profile named by where it is", linked, profileRequest{file: filepath.Join(real, "kept", "profile.yaml")},
			[]string{"kept/profile.yaml"}, []string{"profile.yaml.txt"}},
		{"a directory named by where it is", linked, profileRequest{include: []string{filepath.Join(real, "shared")}},
			[]string{"shared/Note.md"}, []string{"Note.md"}},
		{"the root named by where it is", linked, profileRequest{include: []string{real}},
			[]string{"Fetch.md", "File/Delete.md"}, []string{"README.md"}},
		{"a history that does not exist yet", linked, profileRequest{used: []string{filepath.Join(real, "kept", "run.jsonl")}},
			[]string{"kept/run.jsonl"}, []string{"run.jsonl"}},
		{"something elsewhere", real, profileRequest{used: []string{filepath.Join(outer, "run.jsonl")}}, nil, []string{"run.jsonl"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			for _, path := range row.refused {
				require.True(t, refusedPath(t, row.dir, row.request, path), path)
			}
			for _, path := range row.free {
				require.False(t, refusedPath(t, row.dir, row.request, path), path)
			}
		})
	}
}

// No fragment changes what the run that evaluates it imports (fragments 10c): not the
// components of the document, nor those of its components, where a search finds them
// or where one of the same name would be found first.
func TestA22_NoFragmentWritesWhatItsRunImports(t *testing.T) {
	dir := t.TempDir()
	for path, text := range map[string]string{
		"Direct.md":       "<If condition={true}><Inner /></If>",
		"Inner.md":        "text",
		"lib/Shadowed.md": "text",
		"shared/note.md":  "text",
		"Lib/Deep.md":     "text",
	} {
		path = filepath.Join(dir, filepath.FromSlash(path))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	require.NoError(t, os.Symlink(filepath.Join("shared", "note.md"), filepath.Join(dir, "Linked.md")))
	profile := []byte("version: 1\nroots: {lib: Lib}\nwrite: [{use: File}]\n")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "profile.yaml"), profile, 0o600))
	d, err := document.Parse("doc.md", []byte(`<Direct />
<Each in={[1]} let="i"><Shadowed /></Each>
<Linked /><Absent.Part /><Lib.Deep /><Evaluate text="x" />`))
	require.NoError(t, err)

	r := profileRequest{include: []string{".", "lib"}, nodes: d.Nodes}
	for _, path := range []string{
		"Direct.md", "direct.MD", "Direct/index.md", "Inner.md", "Shadowed.md", "lib/Shadowed.md", "shared/note.md",
		"Absent/Part.md", "Lib/Deep.md", "Fetch.md",
	} {
		require.True(t, refusedPath(t, dir, r, path), path)
	}
	for _, path := range []string{"README.md", "CHANGELOG.md", "Part.md", "shared/other.md", "doc.md"} {
		require.False(t, refusedPath(t, dir, r, path), path)
	}

	r.file = "profile.yaml" // the root is below what is searched
	require.True(t, refusedPath(t, dir, r, "Deep.md"))
	require.False(t, refusedPath(t, dir, r, "Direct.md"))

	r = profileRequest{include: []string{"lib"}, nodes: d.Nodes}
	require.False(t, refusedPath(t, dir, r, "Direct.md"), "the root is not searched")
}

func TestOneProfileIsGiven(t *testing.T) {
	s, err := parseSettings([]string{"--profile=a.yaml"})
	require.NoError(t, err)
	require.Equal(t, "a.yaml", s.profile)

	_, err = parseSettings([]string{"--profile=a.yaml", "--profile=a.yaml"})
	require.ErrorContains(t, err, "given twice")
	require.ErrorAs(t, err, new(*usageError))
	_, err = parseSettings([]string{"--profile="})
	require.ErrorAs(t, err, new(*usageError))
}
