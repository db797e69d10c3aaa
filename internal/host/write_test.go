//go:build unix

package host

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// leftovers lists the temporary files below a directory.
func leftovers(t *testing.T, directory string) []string {
	t.Helper()
	var found []string
	require.NoError(t, filepath.WalkDir(directory, func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".tmp") {
			found = append(found, path)
		}
		return err
	}))
	return found
}

func TestWriteText(t *testing.T) {
	for _, c := range []struct{ path, written, phase, reason string }{
		{path: "new.txt", written: "new.txt"},
		{path: "real.txt", written: "real.txt"},
		{path: "deep/er/new.txt", written: "deep/er/new.txt"},
		{path: "a/../b.txt", written: "b.txt"},
		{path: "..notes.md", written: "..notes.md"},
		{path: "relative", written: "real.txt"},
		{path: "absolute", written: "real.txt"},
		{path: "through", written: "real.txt"},
		{path: "todir/inner.txt", written: "dir/inner.txt"},
		{path: "todir/new/new.txt", written: "dir/new/new.txt"},
		{path: "dangling", written: "dangling"},
		{path: "danglingout", written: "danglingout"},
		{path: "", phase: PhaseLexical, reason: EmptyPath},
		{path: "/x", phase: PhaseLexical, reason: AbsolutePath},
		{path: "../x", phase: PhaseLexical, reason: LexicalEscape},
		{path: ".", phase: PhaseTarget, reason: Directory},
		{path: "dir", phase: PhaseTarget, reason: Directory},
		{path: "todir", phase: PhaseTarget, reason: Directory},
		{path: "fifo", phase: PhaseTarget, reason: SpecialFile},
		{path: "real.txt/x", phase: PhaseResolution, reason: NotDirectory},
		{path: "relative/x", phase: PhaseResolution, reason: NotDirectory},
		{path: "loop", phase: PhaseResolution, reason: TooManySymlinks},
		{path: "dangling/x", phase: PhaseParents, reason: NotDirectory},
		{path: "leaves", phase: PhaseResolution, reason: ResolvedEscape},
		{path: "leavesabsolute", phase: PhaseResolution, reason: ResolvedEscape},
		{path: "leavesdir/new.txt", phase: PhaseResolution, reason: ResolvedEscape},
		{path: "danglingout/x", phase: PhaseResolution, reason: ResolvedEscape},
	} {
		t.Run(c.path, func(t *testing.T) {
			base, ws := world(t)
			err := NewFiles().WriteText(t.Context(), ws, c.path, "content\n")
			if c.reason != "" {
				require.Equal(t, FileError{OpWrite, c.phase, c.reason, Unchanged, ""}, record(t, err))
			} else {
				require.NoError(t, err)
				info, err := os.Lstat(filepath.Join(ws, c.written))
				require.NoError(t, err)
				require.True(t, info.Mode().IsRegular())
				text, err := os.ReadFile(filepath.Join(ws, c.written))
				require.NoError(t, err)
				require.Equal(t, "content\n", string(text))
			}
			outside, err := os.ReadDir(filepath.Join(base, "out"))
			require.NoError(t, err)
			require.Len(t, outside, 2)
			text, err := os.ReadFile(filepath.Join(base, "out/secret.txt"))
			require.NoError(t, err)
			require.Equal(t, "outside", string(text))
			require.Empty(t, leftovers(t, base))
		})
	}
}

func TestWriteTextKeepsLinksAndModes(t *testing.T) {
	_, ws := world(t)
	for _, mode := range []fs.FileMode{0o600, 0o755, 0o444} {
		require.NoError(t, os.Chmod(filepath.Join(ws, "real.txt"), mode))
		require.NoError(t, NewFiles().WriteText(t.Context(), ws, "relative", "x"))
		info, err := os.Stat(filepath.Join(ws, "real.txt"))
		require.NoError(t, err)
		require.Equal(t, mode, info.Mode().Perm())
		target, err := os.Readlink(filepath.Join(ws, "relative"))
		require.NoError(t, err)
		require.Equal(t, "real.txt", target)
	}
}

