package engine

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/internal/journal"
	"github.com/executable-markdown/xmd/internal/value"
)

const story = `---
props: {n: {type: number, default: 2}}
---
<Touch name="first" />
<Loop max={props.n}><Q /><Touch name="loop" />
</Loop>
` + "```sh exec\nsay hello\nwarn careful\n```\n" +
	`<Let as="x">
` + "```sh exec\nsay captured\n```\n" + `</Let>[{x}]
` + "```sh exec as=\"r\"\nsay bound\nexit 3\n```\n" + `{r.exitCode} {r.stdout}
` + "```js eval\nconst total = 1 + 2; output(total)\n```\n" + `{total}
<All><Spawn><Touch name="left" /></Spawn><Spawn><Touch name="right" />
` + "```sh silent exec\nsay hidden\n```\n" + `</Spawn></All>`

// TestReplay answers a history from every prefix: the output is the same, and
// nothing recorded runs again.
func TestReplay(t *testing.T) {
	golden := observe(t, story, trial{})
	require.NoError(t, golden.err)
	require.NoError(t, golden.Err)
	require.Contains(t, golden.stdout, "hello")
	require.Contains(t, golden.Output, "captured")
	require.Contains(t, golden.Output, "3 bound")
	require.Len(t, golden.calls, 4)

	for cut := range len(golden.events) + 1 {
		t.Run(fmt.Sprintf("%d of %d events", cut, len(golden.events)), func(t *testing.T) {
			recorded := 0
			for _, e := range golden.events[:cut] {
				if typ, _ := e.Description.String("type"); typ == "exec" {
					recorded++
				}
			}
			o := observe(t, story, trial{events: golden.events[:cut]})
			require.NoError(t, o.err)
			require.NoError(t, o.Err)
			require.Equal(t, golden.Output, o.Output)
			require.Equal(t, golden.stdout, o.stdout)
			require.Equal(t, golden.stderr, o.stderr)
			require.Len(t, o.calls, len(golden.calls)-recorded)
			require.ElementsMatch(t, lines(t, golden.events), lines(t, o.events))
		})
	}
}

func lines(t *testing.T, events []journal.Event) []string {
	t.Helper()
	out := make([]string, len(events))
	for i, e := range events {
		b, err := journal.AppendLine(nil, e)
		require.NoError(t, err)
		out[i] = string(b)
	}
	return out
}

// failing is a stream that keeps a number of events and then breaks.
type failing struct {
	journal.Stream
	left int
}

var errDisk = errors.New("the disk is full")

func (f *failing) Append(ctx context.Context, e journal.Event) error {
	if f.left == 0 {
		return errDisk
	}
	f.left--
	return f.Stream.Append(ctx, e)
}

// TestEveryAppendMayFail: what was acknowledged before is all there, no close is
// written, and the next run goes on from it.
func TestEveryAppendMayFail(t *testing.T) {
	golden := observe(t, story, trial{})
	for kept := range len(golden.events) {
		t.Run(fmt.Sprintf("after %d events", kept), func(t *testing.T) {
			stream := journal.NewMemory()
			broken := observe(t, story, trial{stream: &failing{stream, kept}})
			require.ErrorIs(t, broken.err, errDisk)
			events, err := stream.Load(t.Context())
			require.NoError(t, err)
			require.Len(t, events, kept)
			o := observe(t, story, trial{events: events})
			require.NoError(t, o.err)
			require.Equal(t, golden.Output, o.Output)
		})
	}
}

func TestReplayRefusesAnotherDocument(t *testing.T) {
	golden := observe(t, story, trial{})
	for name, source := range map[string]string{"text": story + "more", "empty": ""} {
		for _, cut := range []int{1, len(golden.events)} {
			t.Run(fmt.Sprint(name, cut), func(t *testing.T) {
				o := observe(t, source, trial{events: golden.events[:cut]})
				require.True(t, journal.IsDurability(o.err), "%v", o.err)
				require.Empty(t, o.calls)
				require.Len(t, o.events, cut)
			})
		}
	}
}

func TestReplayDiverges(t *testing.T) {
	golden := observe(t, story, trial{})
	var diverged *journal.DivergenceError
	o := observe(t, story, trial{events: golden.events[:len(golden.events)-1], props: value.Of("n", 1.0)})
	require.ErrorAs(t, o.err, &diverged)
	require.Empty(t, o.calls)
}

func TestReplayOfAFailure(t *testing.T) {
	golden := observe(t, "x <Missing />", trial{})
	require.Error(t, golden.Err)
	o := observe(t, "x <Missing />", trial{events: golden.events})
	require.EqualError(t, o.Err, golden.Err.Error())
	require.Equal(t, "x ", o.Output)
}

