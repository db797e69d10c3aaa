package specs

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// isHostile reports whether a character drives a terminal, reorders what is around
// it or cannot be seen.
func isHostile(r rune) bool {
	return unicode.Is(unicode.C, r) && r != '\n' && r != '\t' || r == '\u2028' || r == '\u2029' || r == utf8.RuneError
}

// hostileLines are the lines of a text that hold hostile characters, quoted.
func hostileLines(text string) (lines []string) {
	for line := range strings.Lines(text) {
		if strings.ContainsFunc(line, isHostile) {
			lines = append(lines, strconv.QuoteToASCII(line))
		}
	}
	return lines
}

// hostileIn counts the hostile characters, and the bytes that are none, of a text.
func hostileIn(text string) (n int) {
	for _, r := range text {
		if isHostile(r) {
			n++
		}
	}
	return n
}

var escape = regexp.MustCompile(`\\(x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})`)

// requireShown requires that a person sees the whole of a text that was printed:
// nothing hostile, and an escape in its place.
func requireShown(t *testing.T, printed, screen string) {
	t.Helper()
	require.Empty(t, hostileLines(screen))
	want := hostileIn(printed) + len(escape.FindAllString(printed, -1))
	require.Len(t, escape.FindAllString(screen, -1), want, "%q is not all of %q", screen, printed)
}

// requireDiagnosed runs and checks a candidate's hostile text in front of an element
// that fails: messages and excerpts show it written out. The screen itself is held
// by TestAdversarialTerminal.
func requireDiagnosed(t *testing.T, w *world, candidate string) {
	t.Helper()
	line := regexp.MustCompile(`<[A-Z][^<]*>`).ReplaceAllString(candidate, "")
	line = strings.ReplaceAll(strings.ReplaceAll(line, "</File>", ""), "\n", " ")
	w.write("case.md", line+"<Missing />\n")
	for _, command := range []string{"run", "check"} {
		got := w.call(command, documentName)
		require.Equal(t, 1, got.exit, got.stderr)
		require.Empty(t, hostileLines(got.stderr))
		require.Equal(t, hostileIn(line) > 0, escape.MatchString(got.stderr), "%q", got.stderr)
		if command == "check" {
			require.Empty(t, hostileLines(got.stdout))
		}
	}
}

// Hidden characters are bytes like others in files and pipes, and written out in
// messages.
func testBidiAndZeroWidth(t *testing.T, all []string) {
	require.Len(t, all, 6)
	w := newWorld(t)
	w.renders(all[0], probeTag)
	w.renders(all[5], probeTag)

	for i, shown := range map[int]string{1: `docs/\u202etxt.a`, 2: `docs/a\u200b.txt`} {
		got := w.run(all[i])
		require.Zero(t, got.exit)
		require.Equal(t, `<!-- ERROR: <File> cannot read "`+shown+`": no such file -->`+"\n", got.stdout)
	}
	require.Zero(t, w.run(all[3]).exit)
	require.Equal(t, "approved\u2066 // \u2069text", w.files()["ws/docs/out.txt"])

	sent := w.run(plain(all[4]))
	require.Zero(t, sent.exit, sent.stderr)
	require.Equal(t, " \u2066\u202e nothing else happens \u2069\n", sent.stdout)
	require.Equal(t, []string{"GET http://api.example.test/one"}, w.web.seen())
	refused := w.run(all[4])
	require.Equal(t, 1, refused.exit)
	require.Contains(t, refused.stderr, `\u2066\u202e nothing`)
	require.Empty(t, hostileLines(refused.stderr))

	for _, candidate := range all {
		requireDiagnosed(t, w, candidate)
	}
}

// Control sequences are bytes like others in files and pipes, and written out in
// messages. A byte that is not UTF-8 makes a source no document.
func testAnsi(t *testing.T, all []string) {
	require.Len(t, all, 6)
	w := newWorld(t)
	for _, i := range []int{0, 2, 3, 5} {
		w.renders(all[i], probeTag)
	}
	require.Zero(t, w.run(all[1]).exit)
	require.Equal(t, "one\x1b[1A\x1b[2Ktwo", w.files()["ws/docs/out.txt"])

	got := w.run(all[4])
	require.Equal(t, 1, got.exit)
	require.Empty(t, got.stdout)
	require.Empty(t, hostileLines(got.stderr))
	require.Contains(t, got.stderr, `\u0008\u0008\u0008clear`)

	for _, candidate := range all {
		requireDiagnosed(t, w, candidate)
	}
}
