package capability

import (
	"bytes"
	_ "embed"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/executable-markdown/xmd/internal/closedyaml"
	"github.com/executable-markdown/xmd/internal/document"
)

// MaxProfileFile is the largest profile file, in bytes.
const MaxProfileFile = 64 << 10

// A File is a profile file as it was written: names and bounds, no operations. It is
// plain data; Profile binds it to a machine.
type File struct {
	Name     string
	Roots    []FileRoot // in written order; none: the command's own root
	Selected string     // as written under select; empty: the first root
	Dialect  Dialect    // empty: the command's
	Read     []FileEntry
	Write    []FileEntry
	Limits   Limits // zero where the file says nothing
}

// A FileRoot is a root a profile file names.
type FileRoot struct{ Name, Dir string }

// A FileEntry is one entry of a table of a profile file.
type FileEntry struct {
	Use      string    // the name of a capability this binary ships
	Paths    []string  // nil: the whole selected root
	Requests []Request // of Fetch, at least one
}

// A FileError is a profile file that cannot be used. The file is the person's own,
// so the message may quote it; it says what to do.
type FileError = closedyaml.Error

//go:embed profile.schema.json
var profileSchema []byte

// Schema is the published JSON Schema (draft-07) of a profile file. What it refuses,
// ReadProfile refuses too; ReadProfile also judges what a schema cannot say, such as
// whether select names a root. The bytes belong to the caller.
func Schema() []byte { return slices.Clone(profileSchema) }

// ReadProfile reads a profile file (fragments 2), which is YAML of a closed shape:
// unknown and repeated keys, anchors, aliases, tags, merge keys and a second YAML
// document are refused, as are files larger than MaxProfileFile. Every value has a
// place in the shape, so nesting is bounded by it. The error is a *FileError.
func ReadProfile(data []byte) (*File, error) {
	if len(data) > MaxProfileFile {
		return nil, &FileError{Line: 1, Column: 1, Message: fmt.Sprintf("the profile has %d bytes and the limit is %d", len(data), MaxProfileFile)}
	}
	if !utf8.Valid(data) {
		return nil, &FileError{Line: 1, Column: 1, Message: "the profile is not UTF-8; save it as UTF-8"}
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var root, second yaml.Node
	switch err := decoder.Decode(&root); {
	case err == io.EOF || err == nil && len(root.Content) != 1:
		return nil, &FileError{Line: 1, Column: 1, Message: "the profile is empty; begin with version: 1"}
	case err != nil:
		return nil, closedyaml.Syntax(err)
	}
	switch err := decoder.Decode(&second); {
	case err == nil:
		return nil, closedyaml.Refuse(&second, "the file holds a second YAML document; keep one")
	case err != io.EOF:
		return nil, closedyaml.Syntax(err)
	}
	f := &File{}
	if err := f.read(root.Content[0]); err != nil {
		return nil, err
	}
	return f, nil
}

// read reads the whole profile.
func (f *File) read(n *yaml.Node) error {
	var version, selected *yaml.Node
	err := closedyaml.ReadMapping(n, "the profile", []closedyaml.Key{
		{Name: "version", Read: func(n *yaml.Node) error { version = n; return readVersion(n) }},
		{Name: "name", Read: func(n *yaml.Node) error { return readText(n, "name", &f.Name) }},
		{Name: "roots", Read: f.readRoots},
		{Name: "select", Read: func(n *yaml.Node) error { selected = n; return readText(n, "select", &f.Selected) }},
		{Name: "dialect", Read: f.readDialect},
		{Name: "read", Read: func(n *yaml.Node) error { return readTable(n, ReadClass, &f.Read) }},
		{Name: "write", Read: func(n *yaml.Node) error { return readTable(n, WriteClass, &f.Write) }},
		{Name: "limits", Read: f.readLimits},
	})
	isSelected := func(r FileRoot) bool { return r.Name == f.Selected }
	switch {
	case err != nil:
		return err
	case version == nil:
		return closedyaml.Refuse(n, "the profile has no version; begin with version: 1")
	case len(f.Read)+len(f.Write) == 0:
		return closedyaml.Refuse(n, "the profile allows nothing; state at least one entry under read or write")
	case selected != nil && len(f.Roots) == 0:
		return closedyaml.Refuse(selected, "select names a root and the profile states none; state roots, or leave select out")
	case selected != nil && !slices.ContainsFunc(f.Roots, isSelected):
		return closedyaml.Refuse(selected, "select is %.40q, which is no root of the profile; name one of %s", f.Selected, closedyaml.List(f.Roots, func(r FileRoot) string { return r.Name }))
	}
	return nil
}

func readVersion(n *yaml.Node) error {
	if text, err := closedyaml.Scalar(n, "version"); err != nil {
		return err
	} else if text != "1" || n.ShortTag() != "!!int" {
		return closedyaml.Refuse(n, "version is %.40q, and this binary reads version 1 only; write version: 1", text)
	}
	return nil
}

func (f *File) readRoots(n *yaml.Node) error {
	list, err := closedyaml.Members(n, "roots")
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return closedyaml.Refuse(n, "roots is empty; write a name and a directory, such as repo: ., or leave roots out")
	}
	for _, m := range list {
		root := FileRoot{Name: m.Name}
		if m.Name == "" {
			return closedyaml.Refuse(m.Key, "a root has an empty name; name it")
		}
		if err := readText(m.Value, "roots."+m.Name, &root.Dir); err != nil {
			return err
		}
		f.Roots = append(f.Roots, root)
	}
	return nil
}

