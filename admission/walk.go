package admission

import (
	"strings"

	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/internal/document"
	"github.com/executable-markdown/xmd/internal/subset"
	"github.com/executable-markdown/xmd/wasm"
)

// A walker visits every element of a fragment once, in document order, and builds
// the program on the way. It recurses with the nesting of elements, which the scan
// has bounded by MaxDepth.
type walker struct {
	grant *capability.Grant
	flat  bool
	depth int // of one expression
	scope *scope

	program  []wasm.Node
	elements []wasm.Element
	named    []Named
}

// A place is what surrounds a node.
type place struct {
	parent    int    // index of the enclosing element, -1 at the top
	dir       string // the directory cursor
	dirKnown  bool   // false below a directory whose path is computed
	breakable bool   // a Break here reaches a Loop
}

// in is the place of what stands inside an element that is transparent.
func (p place) in(element int) place {
	p.parent = element
	return p
}

// captured is the place inside an element that takes what its body renders: no
// Break may leave it, so that no capture is ever half made.
func (p place) captured(element int) place {
	p.parent, p.breakable = element, false
	return p
}

// body walks a list of nodes.
func (w *walker) body(nodes []document.Node, p place) ([]wasm.Node, *fault) {
	var b builder
	for _, n := range nodes {
		if f := w.node(&b, n, p); f != nil {
			return nil, f
		}
	}
	return b.done(), nil
}

func (w *walker) node(b *builder, n document.Node, p place) *fault {
	switch n := n.(type) {
	case *document.Text:
		return w.text(b, n)
	case *document.Element:
		node, f := w.element(n, p)
		if f != nil {
			return f
		}
		b.add(node)
		return nil
	case *document.Block:
		return &fault{Block, n.Pos.Offset}
	}
	return &fault{class: Construct}
}

// text takes text apart into what renders itself and references to names in scope.
// Comments are text without references; the scan has seen to that. {meta.…} and
// {props.…} belong to the enclosing document, whatever a fragment calls its own
// names (language 3.6.1).
func (w *walker) text(b *builder, t *document.Text) *fault {
	if t.Comment {
		b.text(t.Value)
		return nil
	}
	for _, piece := range subset.References(t.Value) {
		if piece.Source == "" {
			b.text(piece.Text)
			continue
		}
		ofDocument := strings.HasPrefix(piece.Source, "{meta.") || strings.HasPrefix(piece.Source, "{props.")
		if w.flat || ofDocument || !w.scope.visible(piece.Name) {
			return &fault{Interpolation, t.Offset + piece.Offset}
		}
		b.add(&wasm.Show{Source: piece.Source})
	}
	return nil
}

// element decides what an element is by its name: structural names are language and
// never looked up (F2).
func (w *walker) element(el *document.Element, p place) (wasm.Node, *fault) {
	construct, structural := (func(*walker, *document.Element, place) (wasm.Node, *fault))(nil), true
	switch el.Name {
	case "Content", "Output", "Return":
		return nil, &fault{Structure, el.Pos.Offset}
	case "PrintErrors":
		return nil, &fault{Construct, el.Pos.Offset}
	case "Let":
		construct = (*walker).let
	case "If":
		construct = (*walker).branch
	case "Switch":
		construct = (*walker).choose
	case "Each":
		construct = (*walker).each
	case "Loop":
		construct = (*walker).loop
	case "Break":
		construct = (*walker).stop
	case "Answers":
		construct = (*walker).answers
	case "All":
		construct = (*walker).all
	case "Else", "Case", "Answer", "Spawn": // consumed by the construct they belong to
	default:
		structural = false
	}
	switch {
	case !structural:
		return w.invoke(el, p)
	case w.flat:
		return nil, &fault{Construct, el.Pos.Offset}
	case construct == nil:
		return nil, &fault{Structure, el.Pos.Offset}
	}
	return construct(w, el, p)
}

// invoke admits an element of the granted tables. Which identity it is follows from
// its name and its form alone (F3).
func (w *walker) invoke(el *document.Element, p place) (wasm.Node, *fault) {
	at := el.Pos.Offset
	form := capability.SelfClosing
	if !el.SelfClosing {
		form = capability.Paired
	}
	entry, other := w.grant.Lookup(el.Name, form)
	switch {
	case entry != nil:
	case other == nil:
		return nil, &fault{Component, at}
	case form == capability.Paired:
		return nil, &fault{Content, at}
	default:
		return nil, &fault{FormClass, at}
	}
	as, f := w.as(el, entry)
	if f != nil {
		return nil, f
	}
	props, f := w.attributes(el, "as")
	if f != nil {
		return nil, f
	}
	use, f := judge(entry, form, el, props, p)
	if f != nil {
		return nil, f
	}

	identity := entry.Identity.String()
	n := &wasm.Invoke{Element: w.row(el, identity, as != "", p), Props: props, As: as}
	w.named = append(w.named, Named{
		Name: el.Name, Identity: identity, Form: form,
		Offset: at, Line: el.Pos.Line, Column: el.Pos.Column,
	})
	if form == capability.Paired {
		inner := p.captured(n.Element)
		if entry.Moves() {
			inner.dirKnown = p.dirKnown && len(use.Computed) == 0
			inner.dir = ""
			if inner.dirKnown {
				inner.dir = entry.Target(p.dir, use.Props)
			}
		}
		if n.Body, f = w.content(el.Children, inner); f != nil {
			return nil, f
		}
	}
	if as != "" {
		w.scope.bind(as)
	}
	return n, nil
}

// content walks the content of a component. Nothing it binds is visible after it,
// and no name visible before it may be bound in it, so that nobody can tell whether
// the content works on a copy of the names or shares them.
func (w *walker) content(nodes []document.Node, p place) ([]wasm.Node, *fault) {
	outer, mark := w.scope.content, w.scope.mark()
	w.scope.content = mark
	body, f := w.body(nodes, p)
	if f != nil {
		return nil, f
	}
	w.scope.drop(mark)
	w.scope.content = outer
	return body, nil
}

// as returns the name a component's result is bound to, empty without one.
func (w *walker) as(el *document.Element, entry *capability.Granted) (string, *fault) {
	a, written := find(el, "as")
	if !written {
		return "", nil
	}
	if w.flat || !entry.Binds() {
		return "", &fault{Binding, a.Pos.Offset}
	}
	return w.name(a)
}

// name reads an attribute that names a binding made here.
func (w *walker) name(a document.Attr) (string, *fault) {
	name, ok := static(a)
	if !ok || !subset.IsBindingName(name) || w.scope.outer(name) {
		return "", &fault{Binding, a.Pos.Offset}
	}
	return name, nil
}

// row enters an element in the element table and returns its index.
func (w *walker) row(el *document.Element, identity string, as bool, p place) int {
	form := wasm.SelfClosing
	if !el.SelfClosing {
		form = wasm.Paired
	}
	w.elements = append(w.elements, wasm.Element{
		Name: el.Name, Identity: identity, Form: form, As: as, Parent: p.parent, Offset: el.Pos.Offset,
	})
	return len(w.elements) - 1
}

// A builder collects the nodes of one body. Text that stands together is one node.
type builder struct {
	nodes []wasm.Node
	run   strings.Builder
}

func (b *builder) text(s string) { b.run.WriteString(s) }

func (b *builder) add(n wasm.Node) { b.nodes = append(b.done(), n) }

func (b *builder) done() []wasm.Node {
	if b.run.Len() > 0 {
		b.nodes = append(b.nodes, &wasm.Text{Value: b.run.String()})
		b.run.Reset()
	}
	return b.nodes
}
