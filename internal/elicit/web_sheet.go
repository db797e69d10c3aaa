package elicit

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/executable-markdown/xmd/internal/schema"
	"github.com/executable-markdown/xmd/internal/value"
)

// A sheet is what a schema asks for, as the controls of a page. Nothing changes it
// once it is made.
type sheet struct {
	root   *control
	byPath map[string]*control
}

// A layout is the way a control is laid out and read.
type layout uint8

const (
	single layout = iota // one field: a text, a number, JSON text, or a choice
	lines                // an array, one item a line
	ticks                // an array of distinct members of an enum
	group                // an object, member by member
)

// A control is one part of an answer as a page asks for it.
type control struct {
	*field
	layout  layout
	id      string // of the part of the form; made of positions, so that no text of the schema is in it
	path    string // JSON Pointer of the value
	area    bool   // room for more than one line of text
	item    *field // of lines
	members []*control
}

// newSheet makes the controls of a compiled schema's definition.
func newSheet(definition any) *sheet {
	o, _ := definition.(*value.Object)
	s := &sheet{byPath: map[string]*control{}}
	s.root = newControl("answer", "", "answer", o, true, nil, 0)
	s.root.title = "Your answer" // the title of the schema is that of the page
	s.index(s.root)
	return s
}

func (s *sheet) index(c *control) {
	s.byPath[c.path] = c
	for _, m := range c.members {
		s.index(m)
	}
}

// groupLevels is how deep objects are asked member by member: the answer, and the
// objects that are its members. Deeper ones are written as JSON.
const groupLevels = 2

func newControl(id, path, name string, declared *value.Object, required bool, when *branch, level int) *control {
	c := &control{field: newField(name, declared, required, when), id: id, path: path}
	c.judge, c.when = nil, nil // the whole answer is judged at once, so that every issue is shown at once
	members := membersOf(declared)
	kind, _ := declared.String("type")
	switch {
	case c.kind == choice:
	case c.kind == text:
		c.area = roomy(declared)
	case kind == "array":
		c.list(declared)
	case kind == "object" && level < groupLevels && members.Len() > 0 && covers(declared, members):
		c.layout = group
		arg, _ := declared.Get("required")
		names, _ := arg.([]any)
		needed := make(map[any]bool, len(names))
		for _, n := range names {
			needed[n] = true
		}
		branches, depends := branchesOf(declared)
		for member, sub := range members.All() {
			definition, _ := sub.(*value.Object)
			var when *branch
			if delete(depends, member); !needed[member] && len(depends) == 0 {
				when = branches[member]
			}
			c.members = append(c.members, newControl(id+"-"+strconv.Itoa(len(c.members)), path+"/"+escapeToken(member),
				member, definition, needed[member], when, level+1))
		}
	}
	if c.layout != single {
		c.help = legible(c.note(declared))
	}
	return c
}

// list lays an array out when its items are scalars.
func (c *control) list(declared *value.Object) {
	arg, _ := declared.Get("items")
	items, _ := arg.(*value.Object)
	item := newField("item", items, true, nil)
	item.judge = nil
	unique, _ := declared.Get("uniqueItems")
	switch {
	case items == nil || item.kind == jsonText:
	case item.kind == choice && unique == true:
		c.layout, c.options = ticks, item.options
	case item.kind != choice || typeable(item.options):
		c.layout, c.item = lines, item
	}
}

// typeable reports whether the label of every option can be written on a line and
// stands for one option only.
func typeable(options []option) bool {
	seen := map[string]bool{}
	for _, o := range options {
		if o.label == "" || o.label != strings.TrimSpace(o.label) || strings.Contains(o.label, "\n") || seen[o.label] {
			return false
		}
		seen[o.label] = true
	}
	return true
}

// roomy reports whether a string may well be longer than a line.
func roomy(declared *value.Object) bool {
	limit, limited := declared.Get("maxLength")
	length, _ := limit.(float64)
	return !(limited && length <= 120 || declared.Has("format") || declared.Has("pattern"))
}

// membersOf is the table of the properties an object declares; it may be nil.
func membersOf(declared *value.Object) *value.Object {
	arg, _ := declared.Get("properties")
	members, _ := arg.(*value.Object)
	return members
}

