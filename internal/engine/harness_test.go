package engine

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/internal/document"
	"github.com/executable-markdown/xmd/internal/host"
	"github.com/executable-markdown/xmd/internal/journal"
	"github.com/executable-markdown/xmd/internal/value"
)

// memory is a host's sources, held in a map.
type memory map[string]string

func (m memory) IsFile(path string) (bool, error) { _, ok := m[path]; return ok, nil }

func (m memory) ReadSource(path string) ([]byte, error) {
	text, ok := m[path]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return []byte(text), nil
}

// programs is a host's processes: it understands a few words instead of running
// anything, and counts what it was asked.
type programs struct {
	mu    sync.Mutex
	calls []string
	wait  chan struct{} // closed when "block" may end
}

// Run executes a script of lines: "say TEXT", "warn TEXT", "exit N", "block".
func (p *programs) Run(ctx context.Context, c host.Command) (int, error) {
	script := c.Args[len(c.Args)-1]
	p.mu.Lock()
	p.calls = append(p.calls, strings.TrimSpace(script))
	p.mu.Unlock()
	for line := range strings.Lines(script) {
		verb, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch verb {
		case "say":
			if c.Stdout != nil {
				fmt.Fprintln(c.Stdout, text)
			}
		case "warn":
			if c.Stderr != nil {
				fmt.Fprintln(c.Stderr, text)
			}
		case "exit":
			status := 0
			fmt.Sscan(text, &status)
			return status, nil
		case "block":
			select {
			case <-ctx.Done():
				return 0, context.Cause(ctx)
			case <-p.wait:
			}
		}
	}
	return 0, nil
}

// Start starts a script in the background. A script that ends with "stay" runs
// until it is stopped; "ready LINE" prints a line with $TOKEN and $PORT replaced.
func (p *programs) Start(ctx context.Context, c host.Command) (host.Running, error) {
	script := c.Args[len(c.Args)-1]
	p.mu.Lock()
	p.calls = append(p.calls, strings.TrimSpace(script))
	p.mu.Unlock()
	b := &background{stop: make(chan struct{}), done: make(chan struct{})}
	env := strings.NewReplacer()
	for _, v := range c.Env {
		if token, ok := strings.CutPrefix(v, "XMD_SERVICE_TOKEN="); ok {
			env = strings.NewReplacer("$TOKEN", token, "$PORT", "4711")
		}
	}
	go func() {
		defer close(b.done)
		for line := range strings.Lines(script) {
			verb, text, _ := strings.Cut(strings.TrimSpace(line), " ")
			switch verb {
			case "ready":
				fmt.Fprintln(c.Stdout, env.Replace(text))
			case "say":
				fmt.Fprint(c.Stdout, text+"\n")
			case "stay":
				<-b.stop
			case "exit":
				fmt.Sscan(text, &b.status)
			}
		}
	}()
	return b, nil
}

type background struct {
	once       sync.Once
	stop, done chan struct{}
	status     int
}

func (b *background) Wait() (int, error) { <-b.done; return b.status, nil }
func (b *background) PID() int           { return 0 }
func (b *background) Stop() error {
	b.once.Do(func() { close(b.stop) })
	<-b.done
	return nil
}

func (p *programs) Port() (int, error) { return 4711, nil }

// A trial is one run of a document in memory.
type trial struct {
	files    memory
	props    *value.Object
	events   []journal.Event // retained history
	stream   journal.Stream  // instead of events
	library  []Component
	target   string
	elicitor Elicitor
	programs *programs
	ctx      context.Context
}

// An observation is what a trial left.
type observation struct {
	Result
	err            error // of the execution
	stdout, stderr string
	emitted        []string
	events         []journal.Event
	calls          []string
}

// helpers are the components of the vectors.
var helpers = memory{
	"P.md":    "---\nprops: {type: object}\n---\n(a={props.a} b={props.b})",
	"Q.md":    "Q",
	"Wrap.md": "r <Content />",
}

// pair and lone are native components for tests.
var testLibrary = []Component{
	{Name: "Pass", Origin: "test", Forms: Both, Run: func(ctx context.Context, c *Call) (any, error) { return c.Content(ctx) }},
	{Name: "Soft", Origin: "test", Forms: Both, Soft: true, Run: func(ctx context.Context, c *Call) (any, error) {
		if _, err := c.Content(ctx); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("soft trouble")
	}},
	{Name: "Hard", Origin: "test", Forms: Both, Run: func(context.Context, *Call) (any, error) { return nil, fmt.Errorf("hard trouble") }},
	{Name: "Only", Origin: "test", Forms: Paired, FormHelp: "write <Only>…</Only>", Run: func(context.Context, *Call) (any, error) { return "ok", nil }},
	{Name: "Ask", Origin: "test", Forms: Both, Run: func(ctx context.Context, c *Call) (any, error) {
		message, err := c.Content(ctx)
		if err != nil {
			return nil, err
		}
		if c.Elicitor() == nil {
			return nil, fmt.Errorf("nobody answers")
		}
		return c.Elicitor().Ask(ctx, Question{Message: message})
	}},
	{Name: "Touch", Origin: "test", Forms: SelfClosing, Props: `{"name":{"type":"string"}}`, Run: func(ctx context.Context, c *Call) (any, error) {
		return c.Effect(ctx, Effect{Type: "touch", Name: "touch:" + c.Text("name")}, func(context.Context) (any, error) {
			return "touched " + c.Text("name"), nil
		})
	}},
}

func observe(t *testing.T, source string, tr trial) observation {
	t.Helper()
	if tr.files == nil {
		tr.files = helpers
	}
	if tr.programs == nil {
		tr.programs = &programs{}
	}
	ctx := tr.ctx
	if ctx == nil {
		ctx = t.Context()
	}
	doc, err := document.Parse("main.md", []byte(source))
	require.NoError(t, err)
	var target *document.Target
	if tr.target != "" {
		found, err := doc.Select(tr.target)
		require.NoError(t, err)
		target = &found
	}
	root, err := Load(doc, target)
	if err != nil {
		return observation{err: err}
	}
	stream := tr.stream
	if stream == nil {
		stream = journal.NewMemory(tr.events...)
	}
	j, err := journal.Open(ctx, stream, journal.Options{})
	require.NoError(t, err)
	var o observation
	var stdout, stderr bytes.Buffer
	o.Result, o.err = Run(ctx, root, Options{
		Host:    host.Host{Sources: tr.files, Process: tr.programs, Dir: "/home/doc"},
		Library: NewLibrary(nil, append(testLibrary, tr.library...)), Journal: j, Include: []string{"components", "."}, Props: tr.props,
		Elicitor: tr.elicitor, Stdout: &stdout, Stderr: &stderr, Retain: true,
		Emit: func(text string) error { o.emitted = append(o.emitted, text); return nil },
	})
	o.stdout, o.stderr = stdout.String(), stderr.String()
	o.events, o.calls = j.Events(), tr.programs.calls
	return o
}
