package component

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/agent"
	"github.com/executable-markdown/xmd/internal/document"
	"github.com/executable-markdown/xmd/internal/engine"
	"github.com/executable-markdown/xmd/internal/host"
	"github.com/executable-markdown/xmd/internal/journal"
	"github.com/executable-markdown/xmd/internal/value"
)

// A world is what one run of a document is given.
type world struct {
	files    host.Files
	http     host.HTTP
	process  host.Process
	elicitor engine.Elicitor
	timeout  time.Duration    // default of requests
	events   []journal.Event  // retained history
	ctx      context.Context  // nil: the test's
	extra    engine.Component // beside the defaults, when it has a name
	region   agent.Region     // what agent elements work with
	provider agent.Provider   // the agent provider called inner
}

// An outcome is what a run left.
type outcome struct {
	engine.Result
	stopped error // what ended the execution from outside the document
	events  []journal.Event
	marks   []string // what <Mark name="…" /> elements were expanded, in order
}

const workingDirectory = "/home/site"

// run executes a document called main.md. A <Mark name="…" /> renders its name and
// notes that it was expanded.
func run(t *testing.T, source string, w world) outcome {
	t.Helper()
	d, err := document.Parse("main.md", []byte(source))
	require.NoError(t, err)
	root, err := engine.Load(d, nil)
	require.NoError(t, err)
	var o outcome
	var mu sync.Mutex
	library := append(Defaults(), engine.Component{
		Name: "Mark", Origin: "test", Forms: engine.SelfClosing,
		Props: `{"name":{"type":"string","default":"mark"}}`,
		Run: func(_ context.Context, c *engine.Call) (any, error) {
			mu.Lock()
			defer mu.Unlock()
			o.marks = append(o.marks, c.Text("name"))
			return c.Text("name"), nil
		},
	}, engine.Component{
		Name: "Where", Origin: "test", Forms: engine.SelfClosing,
		Run: func(_ context.Context, c *engine.Call) (any, error) { return c.Dir(), nil },
	})
	if w.extra.Name != "" {
		library = append(library, w.extra)
	}
	ctx := w.ctx
	if ctx == nil {
		ctx = t.Context()
	}
	j, err := journal.Open(ctx, journal.NewMemory(w.events...), journal.Options{})
	require.NoError(t, err)
	result, stopped := engine.Run(ctx, root, engine.Options{
		Host:     host.Host{Files: w.files, HTTP: w.http, Process: w.process, Dir: workingDirectory},
		Library:  engine.NewLibrary(nil, library),
		Journal:  j,
		Elicitor: w.elicitor,
		Agents:   w.region,
		AgentProviders: map[string]engine.AgentProvider{
			"inner": func(string, agent.Mode) (agent.Provider, error) { return w.provider, nil },
			"acp":   func(string, agent.Mode) (agent.Provider, error) { return newEcho(), nil },
		},
		FetchTimeout: w.timeout,
	})
	o.Result, o.stopped, o.events = result, stopped, j.Events()
	return o
}

// printed requires that the run went on and printed exactly one error in place of
// the text between before and after.
func (o outcome) printed(t *testing.T, message string) {
	t.Helper()
	require.NoError(t, o.stopped)
	require.NoError(t, o.Err)
	require.Equal(t, 1, o.Printed, o.Output)
	require.Contains(t, failFrame.ReplaceAllString(o.Output, "$1"), "<!-- ERROR: "+message+" -->")
}

// failFrame is what surrounds the printed sentence of a Fail.
var failFrame = regexp.MustCompile(`<Fail>: (.*?) \(main\.md:\d+:\d+\)`)

// failed requires that the document stopped with a message.
func (o outcome) failed(t *testing.T, message string) {
	t.Helper()
	require.NoError(t, o.stopped)
	require.EqualError(t, o.Err, message)
}

// ok requires that nothing went wrong, and returns the text.
func (o outcome) ok(t *testing.T) string {
	t.Helper()
	require.NoError(t, o.stopped)
	require.NoError(t, o.Err)
	require.Zero(t, o.Printed, o.Output)
	return o.Output
}

// infrastructure requires that the execution was ended by a provider's fault.
func (o outcome) infrastructure(t *testing.T, message string) {
	t.Helper()
	var fault *engine.Infrastructure
	require.ErrorAs(t, o.stopped, &fault)
	require.ErrorContains(t, o.stopped, message)
	require.NotContains(t, o.Output, "ERROR")
}

// record returns the one recorded event of a type.
func (o outcome) record(t *testing.T, kind string) journal.Event {
	t.Helper()
	var found []journal.Event
	for _, e := range o.events {
		if typ, _ := e.Description.String("type"); typ == kind {
			found = append(found, e)
		}
	}
	require.Len(t, found, 1, kind)
	return found[0]
}

