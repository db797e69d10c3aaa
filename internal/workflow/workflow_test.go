package workflow

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/internal/component"
	"github.com/executable-markdown/xmd/internal/engine"
	"github.com/executable-markdown/xmd/internal/host"
	"github.com/executable-markdown/xmd/internal/journal"
	"github.com/executable-markdown/xmd/internal/value"
	"github.com/executable-markdown/xmd/internal/workspace"
)

// sources are files by name.
type sources map[string]string

func (f sources) IsFile(p string) (bool, error) { _, ok := f[p]; return ok, nil }
func (f sources) ReadSource(p string) ([]byte, error) {
	text, ok := f[p]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return []byte(text), nil
}

// programsRun counts commands and prints their script; hook may stand in for one.
type programsRun struct {
	mu   sync.Mutex
	ran  []string
	dirs []string
	hook func(ctx context.Context, script string) error
}

func (p *programsRun) Run(ctx context.Context, c host.Command) (int, error) {
	script := c.Args[len(c.Args)-1]
	p.mu.Lock()
	p.ran, p.dirs = append(p.ran, strings.TrimSpace(script)), append(p.dirs, c.Dir)
	hook := p.hook
	p.mu.Unlock()
	if hook != nil {
		if err := hook(ctx, script); err != nil {
			return 0, err
		}
	}
	fmt.Fprintf(c.Stdout, "ran %s", script)
	return 0, nil
}
func (*programsRun) Start(context.Context, host.Command) (host.Running, error) {
	return nil, errBackground
}
func (*programsRun) Port() (int, error) { return 0, errBackground }

type bench struct {
	store    *memory
	programs *programsRun
}

func newBench() *bench { return &bench{newMemory(), &programsRun{}} }

func (b *bench) settings() Settings {
	return Settings{
		Store: b.store, Host: host.Host{Process: b.programs, Files: host.NewFiles()},
		Components: component.Defaults(), Gate: func(*value.Object) *journal.Gate { return journal.NewGate("marker-of-a-secret") },
	}
}

func pinned(t *testing.T, text string) *Program {
	t.Helper()
	return pinnedOf(t, sources{"main.md": text})
}

func pinnedOf(t *testing.T, files sources) *Program {
	t.Helper()
	s := newBench().settings()
	p, err := Pin(files, "main.md", nil, s.Taken)
	require.NoError(t, err)
	return p
}

func none() *value.Object { return value.NewObject(0) }

const steps = "```bash exec\none\n```\n\n<Let as=\"x\" value={2} />\n\n```bash exec\ntwo\n```\n\n```bash exec\nthree\n```\n"

const asks = "<Elicit as=\"a\" schema={{type:\"string\"}}>\nMay I?\n</Elicit>\n\nYou said {a}.\n"

func TestCompletes(t *testing.T) {
	b := newBench()
	o, err := Start(t.Context(), b.settings(), "r", pinned(t, steps), none())
	require.NoError(t, err)
	require.Equal(t, Completed, o.Status)
	require.Equal(t, []string{"one", "two", "three"}, b.programs.ran)
	require.NotContains(t, b.programs.dirs, "/", "commands run in a directory of their own")
	first := b.store.runs["r"].Events[0].Event
	require.True(t, isEffect(first, effectRun))
	require.NoError(t, Verify(*b.store.runs["r"]))

	before := b.store.shape("r")
	again, err := Resume(t.Context(), b.settings(), "r")
	require.NoError(t, err)
	require.Equal(t, o.Result.Output, again.Result.Output)
	require.Len(t, b.programs.ran, 3, "a full replay runs nothing")
	require.Equal(t, before, b.store.shape("r"), "and records nothing")
}

