package component

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/agent"
	"github.com/executable-markdown/xmd/internal/journal"
	"github.com/executable-markdown/xmd/internal/value"
)

// An echo is a provider whose agents repeat what they are told. A message may say how
// its turn ends: fail, cancel, gone.
type echo struct {
	mu       sync.Mutex
	probes   []string
	placed   map[string]*agent.Session
	turns    []string // agent, session key and text of each turn
	limits   []time.Duration
	absent   string // an agent that is not available
	closed   int
	closing  error
	policies []agent.PermissionOutcome // decided for a write of each turn
}

func newEcho() *echo { return &echo{placed: map[string]*agent.Session{}} }

func (p *echo) Agent(_ context.Context, name string) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.probes = append(p.probes, name)
	if name == p.absent {
		return "", agent.Unavailable(name, agent.ReasonNotFound, "there is no such program", nil)
	}
	return name, nil
}

func (p *echo) Session(_ context.Context, place agent.Placement) (*agent.Session, error) {
	return p.place(place.Agent, place.Name), nil
}

func (p *echo) place(name, session string) *agent.Session {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := name + "/" + session
	if p.placed[key] == nil {
		p.placed[key] = &agent.Session{Key: key, Owner: p, Agent: name}
	}
	return p.placed[key]
}

func (p *echo) Prompt(text string, o agent.PromptOptions) agent.Turn {
	return echoTurn{p, text, o}
}

func (p *echo) Close(context.Context) error {
	p.closed++
	return p.closing
}

type echoTurn struct {
	p    *echo
	text string
	o    agent.PromptOptions
}

func (t echoTurn) Run(ctx context.Context, sink func(agent.Event) error) (string, error) {
	s := t.o.Session.Placed
	switch {
	case s == nil:
		s = t.p.place(t.o.Agent, t.o.Session.Name)
	case s.Owner != t.p:
		return "", agent.Foreign(s.Key)
	case s.Agent != t.o.Agent:
		return "", agent.Mismatched(t.o.Agent, s.Key, s.Agent)
	}
	if strings.Contains(t.text, "gone") {
		return "", &agent.Error{Code: agent.ErrPeerGone, Agent: t.o.Agent}
	}
	if err := sink(agent.Started{Agent: t.o.Agent, Session: s}); err != nil {
		return "", err
	}
	request := agent.PermissionRequest{Session: s, Tool: agent.ToolCall{ID: "t1", Title: "write a file", Kind: "edit"}, Options: []agent.PermissionOption{
		{ID: "yes", Name: "Allow", Kind: agent.AllowOnce}, {ID: "no", Name: "Reject", Kind: agent.RejectOnce},
	}}
	if strings.Contains(t.text, "ask") {
		outcome, err := agent.Settle(ctx, t.o.Policy, request)
		if err != nil {
			return "", err
		}
		t.o.Permission(agent.NewAudit(request, outcome, false))
		t.p.mu.Lock()
		t.p.policies = append(t.p.policies, outcome)
		t.p.mu.Unlock()
	}
	t.p.mu.Lock()
	t.p.turns = append(t.p.turns, t.o.Agent+" "+s.Key+" "+t.text)
	t.p.limits = append(t.p.limits, t.o.Timeout)
	t.p.mu.Unlock()
	end := agent.Terminal{Status: agent.Completed, StopReason: "end_turn"}
	reply := "re: " + t.text
	switch {
	case strings.Contains(t.text, "fail"):
		end = agent.Terminal{Status: agent.Failed, StopReason: "max_tokens"}
		reply = "part"
	case strings.Contains(t.text, "hold"):
		<-ctx.Done()
		return "", context.Cause(ctx)
	}
	if err := sink(agent.TextDelta{Text: reply}); err != nil {
		return reply, err
	}
	return reply, sink(end)
}

// agents is a world with an echo and its region.
func agents(p *echo) world {
	return world{region: agent.Region{Provider: p, DefaultAgent: "one", Mode: agent.ApproveReads}}
}

func TestPromptTakesOneTurn(t *testing.T) {
	p := newEcho()
	o := run(t, "[<Prompt text=\" hello \" />|<Prompt>say <Mark /></Prompt>|<Prompt text=\"not this\"></Prompt>]", agents(p))
	require.Equal(t, "[re:  hello |re: say mark|re: ]", o.ok(t))
	require.Equal(t, []string{"one one/  hello ", "one one/ say mark", "one one/ "}, p.turns)
}

