package component

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/internal/journal"
)

// side is a program that does something in n places at once, with a loop and a
// nested <All> in some of them.
func side(n int) string {
	var b strings.Builder
	b.WriteString(`<Let as="base" value={"b"} /><All>`)
	for i := range n {
		fmt.Fprintf(&b, `<Spawn><Peek key={base + "%d"} as="k" /><File path={"out/" + k + ".txt"}>{k}</File>`, i)
		switch i % 4 {
		case 1:
			b.WriteString(`<Loop max={2} name="twice"><Peek key={k} /></Loop>`)
		case 2:
			b.WriteString(`<All><Spawn><Peek key={k + "l"} /></Spawn><Spawn><Answers><Answer value={1} /><Elicit schema={{}} as="q">?</Elicit>{q}</Answers></Spawn></All>`)
		}
		b.WriteString(`{k};</Spawn>`)
	}
	b.WriteString(`</All><Peek key="after" />`)
	return b.String()
}

// TestA20_AllIsReplayedFromEveryPrefix: from whatever of the history there is, the
// output, the observations and each child's part of the history come out the same,
// and nothing recorded is performed again.
func TestA20_AllIsReplayedFromEveryPrefix(t *testing.T) {
	s := newStage(t)
	profile := s.ordinary()
	const document = `<Give as="program" /><Evaluate text={program} allow={["read","write"]} as="r" /><Each in={r.observations} let="o">{o.name} {o.value},</Each>|{r.output}`
	program := side(6)
	for range 3 { // schedules
		o := performance{profile: profile, text: program}.run(t, document)
		want := o.ok(t)
		require.Equal(t, "Peek b0,Peek b1,Peek b1,Peek b1,Peek b2,Peek b2l,Peek b3,Peek b4,Peek b5,Peek b5,Peek b5,Peek after,|b0;b1b1b1;b2l1b2;b3;b4;b5b5b5;after", want)
		all := s.done()
		coroutines := byCoroutine(t, o.events)
		for cut := range len(o.events) + 1 {
			again := performance{profile: profile, text: program, events: o.events[:cut]}.run(t, document)
			require.Equal(t, want, again.ok(t), "from %d events", cut)
			require.Equal(t, coroutines, byCoroutine(t, again.events), "from %d events", cut)
			require.Len(t, s.done(), len(all)-len(effects(o.events[:cut])), "from %d events", cut)
		}
	}
}

// byCoroutine is each coroutine's part of a history.
func byCoroutine(t *testing.T, events []journal.Event) map[string][]string {
	parts := map[string][]string{}
	for _, e := range events {
		parts[e.CoroutineID] = append(parts[e.CoroutineID], outlines(t, []journal.Event{e})...)
	}
	return parts
}