// TestCancelledSiblings: a failing child cancels the other, and both closes are
// in the history.
func TestCancelledSiblings(t *testing.T) {
	const source = "<All><Spawn>\n```sh exec\nblock\n```\n</Spawn><Spawn><Hard /></Spawn></All>"
	o := observe(t, source, trial{})
	require.ErrorContains(t, o.Err, "hard trouble")
	closes := map[string]string{}
	for _, e := range o.events {
		if e.Type == journal.TypeClose {
			closes[e.CoroutineID] = e.Result.Status
		}
	}
	require.Equal(t, map[string]string{"root.0": "cancelled", "root.1": "err", "root": "ok"}, closes)

	again := observe(t, source, trial{events: o.events[:len(o.events)-1]})
	require.NoError(t, again.err)
	require.EqualError(t, again.Err, o.Err.Error())
	require.Empty(t, again.calls)
}

func TestCancellationWritesNoClose(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("enough")
	o := observe(t, "a <Stop /> b", trial{ctx: ctx, library: []Component{{Name: "Stop", Origin: "test", Forms: SelfClosing,
		Run: func(context.Context, *Call) (any, error) { cancel(stop); return "", nil }}}})
	require.ErrorIs(t, o.err, stop)
	for _, e := range o.events {
		require.NotEqual(t, journal.TypeClose, e.Type)
	}
	require.Equal(t, "a ", o.Output)
}

func TestCheckedFailureEndsExecutableWork(t *testing.T) {
	o := observe(t, "<Pass>\n```sh exec\nexit 2\n```\n</Pass>\n```sh exec\nsay never\n```\n", trial{})
	require.ErrorContains(t, o.Err, "exit 2")
	require.Equal(t, []string{"exit 2"}, o.calls)
}

// TestDurabilityErrorsAreNeverPrinted: no printing region, soft component or
// capture makes text of a history that broke.
func TestDurabilityErrorsAreNeverPrinted(t *testing.T) {
	for _, source := range []string{
		`<PrintErrors>a <Touch name="x" /> b</PrintErrors>`,
		`<PrintErrors><Soft><Touch name="x" /></Soft></PrintErrors>`,
		`<PrintErrors><Let as="v"><Touch name="x" /></Let></PrintErrors>`,
		`<PrintErrors><Loop max={2}>l</Loop></PrintErrors>`,
	} {
		stream := &failing{journal.NewMemory(), 1} // the root import only
		o := observe(t, source, trial{stream: stream})
		require.ErrorIs(t, o.err, errDisk, source)
		require.NotContains(t, o.Output, "ERROR")
		require.Zero(t, o.Printed)
	}
}

// TestResourcesAreReleasedInReverse: what was acquired last goes first, and every
// release runs whatever became of the others.
func TestResourcesAreReleasedInReverse(t *testing.T) {
	var released []string
	hold := Component{Name: "Hold", Origin: "test", Forms: Both, Props: `{"name":{"type":"string"}}`,
		Run: func(ctx context.Context, c *Call) (any, error) {
			release := func(place string) func() error {
				return func() error {
					released = append(released, place+" "+c.Text("name"))
					return errors.New(place + " " + c.Text("name") + " is stuck")
				}
			}
			c.Keep(release("kept"))
			c.Own(release("own"))
			return c.Content(ctx)
		}}
	o := observe(t, `<Wrap><Hold name="a"><Hold name="b" /></Hold></Wrap><Hold name="c" />`, trial{library: []Component{hold}})
	require.NoError(t, o.err)
	require.Equal(t, []string{"own b", "kept b", "own a", "kept a"}, released, "the first failure of a release ends the document")
	require.ErrorContains(t, o.Err, "own b is stuck")
}