func TestWriteTextTruncatesAndWritesLargeContent(t *testing.T) {
	_, ws := world(t)
	require.NoError(t, NewFiles().WriteText(t.Context(), ws, "real.txt", ""))
	text, err := NewFiles().ReadText(t.Context(), ws, "real.txt")
	require.NoError(t, err)
	require.Empty(t, text)

	large := strings.Repeat("0123456789", writeChunk/4)
	require.NoError(t, NewFiles().WriteText(t.Context(), ws, "real.txt", large))
	text, err = NewFiles().ReadText(t.Context(), ws, "real.txt")
	require.NoError(t, err)
	require.True(t, text == large)

	f := NewFiles()
	f.maxSize = 4
	err = f.WriteText(t.Context(), ws, "new.txt", "12345")
	require.Equal(t, FileError{OpWrite, PhaseTarget, TooLarge, Unchanged, ""}, record(t, err))
	require.NoFileExists(t, filepath.Join(ws, "new.txt"))
}

// Each case changes the directory at one point of a write and expects the record
// that the phase calls for.
func TestWriteTextWhileTheDirectoryChanges(t *testing.T) {
	for _, c := range []struct {
		name, point string
		change      func(t *testing.T, base, ws string)
		want        FileError
	}{
		{"a parent becomes a file", pointResolved, func(t *testing.T, _, ws string) {
			require.NoError(t, os.WriteFile(filepath.Join(ws, "sub"), nil, 0o666))
		}, FileError{OpWrite, PhaseParents, NotDirectory, Unchanged, ""}},
		{"a parent becomes a link out", pointResolved, func(t *testing.T, _, ws string) {
			require.NoError(t, os.Symlink("../out", filepath.Join(ws, "sub")))
		}, FileError{OpWrite, PhaseParents, ResolvedEscape, Unchanged, ""}},
		{"the parent is removed", pointParents, func(t *testing.T, _, ws string) {
			require.NoError(t, os.Remove(filepath.Join(ws, "sub")))
		}, FileError{OpWrite, PhaseTemporary, Missing, Unchanged, ""}},
		{"the parent is exchanged", pointParents, func(t *testing.T, _, ws string) {
			require.NoError(t, os.Remove(filepath.Join(ws, "sub")))
			require.NoError(t, os.Symlink("../out", filepath.Join(ws, "sub")))
		}, FileError{OpWrite, PhaseTemporary, ResolvedEscape, Unchanged, ""}},
		{"the target becomes a directory", pointWritten, func(t *testing.T, _, ws string) {
			require.NoError(t, os.MkdirAll(filepath.Join(ws, "sub/new.txt/x"), 0o777))
		}, FileError{OpWrite, PhaseCommit, Directory, CommitUnknown, ""}},
		{"the temporary file becomes a full directory", pointWritten, func(t *testing.T, _, ws string) {
			require.NoError(t, os.WriteFile(filepath.Join(ws, "sub/new.txt"), []byte("old"), 0o666))
			temporary := leftovers(t, ws)
			require.Len(t, temporary, 1)
			require.NoError(t, os.Remove(temporary[0]))
			require.NoError(t, os.MkdirAll(filepath.Join(temporary[0], "x"), 0o777))
		}, FileError{OpWrite, PhaseCommit, NotDirectory, CommitUnknown, DirectoryNotEmpty}},
	} {
		t.Run(c.name, func(t *testing.T) {
			base, ws := world(t)
			f := NewFiles()
			f.reach = func(point string) {
				if point == c.point {
					c.change(t, base, ws)
				}
			}
			err := f.WriteText(t.Context(), ws, "sub/new.txt", "content")
			require.Equal(t, c.want, record(t, err))
			if c.want.Cleanup == "" {
				require.Empty(t, leftovers(t, base))
			}
			outside, err := os.ReadDir(filepath.Join(base, "out"))
			require.NoError(t, err)
			require.Len(t, outside, 2)
		})
	}
}

func TestWriteTextCancelledLeavesNothing(t *testing.T) {
	for _, point := range []string{pointResolved, pointParents, pointWritten} {
		t.Run(point, func(t *testing.T) {
			_, ws := world(t)
			ctx, cancel := context.WithCancel(t.Context())
			f := NewFiles()
			f.reach = func(p string) {
				if p == point {
					cancel()
				}
			}
			require.ErrorIs(t, f.WriteText(ctx, ws, "real.txt", "new"), context.Canceled)
			text, err := os.ReadFile(filepath.Join(ws, "real.txt"))
			require.NoError(t, err)
			require.Equal(t, "real", string(text))
			require.Empty(t, leftovers(t, ws))
		})
	}
}

