package plan_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/agent"
	"github.com/executable-markdown/xmd/agent/scenario"
	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/internal/catalog"
	"github.com/executable-markdown/xmd/internal/component"
	"github.com/executable-markdown/xmd/internal/document"
	"github.com/executable-markdown/xmd/internal/engine"
	"github.com/executable-markdown/xmd/internal/host"
	"github.com/executable-markdown/xmd/internal/journal"
	"github.com/executable-markdown/xmd/internal/value"
	"github.com/executable-markdown/xmd/plan"
)

// A planner is one execution of a document with <Plan> in it, everything around it
// scripted, and what could be seen of it.
type planner struct {
	t       *testing.T
	replies []string                               // of the agent of each conversation, turn by turn
	reply   func(text string) string               // instead of replies
	answer  func(q engine.Question, n int) any     // of the person; n counts the reviews
	refuse  error                                  // of the ceiling
	closing error                                  // of its teardown
	failing bool                                   // every turn fails
	absent  bool                                   // no host was stated
	silent  bool                                   // nobody answers questions
	profile *capability.Captured                   // of <Evaluate>
	files   map[string]string                      // component files
	catalog string                                 // of the run
	append  func(journal.Event) error              // sees every event before it is durable
	onTurn  func(ctx context.Context, text string) // before a turn

	mu       sync.Mutex
	turns    []string
	reviews  []engine.Question
	checked  []string
	sessions []string // runtimes that were established, and whether they are named
	events   []string // what happened, in order
	done     int      // turns that a history answers
}

const approvedDraft = "Hello.\n"

func newPlanner(t *testing.T, replies ...string) *planner {
	return &planner{
		t: t, replies: replies, catalog: "## Catalog\n",
		answer: func(engine.Question, int) any { return decide("Approve") },
	}
}

// answers are what the person says, review by review.
func (p *planner) answers(all ...any) *planner {
	p.answer = func(_ engine.Question, n int) any { return all[n] }
	return p
}

func changes(feedback string) any {
	return value.Of("decision", "Request changes", "feedback", feedback)
}

func (p *planner) did(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.events = append(p.events, fmt.Sprintf(format, args...))
}

// host is what <Plan> is given.
func (p *planner) host() *plan.Host {
	if p.absent {
		return nil
	}
	return &plan.Host{
		Syntax: func() (string, error) { p.did("syntax"); return p.catalog, nil },
		Check: func(source string) (plan.Assessment, error) {
			p.mu.Lock()
			p.checked = append(p.checked, source)
			p.mu.Unlock()
			if strings.Contains(source, "NoSuchComponent") {
				return plan.Assessment{Diagnostics: value.Of("validation", value.Of("version", 1.0))}, nil
			}
			return plan.Assessment{}, nil
		},
		Runtime: func(_ context.Context, session string, authored bool) (plan.Runtime, error) {
			p.did("ceiling")
			if p.refuse != nil {
				return plan.Runtime{}, p.refuse
			}
			p.mu.Lock()
			p.sessions = append(p.sessions, fmt.Sprint(session, " ", authored))
			p.mu.Unlock()
			provider := scenario.NewProvider(p.script(), scenario.ProviderOptions{})
			return plan.Runtime{Provider: listener{provider, p}, Close: func(ctx context.Context) error {
				p.did("teardown")
				return errors.Join(provider.Close(ctx), p.closing)
			}}, nil
		},
		Progress: func(message string) { p.did("progress: %s", message) },
	}
}

// script plays the replies of one conversation that are still to be given.
func (p *planner) script() *scenario.Scenario {
	var script strings.Builder
	script.WriteString("version: 1\nsessions:\n  \"*\":\n")
	for i := range max(0, len(p.replies)-p.done) {
		fmt.Fprintf(&script, "  - prompt: { any: true }\n    do: [ { say: { file: %d.md } } ]\n", p.done+i)
	}
	if p.failing || len(p.replies) <= p.done {
		script.WriteString("  - prompt: { any: true }\n    do: [ { fail: gone } ]\n")
	}
	played, err := scenario.Parse("script.yaml", []byte(script.String()), scenario.ParseOptions{
		File: func(name string) ([]byte, error) {
			var i int
			_, err := fmt.Sscanf(name, "%d.md", &i)
			return []byte(p.replies[i]), err
		},
	})
	require.NoError(p.t, err)
	return played
}

// A listener keeps what the agent was sent.
type listener struct {
	agent.Provider
	p *planner
}

