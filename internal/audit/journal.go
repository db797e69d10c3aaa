package audit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"github.com/executable-markdown/xmd/internal/document"
	"github.com/executable-markdown/xmd/internal/journal"
	"github.com/executable-markdown/xmd/internal/value"
)

// A Journal is what a history says generated text was allowed and did.
type Journal struct {
	File       string
	Digest     string // of the whole file
	Bytes      int
	Torn       int // bytes after the last complete record
	Events     int
	Decisions  []Decision
	Effects    []Effect
	Identities []Usage
	Findings   []Finding
}

// A Decision is one decision about a fragment.
type Decision struct {
	ID        string // what positions inside the fragment are named by
	Line      int    // of its record
	Coroutine string
	At        document.Position // of the element that evaluates, in the document
	Verdict   Verdict
	Class     string // of a refusal
	Source    string // the digest of the source
	Module    string // the digest of the module
	Elements  int    // that name a capability
	Allow     []string
	Dialect   string
	Entries   []Entry
	Effects   int
}

// A Verdict is what a decision came to.
type Verdict string

const (
	Admitted Verdict = "admitted"
	Refused  Verdict = "refused"
	Doubted  Verdict = "doubted" // something about it is wrong, and nothing of it is believed
)

// An Effect is one effect of generated text.
type Effect struct {
	Line      int // of its record
	Coroutine string
	Decision  int // index of the decision it names, -1 when there is none
	Fragment  string
	Identity  string
	Type      string
	Status    string
	Failure   string // its message
	At        document.Position
	Asked     Asked
	Evidence  *Evidence // of its result
	Content   *Evidence // of what it wrote, as the record states it
	Inside    bool      // it lies inside the grant that admitted it
}

// Evidence pins a text or a value without repeating it: the SHA-256 of a text's
// bytes, so that sha256sum of a file can be compared, and of any other value's
// compact JSON.
type Evidence struct {
	Digest string
	Bytes  int
	Text   bool
}

// A Usage is how often an identity was named and used.
type Usage struct {
	Identity  string
	Named     int // elements of admitted fragments
	Performed int
	Failed    int
	Outside   int // effects that do not lie inside their grant
}

// Found implements Report.
func (j *Journal) Found() []Finding { return j.Findings }

// InspectJournal reads a history and holds everything in it that generated text did
// against the decision that admitted it. An error says that it is no history, or is
// that of ctx when it ended.
func InspectJournal(ctx context.Context, file string, data []byte) (*Journal, error) {
	events, torn, err := journal.ParseLines(data)
	if err != nil {
		return nil, err
	}
	if _, err := journal.Open(ctx, journal.NewMemory(events...), journal.Options{}); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data)
	j := &Journal{File: file, Digest: "sha256:" + hex.EncodeToString(sum[:]), Bytes: len(data), Torn: len(torn), Events: len(events)}
	x := &examiner{ctx: ctx, journal: j, events: events, byID: map[string][]int{}, work: maxWork}
	if x.yardstick, err = yardstick(ctx); err != nil {
		return nil, err
	}
	if err := x.run(); err != nil {
		return nil, err
	}
	if j.Torn > 0 {
		j.Findings = append(j.Findings, finding("torn-tail", Place{File: file, Line: len(events) + 1, Column: 1},
			"the history ends in an unfinished record of %s, which was never acknowledged and is not looked at", plural(j.Torn, "byte")))
	}
	return j, nil
}

// evidenceOf pins the value of a result.
func evidenceOf(r journal.Result) *Evidence {
	if r.Value == nil {
		return nil // nothing came back: an effect that changes something returns nothing
	}
	text, isText := r.Value.(string)
	if !isText {
		written, err := value.JSON(r.Value)
		if err != nil {
			return nil // not reached: it was read from JSON
		}
		text = written
	}
	sum := sha256.Sum256([]byte(text))
	return &Evidence{"sha256:" + hex.EncodeToString(sum[:]), len(text), isText}
}

func (j *Journal) json() *value.Object {
	o := begin("journal")
	o.Set("file", j.File)
	o.Set("digest", j.Digest)
	o.Set("bytes", float64(j.Bytes))
	o.Set("torn", float64(j.Torn))
	o.Set("events", float64(j.Events))
	o.Set("decisions", list(j.Decisions, decisionJSON))
	o.Set("effects", list(j.Effects, effectJSON))
	o.Set("identities", list(j.Identities, func(u Usage) any {
		return value.Of("identity", u.Identity, "named", float64(u.Named), "performed", float64(u.Performed),
			"failed", float64(u.Failed), "outside", float64(u.Outside))
	}))
	return findingsJSON(o, j.Findings)
}

