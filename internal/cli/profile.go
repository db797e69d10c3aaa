package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/executable-markdown/xmd/capability"
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

// A profileRequest is what a command line means for a profile.
type profileRequest struct {
	file    string        // --profile; empty: the ordinary profile
	include []string      // the directories searched for components
	used    []string      // files the run itself keeps or is configured by
	timeout time.Duration // default limit of a request; 0: none
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
		f, err := c.profileFile(r.file)
		if err != nil {
			return nil, err
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
// selected root (fragments 10c).
func (c *command) control(r profileRequest, root string) capability.Control {
	base := c.path(root)
	below := func(path string) (string, bool) {
		rel, err := filepath.Rel(base, c.path(path))
		if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			return "", false
		}
		return filepath.ToSlash(rel), true
	}
	var control capability.Control
	for _, path := range append([]string{r.file}, r.used...) {
		if rel, ok := below(path); ok && path != "" {
			control.Files = append(control.Files, rel)
		}
	}
	for _, dir := range r.include {
		switch rel, ok := below(dir); {
		case !ok:
		case rel == ".":
			control.Names = library(nil).Names()
		default:
			control.Dirs = append(control.Dirs, rel)
		}
	}
	return control
}
