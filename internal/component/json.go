package component

import (
	"context"
	_ "embed"
	"errors"
	"fmt"

	"github.com/executable-markdown/xmd/internal/engine"
	"github.com/executable-markdown/xmd/internal/expr"
	"github.com/executable-markdown/xmd/internal/value"
)

//go:embed docs/json.md
var jsonDoc string

// jsonText renders a value as JSON (components 9).
func jsonText() engine.Component {
	return engine.Component{
		Name:     "Json",
		Origin:   origin,
		Captures: []string{"value"},
		Forms:    engine.SelfClosing,
		FormHelp: `write <Json value={…} /> without content`,
		Soft:     true,
		NoAs:     `renders text (bind that with <Let as="name"><Json value={…} /></Let>)`,
		Effect:   "none",
		Doc: engine.Doc{
			Description: "Renders the value of the expression in value as JSON text, indented by two spaces.",
			Long:        jsonDoc,
		},
		Run: renderJSON,
	}
}

func renderJSON(ctx context.Context, c *engine.Call) (any, error) {
	if !c.Has("value") {
		return nil, fmt.Errorf("<%s> needs a value: write <%s value={…} />", c.Name(), c.Name())
	}
	ref, err := c.Capture(ctx, "value")
	if err != nil {
		return nil, err
	}
	v, err := ref.JSON()
	if err != nil {
		return nil, unserialised(c, err)
	}
	if _, absent := v.(value.Undefined); absent {
		return nil, noText(c, "undefined")
	}
	text, err := value.AppendIndent(nil, v)
	if err != nil {
		return nil, unserialised(c, err)
	}
	return string(text), nil
}

// noText is the failure of a value JSON has no text for, whatever it holds.
func noText(c *engine.Call, kind string) error {
	return fmt.Errorf("<%s> was given %s, for which no JSON text exists", c.Name(), kind)
}

// unserialised is the failure of a value with something in it that JSON cannot
// say. The value is never quoted, and neither is what a hook of it may have said.
func unserialised(c *engine.Call, err error) error {
	reason := "it cannot be serialised"
	var found *expr.KindError
	switch {
	case errors.As(err, &found) && found.Path == "$" && (found.Kind == "a function" || found.Kind == "a symbol"):
		return noText(c, found.Kind)
	case found != nil, errors.Is(err, value.ErrDepth):
		reason = err.Error()
	}
	return &engine.Error{Message: fmt.Sprintf("<%s> cannot write its value as JSON: %s", c.Name(), reason), Cause: err}
}