// R20: whatever a run was killed after, it completes without its files, with the same
// history and no recorded effect twice.
func TestR20_ResumeFromWhatWasRetained(t *testing.T) {
	golden := newBench()
	_, err := Start(t.Context(), golden.settings(), "r", pinned(t, steps), none())
	require.NoError(t, err)
	n := len(golden.store.runs["r"].Events)
	for cut := 1; cut < n; cut++ {
		b := newBench()
		b.store.limit = cut
		_, err := Start(t.Context(), b.settings(), "r", pinned(t, steps), none())
		require.Error(t, err)
		killed := &bench{b.store.clone(), &programsRun{}}
		run := killed.store.runs["r"] // as a killed process leaves it: the execution is open
		run.Status, run.Reason = Running, Reason{}
		run.Executions[0] = Execution{ID: "x1", Epoch: 1, Started: run.Created}
		o, err := Resume(t.Context(), killed.settings(), "r")
		require.NoError(t, err, "cut %d", cut)
		require.Equal(t, Completed, o.Status)
		require.Equal(t, golden.store.shape("r"), killed.store.shape("r"), "cut %d", cut)
		require.Equal(t, Interrupted, run.Executions[0].Status)
		recorded := 0
		for _, e := range run.Events[:cut] {
			if isEffect(e.Event, "exec") {
				recorded++
			}
		}
		require.Len(t, killed.programs.ran, 3-recorded, "cut %d", cut)
	}
}

// R21: a wait inside a child closes nothing and changes no id.
func TestR21_SuspensionInAChildClosesNothing(t *testing.T) {
	b := newBench()
	block := make(chan struct{})
	b.programs.hook = func(ctx context.Context, _ string) error {
		close(block)
		<-ctx.Done()
		return context.Cause(ctx)
	}
	doc := "<All>\n<Spawn>\n\n```bash exec\nslow\n```\n\n</Spawn>\n<Spawn>\n" + asks + "</Spawn>\n</All>\n"
	o, err := Start(t.Context(), b.settings(), "r", pinned(t, doc), none())
	require.NoError(t, err)
	require.Equal(t, Suspended, o.Status)
	require.NotEmpty(t, o.Suspension)
	for _, e := range b.store.runs["r"].Events {
		require.Equal(t, journal.TypeYield, e.Event.Type)
	}
	b.programs.hook = nil
	again, err := Resume(t.Context(), b.settings(), "r")
	require.NoError(t, err)
	require.Equal(t, o.Suspension, again.Suspension)
	require.NoError(t, Deliver(t.Context(), b.settings(), "r", o.Suspension, "yes"))
	done, err := Resume(t.Context(), b.settings(), "r")
	require.NoError(t, err)
	require.Equal(t, Completed, done.Status)
	require.Contains(t, done.Result.Output, "You said yes.")
	require.NoError(t, Verify(*b.store.runs["r"]))
}

// R22: a suspension is named by where it stands.
func TestR22_SuspensionIDs(t *testing.T) {
	doc := "<Loop max={2}>\n" + asks + "</Loop>\n"
	b := newBench()
	first, err := Start(t.Context(), b.settings(), "r", pinned(t, doc), none())
	require.NoError(t, err)
	require.Regexp(t, "^[0-9a-f]{32}$", first.Suspension)
	before := b.store.shape("r")
	same, err := Resume(t.Context(), b.settings(), "r")
	require.NoError(t, err)
	require.Equal(t, first.Suspension, same.Suspension)
	require.Equal(t, before, b.store.shape("r"), "a wait without an answer appends nothing")
	require.NoError(t, Deliver(t.Context(), b.settings(), "r", first.Suspension, "one"))
	second, err := Resume(t.Context(), b.settings(), "r")
	require.NoError(t, err)
	require.Equal(t, Suspended, second.Status)
	require.NotEqual(t, first.Suspension, second.Suspension)
	other, err := Start(t.Context(), b.settings(), "s", pinned(t, doc), none())
	require.NoError(t, err)
	require.NotEqual(t, first.Suspension, other.Suspension)
}

// An <Answers> region answers without a wait, as in an ordinary run; what it delegates
// waits.
func TestAnswersRegion(t *testing.T) {
	b := newBench()
	o, err := Start(t.Context(), b.settings(), "r", pinned(t, "<Answers>\n<Answer value='\"no\"' />\n"+asks+"</Answers>\n"), none())
	require.NoError(t, err)
	require.Equal(t, Completed, o.Status)
	require.Contains(t, o.Result.Output, "You said no.")
	o, err = Start(t.Context(), b.settings(), "s", pinned(t, "<Answers delegate={true}>\n<Answer template=\"other\" value='\"no\"' />\n"+asks+"</Answers>\n"), none())
	require.NoError(t, err)
	require.Equal(t, Suspended, o.Status)
}

