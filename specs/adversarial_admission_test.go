package specs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/admission"
	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/internal/component"
	"github.com/executable-markdown/xmd/internal/document"
	"github.com/executable-markdown/xmd/internal/engine"
	"github.com/executable-markdown/xmd/internal/host"
	"github.com/executable-markdown/xmd/internal/journal"
	"github.com/executable-markdown/xmd/internal/value"
)

// Here the files of adversarial/ are what they were written as: programs that nobody
// has read, judged and evaluated in the world their README assumes.

// A verdict is what the README's index says about one candidate.
type verdict struct {
	refuse []admission.Class // empty: it may not be refused
	admit  bool
	done   []string // what is then performed, Probe apart
	prints string   // what is then rendered; empty: the candidate, its probes answered
	fails  string   // how what is then performed fails; empty: it does not
}

func refuse(classes ...admission.Class) verdict { return verdict{refuse: classes} }

func admits(done ...string) verdict { return verdict{admit: true, done: done} }

func anyClass() []admission.Class {
	return []admission.Class{
		admission.Block, admission.Expression, admission.Interpolation, admission.Binding, admission.Component, admission.Content,
		admission.FormClass, admission.Structure, admission.Encoding, admission.Construct, admission.Props, admission.RequestClass,
		admission.PathClass, admission.Limit,
	}
}

func either(done ...string) verdict {
	return verdict{refuse: anyClass(), admit: true, done: done}
}

const (
	readA   = "read docs/a.txt"
	request = "GET https://api.example.test/one"
)

// verdicts are those of a file's candidates; the last one holds for all that follow.
func verdicts() map[string][]verdict {
	path, refused := refuse(admission.PathClass), refuse(anyClass()...)
	named, asks := refuse(admission.Component), refuse(admission.RequestClass)
	lookalike := refuse(admission.Component, admission.Encoding)
	disputed := refuse(admission.Encoding, admission.Block, admission.Component)
	hidden := refuse(admission.PathClass, admission.Encoding)
	undecoded := either("read docs/%2e%2e/%2e%2e/ws-private/s.txt")
	undecoded.fails = "cannot read \"docs/%2e%2e/%2e%2e/ws-private/s.txt\": "
	escaped := admits()
	escaped.prints = "value {props.token}\n"
	twice := either()
	twice.prints = "value \\{props.token}\n"
	attribute := refuse(admission.Expression, admission.Props, admission.RequestClass, admission.Component, admission.Construct, admission.Interpolation)
	return map[string][]verdict{
		"01-path-prefix-sibling":       {path, path, admits(readA)},
		"02-path-dotdot-forms":         {path, path, path, undecoded, path, path, path, admits("read docs/..notes.md")},
		"03-path-device-names":         {path},
		"04-path-self-grant":           {path, path, path, path, admits("write docs/out.txt harmless text")},
		"05-fetch-redirect":            {admits(request)},
		"06-url-authority-tricks":      {asks},
		"07-url-spellings":             append(slices.Repeat([]verdict{either(request)}, 9), asks),
		"08-header-smuggling":          {asks},
		"09-second-effect-after-first": {named, named, asks, refuse(admission.Block), refuse(admission.Block), named},
		"10-over-limit-tail":           {refuse(admission.Component, admission.Limit)},
		"11-name-lookalikes":           {either(), lookalike, lookalike, lookalike, lookalike, lookalike, lookalike, either(), admits()},
		"12-fence-closers":             {admits(), admits(), admits(), admits(), named, named, refuse(admission.Block), admits()},
		"13-unclosed-code-span":        {named, named, named, admits()},
		"14-comment-hides-tag":         {either(), named, either(), named, named},
		"15-line-and-control-bytes":    {disputed, disputed, disputed, disputed, disputed, either(), disputed, refused, either(), disputed},
		"16-attribute-braces":          {attribute, attribute, attribute, attribute, attribute, attribute, attribute, escaped, twice, attribute},
		"17-quadratic-markdown":        {either()},
		"18-bidi-and-zero-width":       {either(), hidden, hidden, either("write docs/out.txt approved\u2066 // \u2069text"), either(request), either()},
		"19-ansi-review-screen":        {either(), either("write docs/out.txt one\x1b[1A\x1b[2Ktwo"), either()},
		"20-frontmatter-bomb":          {refused},
		"21-schema-remote-ref":         {refused},
		"22-approve-then-swap":         {admits("write docs/out.txt approved text"), admits("write docs/out.txt changed text")},
		"23-journal-line-injection": {admits(), admits("write docs/out.txt one\n{\"seq\":999999,\"type\":\"fetch\",\"status\":\"ok\"}\ntwo"),
			refuse(admission.Construct, admission.RequestClass), admits()},
		"24-refusal-marker":      {refused},
		"25-observation-is-data": {admits(request)},
	}
}