// covers reports whether answers that consist of the members alone can be all that
// a schema asks for: whatever else it says of the same object must not bring in
// members of its own.
func covers(declared, members *value.Object) bool {
	for keyword, arg := range declared.All() {
		switch keyword {
		case "$ref", "patternProperties", "propertyNames":
			return false
		case "properties":
			sub, _ := arg.(*value.Object)
			for name := range sub.All() {
				if !members.Has(name) {
					return false
				}
			}
		case "if", "then", "else", "not", "anyOf", "oneOf", "allOf":
			list, isList := arg.([]any)
			if !isList {
				list = []any{arg}
			}
			for _, e := range list {
				if sub, _ := e.(*value.Object); !covers(sub, members) {
					return false
				}
			}
		case "dependencies":
			table, _ := arg.(*value.Object)
			for _, e := range table.All() {
				if sub, _ := e.(*value.Object); !covers(sub, members) {
					return false
				}
			}
		}
	}
	return true
}

// note is the description of a control that is more than one field, and what
// leaving it empty means.
func (c *control) note(declared *value.Object) string {
	var facts []string
	if c.layout == lines {
		facts = append(facts, "one item a line")
		if c.item.kind == choice {
			labels := make([]string, len(c.item.options))
			for i, o := range c.item.options {
				labels[i] = o.label
			}
			facts = append(facts, "each of them "+strings.Join(labels, ", "))
		}
	}
	switch {
	case c.layout == ticks && c.required, c.layout == ticks && c.hasPreset, c.path == "":
	case c.layout == ticks:
		facts = append(facts, "none: leave out")
	case c.hasPreset:
		facts = append(facts, "empty: "+labelOf(c.preset))
	case !c.required:
		facts = append(facts, "empty: leave out")
	}
	description, _ := declared.String("description")
	if len(facts) == 0 {
		return description
	}
	return strings.TrimPrefix(description+" ("+strings.Join(facts, "; ")+")", " ")
}

// A filled sheet is what somebody made of a sheet.
type filled struct {
	typed   map[string]string       // by the id of a control
	picked  map[string]map[int]bool // options, by the id of a control
	faults  map[*control][]string   // visible text
	omitted map[*control]int        // how many more faults there are
	answer  any
}

// refused reports whether anything is wrong.
func (f *filled) refused() bool { return len(f.faults) > 0 }

func newFilled() *filled {
	return &filled{
		typed:   map[string]string{},
		picked:  map[string]map[int]bool{},
		faults:  map[*control][]string{},
		omitted: map[*control]int{},
	}
}

// maxFaults is how many faults of one control are shown.
const maxFaults = 10

func (f *filled) fault(c *control, text string) {
	if len(f.faults[c]) >= maxFaults {
		f.omitted[c]++
		return
	}
	f.faults[c] = append(f.faults[c], Visible(clip(text)))
}

// maxFault bounds the text of one fault, in bytes.
const maxFault = 400

func clip(text string) string {
	if len(text) <= maxFault {
		return text
	}
	return strings.ToValidUTF8(text[:maxFault], "") + " ..."
}

// blank is the sheet before anybody wrote on it.
func (s *sheet) blank() *filled {
	f := newFilled()
	f.prepare(s.root)
	return f
}

func (f *filled) prepare(c *control) {
	switch {
	case c.layout == ticks:
		list, _ := c.preset.([]any)
		f.picked[c.id] = map[int]bool{}
		for _, v := range list {
			if i := c.option(v); i >= 0 {
				f.picked[c.id][i] = true
			}
		}
	case c.layout == single && c.kind == choice && c.chosen >= 0:
		f.picked[c.id] = map[int]bool{c.chosen: true}
	}
	for _, m := range c.members {
		f.prepare(m)
	}
}

func (c *control) option(v any) int {
	return slices.IndexFunc(c.options, func(o option) bool { return !o.absent && value.Equal(o.value, v) })
}

// read takes a form that was sent and judges the answer it makes.
func (s *sheet) read(form url.Values, judge *schema.Schema) *filled {
	f := newFilled()
	f.answer, _ = f.take(s.root, form)
	wrong := make(map[*control]bool, len(f.faults))
	for c := range f.faults {
		wrong[c] = true
	}
	issues := judge.Validate(f.answer)
	for _, issue := range issues {
		c, text := s.place(issue)
		if issue.Keyword != "if" && !wrong[c] { // what a branch refuses is an issue of its own
			f.fault(c, text)
		}
	}
	if len(issues) > 0 && !f.refused() {
		f.fault(s.place(issues[0]))
	}
	return f
}

// take is the value of a control; ok is false when it is left out, or wrong.
func (f *filled) take(c *control, form url.Values) (v any, ok bool) {
	switch c.layout {
	case group:
		return f.takeGroup(c, form)
	case ticks:
		return f.takeTicks(c, form)
	case lines:
		return f.takeLines(c, form)
	}
	if c.kind == choice {
		return f.takeChoice(c, form)
	}
	typed := strings.ReplaceAll(form.Get(c.id), "\r\n", "\n") // a form is sent with line ends of its own
	f.typed[c.id] = typed
	v, ok, err := c.read(typed)
	if err != nil {
		f.fault(c, err.Error())
	}
	return v, ok && err == nil
}

