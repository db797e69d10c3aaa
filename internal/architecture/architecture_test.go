// Package architecture holds the rules of the house as a test: which room may
// import which, and which rooms may touch the machine.
package architecture

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/executable-markdown/xmd/"

// floors gives every room its floor: a room imports only from floors below.
var floors = map[string]int{
	"internal/value":      0,
	"internal/markdown":   0,
	"internal/closedyaml": 0,

	"internal/selector": 1,
	"internal/termdown": 1,
	"internal/document": 1,
	"internal/expr":     1,
	"internal/schema":   1,
	"internal/host":     1,
	"internal/ecma":     1,
	"wasm":              1,

	"internal/answer":    2,
	"internal/journal":   2,
	"internal/subset":    2,
	"internal/property":  2,
	"internal/workspace": 2,
	"capability":         2,
	"agent":              2,

	"internal/engine": 3,
	"admission":       3,
	"sandbox":         3,
	"agent/acp":       3,
	"agent/scenario":  3,

	"internal/component": 4,
	"internal/catalog":   4,
	"internal/elicit":    4,
	"internal/contain":   4,
	"internal/workflow":  4,

	"internal/suite": 5,

	"internal/audit": 5,

	"plan": 5,

	"internal/workflow/sqlite": 5,

	"internal/differential": 5,

	"internal/cli": 6,

	"cmd/xmd": 7,
}

// tools are programs for developers; nothing imports them.
var tools = []string{"internal/startup", "internal/defects", "internal/measure", "examples/host", "examples/review", "interop"}

type listed struct {
	ImportPath string
	Dir        string
	GoFiles    []string
	Imports    []string
}

func packages(t *testing.T) []listed {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Dir,GoFiles,Imports", module+"...")
	out, err := cmd.Output()
	require.NoError(t, err)
	var all []listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		err := d.Decode(&p)
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(t, err)
		if len(p.GoFiles) > 0 {
			all = append(all, p)
		}
	}
}

func TestFloors(t *testing.T) {
	for _, p := range packages(t) {
		room := strings.TrimPrefix(p.ImportPath, module)
		if slices.Contains(tools, room) {
			continue
		}
		floor, known := floors[room]
		if !known {
			t.Errorf("%s stands on no floor; give it one", room)
			continue
		}
		for _, imported := range p.Imports {
			below, ours := strings.CutPrefix(imported, module)
			if ours && floors[below] >= floor {
				t.Errorf("%s (floor %d) must not import %s (floor %d)", room, floor, below, floors[below])
			}
		}
	}
}

// ambient lists the functions that reach the machine without being handed it, by
// package; an empty list means all of it.
var ambient = map[string][]string{
	"os": {"Open", "OpenFile", "OpenRoot", "OpenInRoot", "Create", "CreateTemp", "ReadFile", "WriteFile", "ReadDir", "DirFS",
		"Mkdir", "MkdirAll", "MkdirTemp", "Remove", "RemoveAll", "Rename", "Symlink", "Link", "Chdir", "Chmod", "Chown",
		"Stat", "Lstat", "Readlink", "Truncate", "TempDir", "StartProcess", "FindProcess", "UserHomeDir", "UserConfigDir", "UserCacheDir"},
	"os/exec":       nil,
	"net":           nil,
	"net/http":      nil,
	"path/filepath": {"Walk", "WalkDir", "Glob", "EvalSymlinks", "Abs"},
	"syscall":       nil,
}

// process lists what only the command line may read.
var process = map[string][]string{
	"os":                         {"Args", "Getenv", "LookupEnv", "Environ", "Stdin", "Stdout", "Stderr", "Getwd", "Exit", "Setenv", "Unsetenv"},
	"flag":                       nil,
	"golang.org/x/term":          nil,
	"github.com/spf13/cobra":     nil,
	"github.com/spf13/pflag":     nil,
	"github.com/mattn/go-isatty": nil,
}

var allowed = map[string]map[string][]string{
	"internal/host": {"os": nil, "os/exec": nil, "net": nil, "net/http": nil, "path/filepath": nil, "syscall": nil},
	"internal/cli":  process,
	"cmd/xmd":       {"os": {"Exit", "Args"}, "syscall": {"SIGTERM", "SIGHUP", "SIGPIPE"}},
	"agent/acp":     {"os": nil, "os/exec": nil, "syscall": nil, "path/filepath": {"EvalSymlinks", "Glob"}}, // agents are programs, and their conversations are kept
	// The shim becomes another program, and the containment asks the kernel.
	"internal/contain": {"os": nil, "os/exec": nil, "syscall": nil},
	// The store opens its databases and their locks.
	"internal/workflow/sqlite": {"os": nil, "syscall": {"Stat_t"}},
	"internal/elicit":          {"golang.org/x/term": nil}, // the size and modes of the terminal it is given
}

func TestAmbientAuthority(t *testing.T) {
	for _, p := range packages(t) {
		room := strings.TrimPrefix(p.ImportPath, module)
		if slices.Contains(tools, room) {
			continue
		}
		for _, name := range p.GoFiles {
			for _, use := range uses(t, filepath.Join(p.Dir, name)) {
				if (forbidden(ambient, use) || forbidden(process, use)) && !permitted(room, use) {
					t.Errorf("%s uses %s.%s in %s; it must be handed what it needs", room, use.pkg, use.name, use.at)
				}
			}
		}
	}
}

type use struct{ pkg, name, at string }

// uses lists the names a file takes from other packages.
func uses(t *testing.T, path string) []use {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, nil, 0)
	require.NoError(t, err)
	imported := map[string]string{}
	for _, i := range file.Imports {
		full := strings.Trim(i.Path.Value, `"`)
		name := full[strings.LastIndexByte(full, '/')+1:]
		if i.Name != nil {
			name = i.Name.Name
		}
		imported[name] = full
	}
	var found []use
	ast.Inspect(file, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if id, ok := s.X.(*ast.Ident); ok && id.Obj == nil && imported[id.Name] != "" {
			found = append(found, use{imported[id.Name], s.Sel.Name, set.Position(s.Pos()).String()})
		}
		return true
	})
	return found
}

func forbidden(rules map[string][]string, u use) bool {
	names, listed := rules[u.pkg]
	return listed && (names == nil || slices.Contains(names, u.name))
}

func permitted(room string, u use) bool { return forbidden(allowed[room], u) }

// TestScanSeesAmbientAuthority is the deliberate defect: a file that opens
// another one is found.
func TestScanSeesAmbientAuthority(t *testing.T) {
	found := uses(t, filepath.Join("testdata", "ambient.go.txt"))
	require.True(t, slices.ContainsFunc(found, func(u use) bool { return forbidden(ambient, u) && !permitted("internal/engine", u) }))
	require.True(t, slices.ContainsFunc(found, func(u use) bool { return forbidden(process, u) && !permitted("internal/engine", u) }))
}
