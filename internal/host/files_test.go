//go:build unix

package host

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// tree makes a directory of files. A key ending in / is a directory, a value
// beginning with "-> " the target of a link, the value "|" a named pipe.
func tree(t testing.TB, files map[string]string) string {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for name, content := range files {
		full := filepath.Join(base, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(full), 0o777))
		switch target, link := strings.CutPrefix(content, "-> "); {
		case strings.HasSuffix(name, "/"):
			require.NoError(t, os.MkdirAll(full, 0o777))
		case link:
			require.NoError(t, os.Symlink(strings.ReplaceAll(target, "$BASE", base), full))
		case content == "|":
			require.NoError(t, syscall.Mkfifo(full, 0o666))
		default:
			require.NoError(t, os.WriteFile(full, []byte(content), 0o644))
		}
	}
	return base
}

// A little world: ws is the working directory, out lies beside it.
func world(t testing.TB) (base, ws string) {
	base = tree(t, map[string]string{
		"out/secret.txt":    "outside",
		"out/back":          "-> $BASE/ws/real.txt",
		"ws-private/s.txt":  "sibling with the same beginning",
		"ws/real.txt":       "real",
		"ws/dir/inner.txt":  "inner",
		"ws/empty.txt":      "",
		"ws/binary":         "\xff\xfe",
		"ws/fifo":           "|",
		"ws/relative":       "-> real.txt",
		"ws/absolute":       "-> $BASE/ws/real.txt",
		"ws/around":         "-> ../ws/real.txt",
		"ws/through":        "-> dir/../relative",
		"ws/todir":          "-> dir",
		"ws/self":           "-> .",
		"ws/leaves":         "-> ../out/secret.txt",
		"ws/leavesabsolute": "-> $BASE/out/secret.txt",
		"ws/leavesdir":      "-> $BASE/out",
		"ws/leavesfile":     "-> $BASE/out/secret.txt/x",
		"ws/sibling":        "-> $BASE/ws-private/s.txt",
		"ws/dangling":       "-> nothing.txt",
		"ws/danglingout":    "-> ../out/nothing.txt",
		"ws/loop":           "-> loop",
		"ws/todev":          "-> /dev/null",
	})
	return base, filepath.Join(base, "ws")
}

func TestReadText(t *testing.T) {
	_, ws := world(t)
	for _, c := range []struct{ path, text, phase, reason string }{
		{path: "real.txt", text: "real"},
		{path: "./dir//inner.txt", text: "inner"},
		{path: "nothing/../real.txt", text: "real"},
		{path: "empty.txt"},
		{path: "relative", text: "real"},
		{path: "absolute", text: "real"},
		{path: "around", text: "real"},
		{path: "through", text: "real"},
		{path: "todir/inner.txt", text: "inner"},
		{path: "self/self/todir/inner.txt", text: "inner"},
		{path: "", phase: PhaseLexical, reason: EmptyPath},
		{path: "../out/secret.txt", phase: PhaseLexical, reason: LexicalEscape},
		{path: "nothing.txt", phase: PhaseTarget, reason: Missing},
		{path: "no/such/file.txt", phase: PhaseTarget, reason: Missing},
		{path: "dangling", phase: PhaseTarget, reason: Missing},
		{path: "dangling/x", phase: PhaseTarget, reason: Missing},
		{path: ".", phase: PhaseTarget, reason: Directory},
		{path: "dir", phase: PhaseTarget, reason: Directory},
		{path: "todir", phase: PhaseTarget, reason: Directory},
		{path: "fifo", phase: PhaseTarget, reason: SpecialFile},
		{path: "binary", phase: PhaseTarget, reason: NotText},
		{path: "real.txt/x", phase: PhaseResolution, reason: NotDirectory},
		{path: "loop", phase: PhaseResolution, reason: TooManySymlinks},
		{path: "a\x00b", phase: PhaseResolution, reason: OperationFailed},
		{path: "leaves", phase: PhaseResolution, reason: ResolvedEscape},
		{path: "leavesabsolute", phase: PhaseResolution, reason: ResolvedEscape},
		{path: "leavesdir/secret.txt", phase: PhaseResolution, reason: ResolvedEscape},
		{path: "leavesdir/nothing.txt", phase: PhaseResolution, reason: ResolvedEscape},
		{path: "leavesdir/back", phase: PhaseResolution, reason: ResolvedEscape},
		{path: "leavesfile", phase: PhaseResolution, reason: ResolvedEscape},
		{path: "danglingout", phase: PhaseResolution, reason: ResolvedEscape},
		{path: "danglingout/x", phase: PhaseResolution, reason: ResolvedEscape},
		{path: "sibling", phase: PhaseResolution, reason: ResolvedEscape},
		{path: "todev", phase: PhaseResolution, reason: ResolvedEscape},
	} {
		t.Run(c.path, func(t *testing.T) {
			text, err := NewFiles().ReadText(t.Context(), ws, c.path)
			if c.reason != "" {
				require.Equal(t, *failed(OpRead, c.phase, c.reason), record(t, err))
				require.NotContains(t, err.Error(), "secret")
			} else {
				require.NoError(t, err)
			}
			require.Equal(t, c.text, text)
		})
	}
}

