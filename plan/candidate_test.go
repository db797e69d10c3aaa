package plan

import (
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/internal/component"
	"github.com/executable-markdown/xmd/internal/document"
	"github.com/executable-markdown/xmd/internal/engine"
	"github.com/executable-markdown/xmd/internal/journal"
	"github.com/executable-markdown/xmd/internal/value"
)

// judging runs a document in which drafts can be judged, and lists the effects it
// recorded.
func judging(t *testing.T, source string, assess func(string) (Assessment, error)) (result engine.Result, recorded []string, err error) {
	t.Helper()
	parsed, err := document.Parse("program.md", []byte(source))
	require.NoError(t, err)
	root, err := engine.Load(parsed, nil)
	require.NoError(t, err)
	stream := journal.NewMemory()
	history, err := journal.Open(t.Context(), stream, journal.Options{})
	require.NoError(t, err)
	result, err = engine.Run(t.Context(), root, engine.Options{
		Host: refusing(), Journal: history,
		Library: engine.NewLibrary(nil, append(component.Planning(), ValidateCandidate(assess))),
	})
	events, readErr := stream.Load(t.Context())
	require.NoError(t, readErr)
	for _, e := range events {
		if kind, ok := e.Description.String("type"); ok {
			recorded = append(recorded, kind)
		}
	}
	return result, recorded, err
}

// failure is what a run came to when it failed.
func failure(result engine.Result, err error) error {
	if err != nil {
		return err
	}
	return result.Err
}

const judge = `<ValidateCandidate source="draft" as="assessment" />`

func TestValidateCandidate(t *testing.T) {
	diagnostics := value.Of("validation", value.Of("version", 1.0))
	var asked []string
	assess := func(source string) (Assessment, error) {
		asked = append(asked, source)
		if source == "draft" {
			return Assessment{Diagnostics: diagnostics}, nil
		}
		return Assessment{Props: value.Of("secret", "kept from the program")}, nil
	}
	t.Run("invalid", func(t *testing.T) {
		result, recorded, err := judging(t, judge+"{assessment.valid} <Json value={assessment.diagnostics} />", assess)
		require.NoError(t, failure(result, err))
		require.Equal(t, "false {\n  \"validation\": {\n    \"version\": 1\n  }\n}", result.Output)
		require.Equal(t, []string{"import_component"}, slices.Compact(recorded), "judging is no effect of the planning")
	})
	t.Run("valid", func(t *testing.T) {
		result, _, err := judging(t, `<Let as="c" value={"<X a={b}>\n"} /><ValidateCandidate source={c} as="a" /><Json value={a} />`, assess)
		require.NoError(t, failure(result, err))
		require.Equal(t, "{\n  \"valid\": true,\n  \"diagnostics\": {}\n}", result.Output)
		require.Equal(t, "<X a={b}>\n", asked[len(asked)-1])
	})
	for _, refused := range []string{
		`<ValidateCandidate as="a" />`,
		`<ValidateCandidate source={1} as="a" />`,
		`<ValidateCandidate source="x" other="y" as="a" />`,
		`<ValidateCandidate source="x" as="a"></ValidateCandidate>`,
		`<ValidateCandidate source="x" as="a">y</ValidateCandidate>`,
	} {
		t.Run(refused, func(t *testing.T) {
			asked = nil
			result, _, err := judging(t, refused, assess)
			require.Error(t, failure(result, err))
			require.Empty(t, asked)
		})
	}
}

// TestPR7cToF_ACallerFailureLeaves: nothing a program can write catches what the caller
// got wrong, and nothing behind it is done.
func TestPR7_ACallerFailureLeaves(t *testing.T) {
	for name, program := range map[string]string{
		"alone":             judge,
		"printed errors":    "<PrintErrors>" + judge + "</PrintErrors>",
		"printed twice":     "<PrintErrors><PrintErrors>" + judge + "</PrintErrors></PrintErrors>",
		"a branch":          "<If condition={true}>" + judge + "</If>",
		"a case":            `<Switch value="a"><Case value="a">` + judge + "</Case></Switch>",
		"a loop":            "<Loop max={3}>" + judge + "</Loop>",
		"a list":            `<Each in={[1,2]} let="i">` + judge + "</Each>",
		"a binding":         `<PrintErrors><Let as="x">` + judge + "</Let></PrintErrors>",
		"printed in a loop": "<Loop max={3}><PrintErrors>" + judge + "</PrintErrors></Loop>",
		"side by side":      "<PrintErrors><All><Spawn>" + judge + "</Spawn><Spawn>x</Spawn></All></PrintErrors>",
		"a question":        `<PrintErrors><Elicit schema={{ type: "string" }} as="x">` + judge + "</Elicit></PrintErrors>",
		"a turn":            "<PrintErrors><Prompt>" + judge + "</Prompt></PrintErrors>",
	} {
		t.Run(name, func(t *testing.T) {
			fault := &CallerError{"--props-x is no property"}
			var judged []string
			result, _, err := judging(t, program+`<ValidateCandidate source="behind" as="behind" />`, func(source string) (Assessment, error) {
				judged = append(judged, source)
				return Assessment{}, fault
			})
			failed := failure(result, err)
			var caller *CallerError
			require.ErrorAs(t, failed, &caller)
			require.Same(t, fault, caller)
			require.True(t, slices.Equal([]string{"draft"}, judged), "%v", judged)
			require.Zero(t, result.Printed)
			require.NotContains(t, result.Output, fault.Message)
			var infrastructure *engine.Infrastructure
			require.True(t, errors.As(failed, &infrastructure))
		})
	}
}
