package document

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"

	"github.com/executable-markdown/xmd/internal/value"
)

const (
	// MaxFrontmatter is the largest frontmatter block, in bytes.
	MaxFrontmatter = 64 << 10
	// MaxFrontmatterDepth is how deep its lists and mappings may nest, the
	// outermost mapping included.
	MaxFrontmatterDepth = 64
)

// readFrontmatter splits the frontmatter off the body and reads it (language 2.1
// and 2.2). The YAML library only builds the tree; what a scalar means is decided
// in scalar.go. Within MaxFrontmatter the library needs a few milliseconds for
// any text, and it bounds its own recursion.
func (d *Document) readFrontmatter() error {
	block, language, ok := d.splitFrontmatter()
	if !ok {
		return nil
	}
	text := d.Source[block.start:block.end]
	if len(text) > MaxFrontmatter {
		return d.frontmatterError(block.start, "the frontmatter has %d bytes and the limit is %d", len(text), MaxFrontmatter)
	}
	var v any
	var err error
	switch language {
	case "", "yaml":
		v, err = d.readYAML(block)
	case "json":
		v, err = d.readJSON(block)
	default:
		return d.frontmatterError(len("---"), "%.40q is no frontmatter language: write --- alone, ---yaml or ---json", language)
	}
	if err != nil || v == (value.Undefined{}) {
		return err
	}
	object, ok := v.(*value.Object)
	if !ok {
		return d.frontmatterError(block.start, "the frontmatter is a JSON %s and must be an object: write it as key: value lines", value.Kind(v))
	}
	d.Frontmatter = object
	return nil
}

// splitFrontmatter finds the block between the delimiters, sets BodyOffset and
// returns the word after the first delimiter. Without a closing delimiter the
// block is the rest of the source.
func (d *Document) splitFrontmatter() (block span, language string, ok bool) {
	src := d.Source
	if !strings.HasPrefix(src, "---") || strings.HasPrefix(src, "----") {
		return span{}, "", false
	}
	first := strings.IndexByte(src, '\n')
	if first < 0 {
		d.BodyOffset = len(src)
		return span{len(src), len(src)}, strings.TrimSpace(src[3:]), true
	}
	language = strings.TrimSpace(src[3:first])
	block = span{first + 1, len(src)}
	d.BodyOffset = len(src)
	if i := strings.Index(src[first:], "\n---"); i >= 0 {
		block.end = max(first+i, block.start)
		body := first + i + len("\n---")
		body += len(src[body:]) - len(strings.TrimPrefix(src[body:], "\r"))
		body += len(src[body:]) - len(strings.TrimPrefix(src[body:], "\n"))
		d.BodyOffset = body
	}
	return block, language, true
}

func (d *Document) frontmatterError(offset int, format string, args ...any) *Error {
	return &Error{Code: codeFrontmatter, Message: fmt.Sprintf(format, args...), Pos: d.position(offset)}
}

// readJSON reads ---json frontmatter. Undefined means the block is empty.
func (d *Document) readJSON(block span) (any, error) {
	text := d.Source[block.start:block.end]
	if strings.TrimSpace(text) == "" {
		return value.Undefined{}, nil
	}
	v, err := value.Parse([]byte(text))
	if err != nil {
		at := block.start
		var syntactic *jsontext.SyntacticError
		if errors.As(jsontext.NewDecoder(strings.NewReader(text)).SkipValue(), &syntactic) {
			at += int(syntactic.ByteOffset)
		}
		return nil, d.frontmatterError(at, "the frontmatter is not valid JSON: %v", err)
	}
	if levels(v) > MaxFrontmatterDepth {
		return nil, d.frontmatterError(block.start, "the frontmatter is nested deeper than %d levels", MaxFrontmatterDepth)
	}
	return v, nil
}

// levels counts the nested lists and objects of v; value.MaxDepth bounds them.
func levels(v any) int {
	deepest := 0
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			deepest = max(deepest, levels(e))
		}
	case *value.Object:
		for _, e := range v.All() {
			deepest = max(deepest, levels(e))
		}
	default:
		return 0
	}
	return deepest + 1
}

// readYAML reads YAML frontmatter. Undefined means the block holds nothing but
// comments.
func (d *Document) readYAML(block span) (any, error) {
	text := d.Source[block.start:block.end]
	input := text
	if !strings.HasSuffix(input, "\n") { // it stands before the closing delimiter
		input += "\n"
	}
	decoder := yaml.NewDecoder(strings.NewReader(input))
	r := yamlReader{document: d, end: block.end, places: yamlPlaces{src: text, base: block.start, line: 1, column: 1}}
	var root yaml.Node
	switch err := decoder.Decode(&root); {
	case err == io.EOF:
		return value.Undefined{}, nil
	case err != nil:
		return nil, r.syntaxError(err)
	}
	if root.Kind != yaml.DocumentNode || len(root.Content) != 1 {
		return value.Undefined{}, nil
	}
	v, err := r.read(root.Content[0], nil, 1)
	if err != nil {
		return nil, err
	}
	var second yaml.Node
	if err := decoder.Decode(&second); err == nil {
		return nil, d.frontmatterError(r.places.offset(second.Line, second.Column), "the frontmatter holds a second YAML document; keep one")
	} else if err != io.EOF {
		return nil, r.syntaxError(err)
	}
	return v, nil
}

// A yamlReader turns a YAML tree into a value. Nodes are visited in the order
// they were written.
type yamlReader struct {
	document *Document
	end      int // of the block
	places   yamlPlaces
}