func TestReadTextInADirectoryReachedByALink(t *testing.T) {
	base, _ := world(t)
	require.NoError(t, os.Symlink("ws", filepath.Join(base, "alias")))
	text, err := NewFiles().ReadText(t.Context(), filepath.Join(base, "alias"), "absolute")
	require.NoError(t, err)
	require.Equal(t, "real", text)
}

func TestReadTextManyLinks(t *testing.T) {
	files := map[string]string{"0": "end"}
	for i := 1; i <= maxLinks+1; i++ {
		files[strconv.Itoa(i)] = "-> " + strconv.Itoa(i-1)
	}
	ws := tree(t, files)
	text, err := NewFiles().ReadText(t.Context(), ws, strconv.Itoa(maxLinks))
	require.NoError(t, err)
	require.Equal(t, "end", text)
	_, err = NewFiles().ReadText(t.Context(), ws, strconv.Itoa(maxLinks+1))
	require.Equal(t, TooManySymlinks, record(t, err).Reason)
}

func TestReadTextSizeLimit(t *testing.T) {
	ws := tree(t, map[string]string{"four": "1234", "five": "12345"})
	f := NewFiles()
	f.maxSize = 4
	text, err := f.ReadText(t.Context(), ws, "four")
	require.NoError(t, err)
	require.Equal(t, "1234", text)
	_, err = f.ReadText(t.Context(), ws, "five")
	require.Equal(t, *failed(OpRead, PhaseTarget, TooLarge), record(t, err))
}

func TestWorkingDirectoryProblems(t *testing.T) {
	_, ws := world(t)
	for _, c := range []struct{ cwd, reason string }{
		{filepath.Join(ws, "nothing"), Missing},
		{filepath.Join(ws, "real.txt"), NotDirectory},
		{filepath.Join(ws, "real.txt", "x"), NotDirectory},
		{filepath.Join(ws, "fifo"), NotDirectory},
	} {
		_, err := NewFiles().ReadText(t.Context(), c.cwd, "x")
		require.Equal(t, *failed(OpRead, PhaseResolution, c.reason), record(t, err))
		_, err = NewFiles().Glob(t.Context(), c.cwd, []string{"*"}, nil)
		require.Equal(t, *failed(OpGlob, PhaseResolution, c.reason), record(t, err))
	}
	_, err := NewFiles().ReadText(t.Context(), "relative", "x")
	require.Error(t, err)
	require.False(t, errors.As(err, new(*FileError)), "not a failure of the document's")
}

