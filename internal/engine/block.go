package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/executable-markdown/xmd/internal/document"
	"github.com/executable-markdown/xmd/internal/expr"
	"github.com/executable-markdown/xmd/internal/journal"
	"github.com/executable-markdown/xmd/internal/value"
)

// A chain is what the words of an info string ask for (language 1.10.3).
type chain struct {
	terminal  string // exec, eval, daemon, service
	binding   string // the name a service is bound to
	silent    bool
	ephemeral bool
	timeout   time.Duration
	authored  string // the timeout's words
}

// block runs an executable fence.
func (r *run) block(ctx context.Context, sc *scope, b *document.Block, out *buffer) error {
	if err := sc.stopped(ctx); err != nil {
		return err
	}
	if err := r.ledger.failure(); err != nil && !sc.strand.co.Replaying() {
		return &failure{err: err, mode: modeThrow}
	}
	c, err := composeChain(b, sc.limit)
	if err != nil {
		return r.raise(sc, out, err)
	}
	switch c.terminal {
	case "exec":
		err = r.exec(ctx, sc, b, c, out)
	case "eval":
		err = r.eval(ctx, sc, b, c, out)
	case "daemon":
		err = r.daemon(ctx, sc, b, c)
	default:
		err = r.service(ctx, sc, b, c)
	}
	if e, ok := err.(*Error); ok {
		var checked *checkedFailure
		if errors.As(e, &checked) && !sc.printing {
			r.ledger.fail(e)
		}
		return r.raise(sc, out, e)
	}
	return err
}

// composeChain reads the modifiers of a block; what is wrong is found before
// anything runs. limit is the exec default a bare timeout stands for.
func composeChain(b *document.Block, limit time.Duration) (chain, error) {
	refuse := func(code, format string, args ...any) (chain, error) {
		return chain{}, &Error{Code: code, Component: b.Language, Pos: b.Pos,
			Message: fmt.Sprintf("the code block ```%s cannot run: %s", b.Info, fmt.Sprintf(format, args...))}
	}
	if b.Malformed != "" {
		return refuse("binding-invalid", "%s", b.Malformed)
	}
	if b.Binding != "" {
		if why := expr.BindingName(b.Binding); why != "" {
			return refuse("binding-invalid", "as=%q cannot name a binding: it is %s", b.Binding, why)
		}
	}
	var c chain
	for i, m := range b.Modifiers {
		switch m.Name {
		case "exec", "eval", "daemon", "silent", "timeout", "persist":
		case "ephemeral":
			if i+1 == len(b.Modifiers) || b.Modifiers[i+1].Name != "eval" {
				return refuse("structural-usage-invalid", "ephemeral belongs directly before eval")
			}
		case "service":
			if i != 0 {
				return refuse("structural-usage-invalid", "service must be the first modifier")
			}
		default:
			return refuse("structural-usage-invalid", "%q is no modifier; known are daemon, ephemeral, eval, exec, persist, service, silent and timeout", m.Word)
		}
		if c.terminal != "" {
			continue
		}
		if b.Binding != "" && m.Name != "timeout" && m.Name != "exec" {
			return refuse("binding-invalid", "%q cannot be combined with as=; a bound block takes only timeout and exec", m.Word)
		}
		switch m.Name {
		case "silent":
			c.silent = true
		case "ephemeral":
			c.ephemeral = true
		case "timeout":
			d, err := blockTimeout(m, limit)
			if err != nil {
				return refuse("structural-usage-invalid", "%v", err)
			}
			limit = d
			if c.timeout == 0 || d < c.timeout {
				c.timeout, c.authored = d, m.Word
			}
		case "service":
			if !slices.ContainsFunc(b.Modifiers, func(m document.Modifier) bool { return m.Name == "exec" }) {
				return refuse("structural-usage-invalid", "service needs exec: write service=%s exec", m.Params)
			}
			if why := expr.BindingName(m.Params); why != "" {
				return refuse("binding-invalid", "%s cannot name a binding: it is %s", m.Word, why)
			}
			c.terminal, c.binding = m.Name, m.Params
		case "exec", "eval", "daemon":
			c.terminal = m.Name
		}
	}
	if c.terminal == "" {
		return refuse("structural-usage-invalid", "it has no exec, eval, daemon or service")
	}
	if c.timeout > 0 && (c.terminal == "daemon" || c.terminal == "service") {
		return refuse("structural-usage-invalid", "timeout bounds a block that ends; a %s lives as long as its invocation", c.terminal)
	}
	if lang := strings.ToLower(b.Language); c.terminal == "eval" && lang != "js" && lang != "javascript" {
		return refuse("structural-usage-invalid", "eval takes js only; run %s with exec", b.Language)
	}
	if c.terminal == "exec" && c.timeout == 0 && limit > 0 {
		c.timeout, c.authored = limit, "the run's limit "+limit.String()
	}
	return c, nil
}