// syntaxError places an error of the library, which tells the line in its text.
func (r *yamlReader) syntaxError(err error) *Error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 1
	if rest, ok := strings.CutPrefix(text, "line "); ok {
		number, message, _ := strings.Cut(rest, ": ")
		if n, err := strconv.Atoi(number); err == nil {
			line, text = n, message
		}
	}
	r.places.rewind()
	at := min(r.places.offset(line, 1), r.end)
	for at < r.end && (r.document.Source[at] == ' ' || r.document.Source[at] == '\t') {
		at++
	}
	if r.end == len(r.document.Source) {
		text += "; no line closes it, so it takes in the whole document: end it with a line ---"
	}
	return r.document.frontmatterError(at, "the frontmatter is not valid YAML: %s", text)
}

func (r *yamlReader) read(n *yaml.Node, at *path, depth int) (any, error) {
	offset := r.places.offset(n.Line, n.Column)
	switch {
	case n.Kind == yaml.AliasNode:
		return nil, r.refuse(n, "%v is a YAML alias, which frontmatter may not use; write the value out", at)
	case n.Anchor != "":
		return nil, r.refuse(n, "%v has a YAML anchor, which frontmatter may not use; remove it", at)
	case n.Style&yaml.TaggedStyle != 0 || offset < r.end && r.document.Source[offset] == '!':
		return nil, r.refuse(n, "%v has a YAML tag, which frontmatter may not use; remove it", at)
	case depth > MaxFrontmatterDepth && n.Kind != yaml.ScalarNode:
		return nil, r.refuse(n, "the frontmatter is nested deeper than %d levels", MaxFrontmatterDepth)
	}
	switch n.Kind {
	case yaml.SequenceNode:
		list := make([]any, 0, len(n.Content))
		for i, c := range n.Content {
			v, err := r.read(c, &path{up: at, index: i}, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		return list, nil
	case yaml.MappingNode:
		return r.readMapping(n, at, depth)
	}
	if !isPlain(n) {
		return n.Value, nil
	}
	v, wrong := plainScalar(n.Value)
	if wrong != "" {
		return nil, r.refuse(n, "%v is %s, which is no JSON value; quote it to make it a string", at, wrong)
	}
	return v, nil
}

func (r *yamlReader) readMapping(n *yaml.Node, at *path, depth int) (any, error) {
	object := value.NewObject(len(n.Content) / 2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, err := r.readKey(n.Content[i], at)
		if err != nil {
			return nil, err
		}
		place := &path{up: at, name: name, named: true}
		if object.Has(name) {
			return nil, r.refuse(n.Content[i], "%v is written twice; keep one", place)
		}
		v, err := r.read(n.Content[i+1], place, depth+1)
		if err != nil {
			return nil, err
		}
		object.Set(name, v)
	}
	return object, nil
}

// readKey returns a key as text: a number or a word of YAML in its JSON form,
// anything else as it was written.
func (r *yamlReader) readKey(n *yaml.Node, at *path) (string, error) {
	if n.Kind != yaml.ScalarNode && n.Kind != yaml.AliasNode {
		return "", r.refuse(n, "a key below %v is a list or a mapping; write a plain name", at)
	}
	if n.Tag == "!!merge" {
		return "", r.refuse(n, "%v merges another mapping with <<, which frontmatter may not use; write its members out", at)
	}
	if n.Kind == yaml.ScalarNode && isPlain(n) && n.Anchor == "" && n.Style&yaml.TaggedStyle == 0 {
		if v, wrong := plainScalar(n.Value); wrong == "" {
			return value.Text(v), nil
		}
		return n.Value, nil
	}
	_, err := r.read(n, at, 1)
	return n.Value, err
}

func isPlain(n *yaml.Node) bool {
	return n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0
}

func (r *yamlReader) refuse(n *yaml.Node, format string, args ...any) *Error {
	return r.document.frontmatterError(r.places.offset(n.Line, n.Column), format, args...)
}

// A path leads from the whole frontmatter, nil, to a value in it. It becomes text
// only in an error.
type path struct {
	up    *path
	name  string // of a member
	index int    // of an element, where there is no name
	named bool
}

func (p *path) String() string {
	var steps []string
	for ; p != nil; p = p.up {
		switch {
		case !p.named:
			steps = append(steps, fmt.Sprintf("[%d]", p.index))
		case IsBindingIdentifier(p.name):
			steps = append(steps, "."+p.name)
		default:
			steps = append(steps, "["+strconv.Quote(p.name)+"]")
		}
	}
	slices.Reverse(steps)
	return "$" + strings.Join(steps, "")
}

// yamlPlaces turns the library's lines and columns, which count characters and
// more line ends than LF, into offsets. Ascending questions cost one walk.
type yamlPlaces struct {
	src          string
	base         int // offset of src in the whole source
	at           int
	line, column int
}

func (p *yamlPlaces) rewind() { p.at, p.line, p.column = 0, 1, 1 }

func (p *yamlPlaces) offset(line, column int) int {
	if line < p.line || line == p.line && column < p.column {
		p.rewind()
	}
	for p.at < len(p.src) && (p.line < line || p.line == line && p.column < column) {
		r, size := utf8.DecodeRuneInString(p.src[p.at:])
		p.at += size
		p.column++
		switch r {
		case '\r':
			if p.at < len(p.src) && p.src[p.at] == '\n' {
				continue
			}
			fallthrough
		case '\n', '\u0085', '\u2028', '\u2029':
			p.line++
			p.column = 1
		}
	}
	return p.base + p.at
}
