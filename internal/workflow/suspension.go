package workflow

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/internal/engine"
	"github.com/executable-markdown/xmd/internal/journal"
	"github.com/executable-markdown/xmd/internal/schema"
	"github.com/executable-markdown/xmd/internal/value"
)

// origin is who supplies the elements of a workflow.
const origin = "xmd.workflow"

// errNobody is the answer of the place furthest out: in a workflow no person is there.
var errNobody = errors.New("nobody answers questions while a workflow runs; state the answer in an <Answers> region around the element")

// nobody answers the questions that no <Answers> region does.
type nobody struct{}

// Ask implements engine.Elicitor.
func (nobody) Ask(context.Context, engine.Question) (any, error) { return nil, errNobody }

// A waiter lets a document wait for answers.
type waiter struct {
	run    string
	stream *stream
	stop   context.CancelCauseFunc
}

// elicit is the element that asks in a workflow: as core's, where an <Answers> region
// answers; else it stops the run until somebody has (workflow 25).
func (w *waiter) elicit(core engine.Component) engine.Component {
	core.Origin = origin
	core.Body = nil
	core.Run = w.ask
	return core
}

func (w *waiter) ask(ctx context.Context, c *engine.Call) (any, error) {
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
	v, err := c.Elicitor().Ask(ctx, q)
	if errors.Is(err, errNobody) {
		return w.suspend(ctx, c, q, accepted)
	}
	return stated(ctx, c, q, accepted, v, err)
}

// answerSchema compiles the schema prop and refuses a name no answer could carry safely.
func answerSchema(c *engine.Call) (*schema.Schema, error) {
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
	if place := compiled.Declares("__proto__"); place != "" {
		return nil, fmt.Errorf("<%s>: the schema declares %q at %s; choose another name", c.Name(), "__proto__", place)
	}
	return compiled, nil
}

// stated records an answer of the document as core's element does.
func stated(ctx context.Context, c *engine.Call, q engine.Question, accepted *schema.Schema, v any, failed error) (any, error) {
	input := capability.Fingerprint(capability.Question{Message: q.Message, Schema: q.Schema})
	place := c.Position().String()
	if place == "" {
		place = "unknown"
	}
	return c.Effect(ctx, engine.Effect{
		Type: "elicit", Name: "elicit:" + place,
		Members: []journal.Member{
			{Name: "input", Value: input},
			{Name: "executablemd.elicitation-schema", Value: q.Schema},
			{Name: "executablemd.elicitation-message", Value: q.Message},
		},
		Guard: func(e journal.Event) error {
			if recorded, _ := e.Description.String("input"); recorded != input {
				return errors.New("the recorded answer belongs to a different question")
			}
			return nil
		},
	}, func(context.Context) (any, error) {
		if failed != nil {
			return nil, fmt.Errorf("<%s> got no answer: %w", c.Name(), failed)
		}
		if issues := accepted.Validate(v); len(issues) > 0 {
			return nil, &engine.Error{Message: fmt.Sprintf("<%s> was given an answer its schema refuses:\n%s", c.Name(), schema.Lines(issues)), Issues: issues}
		}
		return v, nil
	})
}

// suspend publishes a request and returns its answer, or stops the run.
func (w *waiter) suspend(ctx context.Context, c *engine.Call, q engine.Question, accepted *schema.Schema) (any, error) {
	id := suspensionID(w.run, c)
	_, err := c.Effect(ctx, engine.Effect{
		Type: effectRequest, Name: id,
		Members: []journal.Member{
			{Name: "suspensionId", Value: id}, {Name: "request", Value: q.Message}, {Name: "responseSchema", Value: q.Schema},
		},
		Guard: func(e journal.Event) error {
			request, _ := e.Description.String("request")
			definition, _ := e.Description.Get("responseSchema")
			if request != q.Message || !value.Equal(definition, q.Schema) {
				return errors.New("the recorded request is not the one the document makes now")
			}
			return nil
		},
	}, func(context.Context) (any, error) { return id, nil })
	if err != nil {
		return nil, err
	}
	return c.Effect(ctx, engine.Effect{
		Type: effectAnswer, Name: id,
		Members: []journal.Member{{Name: "suspensionId", Value: id}},
		Guard: func(e journal.Event) error {
			if len(accepted.Validate(e.Result.Value)) > 0 {
				return errors.New("the recorded answer is not one the schema accepts")
			}
			return nil
		},
	}, func(ctx context.Context) (any, error) {
		if a, ok := w.stream.answered(id); ok {
			return a.Value, nil
		}
		w.stream.stop(id) // before anything is cancelled: from here on nothing is appended
		w.stop(errStopped)
		return nil, errStopped
	})
}

// suspensionID names a wait by where it stands: the same on every replay, and of no use
// to guess another one from.
func suspensionID(run string, c *engine.Call) string {
	coroutine, index := c.Place()
	sum := sha256.Sum256(value.AppendCanonical(nil, value.Of("runId", run, "coroutineId", coroutine, "index", float64(index))))
	return hex.EncodeToString(sum[:])[:32]
}

// fingerprint names the request of an event.
func fingerprint(e journal.Event) string {
	o := value.NewObject(3)
	for _, name := range []string{"suspensionId", "request", "responseSchema"} {
		v, _ := e.Description.Get(name)
		o.Set(name, v)
	}
	sum := sha256.Sum256(value.AppendCanonical(nil, o))
	return hex.EncodeToString(sum[:])
}
