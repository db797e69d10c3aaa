package elicit

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"strconv"
	"strings"
	"sync"

	"github.com/executable-markdown/xmd/internal/host"
	"github.com/executable-markdown/xmd/internal/value"
)

// What a browser is told beside a page.
const (
	statusShown     = 200
	statusForbidden = 403
	statusLate      = 409
	statusGone      = 410
	statusRefused   = 422
)

//go:embed web/page.html
var webPage string

//go:embed web/style.css
var webStyle string

// webTemplate is the page of a question, and "note", the one after it.
var webTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Parse(webPage))
})

// webPolicy lets a page have its style and send its form to where it came from,
// and nothing else: no script runs and nothing is loaded.
var webPolicy = sync.OnceValue(func() string {
	sum := sha256.Sum256([]byte(webStyle))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
})

// reply makes a page of one of the templates.
func reply(status int, name string, view any) host.Reply {
	var b bytes.Buffer
	if err := webTemplate().ExecuteTemplate(&b, name, view); err != nil {
		panic(err) // the templates and what they show are both of this package, and a buffer takes everything
	}
	return host.Reply{Status: status, HTML: b.Bytes(), Policy: webPolicy()}
}

// note is a page that only says something.
func note(status int, title, text string) host.Reply {
	return reply(status, "note", struct {
		Style       template.CSS
		Title, Text string
	}{template.CSS(webStyle), title, text})
}

// A pageView is what the page of a question shows. All of its texts are visible
// ones, except what the person typed.
type pageView struct {
	Style   template.CSS
	Title   string
	Message *leaflet
	Token   string
	Root    controlView
	Faulty  []controlView // those with faults, in the order they stand in
	focused bool          // whether a control was found to start at
}

// A controlView is a control as somebody filled it in.
type controlView struct {
	ID, Title, Help string
	Kind            string // line, area, json, number, choice, ticks, group
	Needed          bool
	Typed           string
	Options         []optionView
	Members         []controlView
	Faults          []string
	Omitted         int  // faults that are not listed
	Focus           bool // the first that is wrong
}

type optionView struct {
	ID, Label string
	Index     int
	Checked   bool
	Focus     bool
}

// Target is the id of the element a link to the control leads to.
func (c controlView) Target() string {
	if len(c.Options) > 0 {
		return c.Options[0].ID
	}
	return c.ID
}

// Described is the ids of the texts that belong to the control.
func (c controlView) Described() string {
	var ids []string
	if c.Help != "" {
		ids = append(ids, c.ID+"-help")
	}
	if len(c.Faults) > 0 {
		ids = append(ids, c.ID+"-faults")
	}
	return strings.Join(ids, " ")
}

// show is the page of the open question, as somebody filled it in.
func (p *questionPage) show(status int, f *filled) host.Reply {
	view := pageView{Style: template.CSS(webStyle), Title: p.title, Message: p.message, Token: p.token}
	view.Root = view.control(p.sheet.root, f)
	return reply(status, "page", view)
}

// control makes the view of a control and those in it.
func (v *pageView) control(c *control, f *filled) controlView {
	view := controlView{
		ID: c.id, Title: c.title, Help: c.help, Kind: kindOf(c), Needed: c.required && c.layout != ticks && c.path != "",
		Typed: f.typed[c.id], Faults: f.faults[c], Omitted: f.omitted[c],
	}
	wrong := len(view.Faults) > 0
	view.Focus = wrong && c.layout != group && !v.focused // a group is nothing to type in
	v.focused = v.focused || view.Focus
	if view.Kind == "choice" || view.Kind == "ticks" {
		view.Options = optionViews(c, f, view.Focus)
	}
	if wrong {
		v.Faulty = append(v.Faulty, view)
	}
	for _, m := range c.members {
		view.Members = append(view.Members, v.control(m, f))
	}
	return view
}

// optionViews lists the options of a control. The one to start at is the first
// that is picked, else the first.
func optionViews(c *control, f *filled, focus bool) []optionView {
	start := 0
	views := make([]optionView, len(c.options))
	for i, o := range c.options {
		views[i] = optionView{ID: c.id + "-o" + strconv.Itoa(i), Label: o.label, Index: i, Checked: f.picked[c.id][i]}
		if views[i].Checked && !views[start].Checked {
			start = i
		}
	}
	views[start].Focus = focus
	return views
}

func kindOf(c *control) string {
	switch {
	case c.layout == group:
		return "group"
	case c.layout == ticks:
		return "ticks"
	case c.layout == lines:
		return "area"
	case c.kind == choice:
		return "choice"
	case c.kind == number:
		return "number"
	case c.kind == jsonText:
		return "json"
	case c.area:
		return "area"
	}
	return "line"
}

// titleOf is the title of the page: what the schema says, if it says so.
func titleOf(definition any) string {
	o, _ := definition.(*value.Object)
	if title, _ := o.String("title"); title != "" {
		return legible(title)
	}
	return "Question"
}
