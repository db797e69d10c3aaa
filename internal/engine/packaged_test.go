package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/agent"
	"github.com/executable-markdown/xmd/internal/journal"
)

const shippedText = `---
props: {n: {type: number}}
returns: {type: string}
---
<Private as="p" /><Pass><Private as="q" /></Pass>
<If condition={props.n > 1}><Else><Hard /></Else></If>
<Return value={p + q + props.n} />
`

// shipped is a component with a packaged body that expands on a coroutine of its own,
// after its content was rendered. Its private elements count themselves.
func shipped(text string, released *atomic.Int32) Component {
	return Component{
		Name: "Shipped", Origin: "test", Forms: Both, Body: NewPackaged("<shipped>", text),
		Props: `{"n":{"type":"number","default":2}}`,
		Run: func(ctx context.Context, c *Call) (any, error) {
			if _, err := c.Content(ctx); err != nil {
				return nil, err
			}
			asked := 0
			private := NewLibrary(nil, []Component{testLibrary[0], testLibrary[2], {
				Name: "Private", Origin: "test", Forms: SelfClosing,
				Run: func(ctx context.Context, c *Call) (any, error) {
					asked++
					return c.Effect(ctx, Effect{Type: "private", Name: fmt.Sprint("private:", asked)}, func(context.Context) (any, error) {
						return fmt.Sprint("p", asked), nil
					})
				},
			}})
			return c.Apart().Run(ctx, func(ctx context.Context, c *Call) (any, error) {
				c.Own(func() error { released.Add(1); return nil })
				return c.Expand(ctx, private, c.Props())
			})
		},
	}
}

// packagedTrial runs a document that may use <Shipped>.
func packagedTrial(t *testing.T, source, text string, events ...journal.Event) (observation, int) {
	t.Helper()
	var released atomic.Int32
	o := observe(t, source, trial{library: []Component{shipped(text, &released)}, events: events, files: memory{
		"components/Pass.md": "a file", "Shows.md": "<Content />",
	}})
	return o, int(released.Load())
}

// TestPackagedNames: private names belong to the packaged body alone, and no file is
// searched for a name of it.
func TestPackagedNames(t *testing.T) {
	o, released := packagedTrial(t, "<Shipped />", shippedText)
	require.NoError(t, o.err)
	require.NoError(t, o.Err)
	require.Equal(t, "p1p22", o.Output, "a file does not replace what the body uses")
	require.Equal(t, 1, released)
	for _, source := range []string{
		"<Private />", "<Shipped><Private /></Shipped>", "<Shipped /><Private />", "<Shows><Shipped /><Private /></Shows>",
		"<Shipped><Shipped /><Private /></Shipped>",
	} {
		o, _ := packagedTrial(t, source, shippedText)
		require.ErrorContains(t, o.Err, "no component is named Private", source)
	}
	for _, name := range []string{"Shows", "Touch"} {
		o, _ := packagedTrial(t, "<Shipped />", "---\nreturns: {type: string}\nprops: {type: object}\n---\n<"+name+" /><Return value=\"x\" />")
		require.ErrorContains(t, o.Err, "no component is named "+name)
	}
	o, _ = packagedTrial(t, "<Shipped>content</Shipped>", "---\nreturns: {type: string}\nprops: {type: object}\n---\n<Content /><Return value=\"x\" />")
	require.ErrorContains(t, o.Err, "<Content> has no meaning here")
	o, _ = packagedTrial(t, "<Shipped />", "---\nreturns: {type: string}\n---\n<Return value=\"x\" />")
	require.ErrorContains(t, o.err, "props its schema refuses")
}

// TestPackagedReplay: the imports of private names, and everything else of the body,
// replay from every prefix of the history.
func TestPackagedReplay(t *testing.T) {
	const source = "<Shipped /><All><Spawn><Shipped n={3} /></Spawn><Spawn><Shipped /></Spawn></All><Touch name=\"x\" />"
	golden, _ := packagedTrial(t, source, shippedText)
	require.NoError(t, golden.Err)
	require.Equal(t, "p1p22p1p23p1p22touched x", golden.Output)
	for cut := range len(golden.events) + 1 {
		o, _ := packagedTrial(t, source, shippedText, golden.events[:cut]...)
		require.NoError(t, o.err, cut)
		require.NoError(t, o.Err, cut)
		require.Equal(t, golden.Output, o.Output, cut)
		require.ElementsMatch(t, lines(t, golden.events), lines(t, o.events), cut)
	}
}

// TestPackagedFailureReplays: work apart that failed before fails again as it did.
func TestPackagedFailureReplays(t *testing.T) {
	const source = "<PrintErrors><Shipped n={1} /></PrintErrors>after"
	golden, released := packagedTrial(t, source, shippedText)
	require.ErrorContains(t, golden.Err, "hard trouble")
	require.NotContains(t, golden.Output, "after")
	require.Equal(t, 1, released)
	for cut := range len(golden.events) + 1 {
		o, _ := packagedTrial(t, source, shippedText, golden.events[:cut]...)
		require.ErrorContains(t, o.Err, "hard trouble")
		require.ElementsMatch(t, lines(t, golden.events), lines(t, o.events), cut)
	}
}

