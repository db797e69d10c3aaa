package component

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/executable-markdown/xmd/internal/engine"
	"github.com/executable-markdown/xmd/internal/schema"
	"github.com/executable-markdown/xmd/internal/value"
)

// Declarations the value components share.
const (
	schemaProps = `{"schema":{"description":"a JSON Schema (draft-07): an object, or a string of JSON text"}}`
	anyJSON     = `{"$schema":"http://json-schema.org/draft-07/schema#"}`
)

// suppliedSchema compiles the schema prop (components 10, step 1).
func suppliedSchema(c *engine.Call) (*schema.Schema, error) {
	definition, _ := c.Props().Get("schema")
	if text, ok := definition.(string); ok {
		parsed, err := value.Parse([]byte(text))
		if err != nil {
			return nil, fmt.Errorf("<%s> was given a schema in a string, which must be JSON text: %w", c.Name(), err)
		}
		definition = parsed
	}
	compiled, err := schema.Compile(definition)
	if err != nil {
		return nil, fmt.Errorf("<%s>: %w", c.Name(), err)
	}
	return compiled, nil
}

//go:embed docs/parse.md
var parseDoc string

// parse turns rendered text into a validated value or fails (components 10).
func parse() engine.Component {
	return engine.Component{
		Name:     "Parse",
		Origin:   origin,
		Props:    schemaProps,
		Required: []string{"schema"},
		Returns:  anyJSON,
		Forms:    engine.Both,
		Soft:     true,
		Effect:   "none",
		Doc: engine.Doc{
			Description: "Reads the JSON text its content renders and binds the value, if the schema accepts it.",
			As:          "the value",
			Context:     "The content expands after the schema was accepted.",
			Long:        parseDoc,
		},
		Run: func(ctx context.Context, c *engine.Call) (any, error) {
			p, err := parseContent(ctx, c)
			if err != nil {
				return nil, err
			}
			if len(p.issues) > 0 {
				return nil, &engine.Error{Message: "<" + c.Name() + "> " + p.refusal + ":\n" + schema.Lines(p.issues), Issues: p.issues}
			}
			return p.value, nil
		},
	}
}

//go:embed docs/safeparse.md
var safeParseDoc string

// safeParse is parse with the outcome as data (components 11).
func safeParse() engine.Component {
	return engine.Component{
		Name:     "SafeParse",
		Origin:   origin,
		Props:    schemaProps,
		Required: []string{"schema"},
		Returns: `{
			"$schema": "http://json-schema.org/draft-07/schema#",
			"oneOf": [
				{"type":"object","additionalProperties":false,"required":["ok","value"],
					"properties":{"ok":{"const":true},"value":{}}},
				{"type":"object","additionalProperties":false,"required":["ok","input","errors"],
					"properties":{"ok":{"const":false},"input":{"type":"string"},"errors":{"type":"array","minItems":1,"items":{
						"type":"object","additionalProperties":false,
						"required":["instancePath","schemaPath","keyword","params","message"],
						"properties":{"instancePath":{"type":"string"},"schemaPath":{"type":"string"},"keyword":{"type":"string"},
							"params":{"type":"object"},"message":{"type":"string"}}}}}}
			]
		}`,
		Forms:  engine.Both,
		Soft:   true,
		Effect: "none",
		Doc: engine.Doc{
			Description: "Reads the JSON text its content renders and binds whether the schema accepts it, with the value or the issues.",
			As:          "{ok: true, value} or {ok: false, input, errors}",
			Context:     "The content expands after the schema was accepted.",
			Long:        safeParseDoc,
		},
		Run: func(ctx context.Context, c *engine.Call) (any, error) {
			p, err := parseContent(ctx, c)
			if err != nil {
				return nil, err
			}
			if len(p.issues) == 0 {
				return value.Of("ok", true, "value", p.value), nil
			}
			errors := make([]any, len(p.issues))
			for i, issue := range p.issues {
				errors[i] = issue.JSON()
			}
			return value.Of("ok", false, "input", p.input, "errors", errors), nil
		},
	}
}

// A parsed is content read as JSON and judged by its schema. It is a value, or
// issues and the sentence that introduces them.
type parsed struct {
	input   string
	value   any
	issues  []schema.Issue
	refusal string
}

// parseContent compiles the schema, expands the content, reads it and validates
// it, in that order (components 10). The error is a schema that cannot be used or
// content that failed.
func parseContent(ctx context.Context, c *engine.Call) (parsed, error) {
	compiled, err := suppliedSchema(c)
	if err != nil {
		return parsed{}, err
	}
	text, err := c.Content(ctx)
	if err != nil {
		return parsed{}, err
	}
	v, err := value.Parse([]byte(text))
	if err != nil {
		issue := schema.Issue{Keyword: "parse", Params: value.NewObject(0), Message: err.Error()}
		return parsed{input: text, issues: []schema.Issue{issue}, refusal: "was given content that is not JSON"}, nil
	}
	return parsed{input: text, value: v, issues: compiled.Validate(v), refusal: "was given content its schema refuses"}, nil
}