// allows reports whether a candidate may have come to a class, empty for an
// admission.
func (v verdict) allows(class admission.Class) bool {
	return class == "" && v.admit || slices.Contains(v.refuse, class)
}

// judged are the files and their candidates.
func judged(t *testing.T) (names []string, all map[string][]string) {
	t.Helper()
	paths, err := filepath.Glob("adversarial/[0-9]*.md")
	require.NoError(t, err)
	all = map[string][]string{}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".md")
		names = append(names, name)
		all[name] = candidates(t, path)
	}
	require.Len(t, names, 25)
	require.Len(t, verdicts(), len(names), "every file has its verdicts")
	return names, all
}

// A judge is the assumed world as a host states it, with recorders behind every
// operation.
type judge struct {
	t        *testing.T
	dir      string // the workspace
	response capability.Response

	mu     sync.Mutex
	done   []string
	probes int
}

func newJudge(t *testing.T) *judge {
	w := newWorld(t)
	w.write("ws/Probe.md", "a file that is never read")
	return &judge{t: t, dir: w.dir, response: capability.Response{Status: 200, Body: "one"}}
}

func (j *judge) did(what string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.done = append(j.done, what)
}

// seen is what was done since it was last asked.
func (j *judge) seen() (done []string, probes int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	done, probes = j.done, j.probes
	j.done, j.probes = nil, 0
	return done, probes
}

// Do notes a request and answers it.
func (j *judge) Do(_ context.Context, r capability.Normal, _ int) (capability.Response, error) {
	sent := r.Method + " " + r.URL
	for _, h := range r.Headers {
		sent += " " + h.Name + ": " + h.Value
	}
	j.did(sent)
	return j.response, nil
}

// profile states the assumed world. Writes reach exactly docs/out.txt, or with wide
// everything.
func (j *judge) profile(wide bool) capability.Profile {
	root, err := host.OpenRoot(j.dir)
	require.NoError(j.t, err)
	j.t.Cleanup(func() { root.Close() })
	read, write := capability.FileRead(root), capability.FileWrite(root)
	read.Paths, write.Paths = []string{"docs/**"}, []string{"docs/out.txt"}
	if wide {
		write.Paths = nil
	}
	for verb, e := range map[string]*capability.Entry{"read": &read, "write": &write} {
		do := e.Op.Do
		e.Op.Do = func(ctx context.Context, c capability.Call) (any, error) {
			path, _ := c.Props.String("path")
			j.did(strings.TrimSpace(verb + " " + path + " " + c.Content))
			return do(ctx, c)
		}
	}
	probe := capability.Entry{
		Name: "Probe", Identity: capability.Identity{Origin: "com.example", Key: "Probe", Revision: 1}, Forms: capability.SelfClosing | capability.Paired,
		Props: `{"type":"object","properties":{},"additionalProperties":false}`, Effect: capability.Read, Describe: "Renders probed.",
		Op: capability.Op{Do: func(context.Context, capability.Call) (any, error) {
			j.mu.Lock()
			defer j.mu.Unlock()
			j.probes++
			return "probed", nil
		}},
	}
	return capability.Profile{
		Name: "assumed world", Dialect: capability.Flat,
		Read:    []capability.Entry{probe, capability.Fetch(j, capability.Request{URL: "https://api.example.test/one"}), read},
		Write:   []capability.Entry{write},
		Control: capability.Control{Dirs: []string{"components"}},
	}
}

