package audit

import (
	"bytes"
	"encoding/json"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/internal/journal"
	"github.com/executable-markdown/xmd/internal/value"
)

// nasty is what nobody may see as it is: a control sequence, a bell, an override of
// the direction, a line break, a tab, markup, an invisible character.
const nasty = "x\x1b[31m\a\u202egnp\n\t</td><script>alert(1)</script>\"'&\u200b{{.}}"

// reports has one of every kind, with names and texts that attack whoever reads it.
func reports(t *testing.T) map[string]Report {
	t.Helper()
	quoted, err := json.Marshal(nasty)
	require.NoError(t, err)
	profile := "version: 1\nname: " + string(quoted) + "\nroots: { " + string(quoted) + ": " + string(quoted) + ", b: . }\nread:\n  - use: File\n"
	s := state(t, nasty+".yaml", profile)
	p, err := s.Profile()
	require.NoError(t, err)

	f, m, err := InspectFragment(nasty+".md", `<Json value={"\u001b[31m\u202e</td><script>"} /><File path="a" />`, s, []capability.Class{capability.ReadClass})
	require.NoError(t, err)
	c, err := InspectModule(nasty+".wasm", m.Bytes)
	require.NoError(t, err)
	refused, _, err := InspectFragment(nasty+".md", "<Nope />", s, []capability.Class{capability.ReadClass})
	require.NoError(t, err)

	d, err := Compare(t.Context(), state(t, "a.yaml", observer), s)
	require.NoError(t, err)

	h := honest(t)
	h.ask(`<Elicit`, nasty, "y")
	h.events[2].Description.Set("input", asksPath(nasty))
	h.events[3].Result = journal.Result{Status: journal.StatusErr, Error: &journal.Failure{Message: nasty}}
	h.events[4].Description.Set(memberIdentity, nasty)
	h.events[7].Description.Set("digest", nasty)
	position, _ := h.events[8].Description.Get(journal.MemberPosition)
	position.(*value.Object).Set("generatedSource", nasty)
	h.events[10].Description.Set("type", nasty)
	h.yield(value.Of("type", typeDecision, "name", nasty), journal.Ok(nil))
	h.yield(value.Of("type", typeDecision, "name", decisionPrefix+nasty), journal.Ok(nil))
	j, err := InspectJournal(t.Context(), nasty+".jsonl", h.lines())
	require.NoError(t, err)
	return map[string]Report{"profile": p, "fragment": f, "module": c, "refused": refused, "diff": d, "journal": j}
}

// hidden matches what no format may hold as it is.
var hidden = regexp.MustCompile("[\\x00-\\x08\\x0b-\\x1f\\x7f\u202e\u200b]")

func TestNothingHiddenIsShown(t *testing.T) {
	for name, r := range reports(t) {
		for format, text := range everyFormat(t, r) {
			require.False(t, hidden.MatchString(text), "%s as %s", name, format)
			if format != "sarif" { // it holds the findings alone, and there may be none
				require.Contains(t, text, `\u202e`, "%s as %s", name, format)
			}
		}
		coloured := Text(r, true)
		require.Contains(t, coloured, "\x1b[1mFindings\x1b[0m")
		require.False(t, hidden.MatchString(regexp.MustCompile("\x1b\\[(1|31|33|0)m").ReplaceAllString(coloured, "")), name)
	}
}

// A line of what was read stays one line of text, so that it cannot pretend to be a
// finding or the end of the report.
func TestTextKeepsLines(t *testing.T) {
	for name, r := range reports(t) {
		for line := range strings.SplitSeq(Text(r, false), "\n") {
			require.False(t, strings.HasPrefix(line, "</td>"), name)
			require.NotContains(t, line, "\t")
		}
	}
}

func TestJSONKeepsTexts(t *testing.T) {
	for name, r := range reports(t) {
		text, err := JSON(r)
		require.NoError(t, err)
		v, err := value.Parse([]byte(text))
		require.NoError(t, err, name)
		o := v.(*value.Object)
		require.Equal(t, []string{"version", "kind"}, o.Keys()[:2])
		require.Equal(t, "findings", o.Keys()[o.Len()-1])
		if file, ok := o.String("file"); ok {
			require.True(t, strings.HasPrefix(file, nasty), name)
		}
	}
}

func TestSARIFIsValid(t *testing.T) {
	data, err := os.ReadFile("testdata/sarif-required.schema.json")
	require.NoError(t, err)
	definition, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	require.NoError(t, err)
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	require.NoError(t, compiler.AddResource("sarif.json", definition))
	schema, err := compiler.Compile("sarif.json")
	require.NoError(t, err)
	for name, r := range reports(t) {
		text, err := SARIF(r, "1.2.3")
		require.NoError(t, err)
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		require.NoError(t, err)
		require.NoError(t, schema.Validate(v), name)

		var log struct {
			Runs []struct {
				Tool struct {
					Driver struct{ Rules []struct{ ID string } }
				}
				Results []struct {
					RuleID    string
					RuleIndex int
					Locations []struct {
						PhysicalLocation struct{ ArtifactLocation struct{ URI string } }
					}
				}
			}
		}
		require.NoError(t, json.Unmarshal([]byte(text), &log))
		require.Len(t, log.Runs[0].Results, len(r.Found()))
		for i, result := range log.Runs[0].Results {
			require.Equal(t, result.RuleID, log.Runs[0].Tool.Driver.Rules[result.RuleIndex].ID)
			if file := r.Found()[i].Where.File; file != "" {
				u, err := url.Parse(result.Locations[0].PhysicalLocation.ArtifactLocation.URI)
				require.NoError(t, err)
				require.Equal(t, file, u.Path)
			}
		}
	}
}

