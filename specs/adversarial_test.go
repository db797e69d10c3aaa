package specs

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The files of adversarial/ are candidates for programs nobody wrote, and their
// README says what must become of them when they are admitted. Here the same bytes
// are documents that a person runs, who grants everything the working directory and
// the network hold, so nothing is refused for lack of permission. What is left to
// hold is that files and requests are the ones the text names, that the reader sees
// the same elements a person sees, that hostile sizes cost what they weigh, and
// that text stays text wherever it is shown or recorded.
//
//	file   concern of an ordinary run
//	01-04  where a path leads, before and after the content expands
//	05     a redirect is an answer
//	06-08  which host, request line and header a url and headers mean
//	10     the last element of many is read like the first
//	12-16  what is an element and what is text
//	17     time in proportion to size
//	18, 19 hidden and control characters: kept in bytes, written out for people
//	20, 21 declarations that are bombs or reach for something outside
//	23     text with line ends is one value of one record
//	25     what a request returned is never read as a program
//
// Four files concern programs alone, because a person's own document needs nobody's
// approval: 09 an earlier effect waits until the last element was read, 11 a name is
// not an identity, 22 an approval covers bytes, 24 a refusal does not publish what it
// refused. All 25 are judged and evaluated as programs in adversarial_admission_test.go.
func ordinaryInputs() map[string]func(*testing.T, []string) {
	return map[string]func(*testing.T, []string){
		"01-path-prefix-sibling":    testPathPrefixSibling,
		"02-path-dotdot-forms":      testPathDotdotForms,
		"03-path-device-names":      testPathDeviceNames,
		"04-path-self-grant":        testPathSelfGrant,
		"05-fetch-redirect":         testFetchRedirect,
		"06-url-authority-tricks":   testURLAuthorityTricks,
		"07-url-spellings":          testURLSpellings,
		"08-header-smuggling":       testHeaderSmuggling,
		"10-over-limit-tail":        testOverLimitTail,
		"12-fence-closers":          testFenceClosers,
		"13-unclosed-code-span":     testUnclosedCodeSpan,
		"14-comment-hides-tag":      testCommentHidesTag,
		"15-line-and-control-bytes": testLineAndControlBytes,
		"16-attribute-braces":       testAttributeBraces,
		"17-quadratic-markdown":     testQuadraticMarkdown,
		"18-bidi-and-zero-width":    testBidiAndZeroWidth,
		"19-ansi-review-screen":     testAnsi,
		"20-frontmatter-bomb":       testFrontmatterBomb,
		"21-schema-remote-ref":      testSchemaRemoteRef,
		"23-journal-line-injection": testJournalLineInjection,
		"25-observation-is-data":    testObservationIsData,
	}
}

var admissionOnly = []string{
	"09-second-effect-after-first", "11-name-lookalikes", "22-approve-then-swap", "24-refusal-marker",
}

func TestAdversarial(t *testing.T) {
	paths, err := filepath.Glob("adversarial/[0-9]*.md")
	require.NoError(t, err)
	inputs := ordinaryInputs()
	require.Len(t, paths, len(inputs)+len(admissionOnly), "every input is in one of the two tables")
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".md")
		check, ordinary := inputs[name]
		if !ordinary {
			require.Contains(t, admissionOnly, name)
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, candidates(t, path))
		})
	}
}

// candidates splits a file of adversarial/ as its README says.
func candidates(t *testing.T, path string) []string {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	var all []string
	var one strings.Builder
	for line := range strings.Lines(string(data)) {
		if line != "%%%\n" {
			one.WriteString(line)
			continue
		}
		all = append(all, one.String())
		one.Reset()
	}
	return append(all, one.String())
}

// outside is the text of the files that no document in a world may reach.
const outside = "OUTSIDE"

// A world is the directory a candidate runs in, as the README assumes it, and a
// recorder that stands for the network.
type world struct {
	t    *testing.T
	base string // holds the document, the trace, the working directory and what is beside it
	dir  string // the working directory
	env  []string
	web  *recorder
}

func newWorld(t *testing.T) *world {
	t.Helper()
	base := t.TempDir()
	w := &world{t: t, base: base, dir: filepath.Join(base, "ws"), web: newRecorder(t)}
	for name, text := range map[string]string{
		"ws/docs/a.txt":          "A",
		"ws/docs/..notes.md":     "N",
		"ws/..notes.md":          "N",
		"ws/docs-private/s.txt":  "S",
		"ws-private/s.txt":       outside,
		"ws/components/Probe.md": "probed",
		"ws/components/Exec.md":  "---\nprops: {cmd: {type: string}}\n---\nran {props.cmd}",
	} {
		w.write(name, text)
	}
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(strings.ToUpper(v), "=")
		if !strings.HasPrefix(name, "XMD_") && !strings.HasSuffix(name, "_PROXY") && name != "NO_COLOR" {
			w.env = append(w.env, v)
		}
	}
	w.env = append(w.env, "TERM=xterm-256color", "HTTP_PROXY="+w.web.URL, "HTTPS_PROXY="+w.web.URL)
	return w
}