func (j *judge) capture(p capability.Profile) *capability.Captured {
	j.t.Helper()
	c, err := capability.Capture(j.t.Context(), p)
	require.NoError(j.t, err)
	j.t.Cleanup(c.Revoke)
	return c
}

func grantAll(t *testing.T, c *capability.Captured) *capability.Grant {
	t.Helper()
	g, err := c.Select(capability.ReadClass, capability.WriteClass)
	require.NoError(t, err)
	return g
}

// An evaluation is what a document that evaluates a candidate left.
type evaluation struct {
	engine.Result
	stopped error
	events  []journal.Event
	history []byte // the lines of its journal
}

// history is a journal's file in memory.
type history struct{ bytes.Buffer }

func (*history) Sync() error { return nil }

const (
	frontmatter = "---\nprops: {token: {type: string}}\n---\n"
	evaluates   = `<Candidate as="program" /><Evaluate text={program} allow={["read","write"]} />`
)

// evaluate runs a document in the workspace, with every component of an ordinary run
// and the property that no candidate may see. <Candidate /> renders what candidate
// returns and leaves nothing in the history.
func (j *judge) evaluate(profile *capability.Captured, source string, candidate func() string, elicitor engine.Elicitor, retained ...journal.Event) evaluation {
	j.t.Helper()
	d, err := document.Parse("main.md", []byte(frontmatter+source))
	require.NoError(j.t, err)
	root, err := engine.Load(d, nil)
	require.NoError(j.t, err)
	var file history
	for _, e := range retained {
		line, err := journal.AppendLine(nil, e)
		require.NoError(j.t, err)
		file.Write(line)
	}
	log, err := journal.Open(j.t.Context(), journal.NewLines(&file, retained...), journal.Options{})
	require.NoError(j.t, err)
	library := append(component.Defaults(), engine.Component{Name: "Candidate", Origin: "test", Forms: engine.SelfClosing,
		Run: func(context.Context, *engine.Call) (any, error) { return candidate(), nil }})
	var e evaluation
	e.Result, e.stopped = engine.Run(j.t.Context(), root, engine.Options{
		Host:    host.Host{Files: host.NewFiles(), Sources: host.NewSources(j.dir), Dir: j.dir},
		Library: engine.NewLibrary([]engine.Component{component.Evaluate(profile)}, library),
		Include: []string{"components", "."}, Props: value.Of("token", "TOKENVALUE"),
		Journal: log, Elicitor: elicitor, Retain: true,
	})
	e.events, e.history = log.Events(), file.Bytes()
	return e
}

func fixed(text string) func() string { return func() string { return text } }

// ofType are the events of a type.
func (e evaluation) ofType(kind string) (found []journal.Event) {
	for _, event := range e.events {
		if of, _ := event.Description.String("type"); of == kind {
			found = append(found, event)
		}
	}
	return found
}

// requireLines requires that a history holds one line for each event and that no
// part of a candidate is a line of its own.
func (e evaluation) requireLines(t *testing.T, candidate string) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(string(e.history), "\n"), "\n")
	require.Len(t, lines, len(e.events))
	for planted := range strings.Lines(candidate) {
		require.NotContains(t, lines, strings.TrimSpace(planted))
	}
}

// TestAdversarialAdmission judges and evaluates every candidate.
func TestAdversarialAdmission(t *testing.T) {
	names, all := judged(t)
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			want := verdicts()[name]
			require.GreaterOrEqual(t, len(all[name]), len(want))
			for i, candidate := range all[name] {
				v := want[min(i, len(want)-1)]
				j := newJudge(t)
				j.admission(t, fmt.Sprintf("v%d", i+1), candidate, v, j.profile(false))
				if name == "04-path-self-grant" {
					j.admission(t, fmt.Sprintf("v%d, widened", i+1), candidate, v, j.profile(true))
				}
			}
		})
	}
}

