package audit

import (
	"fmt"
	"path"
	"strings"

	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/internal/journal"
	"github.com/executable-markdown/xmd/internal/value"
)

// maxWork bounds the matching of paths, in sources and in effects: lengths of paths
// times lengths of the patterns they are held against, over the whole history. What
// is left over is reported as unverified.
const maxWork = 4_000_000_000

// yield holds one event against the decisions, where it is one of generated text.
func (x *examiner) yield(i int, ev journal.Event) {
	kind, _ := ev.Description.String("type")
	at, _, _ := ev.Position()
	_, claims := ev.Description.Get(memberIdentity)
	switch {
	case kind == typeDecision:
		return
	case at.Generated == "" && !claims && kind != "capability":
		return // the document's own
	case !claims && (kind == typeLoop || kind == typeIteration):
		x.loop(i, ev)
		return
	}
	e := Effect{Line: i + 1, Coroutine: ev.CoroutineID, Decision: -1, Fragment: at.Generated, Type: kind, Status: ev.Result.Status, At: at}
	e.Identity, _ = ev.Description.String(memberIdentity)
	e.Evidence, e.Content = evidenceOf(ev.Result), contentOf(ev.Description)
	if ev.Result.Error != nil {
		e.Failure = ev.Result.Error.Message
	}
	e.Asked, _ = askedIn(e.Identity, ev.Description)
	if several := x.byID[e.Fragment]; len(several) == 1 {
		e.Decision = several[0]
		x.journal.Decisions[e.Decision].Effects++
	}
	wrong := x.judge(&e, i, ev)
	if e.Inside = wrong == nil; !e.Inside {
		x.add(wrong.code, i, "%s", wrong.message)
	}
	u := x.usage(e.Identity)
	u.Performed++
	if ev.Result.Status == journal.StatusErr {
		u.Failed++
	}
	if !e.Inside {
		u.Outside++
	}
	x.journal.Effects = append(x.journal.Effects, e)
}

// A fault is why an effect does not lie inside its grant.
type fault struct{ code, message string }

func faulty(code, format string, args ...any) *fault {
	return &fault{code, fmt.Sprintf(format, args...)}
}

// loop holds the record of a loop against the source: it is no effect, and a forged
// one could still hide that an effect was.
func (x *examiner) loop(i int, ev journal.Event) {
	at, _, _ := ev.Position()
	made, wrong := x.admission(at.Generated, i, ev.CoroutineID)
	if wrong == nil && made.elements != nil {
		if e := made.elements[at.Offset]; e == nil || e.name != "Loop" || e.at.Line != at.Line || e.at.Column != at.Column {
			wrong = faulty("element-unknown", "the source has no <Loop> at %d:%d", at.Line, at.Column)
		}
	}
	if wrong != nil {
		x.add(wrong.code, i, "the record of a loop: %s", wrong.message)
	}
}

// admission finds the one decision that admitted a fragment, before an event and
// around it.
func (x *examiner) admission(id string, event int, coroutine string) (*remade, *fault) {
	several := x.byID[id]
	switch {
	case len(several) == 0:
		return nil, faulty("fragment-unknown", "the history holds no decision about the fragment %s", brief(id))
	case len(several) > 1:
		return nil, faulty("fragment-not-admitted", "the history holds %d decisions about the fragment %s, and none of several is believed", len(several), brief(id))
	}
	d, made := x.journal.Decisions[several[0]], x.made[several[0]]
	switch {
	case d.Verdict == Refused:
		return nil, faulty("fragment-not-admitted", "the fragment was refused on line %d", d.Line)
	case made == nil:
		return nil, faulty("fragment-not-admitted", "the decision about the fragment, on line %d, is not believed", d.Line)
	case d.Line > event:
		return nil, faulty("fragment-later", "it stands before the decision about its fragment, which is on line %d", d.Line)
	case !journal.Encloses(d.Coroutine, coroutine):
		return nil, faulty("fragment-elsewhere", "it was performed on the coroutine %s, and its fragment was admitted on %s", brief(coroutine), brief(d.Coroutine))
	}
	return made, nil
}

