// Package oracle is the third reading of a fragment: its module in wasmtime, an engine
// that shares no line with the two of wazero (fragments 9).
//
// What enters is a judged module and what its imports mean, as package sandbox has it;
// what leaves is an instance that calls them. The comparison itself is that of
// internal/differential. The one invariant: nothing here gives an import a meaning.
//
// The room is a module of its own, behind a build tag, so that who builds or uses the
// product never downloads wasmtime:
//
//	cd oracle && go test -tags wasmtime ./...
//	cd oracle && go test -tags wasmtime -timeout 2h ./... -args -cases=100000
package oracle
