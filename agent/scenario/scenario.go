// Package scenario is the scripted agent: a peer without a model that says, asks and
// does what a file told it to, so that everything around an agent can be tested.
//
// What enters is a scenario, YAML or JSON (see [Parse]): per session a list of
// stages, each of which expects one prompt and answers it with steps. What leaves is
// one of two things with one engine behind both: [NewProvider] is an agent.Provider
// inside this process, [Peer.Serve] is the agent's side of the Agent Client Protocol
// on a pair of streams, which [Peer.Pipe] joins in memory and a fixture process binds
// to its standard input and output. Both write the same report of what happened, and
// [Problems] reads from it what a test must not overlook.
//
// The invariant: a scenario, the prompts sent and the answers given decide every
// byte. There is no clock but that of delay steps, no random identity, and nothing
// that was not expected is ever passed over: a prompt that does not fit the next
// stage fails its turn and is reported.
//
// The room refuses to know files, processes and flags. What a step reaches of the
// machine it reaches through a [Machine], where a session's position is kept is a
// [State]'s business, and both are handed in.
package scenario

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"
)

// MaxSize is the size in bytes of the largest scenario, and of the largest file one
// says: 64 MiB.
const MaxSize = 64 << 20

// The codes of the JSON-RPC errors a scenario itself answers a prompt with.
const (
	CodeMismatch    = -32010 // the prompt does not fit the stage, which stays
	CodeExhausted   = -32011 // there is no stage left
	CodeExpectation = -32012 // a step came out otherwise than it expected
)

// anySession is the script of every session that has none of its own.
const anySession = "*"

// A Scenario is a script for every session of an agent. It is immutable and may be
// used by any number of peers at once.
type Scenario struct {
	digest          string
	agentName       string
	agentVersion    string
	capabilities    capabilities
	initialize      handshake
	protocolVersion int
	opening         handshake
	modes           *modes
	sessionID       *string // overrides the identity of every session
	closing         handshake
	scripts         map[string][]stage
	requireComplete bool
	releases        bool
}

// Digest is the SHA-256, in hexadecimal, of the scenario and of the files it says.
func (s *Scenario) Digest() string { return s.digest }

// WaitsForRelease reports whether a step waits for a name to be released, which a
// peer in a process of its own learns from its State only.
func (s *Scenario) WaitsForRelease() bool { return s.releases }

type capabilities struct{ load, resume, close bool }

// A handshake is how a request that is not a prompt is answered.
type handshake struct {
	delay time.Duration
	fail  *rpcError
	hang  bool
}

type modes struct {
	current   string
	available []string
}

// A stage expects one prompt and answers it.
type stage struct {
	match matcher
	as    string // what its captures are called by; empty: it has none
	do    []step
	stop  *string // nil: end_turn, or cancelled after a cancellation
}

// script returns the stages of a session.
func (s *Scenario) script(session string) ([]stage, error) {
	if stages, ok := s.scripts[session]; ok {
		return stages, nil
	}
	if stages, ok := s.scripts[anySession]; ok && session != "" {
		return stages, nil
	}
	return nil, fmt.Errorf("the scenario has no session %q; declare it, or %q for every name", session, anySession)
}

// ParseOptions say what a scenario may reach.
type ParseOptions struct {
	// File reads a file beside the scenario by its relative, slash-separated name; nil
	// refuses the steps that say files.
	File func(name string) ([]byte, error)
	// HostEffects allows the steps write, read and spawn.
	HostEffects bool
}

// A FileError is what is wrong with a scenario, and where.
type FileError struct {
	File         string
	Line, Column int // from 1
	Message      string
}

// Error is file:line:column: message.
func (e *FileError) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Message)
}

// Parse reads a scenario, which is YAML or JSON (agents 22.1). It is strict: a key
// that is unknown or written twice, a step or stage no turn can reach, a binding
// nothing made, and whatever YAML can hang on a value are refused with a *FileError.
// name is what the file is called in errors.
func Parse(name string, text []byte, o ParseOptions) (*Scenario, error) {
	r := &reader{options: o, sum: sha256.New()}
	s, err := r.scenario(text)
	if err != nil {
		err.File = name
		return nil, err
	}
	s.releases = r.releases
	s.digest = hex.EncodeToString(r.sum.Sum(nil))
	return s, nil
}