// TestApart: what a history holds the end of is not done again.
func TestApart(t *testing.T) {
	golden, _ := packagedTrial(t, "<Shipped />", shippedText)
	closed := slices.IndexFunc(golden.events, func(e journal.Event) bool { return e.Type == journal.TypeClose })
	require.Equal(t, "root.0", golden.events[closed].CoroutineID)
	o, released := packagedTrial(t, "<Shipped />", shippedText, golden.events[:closed+1]...)
	require.NoError(t, o.Err)
	require.Equal(t, golden.Output, o.Output)
	require.Zero(t, released)

	for _, end := range []journal.Result{journal.Cancelled(), journal.Err(errors.New("it failed"))} {
		events := slices.Clone(golden.events[:closed+1])
		events[closed].Result = end
		o, _ := packagedTrial(t, "<Shipped />", shippedText, events...)
		require.True(t, journal.IsDurability(o.err), "%v", o.err)
	}
}

// TestPackagedProgramsAreChecked: a body that cannot be one is a mistake in the
// program.
func TestPackagedProgramsAreChecked(t *testing.T) {
	for _, text := range []string{"no value", "---\nx: [\n---\n", "---\nreturns: {type: string}\n---\nnothing"} {
		require.Panics(t, func() { NewPackaged("<shipped>", text).definition() }, text)
	}
	require.NotEqual(t, NewPackaged("<a>", "x").Digest(), NewPackaged("<a>", "y").Digest())
}

// numbered is a component that is numbered as a prompt is. Its failure is collected.
var numbered = Component{
	Name: "Numbered", Origin: "test", Forms: SelfClosing, Props: `{"fail":{"type":"boolean"}}`,
	Run: func(ctx context.Context, c *Call) (any, error) {
		place := c.Position().String()
		ordinal, sequence := c.NumberPrompt(place)
		v, err := c.Effect(ctx, Effect{Type: "agent_prompt", Name: fmt.Sprintf("prompt:%s#%d", place, ordinal)}, func(context.Context) (any, error) {
			record := agent.Record{Sequence: sequence, Agent: "a", Status: agent.Completed, Text: "."}
			if fails, _ := c.Props().Get("fail"); fails == true {
				record.Finish(&agent.Terminal{Status: agent.Failed, StopReason: "refusal"}, nil)
			}
			return record.Value(), nil
		})
		if err != nil {
			return nil, err
		}
		record, err := agent.ParseRecord(v)
		if err != nil {
			return nil, err
		}
		if failed := record.PromptError(place, nil); failed != nil {
			c.CollectPrompt(failed)
		}
		return record.Text, nil
	},
}

// TestPromptNumbersReplay: concurrent prompts of one place, and those after them, have
// the same names in every continuation, and no sequence is given twice (agents 5.1).
func TestPromptNumbersReplay(t *testing.T) {
	const source = "<Two /><All><Spawn><Two /></Spawn><Spawn><Two /></Spawn></All><Two />"
	files := memory{"Two.md": "<Loop max={2}><Numbered /></Loop>"}
	names := func(events []journal.Event) map[string][]string {
		all := make(map[string][]string)
		for _, e := range events {
			if name, _ := e.Description.String("name"); promptRecord(e) != nil {
				all[e.CoroutineID] = append(all[e.CoroutineID], name)
			}
		}
		return all
	}
	golden := observe(t, source, trial{library: []Component{numbered}, files: files})
	require.NoError(t, golden.Err)
	const place = "prompt:Two.md:1:15#"
	require.Equal(t, map[string][]string{
		"root":   {place + "0", place + "1", place + "2", place + "3"},
		"root.0": {place + "0", place + "1"},
		"root.1": {place + "0", place + "1"},
	}, names(golden.events))
	for cut := range len(golden.events) + 1 {
		o := observe(t, source, trial{library: []Component{numbered}, files: files, events: golden.events[:cut]})
		require.NoError(t, o.err, cut)
		require.Equal(t, names(golden.events), names(o.events), cut)
		var sequences []int
		for _, e := range o.events {
			if record := promptRecord(e); record != nil {
				sequences = append(sequences, record.Sequence)
			}
		}
		slices.Sort(sequences)
		require.Equal(t, []int{0, 1, 2, 3, 4, 5, 6, 7}, sequences, cut)
	}
}

// TestFailedPromptsOfARestoredChild: a prompt that failed in a child that is not run
// again is still one the run ends with (agents 4.5).
func TestFailedPromptsOfARestoredChild(t *testing.T) {
	const source = "<All><Spawn><Numbered fail={true} /></Spawn><Spawn><Numbered /></Spawn></All><Touch name=\"x\" />"
	golden := observe(t, source, trial{library: []Component{numbered}})
	var failed *agent.PromptsError
	require.ErrorAs(t, golden.Err, &failed)
	require.Len(t, failed.Prompts, 1)
	for cut := range len(golden.events) {
		o := observe(t, source, trial{library: []Component{numbered}, events: golden.events[:cut]})
		require.EqualError(t, o.Err, golden.Err.Error(), cut)
	}
}
