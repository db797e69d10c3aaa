package capability

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"

	"github.com/executable-markdown/xmd/internal/value"
)

// Bounds on one search (F8).
const (
	maxEntries = 200_000       // directory entries looked at
	maxLevels  = 128           // of directories; each holds a handle
	maxWork    = 4_000_000_000 // lengths of names times lengths of patterns
)

// Reasons why a search was given up.
const (
	reasonEntries = "there are too many entries; name narrower directories, or exclude some with patterns that end in /**"
	reasonLevels  = "the directories nest too deep"
	reasonWork    = "the patterns are too costly; write fewer or shorter ones"
	reasonMatches = "more files match than a value may hold; write narrower patterns"
)

// Glob is the entry that lists the regular files beneath the directory in force that
// patterns select and the entry's paths cover: <Glob include exclude />. No link is
// followed or listed, nor a name that no path a fragment could write has. root stays
// the caller's to close, after the profile was revoked.
func Glob(root *os.Root) Entry {
	return Entry{
		Name:     "Glob",
		Identity: Identity{core, "Glob", 1},
		Forms:    SelfClosing,
		Props: `{"type":"object","additionalProperties":false,"required":["include"],"properties":{
			"include":{"type":"array","items":{"type":"string"},"minItems":1,"description":"patterns, relative to the directory in force"},
			"exclude":{"type":"array","items":{"type":"string"},"description":"patterns of files to leave out"}
		}}`,
		Returns:  `{"type":"array","items":{"type":"string"}}`,
		Effect:   Read,
		Describe: "Lists the regular files that patterns select, sorted, relative to the directory in force.",
		Op: Op{Do: func(ctx context.Context, c Call) (any, error) {
			return search(ctx, root, c)
		}},
		rule: globRule{},
	}
}

// globRule judges patterns by their spelling. What they may select is judged file by
// file.
type globRule struct{}

func (globRule) check(_ *Granted, u Use) *Violation {
	for _, prop := range [...]string{"include", "exclude"} {
		if _, v := patternsOf(u.Props, prop); v != nil {
			return v
		}
	}
	return nil
}

func (globRule) record(_ *Granted, c Call) Record {
	input := value.NewObject(2)
	for _, prop := range [...]string{"include", "exclude"} {
		list, ok := c.Props.Get(prop)
		if !ok {
			list = []any{}
		}
		input.Set(prop, value.Clone(list))
	}
	return Record{Type: "capability", Input: input}
}

// patternsOf reads the patterns of a prop; without the prop there are none.
func patternsOf(props *Object, prop string) (*patterns, *Violation) {
	v, _ := props.Get(prop)
	list, _ := v.([]any)
	texts := make([]string, len(list))
	for i, e := range list {
		texts[i], _ = e.(string)
	}
	p, violated := readPatterns(texts)
	if violated != nil {
		return nil, violated
	}
	return p.below(), nil
}

// A walk is one search under way.
type walk struct {
	ctx              context.Context
	granted          *Granted
	dir              string // where it began
	include, exclude *patterns
	weight           int   // bytes of all patterns
	entries          int   // that may still be looked at
	work             int64 // that may still be done
	bytes            int   // that the answer may still have
	found            []string
}

func search(ctx context.Context, root *os.Root, c Call) (any, error) {
	if c.granted == nil {
		return nil, errNotGranted
	}
	if root == nil {
		return nil, errNoRoot
	}
	w := &walk{ctx: ctx, granted: c.granted, dir: c.Dir, entries: maxEntries, work: maxWork, bytes: c.limit()}
	var v *Violation
	if w.include, v = patternsOf(c.Props, "include"); v != nil {
		return nil, v
	}
	if w.exclude, v = patternsOf(c.Props, "exclude"); v != nil {
		return nil, v
	}
	w.weight = w.include.bytes + w.exclude.bytes
	if c.granted.patterns != nil {
		w.weight += c.granted.patterns.bytes
	}
	at, err := descend(root, path.Clean(c.Dir), false)
	if err == nil {
		err = w.list(at, "", 1)
		at.Close()
	}
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, errors.New("cannot search the directory: " + because(err).Error())
	}
	slices.Sort(w.found) // whatever order the system lists them in (F9)
	list := make([]any, len(w.found))
	for i, name := range w.found {
		list[i] = name
	}
	return list, nil
}

// list looks at the entries of a directory and of those below it.
func (w *walk) list(at *os.Root, dir string, level int) error {
	if level > maxLevels {
		return failed(reasonLevels)
	}
	below, err := w.look(at, dir)
	if err != nil {
		return err
	}
	for _, name := range below {
		next, err := enter(at, name)
		if errors.Is(err, fs.ErrNotExist) || isSwapped(err) {
			continue // it stopped being a directory
		}
		if err != nil {
			return err
		}
		err = w.list(next, path.Join(dir, name), level+1)
		next.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// isSwapped reports whether a name was no directory any more when it was entered.
func isSwapped(err error) bool {
	var f *fileFailure
	return errors.As(err, &f) && (f.reason == reasonLink || f.reason == reasonNoDir)
}

// look keeps the files of one directory and returns the directories to go on with.
func (w *walk) look(at *os.Root, dir string) (below []string, err error) {
	directory, err := at.Open(".")
	if err != nil {
		return nil, err
	}
	defer directory.Close()
	for {
		if w.ctx.Err() != nil {
			return nil, context.Cause(w.ctx)
		}
		entries, err := directory.ReadDir(1024)
		if w.entries -= len(entries); w.entries < 0 {
			return nil, failed(reasonEntries)
		}
		for _, entry := range entries {
			name := path.Join(dir, entry.Name())
			if w.work -= int64(w.weight) * int64(len(name)); w.work < 0 {
				return nil, failed(reasonWork)
			}
			switch {
			case pathFault(entry.Name()) != sound:
			case entry.IsDir():
				if w.leads(name) {
					below = append(below, entry.Name())
				}
			case entry.Type().IsRegular() && w.selects(name):
				if w.bytes -= len(name) + len(`"",`); w.bytes < 0 {
					return nil, failed(reasonMatches)
				}
				w.found = append(w.found, name)
			}
		}
		if err == io.EOF {
			slices.Sort(below)
			return below, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// leads reports whether a directory may hold something of the answer.
func (w *walk) leads(name string) bool {
	full, ceiling := path.Join(w.dir, name), w.granted.patterns
	switch {
	case !w.include.reaches(name) || w.exclude.prunes(name):
		return false
	case ceiling == nil:
		return !isSecretPlace(full)
	}
	return ceiling.reaches(full) && (!isSecretPlace(full) || ceiling.names(full))
}

// selects reports whether a file is part of the answer.
func (w *walk) selects(name string) bool {
	if in, _ := w.include.covers(name); !in {
		return false
	}
	if out, _ := w.exclude.covers(name); out {
		return false
	}
	return readRule.covered(w.granted, path.Join(w.dir, name)) == sound
}
