package specs

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What a path can come to in an ordinary run: text that is read, or the reason of
// the one printed error.
const (
	climbs    = "the path ends up outside the working directory"
	absolute  = "the path is absolute; give one relative to the working directory"
	directory = "it is a directory"
	missing   = "no such file"
)

// testPaths reads every candidate's path, then writes to it. The text of a path
// alone decides whether it is refused, so that the content of a refused write never
// expands; whatever is done is done inside the working directory.
func testPaths(t *testing.T, all []string, reads ...string) {
	require.Len(t, all, len(reads))
	for i, candidate := range all {
		w := newWorld(t)
		before := w.files()
		_, rest, _ := strings.Cut(candidate, `"`)
		path, _, _ := strings.Cut(rest, `"`)

		read := w.run(candidate)
		require.Zero(t, read.exit)
		require.Equal(t, []string{"File"}, read.ran(), candidate)
		require.NotContains(t, read.stdout+read.stderr, outside)
		switch reads[i] {
		case climbs, directory, missing:
			require.Equal(t, fmt.Sprintf("<!-- ERROR: <File> cannot read %q: %s -->\n", path, reads[i]), read.stdout)
		case absolute:
			require.Equal(t, "<!-- ERROR: <File> cannot read a file: "+absolute+" -->\n", read.stdout)
			require.NotContains(t, read.stderr, path)
		default:
			require.Equal(t, reads[i]+"\n", read.stdout, candidate)
		}
		require.Equal(t, before, w.files(), "a read changes nothing")

		write := w.run(strings.Replace(candidate, `" />`, `"><Exec cmd="id" /></File>`, 1))
		after := w.files()
		switch reads[i] {
		case climbs, absolute:
			require.Contains(t, write.stdout, reads[i])
			require.Equal(t, []string{"File"}, write.ran(), "the content of a refused write never expands: %s", candidate)
			require.Equal(t, before, after)
		case directory:
			require.Contains(t, write.stdout, directory)
			require.Equal(t, before, after)
		default:
			require.Equal(t, []string{"File", "Exec"}, write.ran())
			before["ws/"+filepath.ToSlash(filepath.Clean(path))] = "ran id"
			require.Equal(t, before, after, "one file was written, the one that is named: %s", candidate)
		}
	}
}

// Inside the working directory nothing is private: a person's own run reads v1.
func testPathPrefixSibling(t *testing.T, all []string) {
	testPaths(t, all, "S", climbs, "A")
}

// Only a whole .. segment climbs, and only leaving is refused: v2 is the working
// directory and v7 stays in it. Percent signs are never decoded. A backslash is an
// ordinary character of a name where the system has it so. The name of v8 is added
// where nothing stands before it.
func testPathDotdotForms(t *testing.T, all []string) {
	backslashes := missing
	if filepath.Separator == '\\' {
		backslashes = climbs
	}
	all = append(all, strings.Replace(all[7], "docs/", "", 1))
	testPaths(t, all, climbs, directory, climbs, missing, absolute, backslashes, "S", "N", "N")
}

// Spellings that are absolute on Windows are absolute everywhere. Device names and
// trailing dots and spaces are names like others where the system has them so, and
// never mean docs/a.txt.
func testPathDeviceNames(t *testing.T, all []string) {
	if filepath.Separator == '\\' {
		t.Skip("the system itself decides what these names are")
	}
	testPaths(t, all, missing, missing, missing, missing, missing, absolute, absolute, absolute, missing, missing)
}

// A person may write any file of their directory, these too. Their content is text:
// braces and line ends arrive as they are written, and one file changes.
func testPathSelfGrant(t *testing.T, all []string) {
	for _, candidate := range all {
		w := newWorld(t)
		want := w.files()
		head, content, _ := strings.Cut(strings.TrimSuffix(candidate, "</File>\n"), `">`)
		_, path, _ := strings.Cut(head, `"`)
		want["ws/"+path] = content
		got := w.run(candidate)
		require.Zero(t, got.exit)
		require.Equal(t, "\n", got.stdout)
		require.Equal(t, []string{"File"}, got.ran())
		require.Equal(t, want, w.files())
	}
}

