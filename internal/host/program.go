package host

import (
	"os"
	"path/filepath"
)

// FindProgram finds a program as a shell with this environment would, and returns its
// absolute path. A name with a separator is relative to dir.
func FindProgram(name, dir string, env []string) (string, error) {
	path, err := findProgram(name, env)
	if err == nil && !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	if err == nil {
		_, err = os.Stat(path)
	}
	return path, err
}

// IsSelf reports whether path is the program that is running.
func IsSelf(path string) bool {
	self, err := os.Executable()
	return err == nil && SameFile(self, path)
}
