package plan

import (
	"context"

	"github.com/executable-markdown/xmd/internal/engine"
	"github.com/executable-markdown/xmd/internal/value"
)

// ValidateCandidate is the element of the plan program that judges a draft with assess
// (prompt 8.1). Its value is {valid, diagnostics}.
//
// An error of assess is the caller's and leaves as an infrastructure error: no
// construct, no loop and no region that prints errors can catch it, so no program can
// make a draft's fault of it (prompt 8.4).
//
// It performs no effect of its own. The history of a planning is never replayed, and
// whether a document can run is decided by what is there now: an assessment that was
// recorded would be the answer to an older question.
func ValidateCandidate(assess func(source string) (Assessment, error)) engine.Component {
	return engine.Component{
		Name:     "ValidateCandidate",
		Origin:   origin,
		Props:    `{"source":{"type":"string"}}`,
		Required: []string{"source"},
		Returns: `{"type":"object","additionalProperties":false,"required":["valid","diagnostics"],
			"properties":{"valid":{"type":"boolean"},"diagnostics":{"type":"object"}}}`,
		Forms:    engine.SelfClosing,
		FormHelp: `write <ValidateCandidate source={candidate} as="assessment" />`,
		Effect:   "read",
		Run: func(_ context.Context, c *engine.Call) (any, error) {
			a, err := assess(c.Text("source"))
			switch {
			case err != nil:
				return nil, &engine.Infrastructure{Err: err}
			case !a.Valid():
				return value.Of("valid", false, "diagnostics", a.Diagnostics), nil
			}
			return value.Of("valid", true, "diagnostics", value.NewObject(0)), nil
		},
	}
}
