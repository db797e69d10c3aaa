package host

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
)

// MaxTraceSize is the size in bytes of the largest file ReadFile reads: 256 MiB.
const MaxTraceSize = 256 << 20

// OSSources reads documents and components from the machine's own files.
type OSSources struct{ directory string }

// NewSources returns sources whose relative paths start at directory.
func NewSources(directory string) *OSSources { return &OSSources{directory} }

func (s *OSSources) locate(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(s.directory, path)
}

// ReadSource implements Sources. Links are followed wherever they lead.
func (s *OSSources) ReadSource(path string) ([]byte, error) {
	if path == "" {
		return nil, failed(OpSource, PhaseLexical, EmptyPath)
	}
	return readWhole(s.locate(path), MaxFileSize)
}

// IsFile implements Sources.
func (s *OSSources) IsFile(path string) (bool, error) {
	if path == "" {
		return false, nil
	}
	info, err := os.Stat(s.locate(path))
	if err == nil {
		return info.Mode().IsRegular(), nil
	}
	switch record := failure(OpSource, PhaseResolution, err); record.Reason {
	case Missing, NotDirectory, PathTooLong:
		return false, nil
	default:
		return false, record
	}
}

// ReadFile reads a whole regular file that a command line named, such as a
// retained trace: at most MaxTraceSize bytes. Failures are those of ReadSource.
func ReadFile(path string) ([]byte, error) { return readWhole(path, MaxTraceSize) }

func readWhole(path string, limit int64) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return nil, failure(OpSource, PhaseTarget, err)
	}
	defer file.Close()
	var data bytes.Buffer
	if err := readRegular(context.Background(), OpSource, file, &data, limit); err != nil {
		return nil, err
	}
	return data.Bytes(), nil
}

// SameFile reports whether two paths name one file: spelled alike, or, where both
// exist, the same on disk.
func SameFile(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}

// CreateTrace creates the file of a journal trace: it must not exist yet, is
// open for appending only and belongs to this user alone (history 13.1). The
// error names the path and the system's reason; a file that exists is
// fs.ErrExist and stays as it is. One Write is one write of the system; Sync
// makes what was written durable.
func CreateTrace(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
}
