package workflow

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/executable-markdown/xmd/internal/document"
	"github.com/executable-markdown/xmd/internal/engine"
	"github.com/executable-markdown/xmd/internal/host"
	"github.com/executable-markdown/xmd/internal/value"
)

// The roles of a source.
const (
	RoleRoot      = "root"
	RoleComponent = "component"
	RoleProfile   = "profile"
)

// baseContent is the base of a run whose definition is named by its bytes.
const baseContent = "content"

// maxID is the length in bytes of the longest run id.
const maxID = 512

// bundleDir is what the retained components are found beneath. It names no directory.
const bundleDir = "bundle"

// A Program is a document with everything it needs, pinned byte for byte (workflow 17).
type Program struct {
	Root       *engine.Root
	Definition *value.Object
	Base       string
	Sources    []Source

	bundle bundle
}

// A DefinitionError is a document that cannot be a workflow, with what to change.
type DefinitionError struct{ Message string }

func (e *DefinitionError) Error() string { return e.Message }

func unsuitable(format string, args ...any) error {
	return &DefinitionError{fmt.Sprintf(format, args...)}
}

// Pin reads a document and the components it declares, relative to it, and selects its
// target; a nil selector takes the whole document. taken says which names belong to the
// program. Errors are *DefinitionError, *document.Error, *engine.Error and those of
// files.
func Pin(files host.Sources, name string, selector *string, taken func(name string) bool) (*Program, error) {
	file := strings.ReplaceAll(name, "\\", "/")
	rootPath := path.Base(file)
	if name != file || !relative(rootPath) {
		return nil, unsuitable("%s cannot be the name of a workflow's document: write it without a backslash", name)
	}
	text, err := files.ReadSource(name)
	if err != nil {
		return nil, err
	}
	d, err := document.Parse(rootPath, text)
	if err != nil {
		return nil, err
	}
	declared, err := components(d, taken)
	if err != nil {
		return nil, err
	}
	sources := []Source{{Path: rootPath, Role: RoleRoot, Text: text}}
	listed := make([]any, 0, len(declared))
	for _, c := range declared {
		text, err := files.ReadSource(path.Join(path.Dir(file), c.path))
		if err != nil {
			return nil, fmt.Errorf("the component %s: %w", c.name, err)
		}
		listed = append(listed, value.Of("name", c.name, "path", c.path, "sourceHash", digest(text)))
		if !slices.ContainsFunc(sources, func(s Source) bool { return s.Path == c.path }) {
			sources = append(sources, Source{Path: c.path, Role: RoleComponent, Text: text})
		}
	}
	definition := value.Of("version", 1.0, "kind", "content", "digest", digest(text), "rootDocumentPath", rootPath)
	if selector != nil {
		target, err := d.Select(*selector)
		if err != nil {
			return nil, err
		}
		definition.Set("targetPath", target.Path)
	}
	if len(listed) > 0 {
		definition.Set("components", listed)
	}
	return assemble(definition, baseContent, sources)
}

