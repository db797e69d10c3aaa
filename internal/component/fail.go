package component

import (
	"context"
	_ "embed"

	"github.com/executable-markdown/xmd/internal/engine"
)

//go:embed docs/fail.md
var failDoc string

// fail stops the document with the author's own sentence (components 13).
func fail() engine.Component {
	return engine.Component{
		Name:     "Fail",
		Origin:   origin,
		Props:    `{"message":{"type":"string","minLength":1,"description":"why the document stops"}}`,
		Required: []string{"message"},
		Forms:    engine.SelfClosing,
		FormHelp: `write <Fail message="…" /> with the sentence in message`,
		NoAs:     "raises an error and binds nothing",
		Effect:   "none",
		Doc: engine.Doc{
			Description: "Stops the document with the sentence in message.",
			Long:        failDoc,
		},
		Run: func(_ context.Context, c *engine.Call) (any, error) {
			return nil, &engine.Error{Message: c.Text("message"), Authored: true}
		},
	}
}
