package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/internal/document"
	"github.com/executable-markdown/xmd/internal/engine"
	"github.com/executable-markdown/xmd/internal/host"
)

// A stated profile is what generated text may do in one invocation, with the
// directories it was bound to.
type stated struct {
	captured *capability.Captured
	roots    []*os.Root
}

// revoke ends the profile with the execution it was stated for.
func (s *stated) revoke() {
	if s == nil {
		return
	}
	s.captured.Revoke()
	s.close()
}

func (s *stated) close() {
	for _, root := range s.roots {
		_ = root.Close() // nothing was written through the directory itself
	}
}

// A profileOption is the name of a profile file. An execution has one profile, so the
// option is given once, whatever the second one would say (fragments 2).
type profileOption string

func (p *profileOption) String() string { return string(*p) }
func (p *profileOption) Type() string   { return "string" }
func (p *profileOption) Set(name string) error {
	if *p != "" {
		return errors.New("it is given twice, and a run has one profile; give one")
	}
	*p = profileOption(name)
	return nil
}

// A profileRequest is what a command line means for a profile.
type profileRequest struct {
	file    string           // --profile; empty: the ordinary profile
	stated  *capability.File // what the file said when it was read; nil: it is read now
	include []string         // the directories searched for components
	nodes   []document.Node  // the document to be run; nil: none is
	used    []string         // files the run itself keeps or is configured by
	timeout time.Duration    // default limit of a request; 0: none
}

// profile captures the profile of an invocation, before any document is run. Its
// root is opened once; nothing a document does later moves it (F7).
func (c *command) profile(ctx context.Context, r profileRequest) (*stated, error) {
	s := &stated{}
	m := capability.Machine{
		Root: func(_, dir string) (*os.Root, error) {
			root, err := host.OpenRoot(c.path(dir))
			if err == nil {
				s.roots = append(s.roots, root)
			}
			return root, err
		},
		Client:       capability.Guarded(host.NewGuardedHTTP()),
		Dialect:      capability.Closed,
		Control:      c.control(r, ""),
		FetchTimeout: r.timeout,
	}
	bind := capability.Standard
	if r.file != "" {
		f := r.stated
		if f == nil {
			var err error
			if f, err = c.profileFile(r.file); err != nil {
				return nil, err
			}
		}
		m.Control = c.control(r, selectedDir(f))
		bind = f.Profile
	}
	p, err := bind(m)
	if err == nil {
		s.captured, err = capability.Capture(ctx, p)
	}
	if err != nil {
		s.close()
		return nil, profileError(r.file, err)
	}
	return s, nil
}

// selectedDir is the directory of the root a profile file selects.
func selectedDir(f *capability.File) string {
	for i, root := range f.Roots {
		if root.Name == f.Selected || i == 0 && f.Selected == "" {
			return root.Dir
		}
	}
	return ""
}

// profileFile reads a profile file. Its errors are those of the command line.
func (c *command) profileFile(name string) (*capability.File, error) {
	data, err := host.ReadFile(c.path(name))
	if err != nil {
		return nil, usage("--profile: %v", unreadable(name, err))
	}
	f, err := capability.ReadProfile(data)
	if err != nil {
		return nil, profileError(name, err)
	}
	return f, nil
}

// profileError is a profile that cannot be used: a mistake of the command line, with
// the name of the file it is in.
func profileError(name string, err error) error {
	var wrong *usageError
	switch {
	case errors.As(err, &wrong):
		return err
	case name == "":
		return usage("the ordinary profile cannot be used: %v", err)
	}
	return usage("%s: %v", name, err)
}

// control lists the files that decide what fragments may do, as paths below the
// selected root (fragments 10c). A file or directory counts where it is named and
// where it leads: what is behind a link decides just as much.
func (c *command) control(r profileRequest, root string) capability.Control {
	base := host.Canonical(c.path(root))
	below := func(path string) []string {
		path = c.path(path)
		named := filepath.Join(host.Canonical(filepath.Dir(path)), filepath.Base(path))
		var places []string
		for _, place := range []string{named, host.Canonical(path)} {
			rel, err := filepath.Rel(base, place)
			if err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
				places = append(places, filepath.ToSlash(rel))
			}
		}
		return slices.Compact(places)
	}
	var control capability.Control
	names, files := c.imports(r)
	for _, path := range slices.Concat([]string{r.file}, r.used, files) {
		if path != "" {
			control.Files = append(control.Files, below(path)...)
		}
	}
	names = append(names, library(nil, nil).Names()...)
	for _, dir := range r.include {
		for _, place := range below(dir) {
			if place != "." {
				control.Dirs = append(control.Dirs, place)
			}
		}
		// What is searched and holds the root answers names below the root.
		rel, err := filepath.Rel(host.Canonical(c.path(dir)), base)
		if err != nil {
			continue
		}
		prefix := strings.ReplaceAll(filepath.ToSlash(rel), "/", ".") + "."
		for _, name := range names {
			if rel == "." {
				control.Names = append(control.Names, name)
			} else if inner, ok := strings.CutPrefix(name, prefix); ok {
				control.Names = append(control.Names, inner)
			}
		}
	}
	return control
}

// evaluates reports whether a run of the document can come to generated text: without
// that it needs no profile.
func (c *command) evaluates(r profileRequest) bool {
	names, _ := c.imports(r)
	return slices.Contains(names, "Evaluate")
}

// imports lists the components that a document names, and those that the component
// files it selects name in turn, found or not, with the files: all that its run can
// ever import. The author decided what they are, so no fragment writes such a file
// or one that answers such a name.
func (c *command) imports(r profileRequest) (names, files []string) {
	seen := make(map[string]bool)
	sources, own := host.NewSources(c.Dir), library(nil, nil)
	pending := [][]document.Node{r.nodes}
	for len(pending) > 0 {
		nodes := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		for _, n := range nodes {
			el, ok := n.(*document.Element)
			if !ok {
				continue
			}
			pending = append(pending, el.Children)
			if seen[el.Name] || engine.IsConstruct(el.Name) {
				continue
			}
			seen[el.Name] = true
			names = append(names, el.Name)
			choice, err := engine.Choose(own, sources, r.include, el.Name)
			if err != nil || choice.File == nil {
				continue // nothing that names others
			}
			files = append(files, choice.File.Path)
			if d, err := document.Parse(choice.File.Path, choice.File.Text); err == nil {
				pending = append(pending, d.Nodes)
			}
		}
	}
	return names, files
}