// R23: what keeps an answer from being accepted changes nothing and never repeats it.
func TestR23_AnswerRefusals(t *testing.T) {
	b := newBench()
	o, err := Start(t.Context(), b.settings(), "r", pinned(t, asks), none())
	require.NoError(t, err)
	other, err := Start(t.Context(), b.settings(), "other", pinned(t, asks), none())
	require.NoError(t, err)
	_, err = Start(t.Context(), b.settings(), "done", pinned(t, "text"), none())
	require.NoError(t, err)
	refusals := []struct {
		name, run, suspension string
		answer                any
		condition             Condition
	}{
		{"unknown run", "nobody", o.Suspension, "confidential", NotFound},
		{"another run's", "r", other.Suspension, "confidential", Refused},
		{"not suspended", "done", o.Suspension, "confidential", Refused},
		{"against the schema", "r", o.Suspension, []any{"confidential"}, Refused},
		{"a secret", "r", o.Suspension, "marker-of-a-secret", Refused},
	}
	for _, r := range refusals {
		t.Run(r.name, func(t *testing.T) {
			before := fmt.Sprint(b.store.runs["r"], b.store.runs["other"])
			err := Deliver(t.Context(), b.settings(), r.run, r.suspension, r.answer)
			var refusal *StoreError
			require.ErrorAs(t, err, &refusal)
			require.Equal(t, r.condition, refusal.Condition)
			require.NotContains(t, err.Error(), "confidential")
			require.NotContains(t, err.Error(), "marker")
			require.Equal(t, before, fmt.Sprint(b.store.runs["r"], b.store.runs["other"]))
		})
	}
	require.NoError(t, Deliver(t.Context(), b.settings(), "r", o.Suspension, "yes"))
	require.ErrorContains(t, Deliver(t.Context(), b.settings(), "r", o.Suspension, "yes"), "waits already")
	_, err = Resume(t.Context(), b.settings(), "r")
	require.NoError(t, err)
	require.ErrorContains(t, Deliver(t.Context(), b.settings(), "r", o.Suspension, "yes"), "answered already")
	require.NoError(t, Cancel(t.Context(), b.store, "other"))
	require.ErrorContains(t, Deliver(t.Context(), b.settings(), "other", other.Suspension, "yes"), "cancelled")
}

// R26: a run is taken up again only by what it was started with.
func TestR26_Reuse(t *testing.T) {
	const declared = "---\nprops:\n  n: {type: integer, default: 1}\n---\n"
	bodies := map[Status]string{
		Completed: declared + "text", Failed: declared + "<Fail>no</Fail>", Suspended: declared + asks,
		Interrupted: declared + steps, Running: declared + steps, Cancelled: declared + asks,
	}
	for status, body := range bodies {
		t.Run(string(status), func(t *testing.T) {
			b := newBench()
			ctx, stop := context.WithCancelCause(t.Context())
			defer stop(nil)
			interrupted := status == Interrupted || status == Running
			if interrupted {
				b.programs.hook = func(context.Context, string) error { stop(errors.New("signal")); return nil }
			}
			p := pinned(t, body)
			props, err := p.Props(none())
			require.NoError(t, err)
			_, err = Start(ctx, b.settings(), "r", p, props)
			require.Equal(t, interrupted || status == Failed, err != nil)
			b.programs.hook = nil
			switch status {
			case Cancelled:
				require.NoError(t, Cancel(t.Context(), b.store, "r"))
			case Running: // the process died
				run := b.store.runs["r"]
				run.Status, run.Executions[0] = Running, Execution{ID: "x1", Epoch: 1, Started: run.Created}
			}
			require.Equal(t, status, b.store.runs["r"].Status)

			var refusal *StoreError
			before := fmt.Sprint(b.store.runs["r"])
			_, err = Start(t.Context(), b.settings(), "r", pinned(t, body+" "), props)
			require.ErrorAs(t, err, &refusal)
			require.Equal(t, Conflict, refusal.Condition)
			require.ErrorContains(t, err, "definition")
			_, err = Start(t.Context(), b.settings(), "r", p, value.Of("n", 77.0))
			require.ErrorAs(t, err, &refusal)
			require.ErrorContains(t, err, "in its props")
			require.NotContains(t, err.Error(), "77")
			moved := *p
			moved.Base = "HEAD"
			_, err = Start(t.Context(), b.settings(), "r", &moved, props)
			require.ErrorContains(t, err, "in its base")
			require.Equal(t, before, fmt.Sprint(b.store.runs["r"]))

			_, err = Resume(t.Context(), b.clone().settings(), "r")
			require.Equal(t, status == Failed || status == Cancelled, errors.As(err, &refusal) && refusal.Condition == Refused)

			o, err := Start(t.Context(), b.settings(), "r", p, props)
			want := status
			if interrupted {
				want = Completed
			}
			require.Equal(t, want, o.Status)
			require.Equal(t, status == Failed, err != nil)
		})
	}
}

