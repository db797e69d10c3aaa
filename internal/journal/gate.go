package journal

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/executable-markdown/xmd/internal/value"
)

// maxFindings bounds what one rejection reports; the scan stops there.
const maxFindings = 100

// minKnown is the least length, in bytes, at which an exact match of a known
// value says anything.
const minKnown = 8

// A Gate finds secrets in records before they are stored: values the host itself
// handed out, shapes of well-known tokens, credentials in headers and URLs, and
// fields named like a secret. It reads the record's JSON text once and in linear
// time. Names of content (SHA-256 in hex) and other identifiers are no findings.
//
// A Gate belongs to one execution, whose random key makes the digests of its
// findings comparable with each other and with nothing else. It is safe for
// concurrent use. A nil Gate finds nothing.
type Gate struct {
	known [][]byte // as they stand in a JSON string

	prepare   sync.Once // what the first record needs, and a start does not
	key       [32]byte
	detectors []detector
}

// NewGate returns a gate that also knows the given secret values by heart: the
// credentials the host handed to an agent or a request. White space around them
// and values shorter than eight bytes are ignored.
func NewGate(known ...string) *Gate {
	g := &Gate{}
	for _, secret := range known {
		secret = strings.TrimSpace(secret)
		if len(secret) < minKnown {
			continue
		}
		quoted := value.AppendString(nil, secret)
		g.known = append(g.known, quoted[1:len(quoted)-1])
	}
	return g
}

// A Finding says which rule objected and where, never to what.
type Finding struct {
	Rule         string
	Line, Column int    // in the record; both count from 1, columns are bytes
	Digest       string // keyed, 32 hex digits: equal secrets of one execution have equal digests
}

// A SecretError is the gate's refusal of one record. It is an ordinary failure
// of the effect: nothing was stored, and the execution may go on. Without
// findings it says that the record could not be examined.
type SecretError struct{ Findings []Finding }

func (e *SecretError) Error() string {
	if len(e.Findings) == 0 {
		return "secret detection could not examine content, so it was not persisted"
	}
	var b strings.Builder
	b.WriteString("secret detection rejected content before it was persisted:\n")
	for _, f := range e.Findings {
		fmt.Fprintf(&b, "  %s at %d:%d\n", f.Rule, f.Line, f.Column)
	}
	b.WriteString("Fix the code or data flow that produced it.")
	return b.String()
}

// Check refuses a record, given as the JSON text that would be stored, with a
// *SecretError. A scan that fails refuses too.
func (g *Gate) Check(record []byte) error {
	if g == nil {
		return nil
	}
	hits, err := g.scan(record)
	if err != nil {
		return &SecretError{}
	}
	if len(hits) == 0 {
		return nil
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return a.start - b.start })
	refusal := &SecretError{}
	line, lineStart, counted := 1, 0, 0
	for _, h := range hits {
		before := record[counted:h.start]
		if n := bytes.Count(before, []byte{'\n'}); n > 0 {
			line += n
			lineStart = counted + bytes.LastIndexByte(before, '\n') + 1
		}
		counted = h.start
		refusal.Findings = append(refusal.Findings, Finding{
			Rule: h.rule, Line: line, Column: h.start - lineStart + 1,
			Digest: g.digest(record[h.start:h.end]),
		})
	}
	return refusal
}

func (g *Gate) digest(secret []byte) string {
	mac := hmac.New(sha256.New, g.key[:])
	mac.Write(secret)
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// scan finds at most maxFindings secrets. A detector that panics is an error and
// nothing else of it is kept, since it may quote the record.
func (g *Gate) scan(record []byte) (hits []hit, err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("a detector failed")
		}
	}()
	g.prepare.Do(func() {
		rand.Read(g.key[:])
		if g.detectors == nil {
			g.detectors = tokenDetectors()
		}
	})
	s := &scanner{text: record}
	for _, secret := range g.known {
		s.exact("known-value", secret)
	}
	s.run()
	for _, d := range g.detectors {
		_, starts := d.veles.Detect(record)
		for _, start := range starts {
			s.found(d.rule, start, start+span(record[start:], isTokenByte))
		}
	}
	return s.hits, nil
}

// A hit is a finding with the bytes it objects to.
type hit struct {
	rule       string
	start, end int
}

// A scanner runs the rules of this package over one record.
type scanner struct {
	text []byte
	hits []hit
}

// found notes a secret, once for each rule and place.
func (s *scanner) found(rule string, start, end int) {
	known := func(h hit) bool { return h.rule == rule && h.start == start }
	if len(s.hits) < maxFindings && !slices.ContainsFunc(s.hits, known) {
		s.hits = append(s.hits, hit{rule, start, end})
	}
}

func (s *scanner) exact(rule string, secret []byte) {
	for from := 0; len(s.hits) < maxFindings; {
		at := bytes.Index(s.text[from:], secret)
		if at < 0 {
			return
		}
		s.found(rule, from+at, from+at+len(secret))
		from += at + len(secret)
	}
}

// run visits every byte once and asks the rules that begin with it. Each rule
// looks ahead a bounded distance, or along a run of bytes it enters only at the
// run's start.
func (s *scanner) run() {
	for i, c := range s.text {
		if len(s.hits) == maxFindings {
			return
		}
		switch c {
		case '-', 'A', 'e', 'g', 'r', 's', 'w', 'x':
			s.token(i)
		case ':':
			s.userinfo(i)
		}
		switch c | 0x20 {
		case 'a', 'c', 'p', 'r', 's':
			s.field(i)
		case 'b':
			s.bearer(i)
		}
	}
}