func (f *File) readDialect(n *yaml.Node) error {
	var text string
	if err := readText(n, "dialect", &text); err != nil {
		return err
	}
	f.Dialect = Dialect(text)
	if f.Dialect != Flat && f.Dialect != Closed {
		return closedyaml.Refuse(n, "dialect is %.40q; write flat or closed", text)
	}
	return nil
}

func readTable(n *yaml.Node, class Class, into *[]FileEntry) error {
	items, err := closedyaml.Elements(n, string(class))
	if err != nil {
		return err
	}
	for i, item := range items {
		e, err := readEntry(item, class, fmt.Sprintf("%s[%d]", class, i))
		if err != nil {
			return err
		}
		if slices.ContainsFunc(*into, func(other FileEntry) bool { return other.Use == e.Use }) {
			return closedyaml.Refuse(item, "%s uses %s a second time; put what it allows into one entry", class, e.Use)
		}
		*into = append(*into, e)
	}
	return nil
}

func readEntry(n *yaml.Node, class Class, where string) (FileEntry, error) {
	var e FileEntry
	var use, paths, requests *yaml.Node
	err := closedyaml.ReadMapping(n, where, []closedyaml.Key{
		{Name: "use", Read: func(n *yaml.Node) error { use = n; return readText(n, where+".use", &e.Use) }},
		{Name: "paths", Read: func(n *yaml.Node) error { paths = n; return e.readPaths(n, where+".paths") }},
		{Name: "requests", Read: func(n *yaml.Node) error { requests = n; return e.readRequests(n, where+".requests") }},
	})
	if err != nil {
		return e, err
	}
	if use == nil {
		return e, closedyaml.Refuse(n, "%s has no use; write use: and one of %s", where, known(class))
	}
	s, err := shippedIn(class, e.Use)
	switch {
	case err != nil:
		return e, closedyaml.Refuse(use, "%s.use: %v", where, err)
	case paths != nil && s.ceiling != pathCeiling:
		return e, closedyaml.Refuse(paths, "%s.paths cannot bound %s; remove it", where, e.Use)
	case requests != nil && s.ceiling != requestCeiling:
		return e, closedyaml.Refuse(requests, "%s.requests belongs to Fetch alone; remove it from %s", where, e.Use)
	case requests == nil && s.ceiling == requestCeiling:
		return e, closedyaml.Refuse(n, "%s uses Fetch without requests, and Fetch performs only requests that are stated exactly; list them under requests", where)
	}
	return e, nil
}

func (e *FileEntry) readPaths(n *yaml.Node, where string) error {
	items, err := closedyaml.Elements(n, where)
	if err != nil {
		return err
	}
	if len(items) == 0 {
		return closedyaml.Refuse(n, "%s is empty and covers nothing; name patterns, or leave paths out for the whole root", where)
	}
	for i, item := range items {
		var path string
		if err := readText(item, fmt.Sprintf("%s[%d]", where, i), &path); err != nil {
			return err
		}
		if _, err := compilePatterns([]string{path}); err != nil {
			return closedyaml.Refuse(item, "%s[%d] cannot be used: %v", where, i, err)
		}
		e.Paths = append(e.Paths, path)
	}
	return nil
}