// TestReplayOfSpawns: whatever part of its children's history is there, a replay
// shows, prints and fails as the run did.
func TestReplayOfSpawns(t *testing.T) {
	for name, source := range map[string]string{
		"shown":            "<All><Spawn>\n```sh exec\nsay one\nwarn two\n```\n</Spawn><Spawn>b</Spawn></All>c",
		"a failed command": "<PrintErrors>a</PrintErrors><All><Spawn>\n```sh exec\nexit 2\n```\n</Spawn><Spawn>b</Spawn></All>",
		"a printed fail":   "<PrintErrors><Pass><Region /></Pass></PrintErrors>",
		"printed in place": "<PrintErrors><All><Spawn><Stop /></Spawn><Spawn>b</Spawn></All></PrintErrors>",
	} {
		stop := Component{Name: "Stop", Origin: "test", Forms: SelfClosing, Run: func(context.Context, *Call) (any, error) {
			return nil, &Error{Message: "boo", Authored: true}
		}}
		tr := trial{library: []Component{stop}, files: memory{"Region.md": "<Output><All><Spawn><Stop /></Spawn><Spawn>b</Spawn></All></Output>"}}
		golden := observe(t, source, tr)
		require.NoError(t, golden.err, name)
		for cut := range len(golden.events) + 1 {
			tr.events = golden.events[:cut]
			again := observe(t, source, tr)
			require.NoError(t, again.err, "%s from %d events", name, cut)
			require.Equal(t, golden.Output, again.Output, "%s from %d events", name, cut)
			require.Equal(t, golden.stdout+golden.stderr, again.stdout+again.stderr, "%s from %d events", name, cut)
			require.Equal(t, golden.Printed, again.Printed)
			if golden.Err == nil {
				require.NoError(t, again.Err)
				continue
			}
			require.EqualError(t, again.Err, golden.Err.Error(), "%s from %d events", name, cut)
			require.Equal(t, PositionOf(golden.Err), PositionOf(again.Err), "%s from %d events", name, cut)
		}
	}
}

// TestSpawnsProjectApart: content projected in two spawns is each one's own: no
// data is shared, and the caller's is as it was, live and restored.
func TestSpawnsProjectApart(t *testing.T) {
	files := memory{
		"Par.md":   "<All><Spawn>[<Content />]</Spawn><Spawn>[<Content />]</Spawn><Spawn>[<Content />]</Spawn></All>",
		"Outer.md": "<Par><Content /></Par>",
	}
	const source = `<Let as="a" value={[]} /><Outer><Let as="n" value={a.push(1)} />{n}<Loop max={2}>l</Loop></Outer>{a.length}`
	golden := observe(t, source, trial{files: files})
	require.NoError(t, golden.err)
	require.NoError(t, golden.Err)
	require.Equal(t, "[1ll][1ll][1ll]0", golden.Output)
	for cut := range len(golden.events) + 1 {
		again := observe(t, source, trial{files: files, events: golden.events[:cut]})
		require.NoError(t, again.err)
		require.Equal(t, golden.Output, again.Output)
	}
}

// TestReplayOfFailedSpawns: from every prefix of the history of a failure among
// siblings, a replay arrives at the same failure, performs nothing that followed
// it, and never finds that the history does not fit.
func TestReplayOfFailedSpawns(t *testing.T) {
	for name, source := range map[string]string{
		"expressions under cancellation": "<All><Spawn><Let as=\"x\" value={1 + 1} />{x}<Hard /></Spawn><Spawn><Loop max={3}><Let as=\"y\" value={2 + 2} />{y}</Loop>\n```sh exec\nblock\n```\n</Spawn></All>\n```sh exec\nsay after\n```\n",
		"a failed command beside blocks": "<All><Spawn>\n```sh exec\nexit 3\n```\n</Spawn><Spawn>\n```sh exec\nsay b\n```\n```sh exec\nblock\n```\n</Spawn></All>\n```sh exec\nsay after\n```\n",
		"thrown under a printing region": "<PrintErrors><Pass><All><Spawn><Let as=\"x\" select=\"[\">x</Let></Spawn><Spawn>b</Spawn></All></Pass></PrintErrors>\n```sh exec\nsay after\n```\n",
	} {
		golden := observe(t, source, trial{})
		require.NoError(t, golden.err, name)
		require.Error(t, golden.Err, name)
		require.NotContains(t, golden.calls, "say after")
		for cut := range len(golden.events) + 1 {
			again := observe(t, source, trial{events: golden.events[:cut]})
			require.NoError(t, again.err, "%s from %d events", name, cut)
			require.EqualError(t, again.Err, golden.Err.Error(), "%s from %d events", name, cut)
			require.NotContains(t, again.calls, "say after", "%s from %d events", name, cut)
		}
	}
}

// TestAuthoredCommentIsNoPrintedError: only what the engine printed counts.
func TestAuthoredCommentIsNoPrintedError(t *testing.T) {
	const source = "<All><Spawn><!-- ERROR: fake --></Spawn><Spawn>b</Spawn></All>"
	golden := observe(t, source, trial{})
	for cut := range len(golden.events) + 1 {
		require.Zero(t, observe(t, source, trial{events: golden.events[:cut]}).Printed)
	}
}

