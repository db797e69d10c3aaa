package property

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/executable-markdown/xmd/internal/schema"
	"github.com/executable-markdown/xmd/internal/value"
)

// Sources is everything one invocation says about the properties of a document.
type Sources struct {
	Words     []Word            // individual options, in the order written
	Aggregate *string           // --props; nil: not given
	Env       map[string]string // XMD_PROPS and XMD_PROPS_*; what else is in it is not read
}

// A Word is one occurrence of an individual option.
type Word struct {
	Option string // --props-name
	Value  string // for a switch that stands alone, true
}

// A Fault is a source that is wrong: a sentence that begins with the option or
// variable it is about.
type Fault struct{ Message string }

func (f *Fault) Error() string { return f.Message }

// aggregateVariable is the variable of all properties.
const aggregateVariable = "XMD_PROPS"

// Malformed refuses an aggregate that is no JSON object, whether or not a property
// would be read from it. The error is a *Fault.
func (from Sources) Malformed() error {
	_, err := from.option()
	_, other := from.variable()
	return cmp.Or(err, other)
}

// option reads --props, and variable XMD_PROPS. One that is not given is empty.
func (from Sources) option() (*value.Object, error) {
	if from.Aggregate == nil {
		return value.NewObject(0), nil
	}
	return ParseAggregate("--props", *from.Aggregate)
}

func (from Sources) variable() (*value.Object, error) {
	text, ok := from.Env[aggregateVariable]
	if !ok {
		return value.NewObject(0), nil
	}
	return ParseAggregate(aggregateVariable, text)
}

// ParseAggregate reads all properties from JSON. The error is a *Fault about source.
func ParseAggregate(source, text string) (*value.Object, error) {
	v, err := value.Parse([]byte(text))
	if err != nil {
		return nil, fault(source, fmt.Errorf("it must be a JSON object: %w", err))
	}
	o, ok := v.(*value.Object)
	if !ok {
		return nil, fault(source, fmt.Errorf("it must be a JSON object, not %s", value.Kind(v)))
	}
	return o, nil
}

func fault(source string, err error) *Fault { return &Fault{source + ": " + err.Error()} }

// Collect settles the properties: for each, the option, the aggregate, the variable,
// the aggregate variable; whatever is left to defaults stays out (language 9.4). Only
// the first source that says something of a property counts; what is wrong behind it
// is not looked at. Names nobody declared are kept for the schema to judge. The error
// is a *Fault.
func (s *Set) Collect(from Sources) (*value.Object, error) {
	given := make(map[string][]string)
	for _, w := range from.Words {
		o := s.Find(w.Option)
		switch {
		case o == nil:
			return nil, s.Undeclared(w.Option)
		case o.List:
			given[o.Name] = append(given[o.Name], w.Value)
		default:
			given[o.Name] = []string{w.Value}
		}
	}
	aggregate, aggregateErr := from.option()
	fallback, fallbackErr := from.variable()
	if err := cmp.Or(aggregateErr, fallbackErr); err != nil && len(s.properties) == 0 {
		return nil, err
	}
	out := value.NewObject(0)
	for _, p := range s.properties {
		o := s.byName[p.Name]
		if o != nil && given[p.Name] != nil {
			v, err := o.decode(given[p.Name])
			if err != nil {
				return nil, fault(o.Option, err)
			}
			out.Set(p.Name, v)
			continue
		}
		if aggregateErr != nil {
			return nil, aggregateErr
		}
		if v, ok := aggregate.Get(p.Name); ok {
			out.Set(p.Name, v)
			continue
		}
		if o != nil {
			if text, ok := from.Env[o.Variable]; ok {
				v, err := o.decodeVariable(text)
				if err != nil {
					return nil, fault(o.Variable, err)
				}
				out.Set(p.Name, v)
				continue
			}
		}
		if fallbackErr != nil {
			return nil, fallbackErr
		}
		if v, ok := fallback.Get(p.Name); ok {
			out.Set(p.Name, v)
		}
	}
	for _, source := range []*value.Object{aggregate, fallback} {
		for name, v := range source.All() {
			if !out.Has(name) {
				out.Set(name, v)
			}
		}
	}
	return out, nil
}

// decode reads the words given for a property (language 9.5).
func (o *Option) decode(words []string) (any, error) {
	if !o.List {
		return decodeText(words[0], o.check)
	}
	list := make([]any, len(words))
	element := o.Element()
	for i, w := range words {
		v, err := decodeText(w, element.Validate)
		if err != nil {
			return nil, err
		}
		list[i] = v
	}
	return list, refused(o.check(list))
}

// decodeVariable reads an environment variable: a list's is a JSON array.
func (o *Option) decodeVariable(text string) (any, error) {
	if !o.List {
		return decodeText(text, o.check)
	}
	v, err := value.Parse([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("it must be a JSON array: %w", err)
	}
	return v, refused(o.check(v))
}

func (o *Option) check(v any) []schema.Issue { return o.owner.ValidateProperty(o.Name, v) }

// decodeText is the string where the schema takes it as one, else the JSON it
// spells.
func decodeText(text string, check func(any) []schema.Issue) (any, error) {
	asString := check(text)
	if len(asString) == 0 {
		return text, nil
	}
	v, err := value.Parse([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("%q does not fit: %w", text, refused(asString))
	}
	return v, refused(check(v))
}

// refused makes an error of what a schema found.
func refused(found []schema.Issue) error {
	if len(found) == 0 {
		return nil
	}
	messages := make([]string, len(found))
	for i, f := range found {
		messages[i] = f.Message
	}
	return errors.New(strings.Join(messages, "; "))
}