// Whatever replaces a file after its path was resolved, nothing outside is read
// and nothing blocks.
func TestReadTextWhileThePathChanges(t *testing.T) {
	for _, c := range []struct {
		name, phase, reason string
		change              func(t *testing.T, base, ws string)
	}{
		{"pipe", PhaseTarget, SpecialFile, func(t *testing.T, _, ws string) {
			require.NoError(t, os.Remove(filepath.Join(ws, "dir/inner.txt")))
			require.NoError(t, syscall.Mkfifo(filepath.Join(ws, "dir/inner.txt"), 0o666))
		}},
		{"directory", PhaseTarget, Directory, func(t *testing.T, _, ws string) {
			require.NoError(t, os.Remove(filepath.Join(ws, "dir/inner.txt")))
			require.NoError(t, os.Mkdir(filepath.Join(ws, "dir/inner.txt"), 0o777))
		}},
		{"removed", PhaseAccess, Missing, func(t *testing.T, _, ws string) {
			require.NoError(t, os.RemoveAll(filepath.Join(ws, "dir")))
		}},
		{"link out", PhaseAccess, ResolvedEscape, func(t *testing.T, base, ws string) {
			require.NoError(t, os.WriteFile(filepath.Join(base, "out/inner.txt"), []byte("outside"), 0o666))
			require.NoError(t, os.RemoveAll(filepath.Join(ws, "dir")))
			require.NoError(t, os.Symlink("../out", filepath.Join(ws, "dir")))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			base, ws := world(t)
			f := NewFiles()
			f.reach = func(string) { c.change(t, base, ws) }
			_, err := f.ReadText(t.Context(), ws, "dir/inner.txt")
			require.Equal(t, *failed(OpRead, c.phase, c.reason), record(t, err))
		})
	}
}