// judge holds an effect against its decision: who admitted it, under which identity,
// which element it is of, what it was asked for, how often, and what came back.
func (x *examiner) judge(e *Effect, event int, ev journal.Event) *fault {
	switch {
	case e.Fragment == "":
		return faulty("effect-homeless", "it claims the capability %s, and its position names no fragment", brief(e.Identity))
	case e.Identity == "":
		return faulty("effect-foreign", "an event of type %q stands inside a fragment and names no capability", brief(e.Type))
	}
	made, wrong := x.admission(e.Fragment, event, e.Coroutine)
	if wrong != nil {
		return wrong
	}
	entry := made.grant.ByIdentity(e.Identity)
	switch {
	case entry == nil:
		return faulty("identity-not-granted", "the identity %s was not granted", brief(e.Identity))
	case entry.Effect == capability.Pure:
		return faulty("effect-foreign", "%s computes and has no effect", e.Identity)
	}
	own, wrong := made.own(e)
	if wrong != nil || made.foreign[e.Identity] {
		return wrong
	}
	s := shippedAs(e.Identity)
	if e.Type != s.record {
		return faulty("effect-foreign", "an effect of %s is of type %s, and this one is of type %q", e.Identity, s.record, brief(e.Type))
	}
	input, _ := ev.Description.Get("input")
	if _, ok := askedIn(e.Identity, ev.Description); !ok {
		return faulty("effect-malformed", "what was asked of %s is not recorded in its form", e.Identity)
	}
	if wrong := x.within(made, entry, e, input); wrong != nil {
		return wrong
	}
	if own != nil {
		if exact, ok := own.exact(); ok && !value.Equal(exact, input) {
			return faulty("unlike-source", "%s was asked for %s, which is not what its element at %s asks for", e.Identity, brief(e.Asked.String()), lineColumn(e.At))
		}
	}
	return x.result(made, entry, own, ev)
}

// own finds the element an effect is of, and counts it. It is nil where the source
// could not be read again.
func (m *remade) own(e *Effect) (*element, *fault) {
	if m.elements == nil {
		return nil, nil
	}
	el := m.elements[e.At.Offset]
	if el == nil || el.identity != e.Identity || el.at.Line != e.At.Line || el.at.Column != e.At.Column {
		return nil, faulty("element-unknown", "the admitted source has no element of %s at %d:%d", e.Identity, e.At.Line, e.At.Column)
	}
	if el.count++; el.count > el.bound.Times {
		return nil, faulty("too-often", "the element at %d:%d took effect %s; its source makes that at most %d", e.At.Line, e.At.Column, plural(el.count, "time"), el.bound.Times)
	}
	return el, nil
}

// within holds what was asked for against the ceiling of the entry.
func (x *examiner) within(made *remade, entry *capability.Granted, e *Effect, input any) *fault {
	switch s := shippedAs(e.Identity); {
	case s.record == "elicit":
		return nil // its form is all that bounds a question
	case s.record == "fetch":
		for _, stated := range made.requests[e.Identity] {
			if value.Equal(stated, input) {
				return nil
			}
		}
		return faulty("outside-ceiling", "%s was asked for %s, which is no stated request", e.Identity, brief(e.Asked.String()))
	case s.takesPath:
		if !x.spend(len(e.Asked.Path), entry.Paths) {
			return errWork
		}
		props := value.Of("path", e.Asked.Path)
		clean := entry.Record(capability.Call{Form: entry.Forms, Props: props}).Input
		if !covers(entry, e.Asked.Path) || !value.Equal(clean, input) {
			return faulty("outside-ceiling", "%s was asked for the path %s, which its ceiling does not cover: %s", e.Identity, brief(e.Asked.Path), extent(entry.Paths))
		}
		return nil
	default:
		props := value.Of("include", strs(e.Asked.Include), "exclude", strs(e.Asked.Exclude))
		if v := entry.Check(capability.Use{Form: entry.Forms, Props: props, DirKnown: true}); v != nil {
			return faulty("outside-ceiling", "%s was asked for patterns it does not take: %s", e.Identity, brief(v.Reason))
		}
		return nil
	}
}