func TestAG6_NestingDecidesAgentAndSession(t *testing.T) {
	for _, c := range []struct{ source, turn, failure string }{
		{`<Prompt text="x" />`, "one one/ x", ""},
		{`<Agent name="two"><Prompt text="x" /></Agent>`, "two two/ x", ""},
		{`<Agent name="two"><Session name="s"><Prompt text="x" /></Session></Agent>`, "two two/s x", ""},
		{`<Agent name="two"><Session name="s"><Prompt text="x" session="t" /></Session></Agent>`, "two two/t x", ""},
		{`<Session name="s"><Loop max={2}><Prompt text="x" /></Loop></Session>`, "one one/s x", ""},
		{`<Agent name="two"><Session name="s"><Prompt text="x" agent="three" /></Session></Agent>`, "", `agent "three" does not match session "two/s" (agent "two")`},
		{`<Session name="s"><Agent name="two"><Prompt text="x" /></Agent></Session>`, "", `agent "two" does not match session "one/s" (agent "one")`},
	} {
		p := newEcho()
		o := run(t, c.source, agents(p))
		require.NoError(t, o.stopped, c.source)
		if c.failure != "" {
			require.ErrorContains(t, o.Err, "1 agent prompt(s) failed", c.source)
			require.ErrorContains(t, o.Err, c.failure, c.source)
			require.Empty(t, p.turns)
			continue
		}
		require.NoError(t, o.Err, c.source)
		require.Equal(t, c.turn, p.turns[0], c.source)
	}
}

func TestAG6_FailedTurns(t *testing.T) {
	p := newEcho()
	o := run(t, `a <Prompt text="fail once" /> b <Prompt text="gone" /> c`, agents(p))
	require.NoError(t, o.stopped)
	require.Equal(t, "a part b  c", o.Output)
	require.ErrorContains(t, o.Err, "2 agent prompt(s) failed")
	var joined *agent.PromptsError
	require.ErrorAs(t, o.Err, &joined)
	require.Equal(t, 0, joined.Prompts[0].Sequence)
	require.Equal(t, "max_tokens", joined.Prompts[0].StopReason)

	o = run(t, `a <Prompt text="fail" throwOnError={true} /> b`, agents(newEcho()))
	require.Equal(t, "a ", o.Output)
	var one *agent.PromptError
	require.ErrorAs(t, o.Err, &one)

	w := agents(newEcho())
	w.region.FailPrompts = true
	o = run(t, `a <Prompt text="fail" throwOnError={false} /> b`, w)
	require.Equal(t, "a ", o.Output)
	require.Error(t, o.Err)
}

// What keeps an agent from being used at all stops the document, whatever prints
// errors there, and is not recorded as a turn.
func TestAG6_WhatStopsTheDocument(t *testing.T) {
	absent := newEcho()
	absent.absent = "one"
	for name, c := range map[string]struct {
		source  string
		w       world
		message string
	}{
		"no provider":      {`<Prompt text="x" />`, world{}, "no agent provider"},
		"unknown provider": {`<AgentProvider name="nope"><Prompt text="x" /></AgentProvider>`, agents(newEcho()), `Unknown agent provider "nope"`},
		"not available":    {`<Prompt text="x" />`, agents(absent), "there is no such program"},
		"a bad limit":      {`<Prompt text="x" timeout="soon" />`, agents(newEcho()), "timeout of <Prompt>"},
	} {
		o := run(t, `<PrintErrors>`+c.source+`</PrintErrors><Mark />`, c.w)
		require.ErrorContains(t, errors.Join(o.stopped, o.Err), c.message, name)
		require.Empty(t, o.marks, name)
		require.Empty(t, recordedTurns(o.events), name)
	}
}

// TestAG3_ContentFirst: content that fails resolves, numbers and records nothing.
func TestAG3_ContentFirst(t *testing.T) {
	p := newEcho()
	o := run(t, `<PrintErrors><Prompt><Fail message="no message" /></Prompt></PrintErrors>`, agents(p))
	require.NoError(t, o.stopped)
	require.Empty(t, p.probes)
	require.Empty(t, recordedTurns(o.events))
}

func recordedTurns(events []journal.Event) []journal.Event {
	var turns []journal.Event
	for _, e := range events {
		if typ, _ := e.Description.String("type"); typ == "agent_prompt" {
			turns = append(turns, e)
		}
	}
	return turns
}

func TestAG7_TheRecordOfATurn(t *testing.T) {
	o := run(t, `<Loop max={2}><Prompt text="ask me" /></Loop>`, agents(newEcho()))
	require.NoError(t, o.Err)
	turns := recordedTurns(o.events)
	require.Len(t, turns, 2)
	for i, e := range turns {
		name, _ := e.Description.String("name")
		require.Equal(t, []string{"prompt:main.md:1:15#0", "prompt:main.md:1:15#1"}[i], name)
		input, _ := e.Description.String("input")
		require.Equal(t, "ask me", input)
		text, err := value.JSON(e.Result.Value)
		require.NoError(t, err)
		require.Equal(t, `{"sequence":`+string(rune('0'+i))+`,"agent":"one","sessionKey":"one/","status":"completed","stopReason":"end_turn","text":"re: ask me",`+
			`"permissions":[{"toolCallId":"t1","title":"write a file","kind":"edit","options":[{"optionId":"yes","name":"Allow","kind":"allow_once"},`+
			`{"optionId":"no","name":"Reject","kind":"reject_once"}],"outcome":{"outcome":"selected","optionId":"no"}}]}`, text)
	}
}

