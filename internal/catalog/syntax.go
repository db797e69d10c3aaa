package catalog

import (
	"context"
	"errors"

	"github.com/executable-markdown/xmd/internal/engine"
	"github.com/executable-markdown/xmd/internal/journal"
	"github.com/executable-markdown/xmd/internal/value"
)

// Syntax is the protected element that tells its reader what may be written where
// it stands (components 19): the whole catalog, or the documentation of the
// components it names. It reads the component files once, when it is reached, and
// records what it showed; a history that holds the record is shown the same.
func Syntax() engine.Component {
	return engine.Component{
		Name:     "Syntax",
		Origin:   "xmd.core",
		Props:    `{"names":{"type":"array","description":"show the full documentation of these components instead of the list","items":{"type":"string"},"minItems":1,"uniqueItems":true}}`,
		Forms:    engine.SelfClosing,
		FormHelp: `write <Syntax /> or <Syntax names={["File"]} />; it takes no content`,
		Effect:   "read",
		Doc: engine.Doc{
			Description: "Renders the elements that may be written here: their forms, props, results and origin.",
			As:          "the same text.",
			Long:        syntaxLong,
		},
		Run: showSyntax,
	}
}

const syntaxLong = "Without props it renders the whole catalog: structural elements, built-in components, and the component files of\n" +
	"this repository. Give the text to whoever is to write a document.\n\n" +
	"With `names` it renders each of those components once, with the long form of its documentation. A name nothing\n" +
	"answers to fails the element.\n\n" +
	"```md\n<Syntax names={[\"File\", \"Glob\"]} as=\"reference\" />\n```\n\n" +
	"Seeing an element grants nothing: what a generated fragment may use is decided by the host alone.\n"

func showSyntax(ctx context.Context, c *engine.Call) (any, error) {
	in := Inputs{Include: c.Include(), Library: c.Library()}
	if v := c.Narrowed(); v != nil {
		in = Inputs{Library: v.Library, Constructs: v.Constructs}
	} else if sources := c.Host().Sources; sources != nil {
		lister, ok := sources.(Lister)
		if !ok {
			return nil, errors.New("there is no syntax reference here, because this run cannot list its component directories")
		}
		in.Sources = lister
	}
	var names []string
	listed, _ := c.Props().Get("names")
	list, _ := listed.([]any)
	for _, v := range list {
		names = append(names, v.(string)) // the schema admits nothing else
	}
	recorded, err := c.Effect(ctx, engine.Effect{
		Type: "syntax_symbols", Name: "syntax_symbols:" + c.Expansion(), Guard: guardSymbols,
	}, func(context.Context) (any, error) { return symbols(in, names), nil })
	if err != nil {
		return nil, err
	}
	text, refused, _ := readSymbols(recorded)
	if refused != "" {
		return nil, errors.New(refused)
	}
	return text, nil
}

// symbols is the recorded outcome of one request: {symbols} or {refused}.
func symbols(in Inputs, names []string) *value.Object {
	c, err := Build(in)
	text := ""
	switch {
	case err == nil && names == nil:
		text = c.Text()
	case err == nil:
		text, err = c.Describe(names)
	}
	if err != nil {
		return value.Of("refused", err.Error())
	}
	return value.Of("symbols", text)
}

// readSymbols takes a recorded outcome apart; ok is false for any other value.
func readSymbols(v any) (text, refused string, ok bool) {
	o, _ := v.(*value.Object)
	if o.Len() != 1 {
		return "", "", false
	}
	if text, ok = o.String("symbols"); ok {
		return text, "", true
	}
	refused, _ = o.String("refused")
	return "", refused, refused != ""
}

func guardSymbols(e journal.Event) error {
	if _, _, ok := readSymbols(e.Result.Value); !ok {
		return errors.New("the recorded syntax listing is neither a text nor a refusal")
	}
	return nil
}