// write makes a file below the base of the world.
func (w *world) write(name, text string) {
	w.t.Helper()
	path := filepath.Join(w.base, filepath.FromSlash(name))
	require.NoError(w.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(w.t, os.WriteFile(path, []byte(text), 0o644))
}

// files are the contents of everything the world holds, except for the document
// and the trace.
func (w *world) files() map[string]string {
	w.t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(w.base, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || filepath.Dir(path) == w.base {
			return err
		}
		data, err := os.ReadFile(path)
		name, _ := filepath.Rel(w.base, path)
		found[filepath.ToSlash(name)] = string(data)
		return err
	})
	require.NoError(w.t, err)
	return found
}

// command is a call of the built program in the world.
func (w *world) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Dir, cmd.Env = w.dir, w.env
	return cmd
}

// A trial is what a call did.
type trial struct {
	exit           int
	stdout, stderr string
	used           time.Duration // processor time
	trace          string        // the projection of the trace; empty when there is none
}

// call runs the program with both channels piped.
func (w *world) call(args ...string) trial {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	defer cancel()
	cmd := w.command(ctx, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		require.NoError(w.t, err)
	}
	require.NoError(w.t, ctx.Err(), "the program did not end within a minute")
	state := cmd.ProcessState
	return trial{exit: state.ExitCode(), stdout: stdout.String(), stderr: stderr.String(), used: state.UserTime() + state.SystemTime()}
}

const documentName, traceName = "../case.md", "../case.jsonl"

// run runs a document and reads the trace it left.
func (w *world) run(document string, args ...string) trial {
	w.t.Helper()
	w.write("case.md", document)
	trace := filepath.Join(w.dir, traceName)
	if err := os.Remove(trace); err != nil {
		require.ErrorIs(w.t, err, fs.ErrNotExist)
	}
	tr := w.call(slices.Concat([]string{"run", documentName, "--journal", traceName}, args)...)
	var err error
	if tr.trace, err = traceOf(trace); err != nil { // a line that is no record fails here
		require.ErrorIs(w.t, err, fs.ErrNotExist)
	}
	return tr
}

// ran are the names of the elements the run reached, in order.
func (tr trial) ran() []string {
	var names []string
	for line := range strings.Lines(tr.trace) {
		if words := strings.Fields(line); words[0] == "yield" && words[1] == "import_component" && words[2] != "__root__" {
			names = append(names, words[2])
		}
	}
	return names
}

// renders runs a document and requires that exactly the elements listed, each
// written as the document has it, were read as elements, and that everything else
// was printed as it stands.
func (w *world) renders(document string, elements ...string) {
	w.t.Helper()
	want, names := strings.TrimPrefix(document, "\ufeff"), []string(nil)
	for _, e := range elements {
		name, result := "Probe", "probed"
		if strings.HasPrefix(e, "<Exec") {
			name, result = "Exec", "ran id"
		}
		at := strings.LastIndex(want, e)
		require.GreaterOrEqual(w.t, at, 0)
		want, names = want[:at]+result+want[at+len(e):], append(names, name)
	}
	got := w.run(document)
	require.Zero(w.t, got.exit, got.stderr)
	require.Equal(w.t, names, got.ran(), document)
	require.Equal(w.t, want, got.stdout)
	require.Empty(w.t, w.web.seen())
}

// A recorder is a server that notes what it was asked for. It answers as the
// server that a url names, and as a proxy.
type recorder struct {
	*httptest.Server
	mu       sync.Mutex
	requests []string
	header   http.Header // of the last request
	location string      // what a GET is redirected to, if anything
	body     string
}

func newRecorder(t *testing.T) *recorder {
	r := &recorder{}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

func (r *recorder) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests = append(r.requests, request.Method+" "+request.RequestURI)
	r.header = request.Header
	switch {
	case request.Method == http.MethodConnect:
		w.WriteHeader(http.StatusForbidden)
	case r.location != "":
		w.Header().Set("Location", r.location)
		w.WriteHeader(http.StatusFound)
	}
	w.Write([]byte(r.body))
}

// seen returns the requests since it was last asked.
func (r *recorder) seen() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	requests := r.requests
	r.requests = nil
	return requests
}

// plain makes the requests of a candidate readable for the recorder.
func plain(candidate string) string {
	return strings.NewReplacer(`"https:`, `"http:`, `"HTTPS:`, `"HTTP:`).Replace(candidate)
}