func blockTimeout(m document.Modifier, limit time.Duration) (time.Duration, error) {
	if !m.HasParams {
		if limit == 0 {
			return 0, errors.New("timeout without a duration needs a default: write timeout=20s, or run with --timeout-exec")
		}
		return limit, nil
	}
	d, err := document.ParseDuration(m.Params)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", m.Word, err)
	}
	return d, nil
}

// fault is an error about a block.
func fault(b *document.Block, format string, args ...any) *Error {
	return &Error{Component: b.Language, Pos: b.Pos, Message: fmt.Sprintf(format, args...)}
}

// eval evaluates a js block in the expression interpreter (language 1.12, D-11).
func (r *run) eval(ctx context.Context, sc *scope, b *document.Block, c chain, out *buffer) error {
	n := sc.strand.next()
	var fresh *expr.BlockResult
	evaluate := func(ctx context.Context) (any, error) {
		limited, cancel := ctx, context.CancelFunc(func() {})
		if c.timeout > 0 {
			limited, cancel = context.WithTimeout(ctx, c.timeout)
		}
		defer cancel()
		names := sc.env.lookup
		if c.ephemeral {
			names = sc.env.lookupLive
		}
		res, err := r.exprs.RunBlock(limited, b.Content, names)
		if err != nil {
			if ctx.Err() == nil && limited.Err() != nil {
				return nil, fmt.Errorf("the block did not end within %s and was stopped", c.authored)
			}
			return nil, err
		}
		fresh = &res
		exports := value.NewObject(len(res.Exports) + 1)
		for _, e := range res.Exports {
			if v, err := e.Value.Strict(); err == nil {
				exports.Set(e.Name, v)
			}
		}
		if res.Output != "" {
			exports.Set("__output", res.Output)
		}
		return value.Of("value", exports), nil
	}
	var v any
	var err error
	if c.ephemeral {
		v, err = evaluate(ctx)
	} else {
		v, err = r.perform(ctx, sc, b.Pos, "", Effect{
			Type: "eval", Name: fmt.Sprintf("eval:eval:%s:%d", sc.strand.co.ID(), n),
			Members: []journal.Member{{Name: "language", Value: b.Language}},
		}, evaluate)
	}
	if err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if fatal(ctx, err) {
			return err
		}
		e := fault(b, "the js block failed: %v", err)
		e.Cause = err
		return e
	}
	if fresh == nil { // it is pure: what it did to values is done again
		again, err := evaluate(context.WithoutCancel(ctx))
		if err != nil || !value.Equal(v, again) {
			return malformed("eval", b.Info, "running the block again gives other values")
		}
	}
	return r.publish(sc, *fresh, c.ephemeral, b, out)
}

// publish binds what an eval block declared and renders what it printed.
func (r *run) publish(sc *scope, res expr.BlockResult, ephemeral bool, b *document.Block, out *buffer) error {
	if ephemeral && res.Output != "" {
		return fault(b, "an ephemeral eval block must not print or return anything")
	}
	for _, e := range res.Exports {
		if expr.BindingName(e.Name) != "" {
			continue
		}
		if !ephemeral {
			sc.env.bind(e.Name, e.Value)
		} else if err := sc.env.bindLive(e.Name, e.Value); err != nil {
			return fault(b, "%v", err)
		}
	}
	out.WriteString(res.Output)
	return nil
}
