package component

import (
	"context"
	_ "embed"

	"github.com/executable-markdown/xmd/internal/engine"
	"github.com/executable-markdown/xmd/internal/markdown"
)

//go:embed docs/codeblock.md
var codeBlockDoc string

// codeBlock puts arbitrary text in a fence it cannot close (components 12).
func codeBlock() engine.Component {
	return engine.Component{
		Name:   "CodeBlock",
		Origin: origin,
		Props: `{
			"value": {"type":"string","description":"the text to show"},
			"language": {"type":"string","pattern":"^[A-Za-z0-9][A-Za-z0-9._+#-]*$","description":"the language after the fence"}
		}`,
		Required: []string{"value"},
		Forms:    engine.SelfClosing,
		FormHelp: `write <CodeBlock value={…} /> with the text in value`,
		Soft:     true,
		Effect:   "none",
		Doc: engine.Doc{
			Description: "Shows text in a code fence long enough that the text cannot close it.",
			As:          "the fence and the text, exactly",
			Long:        codeBlockDoc,
		},
		Run: func(_ context.Context, c *engine.Call) (any, error) {
			return markdown.Fence(c.Text("value"), c.Text("language")), nil
		},
	}
}
