package cli

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"

	"github.com/executable-markdown/xmd/internal/schema"
	"github.com/executable-markdown/xmd/internal/value"
)

// A propertyOption is one declared property as the command line sees it
// (language 9.1).
type propertyOption struct {
	schema.Property
	option   string // --props-first-name
	variable string // XMD_PROPS_FIRST_NAME
	form     string
	list     bool
	owner    *schema.Schema
}

// properties is everything a document lets the command line say.
type properties struct {
	schema *schema.Schema
	list   []propertyOption
}

// propertiesOf reads the options a document declares. Two properties that would
// share an option are a configuration error.
func propertiesOf(s *schema.Schema) (*properties, error) {
	p := &properties{schema: s}
	taken := make(map[string]string)
	for _, prop := range s.Properties() {
		shape, form := prop.Shape()
		if shape == schema.Structured || visible(prop.Name) != prop.Name {
			continue // only --props can say it
		}
		name := kebab(prop.Name)
		if other, ok := taken[name]; ok {
			return nil, fmt.Errorf("the properties %q and %q would both be --props-%s; rename one of them", other, prop.Name, name)
		}
		taken[name] = prop.Name
		p.list = append(p.list, propertyOption{
			Property: prop, owner: s, form: form, list: shape == schema.ScalarArray,
			option:   "--props-" + name,
			variable: "XMD_PROPS_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_")),
		})
	}
	return p, nil
}

// kebab makes an option's name of a property's (language 9.1.2).
func kebab(name string) string {
	var b strings.Builder
	var last rune
	for _, c := range name {
		if unicode.IsUpper(c) && (unicode.IsLower(last) || unicode.IsDigit(last)) {
			b.WriteByte('-')
		}
		if c == '_' || unicode.IsSpace(c) {
			if last != '-' {
				b.WriteByte('-')
			}
			last = '-'
			continue
		}
		b.WriteRune(unicode.ToLower(c))
		last = c
	}
	return b.String()
}

func (p *properties) find(option string) *propertyOption {
	for i := range p.list {
		if p.list[i].option == option {
			return &p.list[i]
		}
	}
	return nil
}

// takesValue implements bindings.
func (p *properties) takesValue(option string) bool {
	o := p.find(option)
	return o == nil || !o.IsBoolean()
}

// collect settles the properties of a run: for each, the option, the aggregate,
// the variable, the aggregate variable; whatever is left to defaults stays out
// (language 9.4).
func (p *properties) collect(words []propsWord, env map[string]string) (*value.Object, error) {
	given := make(map[string][]string)
	aggregate, aggregateErr := value.NewObject(0), error(nil)
	for _, w := range words {
		if w.option == "--props" { // the last one replaces earlier ones
			if aggregate, aggregateErr = parseAggregate(w.value); aggregateErr != nil {
				aggregateErr = usage("--props: %v", aggregateErr)
			}
			continue
		}
		o := p.find(w.option)
		if o == nil {
			return nil, usage("%s is no property this document declares%s", w.option, p.hint())
		}
		if !w.hasValue {
			w.value = "true"
		}
		if o.list {
			given[o.Name] = append(given[o.Name], w.value)
		} else {
			given[o.Name] = []string{w.value}
		}
	}
	fallback, fallbackErr := value.NewObject(0), error(nil)
	if text, ok := env["XMD_PROPS"]; ok {
		if fallback, fallbackErr = parseAggregate(text); fallbackErr != nil {
			fallbackErr = usage("XMD_PROPS: %v", fallbackErr)
		}
	}

	if err := cmp.Or(aggregateErr, fallbackErr); err != nil && len(p.schema.Properties()) == 0 {
		return nil, err
	}
	out := value.NewObject(0)
	for _, prop := range p.schema.Properties() {
		o := p.byName(prop.Name)
		if o != nil && given[prop.Name] != nil {
			v, err := o.decode(given[prop.Name])
			if err != nil {
				return nil, usage("%s: %v", o.option, err)
			}
			out.Set(prop.Name, v)
			continue
		}
		if aggregateErr != nil {
			return nil, aggregateErr
		}
		if v, ok := aggregate.Get(prop.Name); ok {
			out.Set(prop.Name, v)
			continue
		}
		if o != nil {
			if text, ok := env[o.variable]; ok {
				v, err := o.decodeVariable(text)
				if err != nil {
					return nil, usage("%s: %v", o.variable, err)
				}
				out.Set(prop.Name, v)
				continue
			}
		}
		if fallbackErr != nil {
			return nil, fallbackErr
		}
		if v, ok := fallback.Get(prop.Name); ok {
			out.Set(prop.Name, v)
		}
	}
	for _, source := range []*value.Object{aggregate, fallback} {
		for name, v := range source.All() { // undeclared names are the schema's to judge
			if !out.Has(name) {
				out.Set(name, v)
			}
		}
	}
	return out, nil
}

