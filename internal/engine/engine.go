// Package engine runs a document.
//
// A document enters as parsed nodes (package document) and a Host that says what
// the machine offers; what leaves is rendered text, or one JSON value, and a
// history of the effects that happened on the way (package journal). Everything a
// document can do goes through here: text is interpolated, constructs decide what
// expands, components are resolved and invoked, executable blocks run.
//
// The invariant: code reaches the machine through the Host of its run and records
// what it did before anyone sees the result. The engine opens no file, starts no
// process and reads no variable itself.
//
// It refuses to know what a component means (package component), how a command
// line looks (package cli) and where a history is kept.
package engine

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/executable-markdown/xmd/agent"
	"github.com/executable-markdown/xmd/internal/document"
	"github.com/executable-markdown/xmd/internal/expr"
	"github.com/executable-markdown/xmd/internal/host"
	"github.com/executable-markdown/xmd/internal/journal"
	"github.com/executable-markdown/xmd/internal/schema"
	"github.com/executable-markdown/xmd/internal/value"
)

// RootName is the component name of the document a run was asked to execute.
const RootName = "__root__"

// Options are what the host of a run decides before the document is read.
type Options struct {
	Host     host.Host
	Library  *Library
	Journal  *journal.Journal
	Include  []string      // directories searched for components, in order
	Props    *value.Object // supplied properties, not yet validated
	Elicitor Elicitor      // who answers questions; nil: nobody
	Agents   agent.Region  // what agent elements work with
	// AgentProviders are the providers a document may name, by name.
	AgentProviders map[string]AgentProvider

	// Emit receives rendered text as top-level segments finish. An error stops
	// the run. It is never called concurrently.
	Emit func(text string) error
	// Stdout and Stderr receive what commands print, as it arrives. They may be one
	// writer; writes are never concurrent. Nil drops the channel.
	Stdout, Stderr io.Writer
	// Body receives the rendered body of a value root; nil drops it.
	Body func(text string) error

	Retain       bool          // the history is kept: what commands print and expansion ids go into it
	ExecTimeout  time.Duration // default limit of a command; 0: none
	FetchTimeout time.Duration // default limit of a request; 0: none
}

// A Result is how a document ended when it was not stopped from outside.
type Result struct {
	Output  string // everything rendered
	Value   any    // a value root's result
	IsValue bool
	Printed int // errors that were printed into the text
	Err     error
}

// A run is one execution of one root.
type run struct {
	Options
	exprs   *expr.Runtime
	defs    definitions
	ledger  *ledger
	emitted *buffer
	prompts prompts
}

// Run executes root. The error is non-nil when the execution itself could not be
// carried through (cancelled, history broken, wrong properties: *PropsError);
// a document that failed is a Result with Err set.
func Run(ctx context.Context, root *Root, o Options) (Result, error) {
	var turn sync.Mutex
	o.Stdout, o.Stderr = serialize(&turn, o.Stdout), serialize(&turn, o.Stderr)
	r := &run{Options: o, exprs: expr.New(), ledger: &ledger{}, emitted: &buffer{}}
	co := o.Journal.Root()
	if recorded, ok := co.Recorded(); ok {
		return r.replayWhole(root, recorded)
	}
	res, err := r.execution(ctx, co, root)
	var outcome journal.Result
	switch {
	case err == nil:
		outcome = journal.Ok(res.record())
	case ctx.Err() != nil || journal.IsDurability(err):
		return res, err // nothing more is written
	default:
		outcome = journal.Err(err)
	}
	return res, errors.Join(err, closeRoot(ctx, co, outcome))
}

// execution carries the root out from its import to its outcome.
func (r *run) execution(ctx context.Context, co *journal.Coroutine, root *Root) (Result, error) {
	if err := r.importRoot(ctx, co, root); err != nil {
		return Result{}, err
	}
	props, err := r.rootProps(root)
	if err != nil {
		return Result{}, err
	}
	return r.body(ctx, co, root, props)
}

// closeRoot writes the end of the history. An outcome that holds a secret is
// replaced by the refusal to write it.
func closeRoot(ctx context.Context, co *journal.Coroutine, outcome journal.Result) error {
	err := co.Close(ctx, outcome)
	var secret *journal.SecretError
	if errors.As(err, &secret) {
		return errors.Join(err, co.Close(ctx, journal.Err(err)))
	}
	return err
}

func (r *run) importRoot(ctx context.Context, co *journal.Coroutine, root *Root) error {
	d := journal.Description{Type: "import_component", Name: RootName, Guard: root.guard}
	_, err := co.Perform(ctx, d, func(context.Context) (any, error) { return root.selection(), nil })
	return err
}