// admission judges one candidate as xmd admit does and as <Evaluate> does.
func (j *judge) admission(t *testing.T, label, candidate string, v verdict, p capability.Profile) {
	t.Helper()
	profile := j.capture(p)
	class := admission.Class("")
	d := admission.Preflight("candidate", candidate, grantAll(t, profile))
	if d.Refusal != nil {
		class = d.Refusal.Class
	}
	require.True(t, v.allows(class), "%s: %q", label, class)
	done, probes := j.seen()
	require.Empty(t, done, "judging performs nothing")
	require.Zero(t, probes)

	before := j.files()
	e := j.evaluate(profile, evaluates, fixed(candidate), nil)
	require.NoError(t, e.stopped, label)
	done, probes = j.seen()
	e.requireLines(t, candidate)
	decision, ok := e.ofType("generated_xmd")[0].Result.Value.(*value.Object)
	require.True(t, ok)
	require.Len(t, e.ofType("generated_xmd"), 1, "one record")
	left := e.Output + string(e.history)
	require.NotContains(t, left, "TOKENVALUE", label)
	if class != "" {
		var refusal *admission.Refusal
		require.ErrorAs(t, e.Err, &refusal, label)
		require.Equal(t, class, refusal.Class, label)
		require.Empty(t, done, label)
		require.Zero(t, probes, label)
		require.Equal(t, before, j.files(), label)
		require.Equal(t, value.Of("version", 1.0, "decision", "refused", "class", string(class)), decision)
		left += fmt.Sprintf("%v %+v %#v", e.Err, e.Err, refusal)
		require.NotContains(t, strings.ToLower(left), "xmdmarker7q2", label)
		require.NotContains(t, left, j.dir, "nothing of the machine either")
		require.Empty(t, hostileLines(e.Err.Error()), label)
		return
	}
	if v.fails == "" {
		require.NoError(t, e.Err, label)
	} else {
		require.ErrorContains(t, e.Err, v.fails, label)
	}
	require.Equal(t, append([]string(nil), v.done...), append([]string(nil), done...), label)
	require.Equal(t, strings.Count(fmt.Sprint(d.Named), "{Probe "), probes, label)
	source, _ := decision.String("source")
	require.Equal(t, candidate, source, "%s: what was admitted is recorded byte for byte", label)
	digest, _ := decision.String("digest")
	sum := sha256.Sum256([]byte(candidate))
	require.Equal(t, "sha256:"+hex.EncodeToString(sum[:]), digest)
	for _, request := range e.ofType("fetch") {
		input, _ := request.Description.Get("input")
		url, _ := input.(*value.Object).String("url")
		require.Equal(t, "https://api.example.test/one", url, "%s: the record has the stated spelling", label)
	}
	after := j.files()
	if len(done) == 1 && strings.HasPrefix(done[0], "write ") {
		before["docs/out.txt"] = strings.TrimPrefix(done[0], "write docs/out.txt ")
	}
	require.Equal(t, before, after, label)
	switch {
	case v.prints != "":
		require.Equal(t, v.prints, e.Output, label)
	case len(done) == 0:
		answered := strings.NewReplacer("<Probe />", "probed")
		require.Equal(t, answered.Replace(candidate), answered.Replace(e.Output), label)
	}
}

// files are the contents of everything at and beside the workspace.
func (j *judge) files() map[string]string {
	w := &world{t: j.t, base: filepath.Dir(j.dir), dir: j.dir}
	found := map[string]string{}
	for name, text := range w.files() {
		found[strings.TrimPrefix(name, "ws/")] = text
	}
	return found
}

