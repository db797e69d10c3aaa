package host

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// OpList is the operation of [OSSources.List] in a failure record.
const OpList = "listDirectory"

// MaxListed is how many entries of one directory List looks at before it gives
// up: 100,000.
const MaxListed = 100_000

// List names what a directory holds, in code-point order. A symbolic link in
// place of the directory is not followed: it is a *FileError with the reason
// "not-directory", like everything else that is no directory. The working
// directory itself ("." or its like) may be reached through a link. A missing
// directory is fs.ErrNotExist; every failure is a *FileError.
func (s *OSSources) List(path string) ([]fs.DirEntry, error) {
	if path == "" {
		return nil, failed(OpList, PhaseLexical, EmptyPath)
	}
	located := s.locate(path)
	inspect := os.Lstat
	if filepath.Clean(path) == "." {
		inspect = os.Stat
	}
	info, err := inspect(located)
	if err != nil {
		return nil, failure(OpList, PhaseResolution, err)
	}
	if !info.IsDir() {
		return nil, failed(OpList, PhaseTarget, NotDirectory)
	}
	directory, err := os.Open(located)
	if err != nil {
		return nil, failure(OpList, PhaseAccess, err)
	}
	defer directory.Close()
	entries, err := directory.ReadDir(MaxListed + 1)
	switch {
	case err != nil && err != io.EOF:
		return nil, failure(OpList, PhaseTraversal, err)
	case len(entries) > MaxListed:
		return nil, failed(OpList, PhaseTraversal, TooManyEntries)
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}
