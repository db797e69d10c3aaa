package component

import (
	"context"
	_ "embed"
	"errors"
	"fmt"

	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/internal/engine"
	"github.com/executable-markdown/xmd/internal/journal"
	"github.com/executable-markdown/xmd/internal/schema"
	"github.com/executable-markdown/xmd/internal/value"
)

//go:embed docs/elicit.md
var elicitDoc string

// elicit asks a person one question (components 14).
func elicit() engine.Component {
	return engine.Component{
		Name:     "Elicit",
		Origin:   origin,
		Props:    schemaProps,
		Required: []string{"schema"},
		Returns:  anyJSON,
		Forms:    engine.Both,
		Effect:   "ask",
		Doc: engine.Doc{
			Description: "Asks a person the question its content renders and binds the answer the schema accepts.",
			As:          "the answer",
			Context:     "The content expands after the schema was accepted; what it renders is the question.",
			Long:        elicitDoc,
		},
		Run: ask,
	}
}

// proto is a member name that some readers of an answer take for something else
// than a member.
const proto = "__proto__"

// The descriptive members of an elicit record (components 14.3).
const (
	memberSchema  = "executablemd.elicitation-schema"
	memberMessage = "executablemd.elicitation-message"
)

func ask(ctx context.Context, c *engine.Call) (any, error) {
	accepted, err := answerSchema(c)
	if err != nil {
		return nil, &engine.Error{Message: err.Error(), ShowPos: true, Cause: err}
	}
	var message string
	if c.Paired() {
		if message, err = c.Content(ctx); err != nil {
			return nil, err
		}
	}
	q := engine.Question{Message: message, Schema: accepted.Definition()}
	input := capability.Fingerprint(capability.Question{Message: q.Message, Schema: q.Schema})
	place := c.Position().String()
	if place == "" {
		place = "unknown"
	}
	return perform(ctx, c, engine.Effect{
		Type: "elicit",
		Name: "elicit:" + place,
		Members: []journal.Member{
			{Name: "input", Value: input},
			{Name: memberSchema, Value: q.Schema},
			{Name: memberMessage, Value: q.Message},
		},
		Guard: guardAnswer(input, accepted),
	}, func(ctx context.Context) (any, error) { return answer(ctx, c, q, accepted) })
}

// answerSchema compiles the schema prop and refuses a name no answer could carry
// safely (components 14.1).
func answerSchema(c *engine.Call) (*schema.Schema, error) {
	accepted, err := suppliedSchema(c)
	if err != nil {
		return nil, err
	}
	if place := accepted.Declares(proto); place != "" {
		return nil, fmt.Errorf("<%s>: the schema declares %q at %s; choose another name", c.Name(), proto, place)
	}
	return accepted, nil
}

// answer asks the provider and judges what it says. Nobody to ask, and a question
// its person walked away from, settle nothing: another execution may ask again.
func answer(ctx context.Context, c *engine.Call, q engine.Question, accepted *schema.Schema) (any, error) {
	provider := c.Elicitor()
	if provider == nil {
		return nil, &withdrawn{fmt.Errorf("<%s> cannot ask, because nobody is there to answer: state the answer in an <Answers> region around it, run the document on a terminal, or give --ask web", c.Name())}
	}
	v, err := provider.Ask(ctx, q)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, err
	case errors.Is(err, context.Canceled):
		return nil, &withdrawn{&engine.Infrastructure{Err: fmt.Errorf("<%s> got no answer: %w", c.Name(), err)}}
	case err != nil:
		return nil, fmt.Errorf("<%s> got no answer: %w", c.Name(), err)
	}
	text, err := value.Append(nil, v)
	if err == nil {
		v, err = value.Parse(text)
	}
	if err != nil {
		return nil, fmt.Errorf("<%s> was given an answer that is not JSON: %w", c.Name(), err)
	}
	if issues := accepted.Validate(v); len(issues) > 0 {
		return nil, &engine.Error{Message: fmt.Sprintf("<%s> was given an answer its schema refuses:\n%s", c.Name(), schema.Lines(issues)), Issues: issues}
	}
	return v, nil
}

// guardAnswer refuses a recorded answer to another question, and one that was
// never accepted.
func guardAnswer(input string, accepted *schema.Schema) func(journal.Event) error {
	return func(e journal.Event) error {
		if recorded, _ := e.Description.String("input"); recorded != input {
			return errors.New("the recorded answer belongs to a different question than <Elicit> asks now; restore its schema and message, or start the document anew")
		}
		if e.Result.Status == journal.StatusOk && len(accepted.Validate(e.Result.Value)) > 0 {
			return errors.New("the recorded answer is not one the schema of <Elicit> accepts; start the document anew")
		}
		return nil
	}
}