// TestAdversarialRedirect: what binds the one request binds every hop of it.
func TestAdversarialRedirect(t *testing.T) {
	_, all := judged(t)
	j := newJudge(t)
	j.response = capability.Response{Status: 302, Headers: []capability.Header{{Name: "location", Value: "http://169.254.169.254/"}}}
	e := j.evaluate(j.capture(j.profile(false)), `<Candidate as="p" /><Evaluate text={p} as="r" /><Json value={r.observations} />`, fixed(all["05-fetch-redirect"][0]), nil)
	require.NoError(t, e.Err)
	require.JSONEq(t, `[{"name": "Fetch", "value": {"status": 302, "headers": {"location": "http://169.254.169.254/"}, "body": ""}}]`, e.Output)
	done, _ := j.seen()
	require.Equal(t, []string{request}, done)
	recorded, _ := e.ofType("fetch")[0].Result.Value.(*value.Object).Get("status")
	require.Equal(t, 302.0, recorded, "the record says which it was")

	// The same through the command, to a server that does redirect.
	w := newWorld(t)
	elsewhere, server := newRecorder(t), newRecorder(t)
	server.location = elsewhere.URL + "/latest"
	w.write("ws/profile.yaml", "version: 1\nname: one request\nread:\n  - use: Fetch\n    requests: [{url: \""+server.URL+"/one\", headers: {authorization: Bearer x}}]\n")
	candidate := `<Fetch url="` + server.URL + `/one" headers={{ "Authorization": "Bearer x" }} />`
	got := w.run(`<Evaluate text={'`+candidate+`'} as="r" /><Json value={r.observations} />`, "--profile", "profile.yaml")
	require.Zero(t, got.exit, got.stderr)
	require.Contains(t, got.stdout, `"status": 302`)
	require.Equal(t, []string{"GET /one"}, server.seen())
	require.Empty(t, elsewhere.seen())
	require.Empty(t, w.web.seen(), "no proxy either")
}

// TestAdversarialBombs: a candidate that would be expensive to understand is refused
// before anything of it is.
func TestAdversarialBombs(t *testing.T) {
	_, all := judged(t)
	j := newJudge(t)
	grant := grantAll(t, j.capture(j.profile(false)))
	for _, name := range []string{"20-frontmatter-bomb", "21-schema-remote-ref"} {
		for i, candidate := range all[name] {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			d := admission.Preflight("", candidate, grant)
			took := time.Since(start)
			runtime.ReadMemStats(&after)
			require.NotNil(t, d.Refusal)
			require.Less(t, took, soon, "%s v%d", name, i+1)
			require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(32<<20), "%s v%d", name, i+1)
		}
	}
}

// TestAdversarialSizes: deciding takes time in proportion to the size, also where
// the limits let much more through than they do.
func TestAdversarialSizes(t *testing.T) {
	_, all := judged(t)
	j := newJudge(t)
	p := j.profile(false)
	ordinary := grantAll(t, j.capture(p))
	p.Limits = capability.Limits{Source: 8 << 20, Elements: 1 << 20, Depth: 1 << 20, Steps: 1 << 30, Values: 1 << 30, Value: 1 << 30, Output: 1 << 30}
	raised := grantAll(t, j.capture(p))
	for _, candidate := range all["17-quadratic-markdown"] {
		d := admission.Preflight("", strings.Repeat(candidate, 1<<20/len(candidate)), ordinary)
		require.Equal(t, &admission.Refusal{Class: admission.Limit}, d.Refusal)
		requireProportion(t, candidate, func(source string) time.Duration {
			best := time.Hour
			for range 3 {
				start := time.Now()
				admission.Preflight("", source, raised)
				best = min(best, time.Since(start))
			}
			return best
		})
	}
}

// TestAdversarialCount: a limit on elements refuses too, and never ends the checking
// early.
func TestAdversarialCount(t *testing.T) {
	_, all := judged(t)
	j := newJudge(t)
	candidate := all["10-over-limit-tail"][0]
	for limit := 1; limit < 100; limit++ {
		p := j.profile(false)
		p.Limits.Elements = limit
		d := admission.Preflight("", candidate, grantAll(t, j.capture(p)))
		want := admission.Limit
		if limit >= strings.Count(candidate, "<") {
			want = admission.Component
		}
		require.Equal(t, &admission.Refusal{Class: want}, d.Refusal, "at most %d", limit)
	}
}

