package acp

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/executable-markdown/xmd/agent"
)

// An installation is where the files lie that a command consists of: its program, the
// interpreter that runs it, the script it is told to run, and what those load.
type installation struct {
	paths []string // opened to a contained agent, without links in them
	dirs  []string // searched for programs, as they were found
}

// maxInterpreters is how often an interpreter may itself need one.
const maxInterpreters = 4

// installed finds the installation of a command. Homes are directories of people, which
// are never part of one as a whole. What cannot be found is left out: the agent will
// say what it misses.
func installed(argv []string, look agent.LookPath, homes []string) installation {
	var r installation
	r.program(argv[0], look, homes, maxInterpreters)
	script := slices.IndexFunc(argv[1:], func(word string) bool { return !strings.HasPrefix(word, "-") }) + 1
	for i, word := range argv[1:] {
		info, err := os.Stat(word)
		if !filepath.IsAbs(word) || err != nil || !info.Mode().IsRegular() {
			continue
		}
		if i+1 == script { // node /somewhere/agent.js
			r.add(word, homes)
		} else if real, err := filepath.EvalSymlinks(word); err == nil {
			r.open(real)
		}
	}
	return r
}

func (r *installation) program(path string, look agent.LookPath, homes []string, depth int) {
	r.dirs = append(r.dirs, filepath.Dir(path))
	real, ok := r.add(path, homes)
	if !ok || depth == 0 {
		return
	}
	name, direct := interpreter(real)
	switch {
	case name == "":
	case direct:
		r.program(name, look, homes, depth-1)
	default:
		// The program is looked up as the invoker's shell would, because an interpreter
		// of a version manager is on no path of the system's.
		if found, err := look(name); err == nil && filepath.IsAbs(found) {
			r.program(found, look, homes, depth-1)
		}
	}
}

// add opens what a file belongs to: the outermost node_modules it is installed in, the
// package whose source it is, or the directories of programs and libraries beside it;
// else the file alone.
func (r *installation) add(path string, homes []string) (real string, ok bool) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", false
	}
	dir := filepath.Dir(real)
	parts := strings.Split(dir, string(filepath.Separator))
	if i := slices.Index(parts, "node_modules"); i > 0 {
		r.open(strings.Join(parts[:i+1], string(filepath.Separator)))
		return real, true
	}
	for at := dir; !wide(at, homes); at = filepath.Dir(at) {
		if exists(filepath.Join(at, "package.json")) {
			r.open(at)
			return real, true
		}
	}
	r.open(real)
	if prefix := filepath.Dir(dir); filepath.Base(dir) == "bin" {
		for _, part := range []string{"bin", "lib", "lib64", "libexec"} {
			if at := filepath.Join(prefix, part); exists(at) {
				r.open(at)
			}
		}
	}
	return real, true
}

func (r *installation) open(path string) {
	if !slices.Contains(r.paths, path) {
		r.paths = append(r.paths, path)
	}
}

// wide says whether a directory is the home of a person, holds one, or is one that many
// share, such as /tmp: no agent is given any of them.
func wide(dir string, homes []string) bool {
	parent := filepath.Dir(dir)
	if parent == filepath.Dir(parent) || parent == "/home" || parent == "/Users" {
		return true
	}
	return slices.ContainsFunc(homes, func(home string) bool {
		return home == dir || strings.HasPrefix(home, dir+string(filepath.Separator))
	})
}

// interpreter reads which program runs a script: direct says that it is a path and not
// a name to be looked up. It is empty for what is no script.
func interpreter(path string) (name string, direct bool) {
	f, err := os.Open(path)
	if err != nil {
		return "", false
	}
	defer func() { _ = f.Close() }()
	line, _ := bufio.NewReader(io.LimitReader(f, 512)).ReadString('\n')
	rest, script := strings.CutPrefix(line, "#!")
	words := strings.Fields(rest)
	if !script || len(words) == 0 || !filepath.IsAbs(words[0]) {
		return "", false
	}
	if filepath.Base(words[0]) != "env" {
		return words[0], true
	}
	for _, word := range words[1:] {
		if !strings.HasPrefix(word, "-") && !strings.Contains(word, "=") {
			return word, filepath.IsAbs(word)
		}
	}
	return "", false
}