func (b *bench) clone() *bench { return &bench{b.store.clone(), &programsRun{}} }

func TestInUse(t *testing.T) {
	b := newBench()
	var resumed, cancelled error
	b.programs.hook = func(ctx context.Context, _ string) error {
		_, resumed = Resume(ctx, b.settings(), "r")
		cancelled = Cancel(ctx, b.store, "r")
		return nil
	}
	_, err := Start(t.Context(), b.settings(), "r", pinned(t, "```bash exec\none\n```\n"), none())
	require.NoError(t, err)
	var refusal *StoreError
	require.ErrorAs(t, resumed, &refusal)
	require.Equal(t, Live, refusal.Condition)
	require.ErrorContains(t, cancelled, "Ctrl-C")
}

func TestCancel(t *testing.T) {
	b := newBench()
	_, err := Start(t.Context(), b.settings(), "r", pinned(t, asks), none())
	require.NoError(t, err)
	require.NoError(t, Cancel(t.Context(), b.store, "r"))
	require.NoError(t, Cancel(t.Context(), b.store, "r"), "again is no mistake")
	require.Equal(t, Cancelled, b.store.runs["r"].Status)
	_, err = Resume(t.Context(), b.settings(), "r")
	require.ErrorContains(t, err, "was cancelled")

	// A process died after the document had ended: the outcome is published instead.
	_, err = Start(t.Context(), b.settings(), "done", pinned(t, "text"), none())
	require.NoError(t, err)
	run := b.store.runs["done"]
	run.Status, run.Executions[0] = Running, Execution{ID: "x1", Epoch: 1, Started: run.Created}
	require.ErrorContains(t, Cancel(t.Context(), b.store, "done"), "completed")
	require.Equal(t, Completed, run.Status)
}

// The components of a run are the retained ones, whatever lies in its directory later.
func TestBundle(t *testing.T) {
	files := sources{
		"main.md":     "---\nworkflow: {components: {Part: ./lib/part.md}}\n---\n<Part />\n" + asks + "<Part />\n",
		"lib/part.md": "the part\n",
	}
	b := newBench()
	p := pinnedOf(t, files)
	o, err := Start(t.Context(), b.settings(), "r", p, none())
	require.NoError(t, err)
	require.Equal(t, Suspended, o.Status)
	files["lib/part.md"] = "changed"
	require.NoError(t, Deliver(t.Context(), b.settings(), "r", o.Suspension, "yes"))
	o, err = Resume(t.Context(), b.settings(), "r")
	require.NoError(t, err)
	require.Equal(t, 2, strings.Count(o.Result.Output, "the part"))

	_, err = Start(t.Context(), b.settings(), "r", pinnedOf(t, files), none())
	require.ErrorContains(t, err, "definition")
	b.store.runs["r"].Sources[1].Text = []byte("tampered")
	_, err = Resume(t.Context(), b.settings(), "r")
	var damage *StoreError
	require.ErrorAs(t, err, &damage)
	require.True(t, damage.Condition.Damage())
}

func TestRefusedDefinitions(t *testing.T) {
	s := newBench().settings()
	for name, front := range map[string]string{
		"a core name":    "workflow: {components: {Fetch: ./x.md}}",
		"a construct":    "workflow: {components: {Let: ./x.md}}",
		"a protected":    "workflow: {components: {Plan: ./x.md}}",
		"above the root": "workflow: {components: {Part: ../x.md}}",
		"absolute":       "workflow: {components: {Part: /x.md}}",
		"no Markdown":    "workflow: {components: {Part: ./x.txt}}",
		"no mapping":     "workflow: yes please",
		"unknown member": "workflow: {other: 1}",
		"empty":          "workflow: {components: {}}",
		"lower case":     "workflow: {components: {part: ./x.md}}",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Pin(sources{"main.md": "---\n" + front + "\n---\n", "x.md": ""}, "main.md", nil, s.Taken)
			var definition *DefinitionError
			require.ErrorAs(t, err, &definition)
		})
	}
}