// unfinished is the history of a run that was killed before it ended.
func (o outcome) unfinished() []journal.Event {
	return slices.DeleteFunc(slices.Clone(o.events), func(e journal.Event) bool { return e.Type == journal.TypeClose })
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := value.JSON(v)
	require.NoError(t, err)
	return text
}

// member returns a description's member as JSON.
func member(t *testing.T, e journal.Event, name string) string {
	t.Helper()
	v, ok := e.Description.Get(name)
	require.True(t, ok, name)
	return asJSON(t, v)
}

// memory is a file provider that keeps text files in a map, and a log of what it
// was asked. A failure set for an operation is what that operation answers.
type memory struct {
	texts    map[string]string // by directory and path
	failures map[string]error  // by operation
	removes  error             // answer of a temporary directory's removal
	log      []string
}

func (m *memory) asked(format string, args ...any) {
	m.log = append(m.log, fmt.Sprintf(format, args...))
}

func (m *memory) CheckPath(operation, cwd, path string) error {
	m.asked("check %s %s", operation, path)
	return m.failures[host.OpCheck]
}

func (m *memory) ReadText(_ context.Context, cwd, path string) (string, error) {
	m.asked("read %s/%s", cwd, path)
	if err := m.failures[host.OpRead]; err != nil {
		return "", err
	}
	return m.texts[cwd+"/"+path], nil
}

func (m *memory) WriteText(_ context.Context, cwd, path, content string) error {
	m.asked("write %s/%s", cwd, path)
	if err := m.failures[host.OpWrite]; err != nil {
		return err
	}
	if m.texts == nil {
		m.texts = map[string]string{}
	}
	m.texts[cwd+"/"+path] = content
	return nil
}

func (m *memory) Delete(_ context.Context, cwd, path string) error {
	m.asked("delete %s/%s", cwd, path)
	return m.failures[host.OpDelete]
}

func (m *memory) Glob(_ context.Context, cwd string, include, exclude []string) ([]string, error) {
	m.asked("glob %s %q %q", cwd, include, exclude)
	if err := m.failures[host.OpGlob]; err != nil {
		return nil, err
	}
	var found []string
	for path := range m.texts {
		if rel, ok := strings.CutPrefix(path, cwd+"/"); ok {
			found = append(found, rel)
		}
	}
	slices.Sort(found)
	return found, nil
}

func (m *memory) EnsureDir(_ context.Context, cwd, path string) error {
	m.asked("ensure %s/%s", cwd, path)
	return m.failures[host.OpEnsure]
}

func (m *memory) TempDir(context.Context) (string, func() error, error) {
	m.asked("make /tmp/fresh")
	if err := m.failures[host.OpTemp]; err != nil {
		return "", nil, err
	}
	return "/tmp/fresh", func() error { m.asked("remove /tmp/fresh"); return m.removes }, nil
}

// The defaults are static, each with a name of its own, declarations that compile
// and a page that shows it at work.
func TestDefaults(t *testing.T) {
	names := []string{"Agent", "AgentProvider", "ApproveAll", "AskPermission", "CodeBlock", "Dir", "Elicit", "Fail",
		"Fetch", "File", "File.Delete", "Glob", "Json", "Parse", "Prompt", "SafeParse", "Session", "TempDir"}
	library := engine.NewLibrary(nil, Defaults())
	require.Equal(t, names, library.Names())
	for i, c := range Defaults() {
		t.Run(c.Name, func(t *testing.T) {
			require.Equal(t, names[i], c.Name, "in order")
			require.Equal(t, "xmd.core", c.Origin)
			require.Contains(t, []string{"none", "read", "write", "ask", "agent"}, c.Effect)
			_, contract, protected, ok := library.Lookup(c.Name)
			require.True(t, ok)
			require.False(t, protected)
			require.NotNil(t, contract.Props)
			require.Equal(t, c.Returns != "", contract.Returns != nil)
			require.Equal(t, c.Forms != engine.Both, c.FormHelp != "", "a refused form is explained")
			require.Equal(t, c.NoAs == "", c.Doc.As != "")
			require.NotEmpty(t, c.Doc.Description)

			lines := strings.Count(c.Doc.Long, "\n")
			require.True(t, 10 <= lines && lines <= 45, "%d lines", lines)
			_, rest, ok := strings.Cut(c.Doc.Long, "\n```md\n")
			require.True(t, ok)
			example, _, ok := strings.Cut(rest, "\n```\n")
			require.True(t, ok)
			o := run(t, example, world{files: &memory{}, http: &web{response: host.Response{Status: 200}}, region: agents(newEcho()).region})
			require.NotEmpty(t, o.ok(t))
			require.Contains(t, example, "<"+c.Name)
		})
	}
}

