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

	when *branch // nil: always asked

	written string // what was typed
	chosen  int    // index of the option; -1: nothing is decided by not deciding
}

// A branch is the part of an object's schema that makes a member required, and
// therefore asked for, depending on the members before it.
type branch struct {
	test  *schema.Schema // of those members
	holds bool           // whether the member is needed when the test is passed, or when it is not
	judge *schema.Schema // of the member, besides its own; may be nil
	said  string         // when that is; may be empty
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
		return &form{fields: []*field{newField("answer", o, true, nil)}, whole: true}
	}
	arg, _ := o.Get("required")
	required, _ := arg.([]any)
	f := &form{}
	branches, depends := branchesOf(o)
	for name, member := range members.All() {
		declared, _ := member.(*value.Object)
		needed := slices.Contains(required, any(name))
		var when *branch
		if delete(depends, name); !needed && len(depends) == 0 {
			when = branches[name]
		}
		f.fields = append(f.fields, newField(name, declared, needed || when != nil, when))
	}
	return f
}

// branchesOf finds the members of an object that only one branch of its schema needs,
// and what the branches depend on.
func branchesOf(o *value.Object) (branches map[string]*branch, depends map[string]bool) {
	arg, _ := o.Get("if")
	condition, _ := arg.(*value.Object)
	tested := membersOf(condition)
	test, err := schema.Compile(condition) // fails for a reference to the schema around it
	if tested.Len() == 0 || err != nil {
		return nil, nil
	}
	branches, depends = map[string]*branch{}, map[string]bool{}
	for name := range tested.All() {
		depends[name] = true
	}
	for _, keyword := range []string{"then", "else"} {
		arg, _ := o.Get(keyword)
		part, _ := arg.(*value.Object)
		members := membersOf(part)
		arg, _ = part.Get("required")
		names, _ := arg.([]any)
		for _, arg := range names {
			name, _ := arg.(string)
			if _, both := branches[name]; both {
				branches[name] = nil
				continue
			}
			b := &branch{test: test, holds: keyword == "then"}
			if member, ok := members.Get(name); ok {
				b.judge, _ = schema.Compile(member)
			}
			if b.holds {
				b.said = saidOf(tested)
			}
			branches[name] = b
		}
	}
	return branches, depends
}

// saidOf says when members are what a condition wants, if that is one value of one.
func saidOf(tested *value.Object) string {
	for name, member := range tested.All() {
		wanted, _ := member.(*value.Object)
		if constant, ok := wanted.Get("const"); ok && tested.Len() == 1 {
			return name + " is " + labelOf(constant)
		}
	}
	return ""
}

// asks reports whether a field is asked for, after those before it.
func (f *form) asks(i int) bool {
	return f.fields[i].when == nil || f.fields[i].when.taken(f.object(i))
}

// taken reports whether the members before make the branch count.
func (b *branch) taken(before *value.Object) bool {
	return len(b.test.Validate(before)) == 0 == b.holds
}

// relent has every field asked for, whatever the answers: what the branches say is
// not all the schema says when it refused their answer.
func (f *form) relent() {
	for _, field := range f.fields {
		field.when = nil
	}
}

func newField(name string, declared *value.Object, required bool, when *branch) *field {
	f := &field{name: name, title: name, required: required, when: when}
	if title, _ := declared.String("title"); title != "" {
		f.title = title
	}
	f.preset, f.hasPreset = declared.Get("default")
	f.classify(declared)
	if declared != nil && f.kind != choice {
		f.judge, _ = schema.Compile(declared) // fails for a reference to the schema around the field
	}
	f.title, f.help = legible(f.title), legible(f.hint(declared))
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
			f.options = append(f.options, option{label: legible(labelOf(v)), value: v})
		}
	case kind == "boolean":
		f.kind = choice
		f.options = []option{{label: "yes", value: true}, {label: "no", value: false}}
	case kind == "string":
		f.kind = text
	case kind == "number", kind == "integer":
		f.kind = number
	}
	switch {
	case f.kind != choice:
	case f.required && !f.hasPreset:
		f.chosen = -1
	case !f.hasPreset:
		f.options = append([]option{{label: "(leave out)", absent: true}}, f.options...)
	default:
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
		case !f.required && f.when != nil && f.when.said != "":
			facts = append(facts, "needed when "+f.when.said)
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
	var issues []schema.Issue
	if f.judge != nil {
		issues = f.judge.Validate(v)
	}
	if f.when != nil && f.when.judge != nil {
		issues = append(issues, f.when.judge.Validate(v)...)
	}
	switch {
	case len(issues) == 0:
		return v, true, nil
	case typed == "":
		return nil, false, errors.New("this is needed")
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
		if f.chosen < 0 {
			return nil, false
		}
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
	return f.object(len(f.fields))
}

// object puts the first fields together, as far as they are asked for.
func (f *form) object(count int) *value.Object {
	o := value.NewObject(count)
	for _, field := range f.fields[:count] {
		if field.when != nil && !field.when.taken(o) {
			continue
		}
		if v, ok := field.result(); ok {
			o.Set(field.name, value.Clone(v))
		}
	}
	return o
}
