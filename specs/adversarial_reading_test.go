package specs

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	execTag  = `<Exec cmd="id" />`
	probeTag = `<Probe />`
)

// The last of many elements is read like the first.
func testOverLimitTail(t *testing.T, all []string) {
	require.Len(t, all, 1)
	w := newWorld(t)
	got := w.run(all[0])
	require.Zero(t, got.exit, got.stderr)
	probes := strings.Count(all[0], probeTag)
	require.Equal(t, strings.Repeat("probed\n", probes)+"ran id\n", got.stdout)
	names := got.ran()
	require.Len(t, names, probes+1)
	require.Equal(t, "Exec", names[probes])
}

// A fence ends where a standard reader ends it. A quote's end is not seen (v6), and
// words of an info string are not decoded (v7, v8): neither hides an element that
// a standard reader shows, nor runs a block that it does not.
func testFenceClosers(t *testing.T, all []string) {
	require.Len(t, all, 8)
	w := newWorld(t)
	for i, candidate := range all {
		switch i + 1 {
		case 5, 6:
			w.renders(candidate, execTag)
		default:
			w.renders(candidate)
		}
	}
}

// A backtick without a partner hides nothing, and a backslash is no escape inside.
func testUnclosedCodeSpan(t *testing.T, all []string) {
	require.Len(t, all, 4)
	w := newWorld(t)
	for _, candidate := range all[:3] {
		w.renders(candidate, execTag)
	}
	w.renders(all[3], probeTag)
}

// A comment is inert, and ends where HTML ends it.
func testCommentHidesTag(t *testing.T, all []string) {
	require.Len(t, all, 5)
	w := newWorld(t)
	for i, candidate := range all {
		switch i + 1 {
		case 1, 3:
			w.renders(candidate)
		default:
			w.renders(candidate, execTag)
		}
	}
}

// Only LF ends a line, only a leading byte-order mark is dropped, only ASCII white
// space parts the words of a fence, any white space parts attributes, and a source
// that is not UTF-8 is no document.
func testLineAndControlBytes(t *testing.T, all []string) {
	require.Len(t, all, 10)
	w := newWorld(t)
	w.renders(all[0]) // one line: no fence, and a code span
	w.renders(all[1], execTag)
	w.renders(all[2])
	w.renders(all[3])
	w.renders(all[4])
	w.renders(all[5])
	w.renders(all[7], "<Exec\u00a0cmd=\"id\" />")
	w.renders(all[8], probeTag)
	w.renders(all[9], "<Exec\vcmd=\"id\"\f/>")

	got := w.run(all[6])
	require.Equal(t, 1, got.exit)
	require.Empty(t, got.stdout)
	require.Empty(t, got.trace)
	require.Contains(t, got.stderr, "is not UTF-8 text at 1:6")
}

// Quoted braces and angle brackets do not end an attribute. Properties reach the
// text only where the document says so, and a spread is nothing at all.
func testAttributeBraces(t *testing.T, all []string) {
	require.Len(t, all, 12)
	w := newWorld(t)
	w.write("ws/components/Probe.md", "---\nprops: {type: object, additionalProperties: true}\n---\n[{props.note}]<If condition={typeof props.note === \"object\"}><Json value={props.note} /></If>")
	const declared = "---\nprops: {token: {type: string, default: TOKENVALUE}}\n---\n"
	for i, want := range []struct {
		stdout string
		ran    []string
	}{
		{"[a } b]\n", []string{"Probe"}},
		{"\n", []string{"Fetch"}},
		{"[a > b] ran id\n", []string{"Probe", "Exec"}},
		{"[a\" /><Exec cmd=\"id\" />]\n", []string{"Probe"}},
		{"[]\n", []string{"Probe"}},
		{"value TOKENVALUE\n", nil},
		{"value {TOKENVALUE}\n", nil},
		{"value {props.token}\n", nil},
		{"value \\{props.token}\n", nil},
		{"[[object Object]]{\n  \"a\": \"{\"\n} ran id\n", []string{"Probe", "Json", "Exec"}},
		{strings.Replace(all[10], execTag, "ran id", 1), []string{"Exec"}},
		{"\n", []string{"Fetch"}},
	} {
		got := w.run(declared + plain(all[i]))
		require.Zero(t, got.exit, got.stderr)
		require.Equal(t, want.stdout, got.stdout, "v%d", i+1)
		require.Equal(t, want.ran, got.ran(), "v%d", i+1)
		requests := w.web.seen()
		if len(want.ran) == 0 || want.ran[0] != "Fetch" {
			require.Empty(t, requests)
			continue
		}
		require.Equal(t, []string{"GET http://api.example.test/one"}, requests, "v%d", i+1)
		require.Equal(t, i+1 == 2, w.web.header.Get("X") == "}}/>")
	}
}

// Reading, checking and describing a source takes time in proportion to its size.
// Processor time is compared, so that a busy machine does not matter; what is added
// to the limit is the cost of starting a process.
func testQuadraticMarkdown(t *testing.T, all []string) {
	require.NotEmpty(t, all)
	w := newWorld(t)
	for i, candidate := range all {
		for _, args := range [][]string{{"run", documentName}, {"run", documentName, "--help"}, {"check", documentName}} {
			requireProportion(t, candidate, func(document string) time.Duration {
				w.write("case.md", document)
				got := w.call(args...)
				require.Zero(t, got.exit, got.stderr)
				if len(args) == 2 && args[0] == "run" {
					require.True(t, got.stdout == document, "v%d: text is printed as it stands", i+1)
				}
				return got.used
			})
		}
	}
}

// requireProportion measures a body repeated to 8, 64 and 1024 KiB.
func requireProportion(t *testing.T, body string, measure func(document string) time.Duration) {
	t.Helper()
	const process = 50 * time.Millisecond
	var before time.Duration
	for _, step := range []struct{ size, factor int }{{8 << 10, 0}, {64 << 10, 20}, {1 << 20, 40}} {
		used := measure(strings.Repeat(body, step.size/len(body)+1)[:step.size])
		if step.factor > 0 {
			require.LessOrEqual(t, used, time.Duration(step.factor)*before+process, "%d KiB", step.size>>10)
		}
		require.Less(t, used, 3*time.Second)
		before = used
	}
}