func TestWriteOutput(t *testing.T) {
	_, ws := world(t)
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(ws, name))
		require.NoError(t, err)
		return string(text)
	}
	require.NoError(t, WriteOutput(filepath.Join(ws, "new.txt"), []byte("1")))
	require.Equal(t, "1", read("new.txt"))
	require.NoError(t, os.Chmod(filepath.Join(ws, "real.txt"), 0o640))
	require.NoError(t, WriteOutput(filepath.Join(ws, "relative"), []byte("2")))
	require.Equal(t, "2", read("real.txt"))
	info, err := os.Stat(filepath.Join(ws, "real.txt"))
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o640), info.Mode().Perm())
	require.NoError(t, WriteOutput(filepath.Join(ws, "leaves"), []byte("3")))
	require.Equal(t, "3", read("../out/secret.txt"))
	require.NoError(t, WriteOutput("/dev/null", []byte("4")))
	require.Empty(t, leftovers(t, filepath.Dir(ws)))

	for _, c := range []struct{ path, phase, reason string }{
		{"", PhaseLexical, EmptyPath},
		{ws, PhaseTarget, Directory},
		{filepath.Join(ws, "no/such"), PhaseParents, Missing},
		{filepath.Join(ws, "real.txt/x"), PhaseResolution, NotDirectory},
	} {
		err := WriteOutput(c.path, nil)
		require.Equal(t, FileError{OpOutput, c.phase, c.reason, Unchanged, ""}, record(t, err))
	}
}

func TestSources(t *testing.T) {
	base, ws := world(t)
	s := NewSources(ws)
	for _, path := range []string{"real.txt", "relative", "../ws/real.txt", filepath.Join(ws, "real.txt")} {
		text, err := s.ReadSource(path)
		require.NoError(t, err)
		require.Equal(t, "real", string(text))
	}
	text, err := s.ReadSource("leaves")
	require.NoError(t, err)
	require.Equal(t, "outside", string(text))
	for _, c := range []struct{ path, phase, reason string }{
		{"", PhaseLexical, EmptyPath},
		{"nothing.txt", PhaseTarget, Missing},
		{"real.txt/x", PhaseTarget, NotDirectory},
		{"dir", PhaseTarget, Directory},
		{"fifo", PhaseTarget, SpecialFile},
		{"loop", PhaseTarget, TooManySymlinks},
	} {
		_, err := s.ReadSource(c.path)
		require.Equal(t, *failed(OpSource, c.phase, c.reason), record(t, err), c.path)
	}
	_, err = s.ReadSource("nothing.txt")
	require.ErrorIs(t, err, fs.ErrNotExist)

	for path, want := range map[string]bool{
		"real.txt": true, "relative": true, filepath.Join(base, "out/secret.txt"): true,
		"": false, "nothing": false, "dir": false, "todir": false, "fifo": false, "dangling": false,
		"real.txt/x": false, strings.Repeat("x", 300): false,
	} {
		is, err := s.IsFile(path)
		require.NoError(t, err, path)
		require.Equal(t, want, is, path)
	}
	_, err = s.IsFile("loop")
	require.Equal(t, TooManySymlinks, record(t, err).Reason)
}

func TestSourcesSizeLimit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sparse")
	file, err := os.Create(path)
	require.NoError(t, err)
	require.NoError(t, file.Truncate(MaxFileSize+1))
	require.NoError(t, file.Close())
	_, err = NewSources("/").ReadSource(path)
	require.Equal(t, *failed(OpSource, PhaseTarget, TooLarge), record(t, err))
	require.NoError(t, os.Truncate(path, MaxTraceSize+1))
	_, err = ReadFile(path)
	require.Equal(t, *failed(OpSource, PhaseTarget, TooLarge), record(t, err))
}

func TestTrace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	trace, err := CreateTrace(path)
	require.NoError(t, err)
	_, err = trace.Write([]byte("one\n"))
	require.NoError(t, err)
	_, err = trace.Write([]byte("two\n"))
	require.NoError(t, err)
	require.NoError(t, trace.Sync())
	require.NoError(t, trace.Close())
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o600), info.Mode().Perm())

	_, err = CreateTrace(path)
	require.ErrorIs(t, err, fs.ErrExist)
	data, err := ReadFile(path)
	require.NoError(t, err)
	require.True(t, bytes.Equal([]byte("one\ntwo\n"), data))
	_, err = CreateTrace(filepath.Join(path, "x"))
	require.ErrorContains(t, err, "not a directory")
	_, err = ReadFile(filepath.Join(filepath.Dir(path), "nothing"))
	require.ErrorIs(t, err, fs.ErrNotExist)
}