// A redirect is the answer to the one request that is made: data where it is bound,
// otherwise a failure, and recorded either way.
func testFetchRedirect(t *testing.T, all []string) {
	require.Len(t, all, 1)
	w := newWorld(t)
	elsewhere, server := newRecorder(t), newRecorder(t)
	server.location = elsewhere.URL + "/latest/meta-data"
	candidate := strings.Replace(all[0], "https://api.example.test", server.URL, 1)
	record := "yield fetch fetch:"

	bound := w.run(strings.Replace(candidate, " />", ` as="reply" />{reply.status} {reply.headers.location}`, 1))
	require.Zero(t, bound.exit, bound.stderr)
	require.Equal(t, "302 "+server.location+"\n", bound.stdout)
	require.Equal(t, []string{"GET /one"}, server.seen())
	require.Contains(t, bound.trace, record)

	replayed := w.call("run", documentName, "--replay", traceName)
	require.Equal(t, bound.stdout, replayed.stdout)
	require.Zero(t, replayed.exit)

	unbound := w.run(candidate)
	require.Equal(t, 1, unbound.exit)
	require.Contains(t, unbound.stderr, "302")
	require.Equal(t, []string{"GET /one"}, server.seen())
	require.Contains(t, unbound.trace, record)

	again := w.call("run", documentName, "--replay", traceName)
	require.Equal(t, 1, again.exit)
	require.Equal(t, unbound.stderr, again.stderr)
	require.Empty(t, server.seen(), "a replay asks nobody")
	require.Empty(t, elsewhere.seen(), "nobody followed")
	require.Empty(t, w.web.seen(), "a loopback address needs no proxy")
}

// noURL is how a url is refused that does not name a host.
const noURL = "<Fetch> needs an absolute http or https url"

// A url names the host that the standard reads in it, however it is dressed up, and
// one that readers disagree about names none: no request leaves.
func testURLAuthorityTricks(t *testing.T, all []string) {
	hosts := []string{
		"evil.example", "evil.example", "", "", "", "evil.example", "evil.example", "", "", "",
		"api.example.test", "api.example.test.evil.example", "evilapi.example.test",
	}
	require.Len(t, all, len(hosts))
	w := newWorld(t)
	for i, candidate := range all {
		got := w.run(candidate)
		require.Equal(t, 1, got.exit, candidate)
		require.Empty(t, got.stdout)
		message, _, _ := strings.Cut(got.stderr, "\n")
		if hosts[i] == "" {
			require.Empty(t, w.web.seen(), candidate)
			require.Equal(t, noURL, message)
			require.NotContains(t, got.trace, "yield fetch", "what is refused is no request")
			continue
		}
		require.Equal(t, []string{"CONNECT " + hosts[i] + ":443"}, w.web.seen(), candidate)
		require.NotContains(t, message, "example", "a message does not repeat a url")
	}
}

// A url is sent as it is written, apart from what a request line cannot hold: an
// upper-case scheme, an empty port and a fragment.
func testURLSpellings(t *testing.T, all []string) {
	require.Len(t, all, 18)
	w := newWorld(t)
	for i, candidate := range all {
		candidate = plain(candidate)
		_, rest, _ := strings.Cut(candidate, `"`)
		written, _, _ := strings.Cut(rest, `"`)
		sent := strings.NewReplacer("HTTP:", "http:", ":/one", "/one", "#f", "").Replace(written)
		got := w.run(candidate)
		require.Zero(t, got.exit, got.stderr)
		require.Equal(t, []string{"GET " + sent}, w.web.seen(), "v%d", i+1)
		trace, err := os.ReadFile(filepath.Join(w.dir, traceName))
		require.NoError(t, err)
		require.Contains(t, string(trace), `"input":{"url":"`+written+`"`, "the record has the spelling of the author")
	}
}

// Headers that would change the request or its route never leave. One that an
// author may send (v7) leaves as it is.
func testHeaderSmuggling(t *testing.T, all []string) {
	reasons := []string{
		`has the header name "accept "`, "control character in the value of the header accept", "two spellings of the header accept",
		"cannot send the header host", "cannot send the header transfer-encoding", `has the header name "x-a\n"`, "", `"/method" must be`,
	}
	require.Len(t, all, len(reasons))
	w := newWorld(t)
	for i, candidate := range all {
		got := w.run(plain(candidate))
		if reasons[i] == "" {
			require.Zero(t, got.exit, got.stderr)
			require.Equal(t, []string{"GET http://api.example.test/one"}, w.web.seen())
			require.Equal(t, "Bearer x", w.web.header.Get("Authorization"))
			continue
		}
		require.Equal(t, 1, got.exit, candidate)
		require.Contains(t, got.stderr, reasons[i])
		require.Empty(t, w.web.seen(), candidate)
		require.NotContains(t, got.trace, "yield fetch")
	}
}