func TestWithheld(t *testing.T) {
	for _, text := range []string{"<TempDir>x</TempDir>", "<Agent name=\"claude\">x</Agent>", "```bash daemon exec\nx\n```\n"} {
		b := newBench()
		o, err := Start(t.Context(), b.settings(), "r", pinned(t, text), none())
		require.Error(t, err, text)
		require.Equal(t, Failed, o.Status, text)
		require.NotEmpty(t, b.store.runs["r"].Reason.Event)
	}
}

// The history outranks the status, and a history that breaks its rules is left alone.
func TestDamage(t *testing.T) {
	run := func(t *testing.T) *bench {
		b := newBench()
		_, err := Start(t.Context(), b.settings(), "r", pinned(t, steps), none())
		require.NoError(t, err)
		return b
	}
	for name, spoil := range map[string]func(s *Snapshot){
		"no record of the run": func(s *Snapshot) { s.Events = s.Events[1:] },
		"two records": func(s *Snapshot) {
			s.Events = append([]StoredEvent{s.Events[0]}, s.Events...)
		},
		"another run's record": func(s *Snapshot) { s.Events[0].Event.Result = journal.Ok(value.Of("runId", "x")) },
		"an event after the end": func(s *Snapshot) {
			s.Events = append(s.Events, s.Events[1])
		},
		"completed without an end": func(s *Snapshot) { s.Events = s.Events[:len(s.Events)-1] },
		"suspended after its end":  func(s *Snapshot) { s.Status = Suspended; s.Events = append(s.Events, s.Events[len(s.Events)-1]) },
		"an end nobody can read": func(s *Snapshot) {
			s.Events[len(s.Events)-1].Event.Result = journal.Ok("fine")
		},
		"another document": func(s *Snapshot) {
			s.Events[1].Event.Result = journal.Ok(value.Of("kind", "repository", "path", "main.md", "content", "other"))
		},
		"an undeclared import": func(s *Snapshot) {
			e := s.Events[1]
			e.Event = e.Event.Clone()
			e.Event.Description.Set("name", "Part")
			s.Events = append(s.Events[:2:2], append([]StoredEvent{e}, s.Events[2:]...)...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := run(t)
			spoil(b.store.runs["r"])
			before := fmt.Sprint(b.store.runs["r"])
			_, err := Resume(t.Context(), b.settings(), "r")
			var damage *StoreError
			require.True(t, errors.As(err, &damage) && damage.Condition.Damage() || journal.IsDurability(err), "%v", err)
			require.Equal(t, before, fmt.Sprint(b.store.runs["r"]))
			require.Error(t, Verify(*b.store.runs["r"]))
		})
	}
}

func TestSecretsAreNotRetained(t *testing.T) {
	b := newBench()
	_, err := Start(t.Context(), b.settings(), "r", pinned(t, "say marker-of-a-secret"), none())
	var secret *journal.SecretError
	require.ErrorAs(t, err, &secret)
	_, err = Start(t.Context(), b.settings(), "r", pinned(t, "text"), value.Of("n", "marker-of-a-secret"))
	require.ErrorAs(t, err, &secret)
	require.Empty(t, b.store.runs)
}

// R29: a settlement that was refused is no status, whatever the document did.
func TestR29_RefusedSettlementHasNoStatus(t *testing.T) {
	for _, text := range []string{"text", "<Fail>no</Fail>", asks} {
		b := newBench()
		b.store.settles = &StoreError{Condition: Fenced, Message: "another executor took the run"}
		o, err := Start(t.Context(), b.settings(), "r", pinned(t, text), none())
		require.ErrorIs(t, err, b.store.settles)
		require.Empty(t, o.Status)
		require.Empty(t, o.Suspension)
		require.False(t, b.store.held["r"], "the lock is given back")
	}
}