// assemble makes a program of a definition and the bytes it pins, and refuses bytes that
// are not those.
func assemble(definition *value.Object, base string, sources []Source) (*Program, error) {
	p := &Program{Definition: definition, Base: base, Sources: sources, bundle: bundle{}}
	find := func(file, hash string) ([]byte, error) {
		for _, s := range sources {
			if s.Path == file && digest(s.Text) == hash {
				return s.Text, nil
			}
		}
		return nil, fmt.Errorf("the retained text of %s is not the one the definition pins", file)
	}
	rootPath, _ := definition.String("rootDocumentPath")
	hash, _ := definition.String("digest")
	text, err := find(rootPath, hash)
	if err != nil {
		return nil, err
	}
	d, err := document.Parse(rootPath, text)
	if err != nil {
		return nil, err
	}
	var target *document.Target
	if selector, ok := definition.String("targetPath"); ok {
		t, err := d.Select(selector)
		if err != nil {
			return nil, err
		}
		target = &t
	}
	if p.Root, err = engine.Load(d, target); err != nil {
		return nil, err
	}
	listed, _ := definition.Get("components")
	list, _ := listed.([]any)
	for _, c := range list {
		o, _ := c.(*value.Object)
		name, _ := o.String("name")
		file, _ := o.String("path")
		hash, _ := o.String("sourceHash")
		if p.bundle[bundlePath(name)], err = find(file, hash); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// Pinned is the program a run was started with, from its retained bytes alone. What does
// not fit together is damage.
func Pinned(s Snapshot) (*Program, error) {
	p, err := assemble(s.Definition, s.Base, s.Sources)
	if err != nil {
		return nil, damaged(s.ID, err)
	}
	return p, nil
}

// commit is what the first event of a run says its definition is pinned to.
func (p *Program) commit() string {
	for _, member := range []string{"objectId", "digest"} {
		if id, ok := p.Definition.String(member); ok {
			return id
		}
	}
	return ""
}

type declaration struct{ name, path string }

// components reads workflow: {components: {Name: ./File.md}} of a root.
func components(d *document.Document, taken func(string) bool) ([]declaration, error) {
	front, ok := d.Frontmatter.Get("workflow")
	if !ok {
		return nil, nil
	}
	o, ok := front.(*value.Object)
	if !ok {
		return nil, unsuitable("workflow in the frontmatter of %s must be a mapping: workflow: {components: {Name: ./File.md}}", d.Name)
	}
	var list []declaration
	for key, v := range o.All() {
		names, ok := v.(*value.Object)
		switch {
		case key != "components":
			return nil, unsuitable("workflow in the frontmatter of %s has the member %q; only components is known", d.Name, key)
		case !ok || names.Len() == 0:
			return nil, unsuitable("workflow.components in the frontmatter of %s must name at least one component: Name: ./File.md", d.Name)
		}
		for name, v := range names.All() {
			file, _ := v.(string)
			file = strings.TrimPrefix(file, "./")
			switch {
			case !document.DeclarableName(name):
				return nil, unsuitable("%q is no component name: it is words that start with a capital letter, joined by dots", name)
			case engine.IsConstruct(name) || engine.ProtectedName(name) || taken(name):
				return nil, unsuitable("the workflow declares the component %s, and that name is the program's own; choose another", name)
			case !relative(file) || !strings.HasSuffix(file, ".md"):
				return nil, unsuitable("the component %s must be a Markdown file beside or below the document, written ./File.md", name)
			}
			list = append(list, declaration{name, file})
		}
	}
	slices.SortFunc(list, func(a, b declaration) int { return strings.Compare(a.name, b.name) })
	return list, nil
}

// relative reports whether a path is a normalised relative POSIX path.
func relative(p string) bool {
	if p == "" || strings.ContainsAny(p, "\\\x00") || !utf8.ValidString(p) {
		return false
	}
	for segment := range strings.SplitSeq(p, "/") {
		if segment == "" || segment == "." || segment == ".." {
			return false
		}
	}
	return true
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// differs names the members in which two identities of one run differ, never their
// values.
func differs(a, b Identity) []string {
	var fields []string
	if string(value.AppendCanonical(nil, a.Definition)) != string(value.AppendCanonical(nil, b.Definition)) {
		fields = append(fields, "definition")
	}
	if a.Base != b.Base {
		fields = append(fields, "base")
	}
	if string(value.AppendCanonical(nil, a.Props)) != string(value.AppendCanonical(nil, b.Props)) {
		fields = append(fields, "props")
	}
	return fields
}

// CheckID refuses a text that cannot be a run id.
func CheckID(id string) error {
	switch {
	case id == "":
		return errors.New("a run id must not be empty")
	case len(id) > maxID:
		return fmt.Errorf("a run id has at most %d bytes", maxID)
	case !utf8.ValidString(id) || strings.ContainsRune(id, 0):
		return errors.New("a run id is UTF-8 text without NUL")
	}
	return nil
}

// NewID makes a run id of 128 random bits.
func NewID() string {
	const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"
	var random [16]byte
	_, _ = rand.Read(random[:]) // never fails
	id := make([]byte, 0, 26)
	bits, held := 0, 2 // 130 bits in 26 letters: the first two are zero
	for _, b := range random {
		bits, held = bits<<8|int(b), held+8
		for held >= 5 {
			held -= 5
			id = append(id, alphabet[bits>>held&31])
		}
		bits &= 1<<held - 1
	}
	return "run_" + string(id)
}

// A bundle is the retained components, by the path the search asks for. It is all a run
// can import from: no file of the machine is one.
type bundle map[string][]byte

func bundlePath(name string) string {
	return path.Join(bundleDir, strings.ReplaceAll(name, ".", "/")+".md")
}

// IsFile implements host.Sources.
func (b bundle) IsFile(path string) (bool, error) {
	_, ok := b[path]
	return ok, nil
}

// ReadSource implements host.Sources.
func (b bundle) ReadSource(path string) ([]byte, error) {
	text, ok := b[path]
	if !ok {
		return nil, fmt.Errorf("%s is not part of the workflow", path)
	}
	return text, nil
}

// Props are the properties a run keeps: those given, with the defaults of the document.
// The error is a *engine.PropsError.
func (p *Program) Props(given *value.Object) (*value.Object, error) {
	filled := p.Root.Props().Fill(given)
	if issues := p.Root.Props().Validate(filled); len(issues) > 0 {
		return nil, &engine.PropsError{Component: engine.RootName, Issues: issues}
	}
	return filled.(*value.Object), nil
}
