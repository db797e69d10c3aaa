package plan

import (
	"context"
	"fmt"

	"github.com/executable-markdown/xmd/internal/value"
)

// A Command is one settled invocation of the prompt command: what is planned, and
// what becomes of the source a person approved.
type Command struct {
	Authoring
	// Catalog describes the elements of the final run.
	Catalog func() (string, error)
	// Save keeps the approved source, exactly; nil: nothing keeps it.
	Save func(source string) error
	// Execute runs the approved source with the properties resolved for it.
	Execute func(ctx context.Context, source string, props *value.Object) error
}

// Run carries the command out. Every phase takes what the one before it handed over,
// so none can follow a refused one (prompt 4): the catalog, the planning with its
// whole teardown, the final gate, the save, the execution. It ends at the first
// error, and starts no phase once ctx has ended.
func (c Command) Run(ctx context.Context) error {
	syntax, err := c.Catalog()
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	c.Syntax = syntax
	source, err := c.Authoring.Run(ctx)
	if err != nil {
		return err
	}
	props, err := c.admit(source)
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if c.Save != nil {
		if err := c.Save(source); err != nil {
			return err
		}
	}
	return c.Execute(ctx, source, props)
}

// admit is the final gate (prompt 10): what the person approved is judged once more,
// after everything that planned it has ended. Nobody is asked, and nothing is mended.
// The properties belong to exactly these bytes.
func (c Command) admit(source string) (*value.Object, error) {
	a, err := c.Check(source)
	switch {
	case err != nil:
		return nil, err
	case !a.Valid():
		return nil, &GateError{a.Diagnostics}
	}
	return a.Props, nil
}

// A GateError is an approved document that does not validate any more: what it is
// resolved against has changed since its last assessment.
type GateError struct{ Diagnostics *value.Object }

// Error holds the diagnostics as indented JSON.
func (e *GateError) Error() string {
	report, err := value.AppendIndent(nil, e.Diagnostics)
	if err != nil {
		report = []byte(err.Error())
	}
	return fmt.Sprintf("the approved document does not validate; nothing was saved or run. Since it was judged last, something it uses has changed:\n%s", report)
}
