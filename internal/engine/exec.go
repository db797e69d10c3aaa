package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/executable-markdown/xmd/internal/document"
	"github.com/executable-markdown/xmd/internal/host"
	"github.com/executable-markdown/xmd/internal/journal"
	"github.com/executable-markdown/xmd/internal/value"
)

// A checkedFailure is a command that ended with a status other than zero and is
// bound to no name (language 10.6).
type checkedFailure struct{ status int }

func (e *checkedFailure) Error() string { return fmt.Sprintf("exit %d", e.status) }

// shownMember lists the channels of a command that went to the run's own, so that a
// replay can show them again.
const shownMember = "executablemd.shown"

// A routing says where the output of a command goes (language 1.11.3).
type routing struct {
	shown   []string // the channels that go to the run's own, of stdout and stderr
	collect bool     // standard output becomes text where the command stands
	keep    bool     // the result holds both channels
}

// route decides where a block's output goes.
func (r *run) route(sc *scope, b *document.Block, c chain) routing {
	to := routing{keep: r.Retain || b.Binding != "" || sc.collect}
	switch {
	case b.Binding != "" || c.silent:
	case sc.collect:
		to.collect, to.shown = true, []string{"stderr"}
	default:
		to.shown = []string{"stdout", "stderr"}
	}
	return to
}

// exec runs a foreground command (language 1.11). An *Error is the block's own.
func (r *run) exec(ctx context.Context, sc *scope, b *document.Block, c chain, out *buffer) error {
	if r.Host.Process == nil {
		return &Infrastructure{errors.New("this run may not start processes")}
	}
	sc.strand.next()
	script := r.script(sc, b)
	args := host.Interpreter(b.Language, script)
	to := r.route(sc, b, c)

	members := []journal.Member{{Name: "command", Value: stringList(args)}}
	if len(to.shown) > 0 {
		members = append(members, journal.Member{Name: shownMember, Value: stringList(to.shown)})
	}
	live := false
	v, err := r.perform(ctx, sc, b.Pos, b.Binding, Effect{
		Type: "exec", Name: "exec:" + execName(script), Members: members,
	}, func(ctx context.Context) (any, error) {
		live = true
		return r.command(ctx, sc.dir, args, c, to)
	})
	if err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if fatal(ctx, err) {
			return err
		}
		e := fault(b, "%v", err)
		e.Cause = err
		return e
	}
	if !live {
		if err := r.showRecorded(v, to.shown); err != nil {
			return err
		}
	}
	return r.commandEnded(sc, b, v, to, out)
}

// script is the content of a block with its bindings inserted (language 3.10).
func (r *run) script(sc *scope, b *document.Block) string {
	var text strings.Builder
	r.interpolate(sc, b.Content, false, &text)
	return text.String()
}

// command runs the program once and describes how it ended.
func (r *run) command(ctx context.Context, dir string, args []string, c chain, to routing) (any, error) {
	limited, cancel := ctx, context.CancelFunc(func() {})
	if c.timeout > 0 {
		limited, cancel = context.WithTimeout(ctx, c.timeout)
	}
	defer cancel()
	var stdout, stderr kept
	status, err := runCommand(limited, r.Host.Process, host.Command{
		Args: args, Dir: dir, Env: host.EnvList(r.Host.Env),
		Stdout: stdout.tee(to.keep, slices.Contains(to.shown, "stdout"), r.Stdout),
		Stderr: stderr.tee(to.keep, slices.Contains(to.shown, "stderr"), r.Stderr),
	})
	if err != nil {
		if ctx.Err() == nil && limited.Err() != nil {
			return nil, fmt.Errorf("the command did not end within %s and was stopped", c.authored)
		}
		return nil, err
	}
	result := value.Of("exitCode", float64(status))
	if to.keep {
		result.Set("stdout", stdout.String())
		result.Set("stderr", stderr.String())
	}
	return result, nil
}

// commandEnded gives a settled command its meaning in the document.
func (r *run) commandEnded(sc *scope, b *document.Block, v any, to routing, out *buffer) error {
	o, _ := v.(*value.Object)
	code, _ := o.Get("exitCode")
	status, ok := code.(float64)
	if !ok {
		return malformed("exec", b.Info, "its exit code is not a number")
	}
	stdout, _ := o.String("stdout")
	stderr, _ := o.String("stderr")
	if b.Binding != "" {
		sc.env.bind(b.Binding, r.exprs.Ref(value.Of("exitCode", status, "stdout", stdout, "stderr", stderr)))
		return nil
	}
	if to.collect {
		out.WriteString(stdout)
	}
	if status == 0 {
		return nil
	}
	e := fault(b, "Command failed (exit %d)", int(status))
	e.Cause, e.Source = &checkedFailure{int(status)}, stderr
	if r.Retain && !blank(stderr) {
		e.Message += ":\n" + trimEnd(stderr)
	}
	return e
}

// showRecorded prints what a recorded command had shown.
func (r *run) showRecorded(v any, channels []string) error {
	o, _ := v.(*value.Object)
	for _, name := range channels {
		to := r.Stdout
		if name == "stderr" {
			to = r.Stderr
		}
		text, _ := o.String(name)
		if _, err := io.WriteString(to, text); err != nil {
			return err
		}
	}
	return nil
}

// kept collects a channel's bytes when they are to be retained.
type kept struct{ b strings.Builder }

// maxKept bounds what one channel of one command keeps, in bytes.
const maxKept = 64 << 20

func (k *kept) Write(p []byte) (int, error) {
	if k.b.Len()+len(p) > maxKept {
		return 0, fmt.Errorf("a command printed more than %d MiB that had to be kept", maxKept>>20)
	}
	return k.b.Write(p)
}

// String is the text, with bytes that are no UTF-8 replaced.
func (k *kept) String() string { return strings.ToValidUTF8(k.b.String(), "\ufffd") }

// tee is where a channel goes: nowhere (nil), kept, shown, or both.
func (k *kept) tee(keep, show bool, shown io.Writer) io.Writer {
	switch {
	case keep && show:
		return io.MultiWriter(shown, k)
	case keep:
		return k
	case show:
		return shown
	}
	return nil
}

// execName is the part of a command that names its record.
func execName(script string) string {
	runes := []rune(strings.ReplaceAll(script, "\n", " "))
	if len(runes) > 40 {
		runes = runes[:40]
	}
	return string(runes)
}

func stringList(words []string) []any {
	out := make([]any, len(words))
	for i, w := range words {
		out[i] = w
	}
	return out
}

// substitutes are programs that stand in for one a machine does not have.
var substitutes = map[string]string{"python": "python3", "bash": "sh"}

// runCommand runs a command; a program that is missing is replaced by its
// substitute, where there is one.
func runCommand(ctx context.Context, p host.Process, c host.Command) (status int, err error) {
	status, err = p.Run(ctx, c)
	var start *host.StartError
	if errors.As(err, &start) {
		if other := substitutes[c.Args[0]]; other != "" {
			c.Args = append([]string{other}, c.Args[1:]...)
			if s, e := p.Run(ctx, c); !errors.As(e, &start) {
				return s, e
			}
		}
	}
	return status, err
}
