package host

import "path/filepath"

// Canonical is the place a path leads to: absolute, with the links of what exists
// of it resolved, and the rest as it is spelled. It is for comparing places, not for
// opening them: what it says may be outdated as soon as it is said.
func Canonical(path string) string {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return filepath.Clean(path)
	}
	for at, rest := absolute, ""; ; {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest)
		}
		above := filepath.Dir(at)
		if above == at {
			return absolute
		}
		rest = filepath.Join(filepath.Base(at), rest)
		at = above
	}
}
