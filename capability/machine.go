package capability

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/executable-markdown/xmd/internal/closedyaml"
)

// A Machine is what a command binds the names of a profile file to. Nothing of it is
// asked before it is needed: a root is opened when an entry reaches files, a client
// is needed by Fetch alone, and Ask is called only for a question of a fragment.
type Machine struct {
	// Root opens the selected root. Both arguments are empty when the profile states
	// no roots: then it is the command's own, the working directory of a run or the
	// retained root of a workflow. The caller of Profile or Standard closes what it
	// opened.
	Root func(name, dir string) (*os.Root, error)
	// Client performs requests; nil: this command performs none.
	Client Client
	// Ask asks where a call itself has nobody to ask; nil: nobody.
	Ask func(ctx context.Context, q Question) (any, error)
	// Control names the files in use that decide what fragments may do.
	Control Control
	// FetchTimeout is the run's default limit of a request; 0: none.
	FetchTimeout time.Duration
	// Dialect is the command's, for a profile that names none.
	Dialect Dialect
}

// A ceilingKind says what may bound a shipped capability.
type ceilingKind uint8

const (
	noCeiling ceilingKind = iota
	pathCeiling
	requestCeiling
)

// A shipped capability is one that a profile file can use.
type shipped struct {
	class   Class
	use     string
	ceiling ceilingKind
	make    func(b *binder, e FileEntry) (Entry, error)
}

// allShipped lists the capabilities of this binary in the order errors list them.
func allShipped() []shipped {
	inRoot := func(entry func(root *os.Root) Entry) func(*binder, FileEntry) (Entry, error) {
		return func(b *binder, e FileEntry) (Entry, error) {
			root, err := b.open()
			if err != nil {
				return Entry{}, err
			}
			made := entry(root)
			made.Paths = e.Paths
			return made, nil
		}
	}
	return []shipped{
		{ReadClass, "File", pathCeiling, inRoot(FileRead)},
		{ReadClass, "Glob", pathCeiling, inRoot(Glob)},
		{ReadClass, "Fetch", requestCeiling, (*binder).fetch},
		{WriteClass, "File", pathCeiling, inRoot(FileWrite)},
		{WriteClass, "File.Delete", pathCeiling, inRoot(FileDelete)},
		{WriteClass, "Dir", pathCeiling, inRoot(EnsureDir)},
		{WriteClass, "Elicit", noCeiling, func(b *binder, _ FileEntry) (Entry, error) { return Ask(b.machine.Ask), nil }},
	}
}

// shippedIn finds the capability a table of a profile file uses. The error says
// which ones it may use.
func shippedIn(class Class, use string) (shipped, error) {
	elsewhere := Class("")
	for _, s := range allShipped() {
		switch {
		case s.use == use && s.class == class:
			return s, nil
		case s.use == use:
			elsewhere = s.class
		}
	}
	if elsewhere != "" {
		return shipped{}, fmt.Errorf("%s is no capability of %s; state it under %s", use, class, elsewhere)
	}
	return shipped{}, fmt.Errorf("%.40q is no capability this binary ships; under %s use %s", use, class, known(class))
}

// known lists the capabilities of a table.
func known(class Class) string {
	var of []shipped
	for _, s := range allShipped() {
		if s.class == class {
			of = append(of, s)
		}
	}
	return closedyaml.List(of, func(s shipped) string { return s.use })
}

// Profile binds the names of a profile file to the operations of a machine. The
// error says what the machine lacks, or is that of opening the root.
func (f *File) Profile(m Machine) (Profile, error) {
	p := Profile{
		Name:         f.Name,
		Selected:     f.Selected,
		Dialect:      f.Dialect,
		Limits:       f.Limits,
		Control:      m.Control,
		FetchTimeout: m.FetchTimeout,
	}
	if p.Dialect == "" {
		p.Dialect = m.Dialect
	}
	b := binder{machine: m}
	for i, r := range f.Roots {
		p.Roots = append(p.Roots, Root{Name: r.Name})
		if r.Name == f.Selected || i == 0 && f.Selected == "" {
			b.selected = r
		}
	}
	var err error
	if p.Read, err = b.bind(ReadClass, f.Read); err != nil {
		return Profile{}, err
	}
	if p.Write, err = b.bind(WriteClass, f.Write); err != nil {
		return Profile{}, err
	}
	return p, nil
}

// Standard is the profile of a run or a session whose person stated none (fragments
// 2): files of the command's own root may be read and listed; under write they may
// be written and deleted, directories made, and a person asked. Its dialect is
// closed unless the machine names one.
func Standard(m Machine) (Profile, error) {
	f := File{
		Name:    "standard",
		Dialect: Closed,
		Read:    []FileEntry{{Use: "File"}, {Use: "Glob"}},
		Write:   []FileEntry{{Use: "File"}, {Use: "File.Delete"}, {Use: "Dir"}, {Use: "Elicit"}},
	}
	if m.Dialect != "" {
		f.Dialect = m.Dialect
	}
	return f.Profile(m)
}

// A binder makes the entries of one profile.
type binder struct {
	machine  Machine
	selected FileRoot
	root     *os.Root // once it is open
}

func (b *binder) bind(class Class, table []FileEntry) ([]Entry, error) {
	var entries []Entry
	for _, e := range table {
		s, err := shippedIn(class, e.Use)
		if err != nil {
			return nil, err
		}
		made, err := s.make(b, e)
		if err != nil {
			return nil, err
		}
		entries = append(entries, made)
	}
	return entries, nil
}

func (b *binder) open() (*os.Root, error) {
	if b.root != nil {
		return b.root, nil
	}
	if b.machine.Root == nil {
		return nil, errors.New("the profile reaches files, and this command has no directory for them; leave the file entries out")
	}
	var err error
	if b.root, err = b.machine.Root(b.selected.Name, b.selected.Dir); err != nil {
		return nil, fmt.Errorf("cannot open the root of the profile: %w", err)
	}
	return b.root, nil
}

func (b *binder) fetch(e FileEntry) (Entry, error) {
	if b.machine.Client == nil {
		return Entry{}, errors.New("the profile uses Fetch, and this command performs no requests; leave Fetch out")
	}
	return Fetch(b.machine.Client, e.Requests...), nil
}