func (r *run) rootProps(root *Root) (*value.Object, error) {
	given := r.Props
	if given == nil {
		given = value.NewObject(0)
	}
	filled := root.def.props.Fill(given)
	if issues := root.def.props.Validate(filled); len(issues) > 0 {
		return nil, &PropsError{Component: RootName, Issues: issues}
	}
	return filled.(*value.Object), nil
}

// body expands the root and settles what it came to. Its error is one that stops
// the execution from outside the document.
func (r *run) body(ctx context.Context, co *journal.Coroutine, root *Root, props *value.Object) (Result, error) {
	life := newLifetime(ctx)
	defer context.AfterFunc(ctx, r.exprs.Stop)()
	sc := &scope{
		def:      root.def,
		surface:  &surface{library: r.Library, include: r.Include},
		env:      newEnv(r.exprs.Ref(props)),
		mode:     modeOutput,
		strand:   &strand{co: co},
		dir:      r.Host.Dir,
		elicitor: r.Elicitor,
		region:   r.Agents,
		life:     life,
		limit:    r.ExecTimeout,
	}
	var res Result
	err := root.def.structure()
	switch {
	case err != nil:
	case root.def.returns != nil:
		res, err = r.valueRoot(life.ctx, sc)
	default:
		res, err = r.textRoot(life.ctx, sc)
	}
	if err == nil {
		err = sc.stopped(life.ctx)
	}
	err = life.end(err)
	if err == nil && r.ledger.failure() != nil {
		err = r.ledger.failure()
	}
	if err == nil {
		err = r.prompts.failure()
	}
	res.Output, res.Printed = r.emitted.String(), len(r.emitted.errs)
	if err != nil {
		res.Value = nil
		if fatal(ctx, err) {
			return res, err
		}
		res.Err = err
	}
	return res, nil
}

func (r *run) textRoot(ctx context.Context, sc *scope) (Result, error) {
	if sc.def.regions {
		out := &buffer{}
		err := r.expandRegions(ctx, sc, out)
		if e := r.emit(out); e != nil && err == nil {
			err = e
		}
		return Result{}, err
	}
	for i := range sc.def.nodes {
		if err := sc.stopped(ctx); err != nil {
			return Result{}, err
		}
		out := &buffer{}
		err := r.expand(ctx, sc, sc.def.nodes[i:i+1], out)
		if e := r.emit(out); e != nil && err == nil {
			err = e
		}
		if err != nil {
			return Result{}, err
		}
	}
	return Result{}, nil
}

func (r *run) valueRoot(ctx context.Context, sc *scope) (Result, error) {
	body := &buffer{}
	v, err := r.valueBody(ctx, sc, body)
	if r.Body != nil {
		if e := r.Body(body.String()); e != nil && err == nil {
			err = e
		}
	}
	return Result{Value: v, IsValue: true}, unwrapReturn(err)
}

// emit hands finished text on and keeps it for the record.
func (r *run) emit(out *buffer) error {
	r.emitted.take(out)
	if r.Emit == nil || out.Len() == 0 {
		return nil
	}
	return r.Emit(out.String())
}

// record is the value of the root's close (history 12).
func (res Result) record() *value.Object {
	var o *value.Object
	if res.Err == nil {
		o = value.Of("status", "ok", "output", res.Output)
		if res.IsValue {
			o.Set("value", res.Value)
		}
	} else {
		o = value.Of("status", "err", "output", res.Output, "error", failureRecord(res.Err))
	}
	if res.Printed > 0 {
		o.Set("printed", float64(res.Printed))
	}
	return o
}

func failureRecord(err error) *value.Object {
	failure := value.Of("name", journal.Err(err).Error.Name, "message", err.Error())
	segment := value.Of("message", err.Error())
	e, ok := asError(err)
	if ok && e.Source != "" {
		segment.Set("source", e.Source)
	}
	failure.Set("segment", segment)
	if ok && e.Code != "" {
		failure.Set("code", e.Code)
	}
	if pos := PositionOf(err); !pos.IsZero() {
		failure.Set("position", pos.JSON())
	}
	return failure
}

// replayWhole answers a run whose history is complete: nothing expands.
func (r *run) replayWhole(root *Root, recorded journal.Result) (Result, error) {
	events := r.Journal.Events()
	if err := root.Owns(events); err != nil {
		return Result{}, err
	}
	switch recorded.Status {
	case journal.StatusErr:
		return Result{}, &journal.RecordedError{Failure: *recorded.Error}
	case journal.StatusCancelled:
		return Result{}, errors.New("the recorded run was interrupted before it ended")
	}
	res, err := readRecord(recorded.Value)
	if err != nil {
		return Result{}, err
	}
	for _, e := range events {
		if err := r.reshow(e); err != nil {
			return res, err
		}
	}
	if r.Emit != nil && res.Output != "" && !res.IsValue {
		if err := r.Emit(res.Output); err != nil {
			return res, err
		}
	}
	return res, nil
}