func TestEndedContext(t *testing.T) {
	_, ws := world(t)
	cause := errors.New("told to stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	f := NewFiles()
	_, err := f.ReadText(ctx, ws, "real.txt")
	require.Equal(t, cause, err)
	require.Equal(t, cause, f.WriteText(ctx, ws, "new.txt", "x"))
	require.Equal(t, cause, f.Delete(ctx, ws, "real.txt"))
	require.Equal(t, cause, f.EnsureDir(ctx, ws, "new"))
	_, err = f.Glob(ctx, ws, []string{"*"}, nil)
	require.Equal(t, cause, err)
	_, _, err = f.TempDir(ctx)
	require.Equal(t, cause, err)
	require.FileExists(t, filepath.Join(ws, "real.txt"))
	require.NoFileExists(t, filepath.Join(ws, "new.txt"))
	require.NoDirExists(t, filepath.Join(ws, "new"))
}

func TestDelete(t *testing.T) {
	for _, c := range []struct{ path, phase, reason, gone, kept string }{
		{path: "real.txt", gone: "real.txt"},
		{path: "dir/inner.txt", gone: "dir/inner.txt", kept: "dir"},
		{path: "todir/inner.txt", gone: "dir/inner.txt", kept: "dir"},
		{path: "relative", gone: "relative", kept: "real.txt"},
		{path: "leaves", gone: "leaves", kept: "../out/secret.txt"},
		{path: "leavesdir", gone: "leavesdir", kept: "../out"},
		{path: "dangling", gone: "dangling"},
		{path: "danglingout", gone: "danglingout"},
		{path: "loop", gone: "loop"},
		{path: "nothing.txt"},
		{path: "no/such/file.txt"},
		{path: ".", phase: PhaseTarget, reason: Directory, kept: "."},
		{path: "dir", phase: PhaseTarget, reason: Directory, kept: "dir"},
		{path: "dir/..", phase: PhaseTarget, reason: Directory, kept: "."},
		{path: "fifo", phase: PhaseTarget, reason: SpecialFile, kept: "fifo"},
		{path: "real.txt/x", phase: PhaseResolution, reason: NotDirectory, kept: "real.txt"},
		{path: "leavesdir/secret.txt", phase: PhaseResolution, reason: ResolvedEscape, kept: "../out/secret.txt"},
		{path: "loop/x", phase: PhaseResolution, reason: TooManySymlinks, kept: "loop"},
		{path: "../out/secret.txt", phase: PhaseLexical, reason: LexicalEscape, kept: "../out/secret.txt"},
	} {
		t.Run(c.path, func(t *testing.T) {
			_, ws := world(t)
			err := NewFiles().Delete(t.Context(), ws, c.path)
			if c.reason == "" {
				require.NoError(t, err)
			} else {
				require.Equal(t, *failed(OpDelete, c.phase, c.reason), record(t, err))
			}
			if c.gone != "" {
				_, err := os.Lstat(filepath.Join(ws, c.gone))
				require.ErrorIs(t, err, os.ErrNotExist)
			}
			if c.kept != "" {
				_, err := os.Lstat(filepath.Join(ws, c.kept))
				require.NoError(t, err)
			}
		})
	}
}

func TestDeleteWhatVanishedOrMoved(t *testing.T) {
	base, ws := world(t)
	f := NewFiles()
	f.reach = func(string) { require.NoError(t, os.Remove(filepath.Join(ws, "real.txt"))) }
	require.NoError(t, f.Delete(t.Context(), ws, "real.txt"))

	f.reach = func(string) {
		require.NoError(t, os.Rename(filepath.Join(ws, "dir"), filepath.Join(ws, "moved")))
		require.NoError(t, os.WriteFile(filepath.Join(base, "out/inner.txt"), nil, 0o666))
		require.NoError(t, os.Symlink("../out", filepath.Join(ws, "dir")))
	}
	err := f.Delete(t.Context(), ws, "dir/inner.txt")
	require.Equal(t, *failed(OpDelete, PhaseAccess, ResolvedEscape), record(t, err))
	require.FileExists(t, filepath.Join(base, "out/inner.txt"))

	ctx, cancel := context.WithCancel(t.Context())
	f.reach = func(string) { cancel() }
	require.ErrorIs(t, f.Delete(ctx, ws, "empty.txt"), context.Canceled)
	require.FileExists(t, filepath.Join(ws, "empty.txt"))
}

func TestEnsureDir(t *testing.T) {
	base, ws := world(t)
	for _, c := range []struct{ path, phase, reason, made string }{
		{path: "new/deeper/still", made: "new/deeper/still"},
		{path: "dir", made: "dir"},
		{path: ".", made: "."},
		{path: "todir", made: "dir"},
		{path: "todir/sub", made: "dir/sub"},
		{path: "real.txt", phase: PhaseTarget, reason: NotDirectory},
		{path: "relative", phase: PhaseTarget, reason: NotDirectory},
		{path: "real.txt/x", phase: PhaseResolution, reason: NotDirectory},
		{path: "dangling", phase: PhaseTarget, reason: NotDirectory},
		{path: "dangling/x", phase: PhaseTarget, reason: NotDirectory},
		{path: "danglingout", phase: PhaseResolution, reason: ResolvedEscape},
		{path: "leavesdir", phase: PhaseResolution, reason: ResolvedEscape},
		{path: "leavesdir/new", phase: PhaseResolution, reason: ResolvedEscape},
		{path: "../new", phase: PhaseLexical, reason: LexicalEscape},
	} {
		t.Run(c.path, func(t *testing.T) {
			err := NewFiles().EnsureDir(t.Context(), ws, c.path)
			if c.reason != "" {
				require.Equal(t, *failed(OpEnsure, c.phase, c.reason), record(t, err))
				return
			}
			require.NoError(t, err)
			require.DirExists(t, filepath.Join(ws, c.made))
		})
	}
	require.NoDirExists(t, filepath.Join(base, "out/new"))
	require.NoDirExists(t, filepath.Join(ws, "nothing.txt"))

	f := NewFiles()
	f.reach = func(string) { require.NoError(t, os.WriteFile(filepath.Join(ws, "late"), nil, 0o666)) }
	err := f.EnsureDir(t.Context(), ws, "late")
	require.Equal(t, *failed(OpEnsure, PhaseAccess, NotDirectory), record(t, err))
}

func TestTempDir(t *testing.T) {
	base := tree(t, map[string]string{"real/": ""})
	require.NoError(t, os.Symlink("real", filepath.Join(base, "alias")))
	t.Setenv("TMPDIR", filepath.Join(base, "alias"))
	path, remove, err := NewFiles().TempDir(t.Context())
	require.NoError(t, err)
	require.Equal(t, filepath.Join(base, "real"), filepath.Dir(path), "the path is canonical")
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())

	require.NoError(t, NewFiles().WriteText(t.Context(), path, "deep/file.txt", "x"))
	require.NoError(t, remove())
	require.NoDirExists(t, path)
	require.NoError(t, os.Mkdir(path, 0o777))
	require.NoError(t, remove())
	require.DirExists(t, path, "removing again leaves alone what came later")

	t.Setenv("TMPDIR", filepath.Join(base, "nothing"))
	_, _, err = NewFiles().TempDir(t.Context())
	require.Equal(t, *failed(OpTemp, PhaseAcquire, Missing), record(t, err))
}