// A swap is a reviewer who approves what is shown, while somebody puts something else
// in its place.
type swap struct {
	shown string
	put   func()
}

func (s *swap) Ask(_ context.Context, q engine.Question) (any, error) {
	s.shown = q.Message
	s.put()
	return true, nil
}

// TestAdversarialSwap: an approval, and a decision, cover bytes.
func TestAdversarialSwap(t *testing.T) {
	_, all := judged(t)
	approved, changed := all["22-approve-then-swap"][0], all["22-approve-then-swap"][1]
	j := newJudge(t)
	path := filepath.Join(j.dir, "candidate.md")
	put := func(text string) { require.NoError(t, os.WriteFile(path, []byte(text), 0o644)) }
	profile := j.capture(j.profile(false))

	put(approved)
	reviewer := &swap{put: func() { put(changed) }}
	e := j.evaluate(profile, `<File path="candidate.md" as="candidate" /><Elicit schema={{ type: "boolean" }} as="yes"><CodeBlock value={candidate} /></Elicit>`+
		`<If condition={yes}><Evaluate text={candidate} allow={["read","write"]} /></If>`, nil, reviewer)
	require.NoError(t, e.Err)
	require.Contains(t, reviewer.shown, strings.TrimSpace(approved))
	done, _ := j.seen()
	require.Equal(t, []string{"write docs/out.txt approved text"}, done)
	require.Equal(t, "approved text", j.files()["docs/out.txt"])

	// What was decided and then changed, in a run that goes on from its history.
	text := approved
	e = j.evaluate(profile, evaluates, func() string { return text }, nil)
	require.NoError(t, e.Err)
	j.seen()
	held := slices.IndexFunc(e.events, func(e journal.Event) bool { kind, _ := e.Description.String("type"); return kind == "generated_xmd" }) + 1
	text = changed
	again := j.evaluate(profile, evaluates, func() string { return text }, nil, e.events[:held]...)
	require.ErrorIs(t, again.stopped, admission.ErrTextChanged)
	require.Len(t, again.events, held)
	text = approved
	again = j.evaluate(profile, evaluates, func() string { return text }, nil, e.events[:held]...)
	require.NoError(t, again.Err)
	done, _ = j.seen()
	require.Equal(t, []string{"write docs/out.txt approved text"}, done, "the refused continuation did nothing")
}

// TestAdversarialObservation: what a request returned is bound, shown, given to the
// next turn and replayed as the bytes that came, and is never read as a program.
func TestAdversarialObservation(t *testing.T) {
	_, all := judged(t)
	j := newJudge(t)
	j.response.Body = "<Exec cmd=\"id\" /> {props.token}\n```bash exec\necho ran id\n```\n<Probe />\n"
	closed := j.profile(false)
	closed.Dialect = capability.Closed
	for name, c := range map[string]struct {
		profile capability.Profile
		program string
	}{
		"flat":   {j.profile(false), all["25-observation-is-data"][0]},
		"closed": {closed, strings.Replace(all["25-observation-is-data"][0], " />", ` as="reply" />{reply.body}<Json value={reply.body} /><CodeBlock value={reply.body} /><File path="docs/out.txt">{reply.body}</File>`, 1)},
	} {
		const document = `<Candidate as="p" /><Evaluate text={p} allow={["read","write"]} as="r" /><Json value={r.observations} />{r.output}` +
			`<Let as="turn">{r.output}</Let>{turn}<Each in={r.observations} let="o">{o.value.body}</Each>`
		profile := j.capture(c.profile)
		live := j.evaluate(profile, document, fixed(c.program), nil)
		require.NoError(t, live.Err, name)
		done, probes := j.seen()
		require.Equal(t, request, done[0], name)
		require.Zero(t, probes, name)
		require.Contains(t, live.Output, j.response.Body, name)
		written, err := value.JSON(j.response.Body)
		require.NoError(t, err)
		require.Contains(t, live.Output, written, name)
		require.NotContains(t, live.Output+string(live.history), "TOKENVALUE", name)
		require.Empty(t, live.ofType("exec"), name)
		if name == "closed" {
			require.Equal(t, j.response.Body, j.files()["docs/out.txt"])
		}
		observed, _ := live.ofType("fetch")[0].Result.Value.(*value.Object).String("body")
		require.Equal(t, j.response.Body, observed, name)
		for cut := slices.IndexFunc(live.events, func(e journal.Event) bool { kind, _ := e.Description.String("type"); return kind == "fetch" }) + 1; cut <= len(live.events); cut++ {
			again := j.evaluate(profile, document, fixed(c.program), nil, live.events[:cut]...)
			require.NoError(t, again.stopped)
			require.NoError(t, again.Err)
			require.Equal(t, live.Output, again.Output, "%s from %d events", name, cut)
			require.Equal(t, live.history, again.history, "%s from %d events", name, cut)
			done, probes := j.seen()
			require.NotContains(t, done, request, name)
			require.Zero(t, probes)
		}
	}
}

