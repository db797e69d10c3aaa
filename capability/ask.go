package capability

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/executable-markdown/xmd/internal/schema"
	"github.com/executable-markdown/xmd/internal/value"
)

// ErrNobody is the failure of a question that nobody is there to answer.
var ErrNobody = errors.New("nobody is there to answer; state the answer in an <Answers> region around the question, or run the document on a terminal")

// Ask is the entry of a question to a person: <Elicit schema>…</Elicit>, where what
// the content renders is the message. Its body is the one pinned here; only who
// answers is decided at the time of use: the nearest person or answering region of
// the call, else ask, which may be nil. Nothing is looked up by the name (F2).
func Ask(ask func(ctx context.Context, q Question) (any, error)) Entry {
	return Entry{
		Name:     "Elicit",
		Identity: Identity{core, "Elicit.ask", 1},
		Forms:    Paired,
		Props: `{"type":"object","additionalProperties":false,"required":["schema"],"properties":{
			"schema":{"description":"a JSON Schema (draft-07) of the answer: an object, or a string of JSON text"}
		}}`,
		Returns:  `{"$schema":"http://json-schema.org/draft-07/schema#"}`,
		Effect:   Asks,
		Describe: "Asks a person the question its content renders and binds the answer, which the schema accepts.",
		Op: Op{Do: func(ctx context.Context, c Call) (any, error) {
			if c.granted == nil {
				return nil, errNotGranted
			}
			if c.Ask == nil {
				c.Ask = ask
			}
			return put(ctx, c)
		}},
		rule: askRule{},
	}
}

// askRule compiles the schema of a question, so that no content expands and nobody
// is asked for an answer that could not be judged (components 14.1).
type askRule struct{}

func (askRule) check(_ *Granted, u Use) *Violation {
	definition, known := u.Props.Get("schema")
	if !known {
		return nil
	}
	if _, err := answerSchema(definition); err != nil {
		return &Violation{Class: "props", Reason: err.Error()}
	}
	return nil
}

// The descriptive members of a question's record (components 14.3).
const (
	memberSchema  = "executablemd.elicitation-schema"
	memberMessage = "executablemd.elicitation-message"
)

func (askRule) record(_ *Granted, c Call) Record {
	q, _, err := question(c)
	if err != nil {
		return Record{Type: "elicit"} // not reached: check has compiled the schema
	}
	return Record{
		Type:  "elicit",
		Input: Fingerprint(q),
		Extra: []RecordMember{{Name: memberSchema, Value: q.Schema}, {Name: memberMessage, Value: q.Message}},
	}
}

func question(c Call) (Question, *schema.Schema, error) {
	definition, _ := c.Props.Get("schema")
	accepted, err := answerSchema(definition)
	if err != nil {
		return Question{}, nil, err
	}
	return Question{Message: c.Content, Schema: accepted.Definition()}, accepted, nil
}

// put asks and judges the answer, once.
func put(ctx context.Context, c Call) (any, error) {
	q, accepted, err := question(c)
	switch {
	case err != nil:
		return nil, err
	case c.Ask == nil:
		return nil, ErrNobody
	}
	given, err := c.Ask(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("no answer was given: %w", err)
	}
	text, err := value.Append(nil, given)
	if err == nil {
		given, err = value.Parse(text)
	}
	if err != nil {
		return nil, fmt.Errorf("the answer is not JSON: %w", err)
	}
	if issues := accepted.Validate(given); len(issues) > 0 {
		return nil, fmt.Errorf("the answer is one the schema refuses:\n%s", schema.Lines(issues[:min(len(issues), maxIssues)]))
	}
	return given, nil
}

// answerSchema compiles the schema of an answer and refuses a name that no answer
// could carry safely.
func answerSchema(definition any) (*schema.Schema, error) {
	if text, ok := definition.(string); ok {
		parsed, err := value.Parse([]byte(text))
		if err != nil {
			return nil, fmt.Errorf("the schema is a string that is not JSON text: %w", err)
		}
		definition = parsed
	}
	compiled, err := schema.Compile(definition)
	if err != nil {
		return nil, err
	}
	if place := compiled.Declares(proto); place != "" {
		return nil, fmt.Errorf("the schema declares %q at %s; choose another name", proto, place)
	}
	return compiled, nil
}

// Fingerprint identifies a question: the SHA-256, in hex, of the canonical JSON of
// its schema and message (components 14.3).
func Fingerprint(q Question) string {
	sum := sha256.Sum256(value.AppendCanonical(nil, value.Of("schema", q.Schema, "message", q.Message)))
	return hex.EncodeToString(sum[:])
}

// proto is a member name that some readers of an answer take for something else
// than a member.
const proto = "__proto__"
