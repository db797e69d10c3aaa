package agent

import (
	"fmt"
	"sync"

	"github.com/executable-markdown/xmd/internal/value"
)

// NewAudit is what a record keeps of a decided request: never its raw input, and of a
// strict denial neither the title of the tool nor the names of the options (agents
// 15.4). The options are copied.
func NewAudit(r PermissionRequest, outcome PermissionOutcome, strict bool) Audit {
	a := Audit{Tool: ToolCall{ID: r.Tool.ID, Title: r.Tool.Title, Kind: r.Tool.Kind}, Outcome: outcome, Sparse: strict}
	if strict {
		a.Tool.Title = ""
	}
	for _, o := range Offered(r.Options) {
		if strict {
			o.Name = ""
		}
		a.Options = append(a.Options, o)
	}
	return a
}

// value returns the audit as a member of a record (agents 5.3).
func (a Audit) value() *value.Object {
	o := value.Of("toolCallId", a.Tool.ID)
	if !a.Sparse {
		setText(o, "title", a.Tool.Title)
	}
	setText(o, "kind", a.Tool.Kind)
	options := make([]any, len(a.Options))
	for i, offered := range a.Options {
		option := value.Of("optionId", offered.ID)
		if !a.Sparse {
			option.Set("name", offered.Name)
		}
		option.Set("kind", string(offered.Kind))
		options[i] = option
	}
	o.Set("options", options)
	if a.Outcome.OptionID == "" {
		o.Set("outcome", value.Of("outcome", "cancelled"))
	} else {
		o.Set("outcome", value.Of("outcome", "selected", "optionId", a.Outcome.OptionID))
	}
	return o
}

func parseAudits(v any) ([]Audit, error) {
	list, ok := v.([]any)
	if !ok || len(list) == 0 {
		return nil, &RecordError{"$.permissions", "must be a list that is not empty"}
	}
	audits := make([]Audit, len(list))
	for i, member := range list {
		if err := audits[i].parse(member, fmt.Sprintf("$.permissions[%d]", i)); err != nil {
			return nil, err
		}
	}
	return audits, nil
}

func (a *Audit) parse(v any, path string) error {
	o, err := closed(v, path, "toolCallId", "title", "kind", "options", "outcome")
	if err != nil {
		return err
	}
	err = texts(o, path, []field{
		{"toolCallId", &a.Tool.ID, anyText}, {"title", &a.Tool.Title, optional}, {"kind", &a.Tool.Kind, optional},
	})
	if err != nil {
		return err
	}
	options, _ := o.Get("options")
	list, ok := options.([]any)
	if !ok {
		return &RecordError{path + ".options", "must be a list"}
	}
	if err := a.parseOptions(list, path+".options"); err != nil {
		return err
	}
	if a.Sparse && a.Tool.Title != "" {
		return &RecordError{path + ".title", "must be absent where options have no names"}
	}
	outcome, _ := o.Get("outcome")
	return a.parseOutcome(outcome, path+".outcome")
}

func (a *Audit) parseOptions(list []any, path string) error {
	seen := make(map[string]bool, len(list))
	for i, v := range list {
		path := fmt.Sprintf("%s[%d]", path, i)
		o, err := closed(v, path, "optionId", "name", "kind")
		if err != nil {
			return err
		}
		var option PermissionOption
		var kind string
		named := anyText
		if i == 0 {
			a.Sparse = !o.Has("name")
		}
		if a.Sparse {
			named = optional
		}
		err = texts(o, path, []field{{"optionId", &option.ID, required}, {"name", &option.Name, named}, {"kind", &kind, anyText}})
		option.Kind = OptionKind(kind)
		switch {
		case err != nil:
			return err
		case a.Sparse && o.Has("name"):
			return &RecordError{path + ".name", "must be absent where other options have none"}
		case !known(option.Kind):
			return &RecordError{path + ".kind", "must be one of the four kinds"}
		case seen[option.ID]:
			return &RecordError{path + ".optionId", "must differ from the others"}
		}
		seen[option.ID] = true
		a.Options = append(a.Options, option)
	}
	return nil
}

func (a *Audit) parseOutcome(v any, path string) error {
	o, err := closed(v, path, "outcome", "optionId")
	if err != nil {
		return err
	}
	switch outcome, _ := o.String("outcome"); {
	case outcome == "cancelled" && o.Len() == 1:
		return nil
	case outcome != "selected":
		return &RecordError{path, "must be selected with an option, or cancelled alone"}
	}
	if err := texts(o, path, []field{{"optionId", &a.Outcome.OptionID, required}}); err != nil {
		return err
	}
	for _, option := range a.Options {
		if option.ID == a.Outcome.OptionID {
			return nil
		}
	}
	return &RecordError{path + ".optionId", "must be an offered one"}
}

// Arrivals keeps the audit of a turn in the order requests arrived, whatever order
// they are decided in: an audit is told once everything that arrived before it is
// settled. It is safe for concurrent use; one audit is told at a time.
type Arrivals struct {
	tell  func(Audit)
	mu    sync.Mutex
	queue []*arrival
}

type arrival struct {
	settled, decided bool
	audit            Audit
}

// NewArrivals returns an empty audit that is told to tell, which may be nil and must
// not call back.
func NewArrivals(tell func(Audit)) *Arrivals { return &Arrivals{tell: tell} }

// Arrive takes the next place for a request. Settle gives the place up, with the audit
// of a decision or with nil when the request was never decided; only the first call
// counts. A request nobody settles keeps the later ones untold.
func (a *Arrivals) Arrive() (settle func(decided *Audit)) {
	place := &arrival{}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.queue = append(a.queue, place)
	return func(decided *Audit) {
		a.mu.Lock()
		defer a.mu.Unlock()
		if place.settled {
			return
		}
		place.settled = true
		if decided != nil {
			place.decided, place.audit = true, *decided
		}
		for len(a.queue) > 0 && a.queue[0].settled {
			next := a.queue[0]
			a.queue = a.queue[1:]
			if next.decided && a.tell != nil {
				a.tell(next.audit)
			}
		}
	}
}
