package audit

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/admission"
	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/internal/document"
	"github.com/executable-markdown/xmd/internal/journal"
	"github.com/executable-markdown/xmd/internal/value"
	"github.com/executable-markdown/xmd/wasm"
)

var update = flag.Bool("update", false, "write what the tests got over the golden files")

// golden compares text with a file below testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

// goldens compares every format of a report.
func goldens(t *testing.T, name string, r Report) {
	t.Helper()
	golden(t, name+".txt", Text(r, false))
	json, err := JSON(r)
	require.NoError(t, err)
	golden(t, name+".json", json)
	sarif, err := SARIF(r, "1.2.3")
	require.NoError(t, err)
	golden(t, name+".sarif", sarif)
	html, err := HTML(r)
	require.NoError(t, err)
	golden(t, name+".html", html)
}

// state reads a profile.
func state(t testing.TB, name, text string) *Stated {
	t.Helper()
	s, err := State(t.Context(), name, []byte(text), func(*capability.File) capability.Control { return capability.Control{} })
	require.NoError(t, err)
	return s
}

// codes lists what was found.
func codes(r Report) []string {
	codes := []string{}
	for _, f := range r.Found() {
		codes = append(codes, f.Code)
	}
	return codes
}

// A teller writes the history of a run, as the engine would, and lets a test change
// what it tells.
type teller struct {
	t      testing.TB
	grant  *capability.Grant
	events []journal.Event
	source string
	id     string
}

const observer = `
version: 1
name: observer
read:
  - use: File
    paths: ["notes/**"]
  - use: Glob
    paths: ["notes/*.md"]
  - use: Fetch
    requests:
      - url: https://example.com/a
        headers: { accept: text/plain }
        timeout: 5s
write:
  - use: File
    paths: [out/**]
  - use: Dir
  - use: Elicit
`

func tell(t testing.TB, profile string) *teller {
	t.Helper()
	h := &teller{t: t}
	var err error
	h.grant, err = state(t, "p.yaml", profile).grant()
	require.NoError(t, err)
	h.yield(value.Of("type", "import_component", "name", "__root__"), journal.Ok(nil))
	return h
}

func (h *teller) yield(description *value.Object, r journal.Result) {
	h.events = append(h.events, journal.Event{Type: journal.TypeYield, CoroutineID: "root", Description: description, Result: r})
}

// decide records the decision about a source under an id.
func (h *teller) decide(id, source string) *admission.Decision {
	h.t.Helper()
	h.id, h.source = id, source
	d := admission.Preflight(id, source, h.grant)
	var m *wasm.Module
	if d.Refusal == nil {
		var err error
		m, err = wasm.Compile(d.Program)
		require.NoError(h.t, err)
	}
	h.yield(value.Of("type", typeDecision, "name", decisionPrefix+id, "input", h.grant.Policy(),
		journal.MemberPosition, value.Of("path", "d.md", "offset", 0.0, "line", 1.0, "column", 1.0)), journal.Ok(d.Record(m)))
	return d
}

// at is the position of a text in the source that was decided about last.
func (h *teller) at(text string) *value.Object {
	h.t.Helper()
	offset := strings.Index(h.source, text)
	require.GreaterOrEqual(h.t, offset, 0)
	return document.Positions(h.id, h.source, []int{offset})[0].JSON()
}

// effect records an effect of the element that begins with text.
func (h *teller) effect(text, identity string, input, result any) *value.Object {
	h.t.Helper()
	d := value.Of("type", shippedAs(identity).record, "name", identity+":x", memberIdentity, identity, "input", input,
		journal.MemberPosition, h.at(text))
	h.yield(d, journal.Ok(result))
	return d
}

// ask records a question.
func (h *teller) ask(text, message string, result any) *value.Object {
	h.t.Helper()
	schema := value.Of("type", "string")
	d := h.effect(text, "xmd.core/Elicit.ask@1", capability.Fingerprint(capability.Question{Message: message, Schema: schema}), result)
	d.Set(memberSchema, schema)
	d.Set(memberMessage, message)
	return d
}

// lines is the history as a file.
func (h *teller) lines() []byte {
	h.t.Helper()
	var data []byte
	for _, e := range h.events {
		var err error
		data, err = journal.AppendLine(data, e)
		require.NoError(h.t, err)
	}
	return data
}

func (h *teller) inspect() *Journal {
	h.t.Helper()
	j, err := InspectJournal(h.t.Context(), "h.jsonl", h.lines())
	require.NoError(h.t, err)
	return j
}

// last is the event told last.
func (h *teller) last() *journal.Event { return &h.events[len(h.events)-1] }

const (
	fileRead  = "xmd.core/File.read@1"
	fileWrite = "xmd.core/File.write@1"
	dirEnsure = "xmd.core/Dir.ensure@1"
	glob      = "xmd.core/Glob@1"
	fetch     = "xmd.core/Fetch@1"
)

func asksPath(path string) *value.Object { return value.Of("path", path) }

func asksFiles(include ...string) *value.Object {
	return value.Of("include", strs(include), "exclude", []any{})
}

func asksURL() *value.Object {
	return value.Of("url", "https://example.com/a", "method", "GET", "headers", value.Of("accept", "text/plain"), "timeout", 5000.0)
}

func response() *value.Object {
	return value.Of("status", 200.0, "headers", value.NewObject(0), "body", "b")
}