func decisionJSON(d Decision) any {
	o := value.Of("id", d.ID, "line", float64(d.Line), "coroutine", d.Coroutine)
	if !d.At.IsZero() {
		o.Set("at", d.At.JSON())
	}
	o.Set("decision", string(d.Verdict))
	switch d.Verdict {
	case Refused:
		o.Set("class", d.Class)
	case Admitted:
		o.Set("source", d.Source)
		o.Set("module", d.Module)
		o.Set("allow", strs(d.Allow))
		o.Set("dialect", d.Dialect)
		o.Set("entries", list(d.Entries, entryJSON))
		o.Set("elements", float64(d.Elements))
	}
	o.Set("effects", float64(d.Effects))
	return o
}

func effectJSON(e Effect) any {
	o := value.Of("line", float64(e.Line), "coroutine", e.Coroutine, "fragment", e.Fragment, "identity", e.Identity, "type", e.Type)
	if !e.At.IsZero() {
		o.Set("at", e.At.JSON())
	}
	asked := value.NewObject(1)
	e.Asked.json(asked)
	o.Set("asked", asked)
	o.Set("status", e.Status)
	if e.Failure != "" {
		o.Set("failure", e.Failure)
	}
	if e.Evidence != nil {
		o.Set("evidence", e.Evidence.json())
	}
	if e.Content != nil {
		o.Set("content", e.Content.json())
	}
	o.Set("inside", e.Inside)
	return o
}

func (e *Evidence) json() *value.Object {
	of := "json"
	if e.Text {
		of = "text"
	}
	return value.Of("digest", e.Digest, "bytes", float64(e.Bytes), "of", of)
}

func (j *Journal) page() page {
	p := page{title: "Audit of a history", findings: j.Findings}
	counts, refused := map[Verdict]int{}, map[string]int{}
	var classes []string
	for _, d := range j.Decisions {
		counts[d.Verdict]++
		if d.Verdict == Refused {
			if refused[d.Class]++; refused[d.Class] == 1 {
				classes = append(classes, d.Class)
			}
		}
	}
	refusals := fact{"refused", []string{strconv.Itoa(counts[Refused])}}
	for _, class := range classes {
		refusals.lines = append(refusals.lines, class+": "+strconv.Itoa(refused[class]))
	}
	outside := 0
	for _, e := range j.Effects {
		if !e.Inside {
			outside++
		}
	}
	p.facts = []fact{
		{"history", []string{j.File}},
		{"digest", []string{j.Digest}},
		{"events", []string{strconv.Itoa(j.Events)}},
		{"admitted", []string{strconv.Itoa(counts[Admitted])}},
		refusals,
		{"doubted", []string{strconv.Itoa(counts[Doubted])}},
		{"effects", []string{strconv.Itoa(len(j.Effects)) + ", " + strconv.Itoa(outside) + " outside their grant"}},
	}
	p.tables = []table{j.decisionTable(), j.usageTable(), j.effectTable()}
	return p
}

func (j *Journal) decisionTable() table {
	t := table{caption: "Decisions", headers: []string{"Line", "Written at", "Decision", "Allowed", "Effects", "Source"}, empty: "No generated text was decided about."}
	for _, d := range j.Decisions {
		verdict := string(d.Verdict)
		if d.Verdict == Refused {
			verdict += ": " + d.Class
		}
		t.rows = append(t.rows, []cell{
			one(strconv.Itoa(d.Line)), one(d.At.String()), one(verdict), one(joined(d.Allow)), one(strconv.Itoa(d.Effects)), one(d.Source),
		})
	}
	return t
}

func (j *Journal) usageTable() table {
	t := table{caption: "Identities used", headers: []string{"Identity", "Named", "Performed", "Failed", "Outside"}}
	for _, u := range j.Identities {
		t.rows = append(t.rows, []cell{
			one(u.Identity), one(strconv.Itoa(u.Named)), one(strconv.Itoa(u.Performed)), one(strconv.Itoa(u.Failed)), one(strconv.Itoa(u.Outside)),
		})
	}
	return t
}

func (j *Journal) effectTable() table {
	t := table{caption: "Effects", headers: []string{"Line", "Decided", "Element", "Identity", "Asked for", "Came to", "Evidence"}, empty: "Generated text had no effect."}
	for _, e := range j.Effects {
		decided := ""
		if e.Decision >= 0 {
			decided = "line " + strconv.Itoa(j.Decisions[e.Decision].Line)
		}
		came := e.Status
		if !e.Inside {
			came += ", outside its grant"
		}
		var evidence cell
		if e.Evidence != nil {
			evidence = append(evidence, e.Evidence.Digest)
		}
		if e.Content != nil {
			evidence = append(evidence, "wrote "+e.Content.Digest)
		}
		t.rows = append(t.rows, []cell{
			one(strconv.Itoa(e.Line)), one(decided), one(lineColumn(e.At)), one(brief(e.Identity)), one(brief(e.Asked.String())), one(came), evidence,
		})
	}
	return t
}

// lineColumn is a position without its source, which in a fragment is a long name.
func lineColumn(p document.Position) string {
	return document.Position{Line: p.Line, Column: p.Column}.String()
}
