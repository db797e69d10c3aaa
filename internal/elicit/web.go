package elicit

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"strings"
	"sync"

	"github.com/executable-markdown/xmd/internal/engine"
	"github.com/executable-markdown/xmd/internal/host"
	"github.com/executable-markdown/xmd/internal/schema"
)

// A Web is an engine.Elicitor that asks in a browser on this machine. From the
// first question until Close it serves one page a question, at an address nobody
// can guess, and takes one answer to each: an answer the schema refuses keeps the
// question open, with every issue beside its field and everything the person
// wrote, and whatever arrives after the answer is told that there was one.
//
//	w := elicit.NewWeb(host.NewSite, func(address string) { fmt.Fprintln(os.Stderr, address) })
//	defer w.Close()
//	answer, err := w.Ask(ctx, question)
//
// It is safe for concurrent use: questions take turns. It opens no browser.
type Web struct {
	listen func() (*host.Site, error)
	notice func(address string)
	turn   chan struct{} // holds a token while a question is open

	mu   sync.Mutex
	site *host.Site // nil while nothing is served
}

var _ engine.Elicitor = (*Web)(nil)

// NewWeb returns a Web that serves on what listen opens, which is host.NewSite,
// and tells notice the address of every question once, when its turn has come.
func NewWeb(listen func() (*host.Site, error), notice func(address string)) *Web {
	return &Web{listen: listen, notice: notice, turn: make(chan struct{}, 1)}
}

// errUnserved ends a question whose page is gone: after Close, or when the system
// took the port away.
var errUnserved = errors.New("the page of the question is no longer served")

// Ask serves the question until it has an answer that fits its schema. The error
// is ErrInterrupted when the person cancelled, the cause of the context when that
// ended, a *schema.Error (nothing was served then), a failure to listen, or says
// that the page is no longer served. A context that ends closes every page and
// every connection; a later question serves anew.
func (w *Web) Ask(ctx context.Context, q engine.Question) (any, error) {
	select {
	case w.turn <- struct{}{}:
		defer func() { <-w.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	accepted, err := schema.Compile(q.Schema)
	if err != nil {
		return nil, err
	}
	p := newQuestionPage(strings.Trim(q.Message, "\r\n"), accepted)
	site, err := w.serve()
	if err != nil {
		return nil, err
	}
	path := "/" + rand.Text()
	site.Show(path, p.visit)
	w.notice(site.Address(path))
	select {
	case <-p.settled:
	case <-ctx.Done():
		p.settle(settlement{err: context.Cause(ctx)})
		w.Close()
	case <-site.Ended():
		p.settle(settlement{err: errUnserved})
		w.Close()
	}
	site.Show(path, afterwards)
	return p.outcome()
}

// Close stops serving and closes every connection. An open question ends with an
// error.
func (w *Web) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.site == nil {
		return nil
	}
	err := w.site.Close()
	w.site = nil
	return err
}

func (w *Web) serve() (*host.Site, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.site == nil {
		site, err := w.listen()
		if err != nil {
			return nil, err
		}
		w.site = site
	}
	return w.site, nil
}

// A questionPage is the page of one question, open until something settles it.
type questionPage struct {
	title   string // visible text, as the message is
	message *leaflet
	sheet   *sheet
	judge   *schema.Schema
	token   string        // proves that a form was made by this page
	settled chan struct{} // closed when there is an outcome and whoever caused it was told

	mu     sync.Mutex
	result *settlement
}

// A settlement is what became of a question: an answer, or the reason why there is
// none.
type settlement struct {
	answer any
	err    error
}

func newQuestionPage(message string, accepted *schema.Schema) *questionPage {
	return &questionPage{
		title:   titleOf(accepted.Definition()),
		message: newLeaflet(message),
		sheet:   newSheet(accepted.Definition()),
		judge:   accepted,
		token:   rand.Text(),
		settled: make(chan struct{}),
	}
}

// settle decides what becomes of the question and reports whether that was still
// undecided.
func (p *questionPage) settle(o settlement) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.result != nil {
		return false
	}
	p.result = &o
	return true
}

func (p *questionPage) outcome() (any, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.result.answer, p.result.err
}

// visit implements host.Page.
func (p *questionPage) visit(v host.Visit) host.Reply {
	switch {
	case p.over():
		return afterwards(v)
	case !v.Posted:
		return p.show(statusShown, p.sheet.blank())
	case subtle.ConstantTimeCompare([]byte(v.Form.Get("token")), []byte(p.token)) != 1:
		return note(statusForbidden, "Nothing was taken", "This form was not made by the page of the question. Open its address again.")
	case v.Form.Has("cancel"):
		return p.end(v, settlement{err: ErrInterrupted}, note(statusShown, "Cancelled", "The question was left without an answer. You can close this page."))
	}
	filled := p.sheet.read(v.Form, p.judge)
	if filled.refused() {
		return p.show(statusRefused, filled)
	}
	return p.end(v, settlement{answer: filled.answer}, note(statusShown, "Answered", "Your answer was taken. You can close this page."))
}

// over reports whether the question is settled.
func (p *questionPage) over() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.result != nil
}

// end settles the question and tells so, unless another visit came first.
func (p *questionPage) end(v host.Visit, o settlement, told host.Reply) host.Reply {
	if !p.settle(o) {
		return afterwards(v)
	}
	told.Sent = func() { close(p.settled) }
	return told
}

// afterwards is the page of a question that is settled.
func afterwards(v host.Visit) host.Reply {
	if v.Posted {
		return note(statusLate, "Nothing was taken", "This question was already answered or cancelled, perhaps in another tab. You can close this page.")
	}
	return note(statusGone, "This question is closed", "It was already answered or cancelled. You can close this page.")
}