// soon is the processor time within which a hostile declaration is refused.
const soon = time.Second

// A declaration that is a bomb is refused before anything runs, quickly, with a
// message that says what to change. Its memory is held by TestAdversarialMemory.
func testFrontmatterBomb(t *testing.T, all []string) {
	reasons := []string{
		"$.a has a YAML anchor, which frontmatter may not use; remove it",
		`"js" is no frontmatter language: write --- alone, ---yaml or ---json`,
		"$.props is written twice; keep one",
		"$.props has a YAML tag, which frontmatter may not use; remove it",
		"the frontmatter is not valid YAML",
		"$.base has a YAML anchor, which frontmatter may not use; remove it",
		"the frontmatter is not valid YAML",
	}
	require.Len(t, all, len(reasons))
	w := newWorld(t)
	for i, candidate := range all {
		got := w.run(candidate)
		require.Equal(t, 1, got.exit, "v%d", i+1)
		require.Empty(t, got.stdout)
		require.Empty(t, got.trace, "nothing began")
		require.True(t, strings.HasPrefix(got.stderr, reasons[i]), "v%d: %s", i+1, got.stderr)
		require.Contains(t, got.stderr, "--> "+documentName, "it says where")
		require.Less(t, got.used, soon)
	}
}

// A schema loads nothing, whoever states it, and costs no more than it weighs.
func testSchemaRemoteRef(t *testing.T, all []string) {
	reasons := []string{
		"leaves the schema", "leaves the schema", `"/name" must match pattern "^(a+)+$"`, "would never end", "RE2", "",
	}
	require.Len(t, all, len(reasons))
	w := newWorld(t)
	for i, candidate := range all {
		got := w.run(candidate)
		require.Less(t, got.used, soon, "v%d", i+1)
		require.Empty(t, w.web.seen(), "v%d", i+1)
		if reasons[i] == "" { // outside of props, $schema is a word like others
			require.Zero(t, got.exit, got.stderr)
			require.Equal(t, []string{"Probe"}, got.ran())
			continue
		}
		require.NotZero(t, got.exit)
		require.Contains(t, got.stderr, reasons[i])
		require.Empty(t, got.ran())
	}

	// The same references again, to something that is there and would do.
	server := newRecorder(t)
	server.body = `{"type": "integer"}`
	w.write("ws/schema.json", server.body)
	file := url.URL{Scheme: "file", Path: filepath.ToSlash(filepath.Join(w.dir, "schema.json"))}
	for _, ref := range []string{server.URL + "/schema.json", file.String(), "schema.json", "./schema.json#/type"} {
		schema := `{ "$ref": "` + ref + `" }`
		declared := "props: {type: object, properties: {n: {$ref: '" + ref + "'}}}"
		w.write("ws/components/Remote.md", "---\n"+declared+"\n---\nloaded")
		for _, document := range []string{
			"---\n" + declared + "\n---\n<Exec cmd=\"id\" />",
			"---\nreturns: {type: object, properties: {n: {$ref: '" + ref + "'}}}\n---\n<Exec cmd=\"id\" as=\"x\" /><Return value={{n: 1}} />",
			`<Remote n={1} />`,
			`<Parse schema={` + schema + `} as="x"><Exec cmd="id" />1</Parse>`,
			`<SafeParse schema={` + schema + `} as="x"><Exec cmd="id" />1</SafeParse>`,
			`<Parse schema='` + schema + `' as="x"><Exec cmd="id" />1</Parse>`,
			`<Answers><Answer value={1} /><Elicit schema={` + schema + `} as="x"><Exec cmd="id" />1</Elicit></Answers>`,
		} {
			got := w.run(document)
			require.Contains(t, got.stdout+got.stderr, "leaves the schema", document)
			require.NotContains(t, got.ran(), "Exec", document)
			require.NotContains(t, got.stdout, "loaded")
			require.Empty(t, server.seen(), document)
			require.Empty(t, w.web.seen(), document)
		}
	}
}