// hint lists what the document declares, for a message about something else.
func (p *properties) hint() string {
	var names []string
	for _, o := range p.list {
		names = append(names, o.option)
	}
	for _, name := range p.unspoken() {
		names = append(names, name+" (in --props JSON)")
	}
	if len(names) == 0 {
		return "; it declares none"
	}
	return "; it declares " + strings.Join(names, ", ")
}

// unspoken lists the properties that have no option of their own.
func (p *properties) unspoken() []string {
	var names []string
	for _, prop := range p.schema.Properties() {
		if p.byName(prop.Name) == nil {
			names = append(names, visible(prop.Name))
		}
	}
	return names
}

func (p *properties) byName(name string) *propertyOption {
	for i := range p.list {
		if p.list[i].Name == name {
			return &p.list[i]
		}
	}
	return nil
}

func parseAggregate(text string) (*value.Object, error) {
	v, err := value.Parse([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("it must be a JSON object: %w", err)
	}
	o, ok := v.(*value.Object)
	if !ok {
		return nil, fmt.Errorf("it must be a JSON object, not %s", value.Kind(v))
	}
	return o, nil
}

// decode reads the words given for a property (language 9.5).
func (o *propertyOption) decode(words []string) (any, error) {
	if !o.list {
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
	return list, issues(o.check(list))
}

// decodeVariable reads an environment variable: an array's is a JSON array.
func (o *propertyOption) decodeVariable(text string) (any, error) {
	if !o.list {
		return decodeText(text, o.check)
	}
	v, err := value.Parse([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("it must be a JSON array: %w", err)
	}
	return v, issues(o.check(v))
}

func (o *propertyOption) check(v any) []schema.Issue { return o.owner.ValidateProperty(o.Name, v) }

// decodeText is the string where the schema takes it as one, else the JSON it
// spells.
func decodeText(text string, check func(any) []schema.Issue) (any, error) {
	asString := check(text)
	if len(asString) == 0 {
		return text, nil
	}
	v, err := value.Parse([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("%q does not fit: %w", text, issues(asString))
	}
	return v, issues(check(v))
}

// issues makes an error of what a schema found.
func issues(found []schema.Issue) error {
	if len(found) == 0 {
		return nil
	}
	messages := make([]string, len(found))
	for i, f := range found {
		messages[i] = f.Message
	}
	return fmt.Errorf("%s", strings.Join(messages, "; "))
}

// help describes the options a document declares (language 9.7.2).
func (p *properties) help(b *strings.Builder, path string) {
	if len(p.schema.Properties()) == 0 {
		return
	}
	fmt.Fprintf(b, "\nProperties declared by %s\n", path)
	for _, o := range p.list {
		o.form = visible(o.form)
		if o.IsBoolean() {
			fmt.Fprintf(b, "  %s[=<boolean>]\n", o.option)
		} else if form, isList := strings.CutSuffix(o.form, "..."); isList {
			fmt.Fprintf(b, "  %s <%s>...\n", o.option, form)
		} else {
			fmt.Fprintf(b, "  %s <%s>\n", o.option, o.form)
		}
		if d, ok := o.Definition.(*value.Object); ok {
			if text, ok := d.String("description"); ok {
				fmt.Fprintf(b, "      %s\n", visible(text))
			}
		}
		fmt.Fprintf(b, "      Environment: %s\n", o.variable)
		if o.Required {
			b.WriteString("      Required\n")
		}
		if o.HasDefault {
			if text, err := value.JSON(o.Default); err == nil {
				fmt.Fprintf(b, "      Default: %s\n", visible(text))
			}
		}
	}
	b.WriteString("  --props <json>\n      Environment: XMD_PROPS\n")
	if names := p.unspoken(); len(names) > 0 {
		fmt.Fprintf(b, "      The only way to give: %s\n", strings.Join(names, ", "))
	}
}
