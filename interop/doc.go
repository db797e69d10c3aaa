// Package interop holds no code: its tests put the xmd command together with programs
// nobody here wrote.
//
// A protocol that only ever meets the other half its own authors made proves little. So
// the command, built as it is released, is given the example agents of the protocol's
// TypeScript library, an agent of a few lines on a later release of that library, a
// command-line client of the protocol that drives the scripted agent, and, where asked
// for, the adapters of the coding agents people use, before a model that runs on this
// machine and writes down which tools it was offered.
//
// What enters is a folder of installed packages, which the script install beside this
// file fills and the variable XMD_INTEROP_MODULES names; without it the tests skip.
// XMD_INTEROP=full adds the adapters. Nothing leaves the machine but what the package
// manager fetches.
//
// The one invariant: no test here looks inside xmd. What it sees is what a person or
// another program would see: exit statuses, the two streams, files, processes, and the
// bytes on the wire.
package interop