func (e *FileEntry) readRequests(n *yaml.Node, where string) error {
	items, err := closedyaml.Elements(n, where)
	if err != nil {
		return err
	}
	if len(items) == 0 {
		return closedyaml.Refuse(n, "%s is empty, and Fetch performs only requests that are stated exactly; state one", where)
	}
	for i, item := range items {
		r, err := readRequest(item, fmt.Sprintf("%s[%d]", where, i))
		if err != nil {
			return err
		}
		e.Requests = append(e.Requests, r)
	}
	return nil
}

func readRequest(n *yaml.Node, where string) (Request, error) {
	var r Request
	err := closedyaml.ReadMapping(n, where, []closedyaml.Key{
		{Name: "url", Read: func(n *yaml.Node) error { return readText(n, where+".url", &r.URL) }},
		{Name: "method", Read: func(n *yaml.Node) error { return readText(n, where+".method", &r.Method) }},
		{Name: "headers", Read: func(n *yaml.Node) error { return readHeaders(n, where+".headers", &r) }},
		{Name: "timeout", Read: func(n *yaml.Node) error { return readTime(n, where+".timeout", &r.Timeout) }},
	})
	if err != nil {
		return r, err
	}
	if r.URL == "" {
		return r, closedyaml.Refuse(n, "%s has no url; write the whole URL", where)
	}
	if _, err := NormalizeRequest(r, 0); err != nil {
		return r, closedyaml.Refuse(n, "%s cannot be used: %v", where, err)
	}
	return r, nil
}

func readHeaders(n *yaml.Node, where string, r *Request) error {
	list, err := closedyaml.Members(n, where)
	if err != nil {
		return err
	}
	r.Headers = make(map[string]string, len(list))
	for _, m := range list {
		text, err := closedyaml.Scalar(m.Value, where+"."+m.Name)
		if err != nil {
			return err
		}
		if m.Value.ShortTag() != "!!str" {
			return closedyaml.Refuse(m.Value, "%s.%s is not text; quote it", where, m.Name)
		}
		r.Headers[m.Name] = text
	}
	return nil
}

func (f *File) readLimits(n *yaml.Node) error {
	var keys []closedyaml.Key
	for _, b := range f.Limits.bounds() {
		keys = append(keys, closedyaml.Key{Name: b.name, Read: func(n *yaml.Node) error { return readBound(n, b) }})
	}
	keys = append(keys, closedyaml.Key{Name: "time", Read: func(n *yaml.Node) error { return readTime(n, "limits.time", &f.Limits.Time) }})
	return closedyaml.ReadMapping(n, "limits", keys)
}

// readBound reads a count, or a size with an optional unit.
func readBound(n *yaml.Node, b bound) error {
	text, err := closedyaml.Scalar(n, "limits."+b.name)
	if err != nil {
		return err
	}
	example, shift, digits := strconv.Itoa(b.standard), 0, text
	if b.size {
		example = "64KiB, 1MiB or a number of bytes"
		if d, ok := strings.CutSuffix(text, "KiB"); ok {
			digits, shift = d, 10
		} else if d, ok := strings.CutSuffix(text, "MiB"); ok {
			digits, shift = d, 20
		}
	}
	number, err := strconv.ParseUint(digits, 10, 31)
	if err != nil || digits[0] == '0' || number > math.MaxInt32>>shift || shift == 0 && n.ShortTag() != "!!int" {
		return closedyaml.Refuse(n, "limits.%s is %.40q; write a whole number from 1 to %d, such as %s", b.name, text, math.MaxInt32, example)
	}
	*b.field = int(number) << shift
	return nil
}

func readTime(n *yaml.Node, where string, into *time.Duration) error {
	text, err := closedyaml.Scalar(n, where)
	if err != nil {
		return err
	}
	if *into, err = document.ParseDuration(text); err != nil {
		return closedyaml.Refuse(n, "%s: %v", where, err)
	}
	return nil
}