// TestAdversarialDecisionsOnScreen: what the command says about a candidate repeats
// nothing of a refused one unless it was asked to, and never a byte that would not
// be seen.
func TestAdversarialDecisionsOnScreen(t *testing.T) {
	names, all := judged(t)
	w := newWorld(t)
	w.write("ws/profile.yaml", `version: 1
name: assumed world
read:
  - use: File
    paths: ["docs/**"]
  - use: Fetch
    requests: [{url: "https://api.example.test/one"}]
write:
  - use: File
    paths: [docs/out.txt]
`)
	w.write("case.md", `<File path="fragment.md" as="program" /><Evaluate text={program} allow={["write"]} />`)
	var files []string
	for _, name := range names {
		if name == "17-quadratic-markdown" {
			continue
		}
		for i, candidate := range all[name] {
			file := name + "-v" + strconv.Itoa(i+1) + ".md"
			w.write("ws/"+file, candidate)
			files = append(files, file)
		}
	}
	allow := []string{"--profile", "profile.yaml", "--allow", "read,write"}
	plainly := w.call(slices.Concat([]string{"admit"}, allow, files)...)
	require.Equal(t, 3, plainly.exit, plainly.stderr)
	asJSON := w.call(slices.Concat([]string{"admit", "--json"}, allow, files)...)
	require.Equal(t, 3, asJSON.exit)
	explained := w.call(slices.Concat([]string{"admit", "--explain"}, allow, files)...)
	explainedJSON := w.call(slices.Concat([]string{"admit", "--explain", "--json"}, allow, files)...)
	require.Contains(t, explained.stdout, "XMDMARKER7Q2", "this is what it is for")
	for _, tr := range []trial{plainly, asJSON, explained, explainedJSON} {
		require.Empty(t, hostileLines(tr.stdout+tr.stderr))
		require.Empty(t, w.web.seen())
	}
	for _, tr := range []trial{plainly, asJSON} {
		require.NotContains(t, strings.ToLower(tr.stdout+tr.stderr), "xmdmarker7q2")
		require.NotContains(t, tr.stdout+tr.stderr, w.dir)
	}

	// And what a run says of it: to a person and to a program.
	for _, name := range []string{"15-line-and-control-bytes", "18-bidi-and-zero-width", "19-ansi-review-screen", "24-refusal-marker"} {
		for i, candidate := range all[name] {
			w.write("ws/fragment.md", candidate)
			for _, args := range [][]string{nil, {"--json"}, {"--verbose"}} {
				got := w.call(slices.Concat([]string{"run", documentName, "--profile", "profile.yaml"}, args)...)
				require.Empty(t, hostileLines(got.stderr), "%s v%d", name, i+1)
				if got.exit == 0 {
					continue
				}
				require.Contains(t, []int{1, 3}, got.exit)
				require.NotContains(t, strings.ToLower(got.stdout+got.stderr), "xmdmarker7q2")
				if args != nil && args[0] == "--json" {
					require.Empty(t, hostileLines(got.stdout), "%s v%d", name, i+1)
				}
			}
		}
	}
}
