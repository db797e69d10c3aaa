// Package wasm writes an admitted fragment down as a WebAssembly module, and reads
// such a module back.
//
// In goes a [Program]: an admitted fragment with nothing left to decide. Out comes
// a [Module]: bytes of core WebAssembly 1.0 that no tool but this package wrote.
// What the bytes may do stands in their import section, and that is the point of
// compiling at all: a module has no memory, no table, no start function and no
// global but its fuel, so whatever it does, it does by calling an import, and its
// imports are the capabilities its source names and nothing else with an effect.
// [Read] is for whoever is handed a module: it accepts what [Compile] writes, checks
// every byte of it, and refuses what has another shape.
//
// # The shape of a module
//
// The sections stand in this order, each once:
//
//	xmd.fragment  custom: format, source digest, element table
//	xmd.strings   custom: the texts, in order of first use
//	type          in order of first use: by imports, then () -> i32
//	import        absent when there is none
//	function      every one of type () -> i32
//	global        fuel, a mutable i32, 0
//	export        fuel, run, spawn.0, spawn.1, ...
//	code
//
// Imports come in the order of the table in fields.go, then one identity after the
// other in the order the element table first names them, with invoke before enter
// before leave. Only fields the code calls are imported.
//
// run and every spawn.<k> have type () -> i32 and return 0. k numbers the spawns of
// the whole module in document order, those inside other spawns included.
// Functions are numbered as they are called, depth first: run, what it calls, then
// spawn.0 and what that calls. So a function calls only later ones, each is called
// from one place, and nothing recurs. Locals are numbered in order of first use.
//
// Fuel is taken, one at a time, at the entry of every function, at the head of every
// loop, at every reference and at every element, structural ones included, when it
// is reached: at a <Case> when its value is compared, at an <Else> or a default when
// it is taken, at a <Spawn> when it is queued. The sequence is: subtract 1, and
// execute unreachable when what is left is below zero. Nothing else reads or writes
// the fuel, so every module Read accepts ends.
//
// # How a fragment is divided
//
// Code grows from the inside out: what a body compiles to is a piece, and a piece
// its surroundings have no room for becomes a function that is called in its place
// and returns 1 when a break is pending. A function holds at most 32 elements,
// references and calls, 64 locals, a nesting of 64 and, as far as one element
// allows, 1,024 instructions. Handles never cross functions, so two things are never
// divided: one expression, which nests as deep as it is written (it needs a single
// local, whatever its size), and the comparisons of one <Switch>, however many cases
// it has; the bodies of its cases are.
//
// The package knows no profile, no capability and no engine: identities are text to
// it. Its one invariant is that bytes are a function of the program (F9): nothing of
// a map's order, a clock, an environment or an address enters them.
package wasm

import (
	"crypto/sha256"
	"encoding/hex"
)

// Revision is the revision of the compiler. It is raised whenever the same program
// would compile to other bytes.
const Revision = 1

// A Module is a compiled fragment, or one read back. Its members belong together:
// Bytes is the whole truth, the rest is what Bytes say.
type Module struct {
	Bytes    []byte
	Digest   string    // "sha256:" and hex, of Bytes
	Source   string    // the digest of the source it was compiled from
	Imports  []Import  // in the order of the import section
	Elements []Element // the element table
	Strings  []string  // the string table
	Spawns   int       // how many spawn.<k> functions it exports
}

// An Import is one import: a field of module with so many i32 parameters and
// results (0 or 1).
type Import struct {
	Module, Field   string
	Params, Results int
}

// digestPrefix begins the text of every digest.
const digestPrefix = "sha256:"

// digest is the text of the digest of data.
func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return digestPrefix + hex.EncodeToString(sum[:])
}
