package component

import (
	"context"
	_ "embed"
	"strings"

	"github.com/executable-markdown/xmd/internal/engine"
)

//go:embed docs/dir.md
var dirDoc string

// dir makes a directory the working directory of its content (components 5).
func dir() engine.Component {
	return engine.Component{
		Name:     "Dir",
		Origin:   origin,
		Props:    `{"path":{"type":"string","minLength":1,"description":"absolute, or relative to the working directory"}}`,
		Required: []string{"path"},
		Forms:    engine.Paired,
		FormHelp: `write what is to happen there inside it, as in <Dir path="…">content</Dir>`,
		Effect:   "none",
		Doc: engine.Doc{
			Description: "Makes a directory the working directory of its content, without creating or checking it.",
			As:          "what the content rendered",
			Context:     "The directory is the working directory.",
			Long:        dirDoc,
		},
		Run: func(ctx context.Context, c *engine.Call) (any, error) {
			path := c.Text("path")
			if !strings.HasPrefix(path, "/") {
				path = strings.TrimSuffix(c.Dir(), "/") + "/" + path
			}
			return c.Content(ctx, engine.InDir(path))
		},
	}
}
