package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/executable-markdown/xmd/agent"
)

// markerName is the file that says that a package is installed completely, and where
// its program is.
const markerName = "installed.json"

const (
	markerSchema = "xmd.adapter/1"
	maxManifest  = 1 << 20 // bytes of a package.json or a marker at most
	lockInterval = 100 * time.Millisecond
)

// A marker is what it says.
type marker struct {
	Schema  string `json:"schema"`
	Package string `json:"package"`
	Entry   string `json:"entry"` // of the program, relative to the directory
}

// A workshop installs the pinned package of an agent that is held to the ceiling and
// asked for (agents 10). It works outside the ceiling, runs no script of a package, and
// leaves a directory that is whole or not there.
type workshop struct {
	dir  string // absolute; holds a directory for each package
	look agent.LookPath
	env  []string // the invoker's
}

// prepare returns the vector that begins the command of a package: the interpreter and
// the program. What is installed already is only looked up. The error is an
// [agent.Error] that is ErrUnavailable, unless ctx ended.
func (w workshop) prepare(ctx context.Context, name, pkg string) ([]string, error) {
	node, err := w.look("node")
	if err != nil || !filepath.IsAbs(node) {
		return nil, w.failed(name, pkg, "node, which runs it, is not installed", err)
	}
	place := filepath.Join(w.dir, digest(pkg))
	entry, err := installedAt(place, pkg)
	if err == nil {
		return []string{node, entry}, nil
	}
	if err := os.MkdirAll(w.dir, 0o700); err != nil {
		return nil, w.failed(name, pkg, "its directory cannot be made", err)
	}
	unlock, err := w.lock(ctx, place+".lock")
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, w.failed(name, pkg, "its directory cannot be locked", err)
	}
	defer unlock()
	if entry, err = installedAt(place, pkg); err == nil { // by another process meanwhile
		return []string{node, entry}, nil
	}
	if err := w.install(ctx, place, pkg); err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, w.failed(name, pkg, err.Error(), err)
	}
	if entry, err = installedAt(place, pkg); err != nil {
		return nil, w.failed(name, pkg, "it cannot be found after it was installed", err)
	}
	return []string{node, entry}, nil
}

func (w workshop) failed(name, pkg, why string, cause error) error {
	return agent.Unavailable(name, agent.ReasonPrepareFailed, fmt.Sprintf(
		"its package %s could not be installed: %s; install it with npm install -g %s, or give its command in agents.yaml", pkg, why, pkg), cause)
}

// lock waits until no other process installs the package.
func (w workshop) lock(ctx context.Context, path string) (func(), error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	tick := time.NewTicker(lockInterval)
	defer tick.Stop()
	for {
		held, err := lockFile(f)
		if err == nil && held {
			return func() { _ = f.Close() }, nil
		}
		if err == nil {
			select {
			case <-tick.C:
				continue
			case <-ctx.Done():
				err = context.Cause(ctx)
			}
		}
		return nil, errors.Join(err, f.Close())
	}
}

// install fills a new directory, gives it its place in one step, and only then says
// that it is complete.
func (w workshop) install(ctx context.Context, place, pkg string) error {
	npm, err := w.look("npm")
	if err != nil || !filepath.IsAbs(npm) {
		return errors.New("npm, which fetches it, is not installed")
	}
	if old, err := filepath.Glob(place + ".tmp-*"); err == nil { // of a process that was killed
		for _, dir := range old {
			_ = os.RemoveAll(dir)
		}
	}
	staging, err := os.MkdirTemp(w.dir, filepath.Base(place)+".tmp-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(staging) }()
	// Scripts of packages would run outside the ceiling; the option outranks every
	// setting.
	if err := w.run(ctx, staging, npm, "install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", staging, pkg); err != nil {
		return err
	}
	entry, err := entryOf(staging, pkg)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(place); err != nil { // without its marker
		return err
	}
	if err := os.Rename(staging, place); err != nil {
		return err
	}
	text, err := json.Marshal(marker{markerSchema, pkg, entry})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(place, markerName), text, 0o600)
}

// run runs a program to its end in a directory of its own choosing, and ends it and
// what it started with ctx.
func (w workshop) run(ctx context.Context, dir string, argv ...string) error {
	said := &ring{}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, w.env, said, said
	ownGroup(cmd)
	cmd.Cancel = func() error {
		killGroup(cmd.Process.Pid)
		return cmd.Process.Kill()
	}
	cmd.WaitDelay = 2 * time.Second
	// The kernel ties the death of a child to that of the thread it came from.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := cmd.Run()
	if err == nil {
		return nil
	}
	text := tail(said.bytes(), secrets(w.env), []string{environ(w.env)["HOME"]})
	if text == "" {
		text = err.Error()
	}
	return errors.New("npm said: " + strings.Join(strings.Fields(text), " "))
}

// entryOf finds the program of an installed package, as its manifest names it, relative
// to the directory.
func entryOf(dir, pkg string) (string, error) {
	name := pkg
	if i := strings.LastIndexByte(pkg, '@'); i > 0 {
		name = pkg[:i]
	}
	inside := filepath.Join("node_modules", filepath.FromSlash(name))
	text, err := small(filepath.Join(dir, inside, "package.json"))
	if err != nil {
		return "", errors.New("it has no manifest")
	}
	var manifest struct {
		Bin json.RawMessage `json:"bin"`
	}
	var one string
	var several map[string]string
	if json.Unmarshal(text, &manifest) != nil || json.Unmarshal(manifest.Bin, &one) != nil && json.Unmarshal(manifest.Bin, &several) != nil {
		return "", errors.New("its manifest cannot be read")
	}
	short := name[strings.LastIndexByte(name, '/')+1:]
	switch {
	case several[short] != "":
		one = several[short]
	case len(several) == 1:
		for _, only := range several {
			one = only
		}
	}
	if one == "" || !filepath.IsLocal(filepath.FromSlash(one)) {
		return "", errors.New("its manifest names no program")
	}
	return filepath.Join(inside, filepath.FromSlash(one)), nil
}

// installedAt returns the program of a package that is installed completely.
func installedAt(place, pkg string) (string, error) {
	text, err := small(filepath.Join(place, markerName))
	if err != nil {
		return "", err
	}
	var m marker
	if json.Unmarshal(text, &m) != nil || m.Schema != markerSchema || m.Package != pkg || !filepath.IsLocal(m.Entry) {
		return "", errors.New("the marker of the package is damaged")
	}
	entry := filepath.Join(place, m.Entry)
	info, err := os.Stat(entry)
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("the program of the package is no file")
	}
	return entry, err
}

// small reads a file that is not large.
func small(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, maxManifest+1))
	if err == nil && len(text) > maxManifest {
		err = errors.New("the file is too large")
	}
	return text, err
}

// fetching is how many words of a vector have npx fetch the package; the rest are for
// the program.
const fetching = 3

// vector is the command of an agent as it is started: the program of its package where
// that was prepared.
func (g *ceiling) vector(c agent.Command) []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if begin := g.prepared[c.Package]; begin != nil {
		return slices.Concat(begin, c.Argv[fetching:])
	}
	return c.Argv
}

// prepare has the package of an agent installed, where it has one.
func (g *ceiling) prepare(ctx context.Context, c agent.Command) error {
	if c.Package == "" {
		return nil
	}
	begin, err := g.workshop.prepare(ctx, c.Agent, c.Package)
	if err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.prepared[c.Package] = begin
	return nil
}
