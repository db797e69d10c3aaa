package host

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// record returns the failure record in an error, and fails the test if the error
// is anything else.
func record(t *testing.T, err error) FileError {
	t.Helper()
	var e *FileError
	require.ErrorAs(t, err, &e)
	return *e
}

func TestCheckPath(t *testing.T) {
	for _, c := range []struct{ path, reason string }{
		{"", EmptyPath},
		{"/etc/hostname", AbsolutePath},
		{"/", AbsolutePath},
		{"//server/share/a.txt", AbsolutePath},
		{`\\server\share`, AbsolutePath},
		{`\\?\C:\docs`, AbsolutePath},
		{`\x`, AbsolutePath},
		{"C:x", AbsolutePath},
		{"c:/x", AbsolutePath},
		{"..", LexicalEscape},
		{"../x", LexicalEscape},
		{"./../x", LexicalEscape},
		{"a/../../x", LexicalEscape},
		{"a//..//..//x", LexicalEscape},
		{"a/..", ""},
		{".", ""},
		{"a/../b.txt", ""},
		{"..notes.md", ""},
		{"...", ""},
		{"a/%2e%2e/b", ""},
		{"1:x", ""},
		{"a.txt:stream", ""},
		{"dir/", ""},
		{" ", ""},
	} {
		t.Run(c.path, func(t *testing.T) {
			err := NewFiles().CheckPath(OpRead, "/nowhere", c.path)
			if c.reason == "" {
				require.NoError(t, err)
				return
			}
			require.Equal(t, FileError{Operation: OpRead, Phase: PhaseLexical, Reason: c.reason}, record(t, err))
		})
	}
}

func TestCheckPathOfAWriteKeepsTheTarget(t *testing.T) {
	err := NewFiles().CheckPath(OpWrite, "/nowhere", "../x")
	require.Equal(t, FileError{OpWrite, PhaseLexical, LexicalEscape, Unchanged, ""}, record(t, err))
}

// A path that passes the check stays inside when it is joined to a directory.
func FuzzCheckPath(f *testing.F) {
	for _, seed := range []string{"", "a/../b", "../x", "a/../../x", "C:x", `a\..\..\x`, "./.", "..a/..", "a//../..//b", "\x00", "/x"} {
		f.Add(seed)
	}
	directory := f.TempDir()
	f.Fuzz(func(t *testing.T, path string) {
		clean, err := checkPath(OpRead, path)
		if err != nil {
			require.NotEmpty(t, record(t, err).Reason)
			return
		}
		joined := filepath.Join(directory, filepath.FromSlash(path))
		require.True(t, within(directory, joined), "%q leads to %q", path, joined)
		require.Equal(t, joined, filepath.Join(directory, filepath.FromSlash(clean)))
	})
}

func TestWithin(t *testing.T) {
	require.True(t, within("/a", "/a"))
	require.True(t, within("/a", "/a/b"))
	require.False(t, within("/a", "/ab"))
	require.False(t, within("/a/b", "/a"))
	require.True(t, within("/", "/a"))
	require.Equal(t, "b/c", below("/a", "/a/b/c"))
	require.Equal(t, ".", below("/a", "/a"))
	require.Equal(t, "a", below("/", "/a"))
}

func TestEveryReasonHasItsOwnPhrase(t *testing.T) {
	seen := map[string]string{}
	for _, reason := range []string{
		EmptyPath, AbsolutePath, LexicalEscape, ResolvedEscape, Missing, Directory, SpecialFile, NotDirectory,
		PermissionDenied, ReadOnly, TooManySymlinks, PathTooLong, NoSpace, QuotaExhausted, CrossDevice, Busy,
		TooManyOpenFiles, DirectoryNotEmpty, InvalidPattern, NotText, TooLarge, TooManyEntries, OperationFailed,
	} {
		p := (&FileError{Reason: reason}).Phrase()
		require.NotContains(t, seen, p, "%s and %s", reason, seen[p])
		seen[p] = reason
	}
	require.Equal(t, "the filesystem operation failed", (&FileError{Reason: "something-else"}).Phrase())
}

func TestFileErrorText(t *testing.T) {
	for _, c := range []struct {
		e    FileError
		text string
	}{
		{*failed(OpRead, PhaseTarget, Missing), "cannot read the file: no such file or directory"},
		{*failed(OpWrite, PhaseTarget, Directory), "cannot write the file: it is a directory"},
		{*failed(OpWrite, PhaseTemporary, NoSpace), "cannot write the file: no space left on the device; the previous file is as it was"},
		{FileError{OpWrite, PhaseCommit, Busy, CommitUnknown, PermissionDenied}, "cannot write the file: it is in use; the file holds either all of its old content or all of the new, and it is not known which; cleaning up failed (permission denied); a temporary file may remain beside the target"},
		{FileError{OpWrite, PhaseCleanup, "", Committed, Busy}, "cannot clean up after a write; the file was written; cleaning up failed (it is in use); a temporary file may remain beside the target"},
		{FileError{OpWrite, PhaseTransaction, OperationFailed, RolledBack, ""}, "cannot write the file: the filesystem operation failed; the workspace change was rolled back"},
		{*failed(OpDelete, PhaseAccess, Busy), "cannot delete the file: it is in use"},
		{*failed(OpGlob, PhasePattern, InvalidPattern), "cannot search the working directory: a pattern cannot be used"},
		{*failed(OpEnsure, PhaseTarget, NotDirectory), "cannot make the directory: something that has to be a directory is not one"},
		{*failed(OpTemp, PhaseAcquire, NoSpace), "cannot provide a temporary directory: no space left on the device"},
		{*failed(OpCheck, PhaseLexical, LexicalEscape), "cannot use the path: the path ends up outside the working directory"},
	} {
		require.EqualError(t, &c.e, c.text)
	}
	require.ErrorIs(t, failed(OpRead, PhaseTarget, Missing), os.ErrNotExist)
	require.ErrorIs(t, failed(OpRead, PhaseTarget, PermissionDenied), os.ErrPermission)
	require.NotErrorIs(t, failed(OpRead, PhaseTarget, Busy), os.ErrNotExist)
}

func TestLongPath(t *testing.T) {
	_, err := NewFiles().ReadText(t.Context(), t.TempDir(), strings.Repeat("x", 300))
	require.Equal(t, *failed(OpRead, PhaseResolution, PathTooLong), record(t, err))
	_, err = NewFiles().ReadText(t.Context(), t.TempDir(), strings.Repeat("x/", 1<<20))
	require.Equal(t, Missing, record(t, err).Reason)
}
