package component

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/internal/engine"
	"github.com/executable-markdown/xmd/internal/host"
	"github.com/executable-markdown/xmd/internal/journal"
)

func TestTempDirAroundContent(t *testing.T) {
	m := &memory{}
	o := run(t, `[<TempDir>in <Where /><File path="f">x</File></TempDir>] <Where /> <File path="g" /><TempDir as="t">y</TempDir>{t}`, world{files: m})
	require.Equal(t, "[in /tmp/fresh] /home/site y", o.ok(t))
	require.Equal(t, []string{
		"make /tmp/fresh", "check writeTextFile f", "write /tmp/fresh/f", "remove /tmp/fresh",
		"read /home/site/g", "make /tmp/fresh", "remove /tmp/fresh",
	}, m.log)
}

func TestTempDirSelfClosing(t *testing.T) {
	m := &memory{}
	o := run(t, `<TempDir as="d" />{d} <TempDir /><File path="g" />`, world{files: m})
	require.Equal(t, "/tmp/fresh /tmp/fresh", o.ok(t))
	require.Equal(t, []string{"make /tmp/fresh", "make /tmp/fresh", "read /home/site/g", "remove /tmp/fresh", "remove /tmp/fresh"}, m.log,
		"the directories last until the text around them has ended")
}

// The content's failures mean what the region around says; the directory is
// removed all the same.
func TestTempDirContentFails(t *testing.T) {
	removed := []string{"make /tmp/fresh", "remove /tmp/fresh"}
	m := &memory{}
	o := run(t, `<TempDir>kept <Fail message="no" /></TempDir><Mark />`, world{files: m})
	o.failed(t, "no")
	require.Equal(t, "kept ", o.Output)
	require.Empty(t, o.marks)
	require.Equal(t, removed, m.log)

	m = &memory{removes: &host.FileError{Operation: host.OpTemp, Phase: host.PhaseAccess, Reason: host.Busy}}
	o = run(t, `<PrintErrors><TempDir>lost <Fail message="no" /></TempDir><Mark /></PrintErrors>`, world{files: m})
	o.printed(t, "no")
	require.Equal(t, removed, m.log)
	require.Equal(t, []string{"mark"}, o.marks)

	m = &memory{}
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("the run ended")
	o = run(t, `<TempDir><Stop /></TempDir><Mark />`, world{files: m, ctx: ctx, extra: engine.Component{
		Name: "Stop", Forms: engine.SelfClosing,
		Run: func(ctx context.Context, _ *engine.Call) (any, error) { cancel(cause); return nil, context.Cause(ctx) },
	}})
	require.ErrorIs(t, o.stopped, cause)
	require.Equal(t, removed, m.log)
	require.Empty(t, o.marks)
}

func TestTempDirFailures(t *testing.T) {
	m := &memory{failures: map[string]error{host.OpTemp: &host.FileError{Operation: host.OpTemp, Phase: host.PhaseAcquire, Reason: host.NoSpace}}}
	o := run(t, `<TempDir><Mark name="content" /></TempDir><Mark name="after" />`, world{files: m})
	o.printed(t, `<TempDir> cannot create a temporary directory: no space left on the device`)
	require.Equal(t, []string{"after"}, o.marks)

	busy := &host.FileError{Operation: host.OpTemp, Phase: host.PhaseAccess, Reason: host.Busy}
	o = run(t, `<TempDir>text</TempDir><Mark name="after" />`, world{files: &memory{removes: busy}})
	o.printed(t, `<TempDir> cannot remove a temporary directory: it is in use`)
	require.Equal(t, []string{"after"}, o.marks)

	o = run(t, `<TempDir as="d" />{d}`, world{files: &memory{removes: busy}})
	o.failed(t, `<TempDir> cannot remove a temporary directory: it is in use`)
}

// A recorded effect inside a wrapping TempDir belongs to a directory that is
// gone: the document cannot be resumed there.
func TestTempDirRefusesReplay(t *testing.T) {
	const source = `<TempDir><Elicit schema={{}} as="a">Q</Elicit>{a}</TempDir>`
	first := run(t, source, world{files: &memory{}, elicitor: says("yes")})
	require.Equal(t, "yes", first.ok(t))

	m := &memory{}
	again := run(t, source, world{files: m, elicitor: says("no"), events: first.unfinished()})
	var stale *journal.StaleInputError
	require.ErrorAs(t, again.stopped, &stale)
	require.ErrorContains(t, again.stopped, `the recorded import_component "Elicit" cannot be used: its temporary directory belongs to an earlier run`)
	require.Equal(t, []string{"make /tmp/fresh", "remove /tmp/fresh"}, m.log)

	whole := run(t, source, world{events: first.events})
	require.Equal(t, "yes", whole.ok(t), "a complete history needs no directory")
}
