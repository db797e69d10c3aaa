package catalog_test

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/internal/document"
	"github.com/executable-markdown/xmd/internal/engine"
	"github.com/executable-markdown/xmd/internal/host"
	"github.com/executable-markdown/xmd/internal/journal"
	"github.com/executable-markdown/xmd/internal/value"
)

// run executes a document over a history and returns the history that results.
func run(t *testing.T, text string, sources host.Sources, history ...journal.Event) (engine.Result, []journal.Event, error) {
	t.Helper()
	d, err := document.Parse("doc.md", []byte(text))
	require.NoError(t, err)
	root, err := engine.Load(d, nil)
	require.NoError(t, err)
	stream := journal.NewMemory(history...)
	j, err := journal.Open(t.Context(), stream, journal.Options{})
	require.NoError(t, err)
	result, err := engine.Run(t.Context(), root, engine.Options{
		Host: host.Host{Sources: sources}, Library: library(), Journal: j,
		Include: []string{"components", "."}, Stdout: io.Discard, Stderr: io.Discard,
	})
	events, loadErr := stream.Load(context.Background())
	require.NoError(t, loadErr)
	return result, events, err
}

func listings(events []journal.Event) []journal.Event {
	var out []journal.Event
	for _, e := range events {
		if typ, _ := e.Description.String("type"); typ == "syntax_symbols" {
			out = append(out, e)
		}
	}
	return out
}

func TestSyntaxShowsTheCatalog(t *testing.T) {
	sources := newFiles(map[string]string{"components/Greet.md": "hi", "components/Syntax.md": "never"})
	result, events, err := run(t, "<Syntax />", sources)
	require.NoError(t, err)
	require.NoError(t, result.Err)
	require.Equal(t, build(t, sources.text).Text(), result.Output)

	recorded := listings(events)
	require.Len(t, recorded, 1)
	name, _ := recorded[0].Description.String("name")
	require.Regexp(t, "^syntax_symbols:[0-9a-f]{64}$", name)
	require.True(t, value.Equal(value.Of("symbols", result.Output), recorded[0].Result.Value))
}

func TestSyntaxNamed(t *testing.T) {
	result, _, err := run(t, `<Syntax names={["Json", "File"]} as="s" />[{s}]`, newFiles(nil))
	require.NoError(t, err)
	require.NoError(t, result.Err)
	require.True(t, strings.HasPrefix(result.Output, "[### `<File>`"))
	require.Contains(t, result.Output, "Long words about files.")
	require.Contains(t, result.Output, "### `<Json>`")
}

func TestSyntaxWithoutComponentFiles(t *testing.T) {
	result, _, err := run(t, "<Syntax />", nil)
	require.NoError(t, err)
	require.NoError(t, result.Err)
	require.Contains(t, result.Output, "No component files were found.")
}

func TestSyntaxRefusals(t *testing.T) {
	tests := []struct {
		name, text string
		sources    host.Sources
		refused    string // the recorded refusal; empty: nothing was recorded
		says       string
	}{
		{"paired", "<Syntax>x</Syntax>", newFiles(nil), "", "takes no content"},
		{"empty names", "<Syntax names={[]} />", newFiles(nil), "", "must NOT have fewer than 1 items"},
		{"repeated names", `<Syntax names={["File","File"]} />`, newFiles(nil), "", "duplicate"},
		{"names that are no text", "<Syntax names={[1]} />", newFiles(nil), "", "must be string"},
		{"unknown prop", `<Syntax name="File" />`, newFiles(nil), "", "additional"},
		{"nothing to list with", "<Syntax />", bare{newFiles(nil)}, "", "no syntax reference"},
		{"unknown name", `<Syntax names={["File","Zed"]} />`, newFiles(nil), "no component is named \"Zed\"", "Zed"},
		{"construct", `<Syntax names={["If"]} />`, newFiles(nil), "<If> is a structural element", "structural"},
		{"no catalog", "<Syntax />", newFiles(map[string]string{"components/Locked.md": unreadable}), "components/Locked.md", "Locked"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			result, events, err := run(t, tt.text, tt.sources)
			require.NoError(t, err)
			require.ErrorContains(t, result.Err, tt.says)
			recorded := listings(events)
			if tt.refused == "" {
				require.Empty(t, recorded)
				return
			}
			require.Len(t, recorded, 1)
			outcome := recorded[0].Result.Value.(*value.Object)
			require.Equal(t, []string{"refused"}, outcome.Keys())
			refused, _ := outcome.String("refused")
			require.Contains(t, refused, tt.refused)
		})
	}
}

// bare hides everything but what a run needs.
type bare struct{ host.Sources }

func TestSyntaxIsAnsweredFromItsRecord(t *testing.T) {
	const text = "<Syntax />"
	_, events, err := run(t, text, newFiles(map[string]string{"components/Greet.md": "hi"}))
	require.NoError(t, err)
	at := 0
	for i, e := range events {
		if typ, _ := e.Description.String("type"); typ == "syntax_symbols" {
			at = i
		}
	}
	tests := []struct {
		name   string
		result journal.Result
		output string
		says   string
		stale  bool
	}{
		{name: "symbols", result: journal.Ok(value.Of("symbols", "as recorded")), output: "as recorded"},
		{name: "no symbols at all", result: journal.Ok(value.Of("symbols", "")), output: ""},
		{name: "refused", result: journal.Ok(value.Of("refused", "as then")), says: "as then"},
		{name: "an empty refusal", result: journal.Ok(value.Of("refused", "")), stale: true},
		{name: "both", result: journal.Ok(value.Of("symbols", "a", "refused", "b")), stale: true},
		{name: "no text", result: journal.Ok(value.Of("symbols", 1.0)), stale: true},
		{name: "another member", result: journal.Ok(value.Of("text", "a")), stale: true},
		{name: "null", result: journal.Ok(nil), stale: true},
		{name: "failed", result: journal.Result{Status: journal.StatusErr, Error: &journal.Failure{Message: "m"}}, stale: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			history := make([]journal.Event, 0, at+1)
			for _, e := range events[:at+1] {
				history = append(history, e.Clone())
			}
			history[at].Result = tt.result
			files := newFiles(nil)
			result, _, err := run(t, text, files, history...)
			if tt.stale {
				var stale *journal.StaleInputError
				require.ErrorAs(t, err, &stale)
				return
			}
			require.NoError(t, err)
			require.Empty(t, files.reads)
			if tt.says != "" {
				require.ErrorContains(t, result.Err, tt.says)
				return
			}
			require.NoError(t, result.Err)
			require.Equal(t, tt.output, result.Output)
		})
	}
}
