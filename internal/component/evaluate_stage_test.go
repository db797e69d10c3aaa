package component

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/admission"
	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/internal/catalog"
	"github.com/executable-markdown/xmd/internal/document"
	"github.com/executable-markdown/xmd/internal/engine"
	"github.com/executable-markdown/xmd/internal/host"
	"github.com/executable-markdown/xmd/internal/journal"
	"github.com/executable-markdown/xmd/internal/value"
)

// A stage is where generated text runs in a test: a directory of real files, a web
// that answers everything, and a note of every operation that was performed.
type stage struct {
	t   *testing.T
	dir string

	mu  sync.Mutex
	log []string // identity's key and what it was asked for
}

func newStage(t *testing.T) *stage {
	s := &stage{t: t, dir: t.TempDir()}
	for name, text := range map[string]string{"docs/a.txt": "A", "docs/b.txt": "B", "secret.txt": "secret"} {
		path := filepath.Join(s.dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	return s
}

func (s *stage) did(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = append(s.log, fmt.Sprintf(format, args...))
}

// done are the operations performed since it was last asked.
func (s *stage) done() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	log := s.log
	s.log = nil
	return log
}

// text is a file's text, empty where there is none.
func (s *stage) text(name string) string {
	text, err := os.ReadFile(filepath.Join(s.dir, filepath.FromSlash(name)))
	if !errors.Is(err, fs.ErrNotExist) {
		require.NoError(s.t, err)
	}
	return string(text)
}

const noProps = `{"type":"object","additionalProperties":false}`

// profile is the ordinary profile of a run, with Fetch for one request and two
// entries of the host's own, Peek and Wrap, beside it.
func (s *stage) profile() capability.Profile {
	p, err := capability.Standard(capability.Machine{
		Root: func(string, string) (*os.Root, error) {
			root, err := os.OpenRoot(s.dir)
			if err == nil {
				s.t.Cleanup(func() { root.Close() })
			}
			return root, err
		},
	})
	require.NoError(s.t, err)
	p.Read = append(p.Read, capability.Fetch(s, capability.Request{URL: "https://api.example.test/one"}),
		s.own("Peek", capability.Read, capability.SelfClosing, `{"type":"object","properties":{"key":{}},"additionalProperties":false}`, `{}`))
	p.Write = append(p.Write, s.own("Wrap", capability.Write, capability.Paired, noProps, `{"type":"string"}`))
	for _, table := range [][]capability.Entry{p.Read, p.Write} {
		for i := range table {
			s.watch(&table[i])
		}
	}
	return p
}

// own is an entry of the host's own. It returns its key, else what its content
// rendered.
func (s *stage) own(name string, effect capability.Effect, forms capability.Form, props, returns string) capability.Entry {
	return capability.Entry{
		Name: name, Identity: capability.Identity{Origin: "com.example", Key: name, Revision: 1}, Forms: forms,
		Props: props, Returns: returns, Effect: effect, Describe: "For tests.",
		Op: capability.Op{Do: func(_ context.Context, c capability.Call) (any, error) {
			if key, ok := c.Props.Get("key"); ok {
				return key, nil
			}
			return c.Content, nil
		}},
	}
}

// watch makes an entry's operation leave a note.
func (s *stage) watch(e *capability.Entry) {
	key, op := e.Identity.Key, e.Op
	note := func(c capability.Call) {
		what := ""
		for name, v := range c.Props.All() {
			if text, err := value.JSON(v); err == nil && name != "schema" {
				what += " " + strings.Trim(text, `"`)
			}
		}
		if c.Form == capability.Paired && e.Op.Enter == nil {
			what += "=" + c.Content
		}
		s.did("%s%s", key, what)
	}
	if op.Enter != nil {
		e.Op.Enter = func(ctx context.Context, c capability.Call) error {
			note(c)
			return op.Enter(ctx, c)
		}
	}
	if op.Do != nil {
		e.Op.Do = func(ctx context.Context, c capability.Call) (any, error) {
			note(c)
			return op.Do(ctx, c)
		}
	}
}

// Do answers every request the profile lets through.
func (s *stage) Do(_ context.Context, r capability.Normal, _ int) (capability.Response, error) {
	return capability.Response{Status: 200, Headers: []capability.Header{{Name: "x", Value: "y"}}, Body: "body of " + r.URL}, nil
}

func (s *stage) capture(p capability.Profile) *capability.Captured {
	s.t.Helper()
	c, err := capability.Capture(s.t.Context(), p)
	require.NoError(s.t, err)
	return c
}

// ordinary is the stage's profile, captured.
func (s *stage) ordinary() *capability.Captured { return s.capture(s.profile()) }

// A performance is one run of a document that evaluates generated text.
type performance struct {
	profile  *capability.Captured // nil: none
	text     string               // what <Give /> renders; no record holds it
	library  []engine.Component   // beside Syntax, Evaluate, Give and Mark
	sources  host.Sources
	elicitor engine.Elicitor
	events   []journal.Event // retained history
	stream   journal.Stream  // instead of events
	ctx      context.Context // nil: the test's
}

const (
	evaluateRead  = `<Give as="program" /><Evaluate text={program} />`
	evaluateWrite = `<Give as="program" /><Evaluate text={program} allow={["read","write"]} />`
)

// run executes a document called main.md.
func (p performance) run(t *testing.T, source string) outcome {
	t.Helper()
	d, err := document.Parse("main.md", []byte(source))
	require.NoError(t, err)
	root, err := engine.Load(d, nil)
	require.NoError(t, err)
	var o outcome
	library := append([]engine.Component{
		{Name: "Give", Origin: "test", Forms: engine.SelfClosing, Run: func(context.Context, *engine.Call) (any, error) { return p.text, nil }},
		{Name: "Mark", Origin: "test", Forms: engine.SelfClosing, Run: func(context.Context, *engine.Call) (any, error) {
			o.marks = append(o.marks, "mark")
			return "", nil
		}},
	}, p.library...)
	ctx := p.ctx
	if ctx == nil {
		ctx = t.Context()
	}
	stream := p.stream
	if stream == nil {
		stream = journal.NewMemory(p.events...)
	}
	j, err := journal.Open(ctx, stream, journal.Options{})
	require.NoError(t, err)
	o.Result, o.stopped = engine.Run(ctx, root, engine.Options{
		Host:     host.Host{Sources: p.sources, Dir: workingDirectory},
		Include:  []string{"components", "."},
		Library:  engine.NewLibrary([]engine.Component{catalog.Syntax(), Evaluate(p.profile)}, library),
		Journal:  j,
		Elicitor: p.elicitor,
		Retain:   true,
	})
	o.events = j.Events()
	return o
}

// refused requires that the document failed with a refusal of a class.
func (o outcome) refused(t *testing.T, class admission.Class) {
	t.Helper()
	require.NoError(t, o.stopped)
	var refusal *admission.Refusal
	require.ErrorAs(t, o.Err, &refusal)
	require.Equal(t, class, refusal.Class)
	var e *engine.Error
	require.ErrorAs(t, o.Err, &e)
	require.Equal(t, engine.CodeRefused, e.Code)
}

// stale requires that the execution was stopped because a recorded effect cannot be
// used again, for a reason.
func (o outcome) stale(t *testing.T, reason error) {
	t.Helper()
	var stale *journal.StaleInputError
	require.ErrorAs(t, o.stopped, &stale)
	require.ErrorIs(t, o.stopped, reason)
	require.EqualError(t, o.stopped, "a recorded effect cannot be used again: "+reason.Error())
}

func typeOf(e journal.Event) string {
	kind, _ := e.Description.String("type")
	return kind
}

// decisions are the events of the type of a decision, and effects those of what
// programs did.
func decisions(events []journal.Event) []journal.Event {
	return filtered(events, func(kind string) bool { return kind == "generated_xmd" })
}

func effects(events []journal.Event) []journal.Event {
	return filtered(events, func(kind string) bool { return kind == "capability" || kind == "fetch" || kind == "elicit" })
}

func filtered(events []journal.Event, keep func(kind string) bool) (found []journal.Event) {
	for _, e := range events {
		if e.Type == journal.TypeYield && keep(typeOf(e)) {
			found = append(found, e)
		}
	}
	return found
}

// decided is the record of the one decision of a history.
func decided(t *testing.T, events []journal.Event) *value.Object {
	t.Helper()
	found := decisions(events)
	require.Len(t, found, 1)
	o, ok := found[0].Result.Value.(*value.Object)
	require.True(t, ok)
	return o
}

// afterDecision is the number of events up to the decision and with it.
func afterDecision(t *testing.T, events []journal.Event) int {
	t.Helper()
	for i, e := range events {
		if typeOf(e) == "generated_xmd" {
			return i + 1
		}
	}
	require.FailNow(t, "there is no decision")
	return 0
}

// outlines are what happened of each event, without how its record is written.
func outlines(t *testing.T, events []journal.Event) []string {
	t.Helper()
	out := make([]string, len(events))
	for i, e := range events {
		name, _ := e.Description.String("name")
		failure := ""
		if e.Result.Error != nil {
			failure = e.Result.Error.Message
		}
		out[i] = fmt.Sprint(e.CoroutineID, " ", e.Type, " ", typeOf(e), " ", name, " ", e.Result.Status, " ", failure)
		if e.Result.HasValue {
			out[i] += asJSON(t, e.Result.Value)
		}
	}
	return out
}

func lines(t *testing.T, events []journal.Event) []string {
	t.Helper()
	out := make([]string, len(events))
	for i, e := range events {
		line, err := journal.AppendLine(nil, e)
		require.NoError(t, err)
		out[i] = string(line)
	}
	return out
}

// A repository is a set of component files that notes what it is asked for.
type repository struct {
	files map[string]string
	mu    sync.Mutex
	asked []string
}

func (r *repository) IsFile(path string) (bool, error) {
	r.note("is " + path)
	_, ok := r.files[path]
	return ok, nil
}

func (r *repository) ReadSource(path string) ([]byte, error) {
	r.note("read " + path)
	text, ok := r.files[path]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return []byte(text), nil
}

func (r *repository) List(path string) ([]fs.DirEntry, error) {
	r.note("list " + path)
	return nil, fs.ErrNotExist
}

func (r *repository) note(what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = append(r.asked, what)
}

// trap is a component that must never run.
func trap(t *testing.T, name string) engine.Component {
	return engine.Component{Name: name, Origin: "test", Forms: engine.Both, Props: `{"type":"object","additionalProperties":true}`,
		Run: func(context.Context, *engine.Call) (any, error) {
			t.Errorf("the registered <%s> ran", name)
			return "trapped", nil
		}}
}