func (f *filled) takeChoice(c *control, form url.Values) (v any, ok bool) {
	if !form.Has(c.id) {
		if c.chosen < 0 {
			f.fault(c, "choose one")
			return nil, false
		}
		f.picked[c.id] = map[int]bool{c.chosen: true}
		return c.options[c.chosen].value, !c.options[c.chosen].absent
	}
	i, err := strconv.Atoi(form.Get(c.id))
	if err != nil || i < 0 || i >= len(c.options) {
		f.fault(c, "choose one of the options")
		return nil, false
	}
	f.picked[c.id] = map[int]bool{i: true}
	return c.options[i].value, !c.options[i].absent
}

func (f *filled) takeTicks(c *control, form url.Values) (v any, ok bool) {
	picked := map[int]bool{}
	f.picked[c.id] = picked
	for _, sent := range form[c.id] {
		i, err := strconv.Atoi(sent)
		if err != nil || i < 0 || i >= len(c.options) {
			f.fault(c, "choose among the options")
			return nil, false
		}
		picked[i] = true
	}
	list := []any{}
	for i, o := range c.options {
		if picked[i] {
			list = append(list, o.value)
		}
	}
	return list, len(list) > 0 || c.required || c.hasPreset
}

func (f *filled) takeLines(c *control, form url.Values) (v any, ok bool) {
	typed := strings.ReplaceAll(form.Get(c.id), "\r\n", "\n")
	f.typed[c.id] = typed
	list := []any{}
	wrong := false
	n := 0
	for line := range strings.SplitSeq(typed, "\n") {
		n++
		if strings.TrimSpace(line) == "" {
			continue
		}
		item, err := c.readLine(line)
		if err != nil {
			wrong = true
			f.fault(c, fmt.Sprintf("line %d: %s", n, err))
			continue
		}
		list = append(list, item)
	}
	switch {
	case wrong:
		return nil, false
	case len(list) == 0 && c.hasPreset:
		return value.Clone(c.preset), true
	}
	return list, len(list) > 0 || c.required
}

// readLine is the item a line stands for.
func (c *control) readLine(line string) (any, error) {
	if c.item.kind != choice {
		v, _, err := c.item.read(line)
		return v, err
	}
	label := strings.TrimSpace(line)
	for _, o := range c.item.options {
		if o.label == label {
			return o.value, nil
		}
	}
	return nil, fmt.Errorf("%q is not one of the options", label)
}

// takeGroup puts an object together. An optional one nobody touched is left out.
func (f *filled) takeGroup(c *control, form url.Values) (v any, ok bool) {
	if !c.required && c.untouched(form) {
		f.prepare(c)
		return value.Clone(c.preset), c.hasPreset
	}
	o := value.NewObject(len(c.members))
	for _, m := range c.members {
		if v, ok := f.take(m, form); ok {
			o.Set(m.name, value.Clone(v))
		}
	}
	return o, true
}

// untouched reports whether a form says of a control what the blank sheet said.
func (c *control) untouched(form url.Values) bool {
	for _, m := range c.members {
		if !m.untouched(form) {
			return false
		}
	}
	blank := newFilled()
	blank.prepare(c)
	switch {
	case c.layout == group:
		return true
	case c.layout == ticks || c.layout == single && c.kind == choice:
		for _, sent := range form[c.id] {
			i, err := strconv.Atoi(sent)
			if err != nil || !blank.picked[c.id][i] {
				return false
			}
		}
		return c.layout == single || len(form[c.id]) == len(blank.picked[c.id])
	}
	return strings.TrimSpace(form.Get(c.id)) == ""
}

// place finds the control an issue is about and says there what is wrong.
func (s *sheet) place(issue schema.Issue) (c *control, text string) {
	pointer, text := issue.InstancePath, issue.Message
	if name, missing := issue.Params.String("missingProperty"); missing {
		pointer, text = pointer+"/"+escapeToken(name), "this is needed"
	}
	at := pointer
	for s.byPath[at] == nil {
		at = at[:strings.LastIndexByte(at, '/')]
	}
	c, rest := s.byPath[at], pointer[len(at):]
	if i, err := strconv.Atoi(strings.TrimPrefix(rest, "/")); err == nil && c.layout != single {
		return c, fmt.Sprintf("item %d %s", i+1, text)
	}
	return c, strings.TrimSpace(rest + " " + text)
}

// escapeToken writes a name as one token of a JSON Pointer.
func escapeToken(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}
