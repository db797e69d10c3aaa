package acp

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
)

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// Key is the address of a session: of a command, by its identity, in a directory,
// under a name; the empty name is the unnamed default (agents 12.2).
func Key(identity, dir, name string) string {
	last := "default"
	if name != "" {
		last = digest(name)[:16]
	}
	return "xmd:v1:" + digest(identity)[:16] + ":" + digest(dir)[:16] + ":" + last
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// place finds the directory a session lives in: the nearest one, from cwd up to the
// root of the repository, that holds a conversation of this command and name, else
// cwd itself. Outside a repository it is always cwd.
func (c *core) place(identity, cwd, name string) (dir string, err error) {
	cwd = filepath.Clean(cwd)
	if name == "" || c.store == nil {
		return cwd, nil
	}
	var candidates []string
	for dir := cwd; ; dir = filepath.Dir(dir) {
		candidates = append(candidates, dir)
		if exists(filepath.Join(dir, ".git")) {
			break
		}
		if dir == filepath.Dir(dir) {
			return cwd, nil
		}
	}
	for _, dir := range candidates {
		switch r, err := c.store.read(Key(identity, dir, name)); {
		case err != nil:
			return "", err
		case r != nil && r.State == stateAccepted:
			return dir, nil
		}
	}
	return cwd, nil
}
