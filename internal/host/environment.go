package host

import (
	"maps"
	"os"
	"slices"
	"strings"
)

// Environ takes a snapshot of the process's environment.
func Environ() map[string]string {
	list := os.Environ()
	snapshot := make(map[string]string, len(list))
	for _, entry := range list {
		// Windows keeps entries whose name is empty or begins with "=" for itself.
		if name, value, ok := strings.Cut(entry, "="); ok && name != "" {
			snapshot[name] = value
		}
	}
	return snapshot
}

// EnvList writes a snapshot as the KEY=value list of a Command, sorted by name.
func EnvList(snapshot map[string]string) []string {
	list := make([]string, 0, len(snapshot))
	for _, name := range slices.Sorted(maps.Keys(snapshot)) {
		list = append(list, name+"="+snapshot[name])
	}
	return list
}