var errWork = &fault{"unverified", "so many paths are held against so many patterns that this one was not"}

func extent(paths []string) string {
	if paths == nil {
		return "everything below the root but what decides and what is secret"
	}
	return brief(strings.Join(paths, ", "))
}

// spend takes the work of matching so many bytes of paths from what is left.
func (x *examiner) spend(size int, patterns []string) bool {
	weight := 1
	for _, p := range patterns {
		weight += weightOf(p)
	}
	x.work -= int64(size+1) * int64(weight)
	return x.work >= 0
}

// weightOf is the most that the alternatives of a pattern come to, in bytes.
func weightOf(pattern string) int {
	switch strings.Count(pattern, "{") {
	case 0:
		return len(pattern)
	case 1:
		return min(len(pattern)*(1+strings.Count(pattern, ",")), 16<<10)
	}
	return 16 << 10
}

// result holds what came back against what the entry returns, and the files a search
// found against its ceiling.
func (x *examiner) result(made *remade, entry *capability.Granted, own *element, ev journal.Event) *fault {
	if ev.Result.Status != journal.StatusOk {
		return nil
	}
	v := ev.Result.Value
	if !ev.Result.HasValue {
		v = value.Undefined{}
	}
	if entry.CheckResult(v) != nil {
		return faulty("result-unlike", "the result is not one that %s returns", entry.Identity)
	}
	found, isList := v.([]any)
	if !isList || !shippedAs(entry.Identity.String()).paths || own == nil || !own.dirKnown {
		return nil
	}
	reader, err := made.reader(x, entry)
	if err != nil {
		return faulty("unverified", "what %s found cannot be held against its ceiling: %v", entry.Identity, err)
	}
	for _, item := range found {
		name, _ := item.(string)
		full := path.Join(own.dir, name)
		if !x.spend(len(full), entry.Paths) {
			return errWork
		}
		if !covers(reader, full) {
			return faulty("result-outside", "%s found %s, which its ceiling does not cover: %s", entry.Identity, brief(full), extent(entry.Paths))
		}
	}
	return nil
}

// reader judges single paths under the ceiling of an entry that takes patterns.
func (m *remade) reader(x *examiner, entry *capability.Granted) (*capability.Granted, error) {
	id := entry.Identity.String()
	if r := m.readers[id]; r != nil {
		return r, nil
	}
	r, err := readerOf(x.ctx, entry.Paths)
	if err == nil {
		m.readers[id] = r
	}
	return r, err
}

// askedIn reads what the description of an effect says was asked for.
func askedIn(identity string, description *value.Object) (a Asked, ok bool) {
	s := shippedAs(identity)
	if s.entry == nil {
		return a, true
	}
	input, _ := description.Get("input")
	if a, ok = askedOf(s, input); !ok || s.record != "elicit" {
		return a, ok
	}
	message, told := description.String(memberMessage)
	schema, has := description.Get(memberSchema)
	a.Question = message
	return a, told && has && capability.Fingerprint(capability.Question{Message: message, Schema: schema}) == input
}

// contentOf is what the record of a write says was written.
func contentOf(description *value.Object) *Evidence {
	digest, ok := description.String("digest")
	v, _ := description.Get("bytes")
	size, isNumber := v.(float64)
	if !ok || !isNumber || size < 0 || size > 1<<40 {
		return nil
	}
	return &Evidence{Digest: digest, Bytes: int(size), Text: true}
}
