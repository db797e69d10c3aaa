package specs

import (
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/executable-markdown/xmd/internal/elicit"
	"github.com/executable-markdown/xmd/internal/engine"
	"github.com/executable-markdown/xmd/internal/host"
	"github.com/executable-markdown/xmd/internal/value"
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

// A reviewed text is a question as it is shown on a page: what is read, the text that
// comes back when the escapes that are told apart are undone, and what is said about
// it.
type reviewed struct{ shown, undone, said string }

// reviewOnPage asks on a page and reads it.
func reviewOnPage(t *testing.T, q engine.Question) (r reviewed) {
	t.Helper()
	asked := make(chan string, 1)
	web := elicit.NewWeb(host.NewSite, func(address string) { asked <- address })
	done := make(chan error, 1)
	go func() {
		_, err := web.Ask(t.Context(), q)
		done <- err
	}()
	response, err := http.Get(<-asked)
	require.NoError(t, err)
	defer response.Body.Close()
	page, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.Empty(t, hostileLines(string(page)))
	require.NotContains(t, string(page), " checked", "nothing is chosen")
	require.NoError(t, web.Close())
	require.Error(t, <-done)

	root, err := html.Parse(strings.NewReader(string(page)))
	require.NoError(t, err)
	for n := range root.Descendants() {
		if n.Type != html.TextNode {
			continue
		}
		in := map[string]bool{}
		for p := n.Parent; p != nil; p = p.Parent {
			in[p.Data] = true
		}
		switch {
		case in["pre"] && n.Parent.Data == "b":
			c, err := strconv.Unquote(`"` + n.Data + `"`)
			require.NoError(t, err)
			r.shown, r.undone = r.shown+n.Data, r.undone+c
		case in["pre"]:
			r.shown, r.undone = r.shown+n.Data, r.undone+n.Data
		case in["ul"]:
			r.said += n.Data
		}
	}
	return r
}

// reviewOnTerminal asks in lines and returns what was shown before the first field.
func reviewOnTerminal(t *testing.T, q engine.Question) string {
	t.Helper()
	var screen strings.Builder
	terminal := elicit.NewTerminal(strings.NewReader("\n\n"), &screen)
	terminal.Plain = true
	_, err := terminal.Ask(t.Context(), q)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF, "empty lines decide nothing")
	require.Empty(t, hostileLines(screen.String()))
	message, _, asked := strings.Cut(screen.String(), "\ndecision\n")
	require.True(t, asked)
	return message
}

var (
	bar  = regexp.MustCompile(`(?m)^ *[0-9]* *\| `)
	goOn = regexp.MustCompile(`\n *: `)
)

// TestAdversarialReview holds that a person who is asked about a candidate sees all of
// it on either surface: nothing hides, nothing passes for something else, and what is
// far away is announced.
func TestAdversarialReview(t *testing.T) {
	schema, err := value.Parse([]byte(`{"type":"object","required":["decision"],"properties":{"decision":{"type":"string","enum":["approve","abort"]}}}`))
	require.NoError(t, err)
	var texts []string
	for _, row := range []struct {
		name  string
		shown map[int]string // by the number of a candidate
		said  string
	}{
		{"10-over-limit-tail", nil, "Lines 5 to 63 say nothing new"},
		{"11-name-lookalikes", map[int]string{3: `<F\u0435tch url`, 4: `<Fetch\u200b url`, 7: `<\uff26etch url`}, ""},
		{"12-fence-closers", nil, ""},
		{"18-bidi-and-zero-width", map[int]string{1: `\u202etxt.s/etavirp-sw\u202c`, 3: `a\u200b.txt`, 6: `\U000e0020\U000e0041`}, ""},
		{"19-ansi-review-screen", map[int]string{1: `text\u001b[2K`, 3: `\u001b]8;;https`, 5: `\x9b2J`, 6: `\u009b31m`}, ""},
		{"22-approve-then-swap", map[int]string{1: "approved text", 2: "changed text"}, ""},
	} {
		for i, candidate := range candidates(t, "adversarial/"+row.name+".md") {
			t.Run(row.name+"/v"+strconv.Itoa(i+1), func(t *testing.T) {
				message := "A candidate:\n\n``````markdown\n" + candidate + "\n``````"
				q := engine.Question{Message: message, Schema: schema}
				page := reviewOnPage(t, q)
				require.Equal(t, message, page.undone, "what is shown is the text, to the byte")
				require.Contains(t, page.shown, row.shown[i+1])
				require.Contains(t, page.said, row.said)
				if strings.ContainsFunc(candidate, isHostile) {
					require.Contains(t, page.said, "would not be seen, or would rearrange what is")
				}
				screen := reviewOnTerminal(t, q)
				require.Contains(t, bar.ReplaceAllString(goOn.ReplaceAllString(screen, ""), ""), page.shown)
				require.Contains(t, strings.Join(strings.Fields(screen), " "), row.said)
				require.NotContains(t, texts, page.shown, "no two candidates look alike")
				texts = append(texts, page.shown)
			})
		}
	}
}