// Text with line ends is one value of one record: no line of a trace is one that a
// document planted.
func testJournalLineInjection(t *testing.T, all []string) {
	require.Len(t, all, 4)
	root := "yield import_component __root__ ok path=" + documentName + "\n"
	element := func(name string) string {
		if name == "Probe" {
			return "yield import_component Probe ok path=components/Probe.md\n"
		}
		return "yield import_component " + name + " ok\n"
	}
	w := newWorld(t)
	for i, want := range []string{
		root + element("Probe") + "close ok ok\n",
		root + element("File") + "close ok ok\n",
		root + "close ok ok\n",
		root + element("Probe") + "close ok ok\n",
	} {
		got := w.run(all[i])
		require.Zero(t, got.exit, got.stderr)
		require.Equal(t, want, got.trace, "v%d", i+1)
		data, err := os.ReadFile(filepath.Join(w.dir, traceName))
		require.NoError(t, err)
		lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
		require.Len(t, lines, strings.Count(want, "\n"))
		for _, planted := range strings.Split(all[i], "\n") {
			require.NotContains(t, lines, planted)
		}
		require.Empty(t, w.web.seen())
		events := w.call("run", documentName, "--verbose", "--replay", traceName)
		require.Equal(t, got.stdout, events.stdout)
		require.NotContains(t, events.stderr, `{"`, "what is reported of a record is its type and name")
	}
	require.Equal(t, "one\n{\"seq\":999999,\"type\":\"fetch\",\"status\":\"ok\"}\ntwo", w.files()["ws/docs/out.txt"])
	require.Equal(t, all[2], w.run(all[2]).stdout, "the inner quote ends the attribute of v3: its tag is text")
}

// What a request returned is data: it is bound, shown, passed on and written as it
// came, and nothing in it runs. A replay takes it from the history.
func testObservationIsData(t *testing.T, all []string) {
	require.Len(t, all, 1)
	w := newWorld(t)
	server := newRecorder(t)
	server.body = "<Exec cmd=\"id\" /> {props.token}\n```bash exec\necho ran id\n```\n"
	document := "---\nprops: {token: {type: string}}\n---\n" +
		strings.Replace(strings.TrimSpace(strings.Replace(all[0], "https://api.example.test", server.URL, 1)), " />", ` as="reply" />`, 1) +
		"<Json value={reply.body} />\n{reply.body}" +
		`<Let as="again">{reply.body}</Let>{again}` + "\n" +
		`<CodeBlock value={reply.body} />` + "\n" +
		`<File path="docs/out.txt">{reply.body}</File><File path="docs/out.txt" />`
	want := `"<Exec cmd=\"id\" /> {props.token}\n` + "```bash exec\\necho ran id\\n```\\n\"\n" +
		server.body + strings.TrimSpace(server.body) + "\n" +
		"````\n" + server.body + "\n````\n" + server.body

	live := w.run(document, "--props-token", "TOKENVALUE")
	require.Zero(t, live.exit, live.stderr)
	require.Equal(t, want, live.stdout)
	require.Equal(t, []string{"Fetch", "Json", "CodeBlock", "File", "File"}, live.ran())
	require.NotContains(t, live.trace, "yield exec ")
	require.Equal(t, server.body, w.files()["ws/docs/out.txt"])
	require.Equal(t, []string{"GET /one"}, server.seen())
	history, err := os.ReadFile(filepath.Join(w.dir, traceName))
	require.NoError(t, err)
	require.NotContains(t, string(history), "TOKENVALUE")

	// The whole history, then one that ends behind the answer.
	records := strings.SplitAfter(string(history), "\n")
	for _, kept := range []int{len(records), 3} {
		w.write("old.jsonl", strings.Join(records[:kept], ""))
		replayed := w.call("run", documentName, "--props-token", "TOKENVALUE", "--replay", "../old.jsonl")
		require.Zero(t, replayed.exit, replayed.stderr)
		require.Equal(t, live.stdout, replayed.stdout)
		require.Empty(t, server.seen(), "%d records", kept)
	}
}
