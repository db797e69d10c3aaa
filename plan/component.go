package plan

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/executable-markdown/xmd/internal/engine"
	"github.com/executable-markdown/xmd/internal/journal"
	"github.com/executable-markdown/xmd/internal/value"
)

// Body is the Markdown <Plan> is written in: the whole policy of planning with it.
//
//go:embed Plan.md
var Body string

// BodyName is the source identity of Body.
const BodyName = "<plan-program>"

//go:embed docs/plan.md
var planDoc string

// origin is the name of this room in records and listings.
const origin = "xmd.plan"

// A Host is all that <Plan> may reach. Whoever runs documents makes it before any
// document exists; nothing of it is a prop, so no document chooses it (prompt 18). Its
// functions may be called from several goroutines.
type Host struct {
	// Syntax describes the elements a plan may use where no evaluation narrows them.
	Syntax func() (string, error)
	// Check judges a draft by its structure and runs nothing of it.
	Check func(source string) (Assessment, error)
	// Runtime establishes the ceiling for the conversation of that name. The name is
	// the same for every execution of a document at that place; authored says that the
	// document gave it a name, so that it is kept and continued.
	Runtime func(ctx context.Context, session string, authored bool) (Runtime, error)
	// Progress is told in a sentence what is going on; nil: nobody is.
	Progress func(message string)
}

// Component is the public <Plan>: the content goes in as a request, the source a
// person approved comes out (prompt 18). A nil Host is none: the element then refuses.
func Component(h *Host) engine.Component {
	return engine.Component{
		Name:     "Plan",
		Origin:   origin,
		Props:    `{"session":{"type":"string","minLength":1,"description":"keep the conversation under this name, and continue it"}}`,
		Forms:    engine.Paired,
		FormHelp: "write <Plan>what the document is to do</Plan>",
		Effect:   "agent",
		Body:     engine.NewPackaged(BodyName, Body),
		Doc: engine.Doc{
			Description: "Has an Agent write a document for the request in its content and lets a person approve it. The document is not run.",
			As:          "the approved source, exactly",
			Context:     "The content renders the request.",
			Long:        planDoc,
		},
		Run: h.plan,
	}
}

// plan keeps the order that makes the promise: the request is rendered with the
// document's own capabilities, what the planning depends on is written down, the
// ceiling stands while the packaged body runs, all of that has ended, and only then
// is what a person approved admitted and seen by anybody.
func (h *Host) plan(ctx context.Context, c *engine.Call) (any, error) {
	if h == nil {
		return nil, fmt.Errorf("<%s> cannot plan, because planning is not available here; run the document with xmd run", c.Name())
	}
	request, err := c.Content(ctx)
	switch {
	case err != nil:
		return nil, err
	case strings.TrimSpace(request) == "":
		return nil, fmt.Errorf("<%s> was given no request: write what the document is to do between <%s> and </%s>", c.Name(), c.Name(), c.Name())
	}
	f := &frame{
		host: h, id: c.Expansion(), request: request, name: c.Text("session"),
		session: sessionName(c.Expansion(), c.Text("session")), vocabulary: c.Narrowed(),
	}
	work := c.Apart()
	if !work.Settled() { // else nothing is asked any more
		if f.syntax, err = f.describe(); err != nil {
			return nil, fmt.Errorf("<%s> cannot list the elements a plan may use: %w", c.Name(), err)
		}
	}
	if err := f.freeze(ctx, c, work.Settled()); err != nil {
		return nil, err
	}
	approved, err := work.Run(ctx, f.author)
	if err != nil {
		return nil, err
	}
	source, ok := approved.(string)
	if !ok { // only a history says so
		return nil, &journal.StaleInputError{
			Effect: journal.Identity{Type: artifactRecord, Name: artifactRecord + ":" + f.id},
			Cause:  errors.New("the history of <Plan> holds no approved source"),
		}
	}
	return f.admit(ctx, c, source)
}

// sessionName is the logical name of a conversation: of the place in the document,
// down to the iteration, and of the name its author gave it.
func sessionName(expansion, authored string) string {
	return digest(expansion + "\x00" + authored)
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// The private records of a planning (history 12). The body writes none of them.
const (
	inputRecord    = "plan_input"
	checkRecord    = "plan_check"
	artifactRecord = "plan_artifact"
)

// freeze records what the planning depends on. A history of another request is
// refused; one of other elements is too, unless it holds the whole planning.
func (f *frame) freeze(ctx context.Context, c *engine.Call, settled bool) error {
	input := value.Of("requestDigest", digest(f.request), "catalogDigest", digest(f.syntax), "session", f.session)
	_, err := c.Effect(ctx, engine.Effect{
		Type: inputRecord, Name: inputRecord + ":" + f.id,
		Guard: func(e journal.Event) error {
			recorded, _ := e.Result.Value.(*value.Object)
			if err := sameRequest(recorded, input); err != nil {
				return err
			}
			was, ok := recorded.String("catalogDigest")
			now, _ := input.String("catalogDigest")
			session, _ := recorded.String("session")
			switch {
			case !ok || recorded.Len() != input.Len() || session != f.session:
				return errors.New("the recorded input of <Plan> cannot be read")
			case !settled && was != now:
				return errors.New("the elements a plan may use have changed since <Plan> began; restore them, or start the document anew")
			}
			return nil
		},
	}, func(context.Context) (any, error) { return input, nil })
	return err
}

// sameRequest refuses a record that belongs to another request.
func sameRequest(recorded, now *value.Object) error {
	was, _ := recorded.String("requestDigest")
	if is, _ := now.String("requestDigest"); was != is {
		return errors.New("the recorded plan answers another request than <Plan> renders now; restore its content, or start the document anew")
	}
	return nil
}

// admit records the approved source, once everything that planned it has ended, and
// hands it over. A history that holds it gives back exactly those bytes.
func (f *frame) admit(ctx context.Context, c *engine.Call, approved string) (any, error) {
	artifact := value.Of("requestDigest", digest(f.request), "source", approved)
	recorded, err := c.Effect(ctx, engine.Effect{
		Type: artifactRecord, Name: artifactRecord + ":" + f.id,
		Guard: func(e journal.Event) error {
			recorded, _ := e.Result.Value.(*value.Object)
			if err := sameRequest(recorded, artifact); err != nil {
				return err
			}
			if !value.Equal(recorded, artifact) {
				return errors.New("the recorded plan is not the one that was approved; start the document anew")
			}
			return nil
		},
	}, func(context.Context) (any, error) { return artifact, nil })
	if err != nil {
		return nil, err
	}
	source, _ := recorded.(*value.Object).String("source")
	return source, nil
}
