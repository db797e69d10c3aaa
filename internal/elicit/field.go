package elicit

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/executable-markdown/xmd/internal/schema"
	"github.com/executable-markdown/xmd/internal/value"
)

// A form is what a schema asks for, as fields a person can fill in.
type form struct {
	fields []*field
	whole  bool // the only field is the answer itself
}

// A kind is the way a field is filled in.
type kind uint8

const (
	jsonText kind = iota
	text
	number
	choice
)

// A field is one part of an answer. What the person wrote stays in it, so that a
// question asked again starts where it was left.
type field struct {
	name     string // of the member
	title    string // visible text
	help     string // visible text; may be empty
	kind     kind
	required bool
	preset   any            // the default; hasPreset
	judge    *schema.Schema // nil where only the whole can be judged
	options  []option       // of a choice

	hasPreset bool

	written string // what was typed
	chosen  int    // index of the option
}

// An option of a choice. An absent one leaves the member out.
type option struct {
	label  string // visible text
	value  any
	absent bool
}

// newForm makes the fields of a compiled schema's definition: one for each
// property of an object, one for anything else.
func newForm(definition any) *form {
	o, _ := definition.(*value.Object)
	properties, _ := o.Get("properties")
	members, _ := properties.(*value.Object)
	if kind, _ := o.String("type"); kind != "object" || members.Len() == 0 {
		return &form{fields: []*field{newField("answer", o, true)}, whole: true}
	}
	arg, _ := o.Get("required")
	required, _ := arg.([]any)
	f := &form{}
	for name, member := range members.All() {
		declared, _ := member.(*value.Object)
		f.fields = append(f.fields, newField(name, declared, slices.Contains(required, any(name))))
	}
	return f
}

func newField(name string, declared *value.Object, required bool) *field {
	f := &field{name: name, title: name, required: required}
	if title, _ := declared.String("title"); title != "" {
		f.title = title
	}
	f.preset, f.hasPreset = declared.Get("default")
	f.classify(declared)
	if declared != nil && f.kind != choice {
		f.judge, _ = schema.Compile(declared) // fails for a reference to the schema around the field
	}
	f.title, f.help = Visible(f.title), Visible(f.hint(declared))
	return f
}

// classify finds the kind of a field and the options of a choice.
func (f *field) classify(declared *value.Object) {
	enum, _ := declared.Get("enum")
	values, _ := enum.([]any)
	kind, _ := declared.String("type")
	switch {
	case len(values) > 0:
		f.kind = choice
		for _, v := range values {
			f.options = append(f.options, option{label: Visible(labelOf(v)), value: v})
		}
	case kind == "boolean":
		f.kind = choice
		f.options = []option{{label: "yes", value: true}, {label: "no", value: false}}
	case kind == "string":
		f.kind = text
	case kind == "number", kind == "integer":
		f.kind = number
	}
	if f.kind != choice {
		return
	}
	if !f.required && !f.hasPreset {
		f.options = append([]option{{label: "(leave out)", absent: true}}, f.options...)
	}
	if f.hasPreset {
		f.chosen = max(0, slices.IndexFunc(f.options, func(o option) bool { return value.Equal(o.value, f.preset) }))
	}
}

// labelOf shows a value: a string as it is, anything else as JSON.
func labelOf(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	shown, err := value.JSON(v)
	if err != nil {
		return value.Kind(v)
	}
	return shown
}

// hint is the description of a field and what leaving it empty means.
func (f *field) hint(declared *value.Object) string {
	var facts []string
	if f.kind == jsonText {
		facts = append(facts, "JSON text")
	}
	if f.kind != choice {
		switch {
		case f.hasPreset:
			facts = append(facts, "empty: "+labelOf(f.preset))
		case !f.required:
			facts = append(facts, "empty: leave out")
		}
	}
	description, _ := declared.String("description")
	if len(facts) == 0 {
		return description
	}
	return strings.TrimPrefix(description+" ("+strings.Join(facts, "; ")+")", " ")
}

// read turns what was typed into a value. ok is false when the member is left
// out. The error says, in visible text, what to write instead.
func (f *field) read(typed string) (v any, ok bool, err error) {
	if f.kind != text {
		typed = strings.TrimSpace(typed)
	}
	switch {
	case typed == "" && f.hasPreset:
		return f.preset, true, nil
	case typed == "" && !f.required:
		return nil, false, nil
	case f.kind == text:
		v = typed
	case typed == "" && f.kind == number:
		return nil, false, errors.New("write a number")
	case typed == "":
		return nil, false, errors.New("write JSON text, such as null")
	default:
		if v, err = value.Parse([]byte(typed)); err != nil && f.kind == jsonText {
			return nil, false, fmt.Errorf("write JSON text: %w", err)
		}
		if _, isNumber := v.(float64); f.kind == number && !isNumber {
			return nil, false, errors.New("write a number, such as 3 or 0.5")
		}
	}
	if f.judge == nil {
		return v, true, nil
	}
	issues := f.judge.Validate(v)
	if len(issues) == 0 {
		return v, true, nil
	}
	messages := make([]string, len(issues))
	for i, issue := range issues {
		messages[i] = strings.TrimSpace(issue.InstancePath + " " + issue.Message)
	}
	return nil, false, errors.New(Visible(strings.Join(messages, "; ")))
}

// result is the value of a field that was filled in.
func (f *field) result() (v any, ok bool) {
	if f.kind == choice {
		o := f.options[f.chosen]
		return o.value, !o.absent
	}
	v, ok, err := f.read(f.written)
	return v, ok && err == nil
}

// answer puts the fields together.
func (f *form) answer() any {
	if f.whole {
		v, _ := f.fields[0].result()
		return v
	}
	o := value.NewObject(len(f.fields))
	for _, field := range f.fields {
		if v, ok := field.result(); ok {
			o.Set(field.name, value.Clone(v))
		}
	}
	return o
}