// Every element says which form it has instead of the one it refuses, and does so
// before anything in it expands.
func TestForms(t *testing.T) {
	for _, c := range []struct {
		source, message string
		soft            bool
	}{
		{`<File.Delete path="a"><Mark /></File.Delete>`, `<File.Delete> cannot be written around content: write <File.Delete path="…" /> without content`, true},
		{`<Glob include={["*"]} as="g"><Mark /></Glob>`, `<Glob> cannot be written around content: write <Glob include={["…"]} as="files" /> without content`, true},
		{`<Json value={boom()}><Mark /></Json>`, `<Json> cannot be written around content: write <Json value={…} /> without content`, true},
		{`<CodeBlock value="x"><Mark /></CodeBlock>`, `<CodeBlock> cannot be written around content: write <CodeBlock value={…} /> with the text in value`, true},
		{`<Fail message="stop"><Mark /></Fail>`, `<Fail> cannot be written around content: write <Fail message="…" /> with the sentence in message`, false},
		{`<Dir path="a" />`, `<Dir> cannot be written self-closing: write what is to happen there inside it, as in <Dir path="…">content</Dir>`, false},
	} {
		t.Run(c.source, func(t *testing.T) {
			m := &memory{}
			o := run(t, c.source, world{files: m})
			if c.soft {
				o.printed(t, c.message)
			} else {
				o.failed(t, c.message)
			}
			require.Empty(t, o.marks)
			require.Empty(t, m.log)
		})
	}
}

// A prop the schema refuses stops the element before it has done anything; that
// is the invocation's failure and not a soft one.
func TestProps(t *testing.T) {
	for _, source := range []string{
		`<File />`, `<File path={1} />`, `<File path="a" mode="w"><Mark /></File>`,
		`<File.Delete />`, `<File.Delete path="" />`,
		`<Dir><Mark /></Dir>`, `<Dir path=""><Mark /></Dir>`,
		`<Glob include={[]} as="g" />`, `<Glob include="*" as="g" />`, `<Glob include={[1]} as="g" />`, `<Glob include={["*"]} />`, `<Glob as="g" />`,
		`<TempDir path="x"><Mark /></TempDir>`,
		`<Fetch as="r"><Mark /></Fetch>`, `<Fetch url="http://a" method="POST" as="r" />`, `<Fetch url="http://a" method="get" as="r" />`,
		`<Fetch url="http://a" headers={{ a: 1 }} as="r" />`, `<Fetch url="http://a" body="x" as="r" />`,
		`<Json value={boom()} indent={4} />`,
		`<Parse as="v"><Mark /></Parse>`, `<Parse schema={{}}><Mark /></Parse>`, `<SafeParse schema={{}}><Mark /></SafeParse>`,
		`<CodeBlock />`, `<CodeBlock value={1} />`, `<CodeBlock value="x" language="-a" />`, `<CodeBlock value="x" language="a b" />`, `<CodeBlock value="x" language="" />`,
		`<Fail />`, `<Fail message="" />`,
		`<Elicit as="a"><Mark /></Elicit>`, `<Elicit schema={{}}><Mark /></Elicit>`, `<Elicit schema={{}} mode="form" as="a"><Mark /></Elicit>`,
	} {
		t.Run(source, func(t *testing.T) {
			m, w := &memory{}, &web{}
			o := run(t, source, world{files: m, http: w})
			require.NoError(t, o.stopped)
			require.Error(t, o.Err)
			require.Contains(t, o.Err.Error(), "<"+strings.FieldsFunc(source, func(r rune) bool { return strings.ContainsRune("< />", r) })[0])
			require.Empty(t, o.marks)
			require.Empty(t, m.log)
			require.Empty(t, w.requests)
		})
	}
}

// Without a file provider the execution ends; nothing is printed, not even where
// the document asks for it, and no content expands.
func TestMissingFiles(t *testing.T) {
	for _, source := range []string{
		`<File path="a" />`, `<File path="a"><Mark /></File>`, `<File.Delete path="a" />`,
		`<Glob include={["*"]} as="g" />`, `<TempDir><Mark /></TempDir>`, `<TempDir as="d" />`,
	} {
		o := run(t, "<PrintErrors>"+source+"</PrintErrors><Mark name=\"after\" />", world{})
		o.infrastructure(t, "needs a file provider, and this run was given none")
		require.Empty(t, o.marks)
	}
}