// TestA20_AFailingChildFailsFromEveryPrefix: one child fails while its siblings wait;
// the failure is the same from every prefix, and what follows never happens.
func TestA20_AFailingChildFailsFromEveryPrefix(t *testing.T) {
	s := newStage(t)
	p := s.profile()
	wait := s.own("Wait", capability.Read, capability.SelfClosing, noProps, "")
	wait.Op.Do = func(ctx context.Context, _ capability.Call) (any, error) {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	broken := s.own("Broken", capability.Read, capability.SelfClosing, noProps, "")
	broken.Op.Do = func(context.Context, capability.Call) (any, error) { return nil, errors.New("it is broken") }
	p.Read = append(p.Read, wait, broken)
	p.Limits.Steps = 400
	profile := s.capture(p)
	for name, c := range map[string]struct{ program, message string }{
		"an operation": {`<All><Spawn><Peek key="a" /><Wait /></Spawn><Spawn><Peek key="b" /><Loop max={2}><Wait /></Loop></Spawn><Spawn><Peek key="c" /><Broken /></Spawn><Spawn>text<Wait /></Spawn></All><Peek key="after" />`, "line 1, column 128 of the program: <Broken>: it is broken"},
		"a Fail":       {`<All><Spawn><Peek key="a" /><Wait /></Spawn><Spawn><Loop max={3}><Peek key="b" /><Fail message="enough" /></Loop></Spawn></All><Peek key="after" />`, "enough"},
		"a limit":      {`<All><Spawn><Wait /></Spawn><Spawn><Peek key="b" /><Loop max={1000000}>x</Loop></Spawn></All><Peek key="after" />`, "the fragment used up its limit on steps"},
		"nested":       {`<All><Spawn><Wait /></Spawn><Spawn><All><Spawn><Peek key="b" /><Broken /></Spawn><Spawn><Wait /></Spawn></All></Spawn></All><Peek key="after" />`, "it is broken"},
	} {
		t.Run(name, func(t *testing.T) {
			o := performance{profile: profile, text: c.program}.run(t, evaluateRead)
			require.NoError(t, o.stopped)
			require.ErrorContains(t, o.Err, c.message)
			require.Equal(t, "cancelled", closes(o.events)["root.0"])
			require.NotContains(t, s.done(), "Peek after")
			for cut := range len(o.events) + 1 {
				again := performance{profile: profile, text: c.program, events: o.events[:cut]}.run(t, evaluateRead)
				require.NoError(t, again.stopped, "from %d of %d events", cut, len(o.events))
				require.EqualError(t, again.Err, o.Err.Error(), "from %d of %d events", cut, len(o.events))
				require.Equal(t, closes(o.events), closes(again.events), "from %d of %d events", cut, len(o.events))
				require.NotContains(t, s.done(), "Peek after")
			}
		})
	}
}

// closes is how each coroutine ended.
func closes(events []journal.Event) map[string]string {
	ends := map[string]string{}
	for _, e := range events {
		if e.Type == journal.TypeClose {
			ends[e.CoroutineID] = e.Result.Status
		}
	}
	return ends
}

// TestA20_WhatAChildUsedIsRestored: a child that is not run again has still used what
// it used of the bounds.
func TestA20_WhatAChildUsedIsRestored(t *testing.T) {
	s := newStage(t)
	p := s.profile()
	p.Limits.Steps = 3000
	profile := s.capture(p)
	const program = `<All><Spawn><Loop max={100}>x</Loop></Spawn><Spawn><Peek key="b" /></Spawn></All><Loop max={%d}>y</Loop>`
	outcomeOf := func(n int, events []journal.Event) outcome {
		return performance{profile: profile, text: fmt.Sprintf(program, n), events: events}.run(t, evaluateRead)
	}
	low, high := 1, 3000 // the most turns that are left, found live
	for low+1 < high {
		if mid := (low + high) / 2; outcomeOf(mid, nil).Err == nil {
			low = mid
		} else {
			high = mid
		}
	}
	require.Greater(t, low, 100)
	for _, n := range []int{low, high} {
		live := outcomeOf(n, nil)
		after := slices.IndexFunc(live.events, func(e journal.Event) bool { return e.Type == journal.TypeClose && e.CoroutineID == "root.1" }) + 1
		for cut := afterDecision(t, live.events); cut <= max(after, 4); cut++ {
			again := outcomeOf(n, live.events[:cut])
			require.Equal(t, live.Err == nil, again.Err == nil, "%d turns from %d events", n, cut)
			require.Equal(t, live.Output, again.Output)
		}
	}
}

// TestA20_AnEndThatComesFromOutside: a run that is cancelled while children are at
// work stops as a whole, and its continuation comes to what a whole run comes to.
func TestA20_AnEndThatComesFromOutside(t *testing.T) {
	golden := newStage(t)
	program := side(4)
	want := performance{profile: golden.ordinary(), text: program}.run(t, evaluateWrite).ok(t)
	for kept := 1; kept < 30; kept++ {
		s := newStage(t)
		ctx, kill := context.WithCancelCause(t.Context())
		stream := journal.NewMemory()
		broken := performance{profile: s.ordinary(), text: program, ctx: ctx, stream: &crashing{stream, kept, kill}}.run(t, evaluateWrite)
		kill(nil)
		held, err := stream.Load(t.Context())
		require.NoError(t, err)
		if broken.stopped != nil {
			require.ErrorIs(t, broken.stopped, errCrash)
			require.NotContains(t, closes(held), "root")
		}
		again := performance{profile: s.ordinary(), text: program, events: held}.run(t, evaluateWrite)
		require.Equal(t, want, again.ok(t), "after %d events", kept)
		require.Equal(t, "b3", s.text("out/b3.txt"))
	}
}

// TestChildrenShareThePersonAround: children that ask the same person take turns however
// they like, and end.
func TestChildrenShareThePersonAround(t *testing.T) {
	s := newStage(t)
	program := `<All>` + strings.Repeat(`<Spawn><Elicit schema={{}} as="a">?</Elicit>{a}</Spawn>`, 5) + `</All>`
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	o := performance{profile: s.ordinary(), text: program, elicitor: always("x"), ctx: ctx}.run(t, evaluateWrite)
	require.Equal(t, "xxxxx", o.ok(t))
}