// TestAG8_AReplayTakesNoTurn: from every prefix of a history the run comes to the same
// end, and each turn is taken once in all.
func TestAG8_AReplayTakesNoTurn(t *testing.T) {
	const source = `<Agent name="two"><Session name="s"><Prompt text="first" /></Session></Agent><Prompt text="fail" /><PrintErrors><Prompt text="fail too" throwOnError={true} /></PrintErrors><Prompt text="last" />`
	first := newEcho()
	o := run(t, source, agents(first))
	require.NoError(t, o.stopped)
	require.ErrorContains(t, o.Err, "1 agent prompt(s) failed")
	require.Len(t, first.turns, 4)
	for cut := range len(o.events) + 1 {
		p := newEcho()
		w := agents(p)
		w.events = o.events[:cut]
		again := run(t, source, w)
		require.NoError(t, again.stopped, "from %d events", cut)
		require.EqualError(t, again.Err, o.Err.Error(), "from %d events", cut)
		require.Equal(t, o.Output, again.Output, "from %d events", cut)
		require.Len(t, p.turns, 4-len(recordedTurns(w.events)), "from %d events", cut)
		if len(p.turns) == 0 {
			require.Empty(t, p.probes, "from %d events", cut)
		}
	}
	// Another message has another history.
	w := agents(newEcho())
	w.events = o.events[:len(o.events)-1]
	again := run(t, strings.Replace(source, `"last"`, `"else"`, 1), w)
	require.Error(t, again.stopped)
}

// TestAG9_AHistoryThatEndsEarlyGoesOn: what was raised is raised again, the turns
// of a loop keep their numbers, and the first turn that is taken asks whether its agent
// is there, once.
func TestAG9_AHistoryThatEndsEarlyGoesOn(t *testing.T) {
	const source = `<PrintErrors><Prompt text="fail" throwOnError={true} /></PrintErrors><Loop max={3}><Prompt text="again" /></Loop>`
	first := newEcho()
	o := run(t, source, agents(first))
	require.NoError(t, o.Err)
	turns := recordedTurns(o.events)
	require.Len(t, turns, 4)

	p := newEcho()
	w := agents(p)
	for i := range o.events { // up to and with the second turn of the loop
		if len(recordedTurns(o.events[:i+1])) == 3 {
			w.events = o.events[:i+1]
			break
		}
	}
	again := run(t, source, w)
	require.NoError(t, again.stopped)
	require.NoError(t, again.Err, "what was raised was handled, and is not collected")
	require.Equal(t, o.Output, again.Output)
	require.Len(t, p.turns, 1)
	require.Len(t, p.probes, 1)
	require.Equal(t, turns, recordedTurns(again.events))
}

// TestAG10_RegionsNarrow: an element narrows what the invocation granted.
func TestAG10_RegionsNarrow(t *testing.T) {
	for _, c := range []struct {
		mode   agent.Mode
		source string
		want   string
	}{
		{agent.ApproveAll, `<Prompt text="ask" />`, "yes"},
		{agent.ApproveAll, `<AskPermission><Prompt text="ask" /></AskPermission>`, "no"},
		{agent.ApproveAll, `<AskPermission><ApproveAll><Prompt text="ask" /></ApproveAll></AskPermission>`, "yes"},
		{agent.DenyAll, `<ApproveAll><Prompt text="ask" /></ApproveAll>`, "no"},
		{agent.ApproveReads, `<ApproveAll><Prompt text="ask" /></ApproveAll>`, "no"},
	} {
		p := newEcho()
		w := agents(p)
		w.region.Mode = c.mode
		require.NoError(t, run(t, c.source, w).Err)
		require.Equal(t, []agent.PermissionOutcome{{OptionID: c.want}}, p.policies, "%s under %s", c.source, c.mode)
	}
}

func TestPromptsInParallelKeepTheirOrder(t *testing.T) {
	o := run(t, `<All><Spawn><Prompt text="fail a" /></Spawn><Spawn><Prompt text="b" /></Spawn></All>`, agents(newEcho()))
	require.NoError(t, o.stopped)
	require.ErrorContains(t, o.Err, "1 agent prompt(s) failed")
	require.Len(t, recordedTurns(o.events), 2)
}

func TestAgentProviderEndsWithItsElement(t *testing.T) {
	inner := newEcho()
	w := agents(newEcho())
	w.provider = inner
	o := run(t, `<Session name="s"><AgentProvider name="inner" defaultAgent="two" timeout="3s"><Prompt text="x" /></AgentProvider><Prompt text="y" timeout="1s" /></Session>`, w)
	require.Equal(t, "re: xre: y", o.ok(t))
	require.Equal(t, []string{"two two/ x"}, inner.turns)
	require.Equal(t, []time.Duration{3 * time.Second}, inner.limits)
	require.Equal(t, 1, inner.closed)

	inner = newEcho()
	inner.closing = errors.New("it did not end")
	w.provider = inner
	o = run(t, `<AgentProvider name="inner"><Prompt text="x" /></AgentProvider>`, w)
	require.ErrorContains(t, errors.Join(o.stopped, o.Err), "it did not end")
}