func TestReferences(t *testing.T) {
	for file, want := range map[string]string{
		"a/b c.md": "a/b%20c.md",
		"/a/b":     "file:///a/b",
		"a#b?c%d":  "a%23b%3Fc%25d",
		"a:b/c":    "./a:b/c",
		"<stdin>":  "%3Cstdin%3E",
		"../up.md": "../up.md",
	} {
		require.Equal(t, want, reference(file))
	}
}

// Each rule is written once, says a sentence, and every finding is of one.
func TestRules(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range rules {
		require.False(t, seen[r.Code], r.Code)
		seen[r.Code] = true
		require.Regexp(t, `^[A-Z].*\.$`, r.Text)
		require.Contains(t, []Level{Error, Warning, Note}, r.Level)
	}
	source, err := os.ReadDir(".")
	require.NoError(t, err)
	used := map[string]bool{}
	for _, file := range source {
		if !strings.HasSuffix(file.Name(), ".go") || strings.HasSuffix(file.Name(), "_test.go") {
			continue
		}
		text, err := os.ReadFile(file.Name())
		require.NoError(t, err)
		for _, m := range regexp.MustCompile(`(?:add|finding|faulty|fault\{)\(?"([a-z-]+)"|code (?::?)= "([a-z-]+)"`).FindAllStringSubmatch(string(text), -1) {
			code := m[1] + m[2]
			require.True(t, seen[code], "%s uses the unknown rule %s", file.Name(), code)
			used[code] = true
		}
	}
	for code := range seen {
		require.True(t, used[code], "nothing is found of the rule %s", code)
	}
}

func TestWorst(t *testing.T) {
	require.Equal(t, Level(""), Worst(nil))
	require.Equal(t, Note, Worst([]Finding{{Level: Note}}))
	require.Equal(t, Warning, Worst([]Finding{{Level: Warning}, {Level: Note}}))
	require.Equal(t, Error, Worst([]Finding{{Level: Note}, {Level: Error}, {Level: Warning}}))
}

// TestHTMLNeedsNothing reads every page as a browser does: it loads nothing, runs
// nothing, and each table says what it is and what its columns are.
func TestHTMLNeedsNothing(t *testing.T) {
	allowed := []string{"html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "dl", "dt", "dd", "section", "ul", "li",
		"span", "table", "caption", "thead", "tbody", "tr", "th", "td"}
	for name, r := range reports(t) {
		text, err := HTML(r)
		require.NoError(t, err)
		root, err := html.Parse(strings.NewReader(text))
		require.NoError(t, err)
		policy, tables := "", 0
		for n := range root.Descendants() {
			if n.Type != html.ElementNode {
				continue
			}
			require.Contains(t, allowed, n.Data, name)
			attrs := map[string]string{}
			for _, a := range n.Attr {
				attrs[a.Key] = a.Val
				require.NotContains(t, []string{"src", "href", "style", "action", "srcset", "background"}, a.Key, name)
				require.False(t, strings.HasPrefix(a.Key, "on"), name)
			}
			switch n.Data {
			case "meta":
				if attrs["http-equiv"] == "Content-Security-Policy" {
					policy = attrs["content"]
				}
			case "table":
				tables++
				first := n.FirstChild
				for first.Type != html.ElementNode {
					first = first.NextSibling
				}
				require.Equal(t, "caption", first.Data, name)
			case "th":
				require.Contains(t, []string{"col", "row"}, attrs["scope"], name)
			case "html":
				require.Equal(t, "en", attrs["lang"])
			}
		}
		require.Equal(t, "default-src 'none'; style-src 'unsafe-inline'", policy)
		require.NotContains(t, text, "url(")
		require.NotContains(t, text, "@import")
		require.Contains(t, text, "prefers-color-scheme: dark")
		if name != "refused" {
			require.Positive(t, tables, name)
		}
	}
}

func TestTextTable(t *testing.T) {
	w := &textWriter{}
	w.table(table{caption: "T", headers: []string{"A", "Bee", "C"}, rows: [][]cell{
		{one("1"), {"x", "yy"}, one("end")},
		{one("日本"), nil, one("")},
		{one(strings.Repeat("w", widest+5)), one("b"), one("c")},
	}})
	lines := strings.Split(w.b.String(), "\n")
	require.Equal(t, []string{
		"", "T",
		"A" + strings.Repeat(" ", widest-1) + "  Bee  C",
		"1" + strings.Repeat(" ", widest-1) + "  x    end",
		strings.Repeat(" ", widest) + "  yy",
		"日本",
		strings.Repeat("w", widest+5) + "  b    c",
		"",
	}, lines)
	require.False(t, slices.ContainsFunc(lines, func(l string) bool { return strings.HasSuffix(l, " ") }))
}

func TestBrief(t *testing.T) {
	require.Equal(t, "short", brief("short"))
	long := brief(strings.Repeat("é", maxShown))
	require.LessOrEqual(t, len(long), maxShown+len("…"))
	require.True(t, strings.HasSuffix(long, "é…"))
}