// R28: after the history could not be kept, nothing more is done, even where the
// document catches failures.
func TestR28_NothingHappensAfterALostRecord(t *testing.T) {
	b := newBench()
	b.store.limit = 3 // the run, the document and one command
	_, err := Start(t.Context(), b.settings(), "r", pinned(t, "```bash exec\none\n```\n\n<PrintErrors>\n\n```bash exec\ntwo\n```\n\n</PrintErrors>\n\n```bash exec\nthree\n```\n"), none())
	require.True(t, journal.IsDurability(err), "%v", err)
	require.Equal(t, []string{"one", "two"}, b.programs.ran)
	require.Equal(t, Interrupted, b.store.runs["r"].Status)
}

// R24, R25: each event stands with the files there were then; a refusal changes none.
func TestR24_EachEventHasItsFiles(t *testing.T) {
	b := newBench()
	doc := "<File path=\"a/x\">one</File>\n<File path=\"a/x\">two</File>\n<PrintErrors>\n<File path=\"a/x/y\">no</File>\n</PrintErrors>\n<File path=\"a/x\" as=\"t\" />\n\nRead {t}.\n\n<File.Delete path=\"a/x\" />\n"
	o, err := Start(t.Context(), b.settings(), "r", pinned(t, doc), none())
	require.NoError(t, err)
	require.Contains(t, o.Result.Output, "Read two.")
	var read []string
	for _, e := range b.store.runs["r"].Events {
		data, err := workspace.Read(b.store.objects, e.Root, "/", "a/x")
		text := string(data)
		if err != nil {
			text = "-"
		}
		if len(read) == 0 || read[len(read)-1] != text {
			read = append(read, text)
		}
	}
	require.Equal(t, []string{"-", "one", "two", "-"}, read)
	again, err := Resume(t.Context(), b.settings(), "r")
	require.NoError(t, err)
	require.Equal(t, o.Result.Output, again.Result.Output)
}

// Siblings change files one after the other, and a run cut anywhere ends with the same
// files.
func TestFilesOfSiblings(t *testing.T) {
	doc := "<All>\n<Spawn>\n<File path=\"a\">1</File>\n<File path=\"b\">2</File>\n</Spawn>\n<Spawn>\n<File path=\"c/d\">3</File>\n<File.Delete path=\"none\" />\n</Spawn>\n</All>\n<Glob include={[\"**\"]} as=\"g\" />\n\nFound <Json value={g} />\n"
	golden := newBench()
	o, err := Start(t.Context(), golden.settings(), "r", pinned(t, doc), none())
	require.NoError(t, err)
	n := len(golden.store.runs["r"].Events)
	for cut := 1; cut < n; cut++ {
		b := newBench()
		b.store.limit = cut
		_, err := Start(t.Context(), b.settings(), "r", pinned(t, doc), none())
		require.Error(t, err)
		resumed := b.clone()
		again, err := Resume(t.Context(), resumed.settings(), "r")
		require.NoError(t, err)
		require.Equal(t, o.Result.Output, again.Result.Output, "cut %d", cut)
		require.Equal(t, golden.store.runs["r"].Root, resumed.store.runs["r"].Root, "cut %d", cut)
	}
}

// Files that cannot be read are a fault of the store, and no outcome a document sees.
func TestLostObjectsStopTheRun(t *testing.T) {
	b := newBench()
	b.programs.hook = func(context.Context, string) error { b.store.runs["r"].Root = strings.Repeat("0", 64); return nil }
	_, err := Start(t.Context(), b.settings(), "r", pinned(t, "```bash exec\none\n```\n\n<PrintErrors>\n<File path=\"a\">1</File>\n</PrintErrors>\n"), none())
	require.True(t, journal.IsDurability(err), "%v", err)
	for _, e := range b.store.runs["r"].Events {
		require.False(t, isEffect(e.Event, effectFile))
		require.Equal(t, journal.TypeYield, e.Event.Type)
	}
}

func TestIDs(t *testing.T) {
	seen := map[string]bool{}
	for range 100 {
		id := NewID()
		require.Regexp(t, "^run_[0-9a-hjkmnp-tv-z]{26}$", id)
		require.False(t, seen[id])
		seen[id] = true
	}
	for _, id := range []string{"", "a\x00b", "\xff", strings.Repeat("x", 513)} {
		require.Error(t, CheckID(id))
	}
	require.NoError(t, CheckID("*.$HOME/../ ü"))
}

var _ engine.Elicitor = nobody{}