func (l listener) Prompt(text string, options agent.PromptOptions) agent.Turn {
	return heard{l.Provider.Prompt(text, options), text, options.Session.Placed, l.p}
}

type heard struct {
	agent.Turn
	text   string
	placed *agent.Session
	p      *planner
}

func (h heard) Run(ctx context.Context, sink func(agent.Event) error) (string, error) {
	h.p.mu.Lock()
	h.p.turns = append(h.p.turns, h.text)
	h.p.mu.Unlock()
	if h.p.onTurn != nil {
		h.p.onTurn(ctx, h.text)
	}
	if h.p.reply == nil {
		return h.Turn.Run(ctx, sink)
	}
	text := h.p.reply(h.text)
	for _, e := range []agent.Event{agent.Started{Agent: scenario.TestAgent, Session: h.placed}, agent.TextDelta{Text: text}, agent.Terminal{Status: agent.Completed}} {
		if err := sink(e); err != nil {
			return "", err
		}
	}
	return text, nil
}

// Ask implements engine.Elicitor.
func (p *planner) Ask(_ context.Context, q engine.Question) (any, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reviews = append(p.reviews, q)
	return p.answer(q, len(p.reviews)-1), nil
}

// sources are the component files of a planner.
type sources struct{ p *planner }

func (s sources) IsFile(path string) (bool, error) { _, ok := s.p.files[path]; return ok, nil }

func (s sources) ReadSource(path string) ([]byte, error) {
	text, ok := s.p.files[path]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return []byte(text), nil
}

// An ending is how a document with <Plan> in it ended.
type ending struct {
	engine.Result
	err     error // of the execution
	history []journal.Event
}

// failure is what kept the document from succeeding.
func (e ending) failure() error {
	if e.err != nil {
		return e.err
	}
	return e.Err
}

// types lists the recorded effects of the history in order.
func (e ending) types() []string {
	var all []string
	for _, event := range e.history {
		kind, _ := event.Description.String("type")
		if name, _ := event.Description.String("name"); kind == "import_component" {
			kind = "import " + name
		} else if event.Type == journal.TypeClose {
			kind = "close " + event.CoroutineID
		}
		all = append(all, kind)
	}
	return all
}

// killed is the history of an execution that was killed after n events.
func (e ending) killed(n int) []journal.Event { return slices.Clone(e.history[:n]) }

// observed is a stream that is seen while it is written.
type observed struct {
	journal.Stream
	see func(journal.Event) error
}

func (o observed) Append(ctx context.Context, e journal.Event) error {
	if err := o.see(e); err != nil {
		return err
	}
	return o.Stream.Append(ctx, e)
}

// run executes a document called main.md. A <Mark /> in it renders "mark".
func (p *planner) run(source string, history ...journal.Event) ending {
	p.t.Helper()
	return p.runWith(p.t.Context(), source, history)
}

func (p *planner) runWith(ctx context.Context, source string, history []journal.Event) ending {
	p.t.Helper()
	for _, e := range history {
		if kind, _ := e.Description.String("type"); kind == "agent_prompt" {
			p.done++
		}
	}
	parsed, err := document.Parse("main.md", []byte(source))
	require.NoError(p.t, err)
	root, err := engine.Load(parsed, nil)
	require.NoError(p.t, err)
	stream := journal.NewMemory(history...)
	if p.append != nil {
		stream = observed{stream, p.append}
	}
	j, err := journal.Open(ctx, stream, journal.Options{})
	require.NoError(p.t, err)
	mark := engine.Component{Name: "Mark", Origin: "test", Forms: engine.SelfClosing, Run: func(context.Context, *engine.Call) (any, error) {
		p.did("mark")
		return "mark", nil
	}}
	options := engine.Options{
		Host: host.Host{Sources: sources{p}},
		Library: engine.NewLibrary([]engine.Component{catalog.Syntax(), component.Evaluate(p.profile), plan.Component(p.host())},
			append(component.Defaults(), mark)),
		Include: []string{"components", "."}, Journal: j,
	}
	if !p.silent {
		options.Elicitor = p
	}
	var end ending
	end.Result, end.err = engine.Run(ctx, root, options)
	end.history = j.Events()
	return end
}

// happened are the events without the progress that was reported.
func (p *planner) happened() []string {
	return slices.DeleteFunc(slices.Clone(p.events), func(e string) bool { return strings.HasPrefix(e, "progress") })
}
