// Package admission decides whether a fragment an Agent wrote may run.
//
// A source and a grant enter; a Decision leaves. Preflight reads the whole source
// before anything in it is performed, resolved or rendered (F1), decides from the
// source alone which pinned identity every element is (F2, F3), and comes to one of
// two ends: a Refusal, which is a class and a fixed sentence, or a wasm.Program, in
// which nothing is left to look up. Record and Continue are the same decision on
// its way through a history.
//
// The room has one invariant: a refusal says nothing about the candidate (F5). The
// Decision of a refused fragment holds its class and no byte of the source, so no
// message, log, record or error chain made from it can repeat one. Explain is the
// one exception, for a person who asks about a file of their own; it is never part
// of a decision.
//
// How a source is read: document.ReadFragment scans it strictly (bytes, front
// matter, bounds, markup, hidden text), then one walk in document order asks of
// each element its name, its form, the shape of a construct, what it binds, its
// attributes as written, then props, paths and requests, and last its content. The
// first refusal ends it. scope.go knows the names in scope, construct.go the
// structural elements, props.go what stands between braces.
//
// Bounds are those of the grant. Its depth is used up to MaxDepth for elements and
// up to value.MaxDepth for one expression or literal, however much more a host
// states: everything that reads a program follows its nesting by recursion. Time and
// memory are in proportion to the source.
//
// The package performs nothing and knows no file, no network, no engine and no
// journal. Decisions are plain values; every function may be called from several
// goroutines.
package admission

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/internal/document"
	"github.com/executable-markdown/xmd/internal/value"
	"github.com/executable-markdown/xmd/wasm"
)

// MaxDepth is the deepest nesting of elements a fragment may have, whatever the
// limits of a profile say.
const MaxDepth = 1024

// A Decision is what preflight came to. Exactly one of Refusal and Program is nil.
// With a Refusal every other member is empty (F5). It is not changed after it was
// made.
type Decision struct {
	Refusal *Refusal
	Source  string        // the admitted text, byte for byte
	Digest  string        // "sha256:" and hex, of Source
	Named   []Named       // the component elements, in source order
	Program *wasm.Program // what the compiler takes
	grant   *capability.Grant
}

// Named is one component element of an admitted fragment. Structural elements are
// language and are not named.
type Named struct {
	Name     string
	Identity string // origin/key@revision
	Form     capability.Form
	Offset   int // of its <, in bytes from 0
	Line     int // from 1
	Column   int // in UTF-16 code units, from 1
}

// Preflight reads the whole of a fragment and decides (fragments 5). It performs
// nothing, and judges branches, cases and loop bodies whether or not a run would
// take them. id is the identity positions of the fragment carry; the decision does
// not depend on it.
func Preflight(id, source string, g *capability.Grant) *Decision {
	w, fault := read(id, source, g)
	if fault != nil {
		return &Decision{Refusal: &Refusal{fault.class}}
	}
	d := &Decision{Source: source, Digest: digest(source), Named: w.named, grant: g}
	d.Program = &wasm.Program{Digest: d.Digest, Elements: w.elements, Body: w.program}
	return d
}

// A fault is the first reason to refuse a fragment: its class, and the place where
// it was found, which only Explain reports.
type fault struct {
	class  Class
	offset int // in bytes
}

// read scans and walks a source (fragments 5, steps 1 to 5).
func read(id, source string, g *capability.Grant) (*walker, *fault) {
	limits := g.Limits()
	nodes, problem := document.ReadFragment(id, source, document.FragmentLimits{
		Source: limits.Source, Elements: limits.Elements, Depth: min(limits.Depth, MaxDepth),
	})
	if problem != nil {
		return nil, &fault{Class(problem.Kind), problem.Offset}
	}
	w := &walker{
		grant: g,
		flat:  g.Dialect() == capability.Flat,
		depth: min(limits.Depth, value.MaxDepth),
		scope: newScope(),
	}
	var f *fault
	w.program, f = w.body(nodes, place{parent: -1, dirKnown: true})
	return w, f
}

// digest is how a source is named in records.
func digest(source string) string {
	sum := sha256.Sum256([]byte(source))
	return "sha256:" + hex.EncodeToString(sum[:])
}