// TestNothingAfterACheckedFailure: a component that swallows the failure of its
// content does not make the run go on.
func TestNothingAfterACheckedFailure(t *testing.T) {
	swallow := Component{Name: "Swallow", Origin: "test", Forms: Both, Run: func(ctx context.Context, c *Call) (any, error) {
		_, _ = c.Content(ctx)
		return "swallowed", nil
	}}
	o := observe(t, "<Swallow>\n```sh exec\nexit 2\n```\n</Swallow>\n```sh exec\nsay never\n```\n", trial{library: []Component{swallow}})
	require.ErrorContains(t, o.Err, "exit 2")
	require.Equal(t, []string{"exit 2"}, o.calls)
	o = observe(t, "<Swallow>\n```sh exec\nexit 2\n```\n</Swallow>", trial{library: []Component{swallow}})
	require.ErrorContains(t, o.Err, "exit 2")
}

// TestStoppedWhileConverting: a value whose conversion never ends does not outlive
// the run.
func TestStoppedWhileConverting(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("enough")
	started := Component{Name: "Go", Origin: "test", Forms: SelfClosing, Run: func(context.Context, *Call) (any, error) {
		go cancel(stop)
		return "", nil
	}}
	o := observe(t, "<Let as=\"o\" value={({ toString() { for (;;) {} } })} /><Go />{o}{o} text", trial{ctx: ctx, library: []Component{started}})
	require.ErrorIs(t, o.err, stop)
}

// TestReplayOfEval: what a block did to values, and functions it exports, are there
// again.
func TestReplayOfEval(t *testing.T) {
	const source = "<Let as=\"x\" value={[]} />\n```js eval\nx.push(1); const f = (a) => a + x.length\n```\n{x}\n```sh exec\nsay {x}\n```\n" +
		"<All><Spawn><Let as=\"y\" value={f(1)} />{y}</Spawn><Spawn>b</Spawn></All>"
	golden := observe(t, source, trial{})
	require.NoError(t, golden.Err)
	require.Contains(t, golden.Output, "2b")
	for cut := range len(golden.events) + 1 {
		again := observe(t, source, trial{events: golden.events[:cut]})
		require.NoError(t, again.err, "from %d events", cut)
		require.Equal(t, golden.Output, again.Output)
		require.Equal(t, golden.stdout, again.stdout)
	}
}

// TestReplayOfFailureKinds: a failure that a closed child had comes back with its
// message, place, code and kind, whatever it was, and its printed errors with
// theirs.
func TestReplayOfFailureKinds(t *testing.T) {
	stop := Component{Name: "Stop", Origin: "test", Forms: SelfClosing, Run: func(context.Context, *Call) (any, error) {
		return nil, &Error{Message: "boo", Authored: true}
	}}
	wrap := Component{Name: "Tell", Origin: "test", Forms: Both, Run: func(ctx context.Context, c *Call) (any, error) {
		text, err := c.Content(ctx)
		if err != nil {
			return nil, Explain(err, "told")
		}
		return text, nil
	}}
	for name, source := range map[string]string{
		"in a loop":      "x<All><Spawn><Loop max={3}>a<Stop /></Loop></Spawn><Spawn>b</Spawn></All>y",
		"nested":         "x<All><Spawn><All><Spawn>\n```sh exec\nwarn w\nexit 4\n```\n</Spawn><Spawn>k</Spawn></All></Spawn><Spawn>ok</Spawn></All>y",
		"missing":        "s<All><Spawn>x<Missing /></Spawn><Spawn>b</Spawn></All>e",
		"expression":     "s<All><Spawn>x<Let as=\"v\" value={nope.a} /></Spawn><Spawn>b</Spawn></All>e",
		"printed inside": "<PrintErrors><Tell><All><Spawn><Stop /></Spawn><Spawn>b</Spawn></All></Tell>t</PrintErrors>",
	} {
		tr := trial{library: []Component{stop, wrap}}
		golden := observe(t, source, tr)
		require.NoError(t, golden.err, name)
		for cut := range len(golden.events) + 1 {
			tr.events = golden.events[:cut]
			again := observe(t, source, tr)
			require.NoError(t, again.err, "%s from %d events", name, cut)
			require.Equal(t, golden.Output, again.Output, "%s from %d events", name, cut)
			require.ElementsMatch(t, lines(t, golden.events), lines(t, again.events), "%s from %d events", name, cut)
			require.Equal(t, PositionOf(golden.Err), PositionOf(again.Err), "%s from %d events", name, cut)
		}
	}
}