// reshow prints what the command of a recorded event had shown, if it is one.
func (r *run) reshow(e journal.Event) error {
	if e.Type != journal.TypeYield || e.Result.Status != journal.StatusOk {
		return nil
	}
	shown, _ := e.Description.Get(shownMember)
	list, _ := shown.([]any)
	var channels []string
	for _, v := range list {
		if name, ok := v.(string); ok {
			channels = append(channels, name)
		}
	}
	return r.showRecorded(e.Result.Value, channels)
}

// readRecord reads a root close's value back.
func readRecord(v any) (Result, error) {
	o, _ := v.(*value.Object)
	status, _ := o.String("status")
	output, ok := o.String("output")
	if !ok || status != "ok" && status != "err" {
		return Result{}, malformed("close", RootName, "$.result.value is not the outcome of a document")
	}
	res := Result{Output: output}
	printed, _ := o.Get("printed")
	n, _ := printed.(float64)
	res.Printed = int(n)
	if status == "ok" {
		res.Value, res.IsValue = o.Get("value")
		return res, nil
	}
	failure, _ := o.Get("error")
	f, _ := failure.(*value.Object)
	message, _ := f.String("message")
	name, _ := f.String("name")
	recorded := &Error{Message: message, Cause: &journal.RecordedError{Failure: journal.Failure{Message: message, Name: name}}}
	recorded.Code, _ = f.String("code")
	if at, ok := f.Get("position"); ok {
		pos, _, reason := document.ParsePosition(at)
		if reason != "" {
			return Result{}, malformed("close", RootName, "the position of its failure cannot be read")
		}
		recorded.Pos = pos
	}
	res.Err = recorded
	return res, nil
}

// A PropsError is a set of properties that a component's schema refuses.
type PropsError struct {
	Component string
	Issues    []schema.Issue
}

func (e *PropsError) Error() string {
	return "<" + e.Component + " /> was given props its schema refuses:\n" + schema.Lines(e.Issues)
}

// Name is the kind of the error in a record.
func (e *PropsError) Name() string { return PropsErrorName }

// PropsErrorName is the recorded name of a PropsError.
const PropsErrorName = "PropsError"

// A Root is a document ready to run.
type Root struct {
	Document *document.Document
	Target   string // canonical, empty for the whole document
	def      *definition
}

// Load prepares a document as a root: its declarations are compiled and, with a
// target, its body is reduced to it. Errors are *document.Error and *Error with
// the codes props-declaration-invalid and returns-declaration-invalid.
func Load(d *document.Document, target *document.Target) (*Root, error) {
	root := &Root{Document: d}
	body := d
	def, err := define(RootName, d)
	if err != nil {
		return nil, err
	}
	if target != nil {
		root.Target = target.Path
		body = d.Project(*target)
	}
	def.nodes = body.Nodes
	def.survey()
	root.def = def
	return root, nil
}

// Props is the schema of the root's properties.
func (root *Root) Props() *schema.Schema { return root.def.props }

// ReturnsValue reports whether the root prints one JSON value instead of text.
func (root *Root) ReturnsValue() bool { return root.def.returns != nil }

func (root *Root) selection() *value.Object {
	s := value.Of("kind", "repository", "path", root.Document.Name, "content", root.Document.Source)
	if root.Target != "" {
		s.Set("target", root.Target)
	}
	return s
}

func (root *Root) isRoot(e journal.Event) bool {
	name, _ := e.Description.String("name")
	typ, _ := e.Description.String("type")
	return name == RootName && typ == "import_component"
}

// Owns reports whether a history was recorded for this document, target and text;
// if not, it returns a *journal.StaleInputError. An empty history is anybody's, and
// so is one that ended before its document could be recorded.
func (root *Root) Owns(events []journal.Event) error {
	if len(events) == 0 {
		return nil
	}
	first := events[0]
	if first.Type == journal.TypeClose && first.Result.Status == journal.StatusErr {
		return nil
	}
	err := errOtherRoot
	if first.Type == journal.TypeYield && root.isRoot(first) {
		err = root.guard(first)
	}
	if err == nil {
		return nil
	}
	return &journal.StaleInputError{Coroutine: "root", Effect: journal.Identity{Type: "import_component", Name: RootName}, Cause: err}
}

// guard refuses a history of another document, another target or another text.
func (root *Root) guard(e journal.Event) error {
	recorded, _ := e.Result.Value.(*value.Object)
	if !value.Equal(recorded, root.selection()) {
		return errOtherRoot
	}
	return nil
}
