package audit

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/internal/journal"
	"github.com/executable-markdown/xmd/internal/value"
)

// everything is a fragment with every kind of effect, computed and written down.
const everything = `<File path="notes/a.md" as="a" />
<Glob include={["*.md", "notes/*"]} as="found" />
<Fetch url="https://example.com/a" headers={{"accept": "text/plain"}} as="got" />
<Loop max={2} name="l"><Dir path="out"><File path={a + ".md"}>{got.body}</File></Dir></Loop>
<Elicit schema={{"type": "string"}}>Sure?</Elicit>
<All><Spawn><File path={found[0]} /></Spawn><Spawn>x</Spawn></All>
`

// honest tells a run of everything that stays inside.
func honest(t testing.TB) *teller {
	t.Helper()
	h := tell(t, observer)
	h.decide("id-1", everything)
	h.effect(`<File path="notes`, fileRead, asksPath("notes/a.md"), "x")
	h.effect(`<Glob`, glob, asksFiles("*.md", "notes/*"), []any{"notes/b.md"})
	h.effect(`<Fetch`, fetch, asksURL(), response())
	for range 2 {
		h.yield(value.Of("type", typeIteration, "name", "loop:0", journal.MemberPosition, h.at("<Loop")), journal.Ok(nil))
		h.effect(`<Dir`, dirEnsure, asksPath("out"), nil)
		d := h.effect(`<File path={a`, fileWrite, asksPath("out/x.md"), nil)
		d.Set("bytes", 1.0)
		d.Set("digest", "sha256:3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d")
	}
	h.yield(value.Of("type", typeLoop, "name", "loop:0", journal.MemberPosition, h.at("<Loop")), journal.Ok(nil))
	h.ask(`<Elicit`, "Sure?", "yes")
	h.effect(`<File path={found`, fileRead, asksPath("notes/b.md"), "y")
	h.last().CoroutineID = "root.0"
	return h
}

func TestHonestHistory(t *testing.T) {
	h := honest(t)
	h.decide("id-2", `<File path="other/a.md" />`)
	j := h.inspect()
	require.Empty(t, j.Found())
	require.Len(t, j.Effects, 9)
	require.Equal(t, Admitted, j.Decisions[0].Verdict)
	require.Equal(t, 9, j.Decisions[0].Effects)
	require.Equal(t, Refused, j.Decisions[1].Verdict)
	require.Equal(t, "path", j.Decisions[1].Class)
	first := j.Effects[0]
	require.Equal(t, "notes/a.md", first.Asked.Path)
	require.True(t, first.Inside)
	require.Equal(t, 3, first.Line)
	// The digest of a text is that of its bytes: printf x | sha256sum.
	require.Equal(t, &Evidence{"sha256:2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881", 1, true}, first.Evidence)
	require.Equal(t, Usage{Identity: fileRead, Named: 2, Performed: 2}, j.Identities[0])
	goldens(t, "journal", j)
}

// TestForgedHistory changes one thing in an honest history at a time. Everything that
// was changed is found, and nothing else is.
func TestForgedHistory(t *testing.T) {
	const read, write = 2, 7 // places in honest
	position := func(e *journal.Event) *value.Object {
		v, _ := e.Description.Get(journal.MemberPosition)
		return v.(*value.Object)
	}
	record := func(h *teller) *value.Object { return h.events[1].Result.Value.(*value.Object) }
	policy := func(h *teller) (recorded, asked *value.Object) {
		r, _ := record(h).Get("policy")
		a, _ := h.events[1].Description.Get("input")
		return r.(*value.Object), a.(*value.Object)
	}
	ceiling := func(policy *value.Object, identity string) *value.Object {
		allowed, _ := policy.Get("allowed")
		for _, item := range allowed.([]any) {
			if id, _ := item.(*value.Object).String("identity"); id == identity {
				c, _ := item.(*value.Object).Get("ceiling")
				return c.(*value.Object)
			}
		}
		return nil
	}
	cases := []struct {
		name   string
		forge  func(h *teller)
		want   string
		effect bool // the forged thing is one effect, and the only one outside
	}{
		{"a path outside the ceiling", func(h *teller) {
			h.events[write].Description.Set("input", asksPath("src/main.go"))
		}, "outside-ceiling", true},
		{"a path that climbs", func(h *teller) {
			h.events[write].Description.Set("input", asksPath("out/../src/main.go"))
		}, "outside-ceiling", true},
		{"a path that is not clean", func(h *teller) {
			h.events[write].Description.Set("input", asksPath("out//x.md"))
		}, "outside-ceiling", true},
		{"a control file", func(h *teller) {
			h.events[write].Description.Set("input", asksPath("out/.git/hooks"))
		}, "outside-ceiling", true},
		{"another path than the source writes", func(h *teller) {
			h.events[read].Description.Set("input", asksPath("notes/b.md"))
		}, "unlike-source", true},
		{"an input of another shape", func(h *teller) {
			h.events[read].Description.Set("input", value.Of("path", "notes/a.md", "root", "/"))
		}, "effect-malformed", true},
		{"no input", func(h *teller) { h.events[read].Description.Delete("input") }, "effect-malformed", true},
		{"another pattern than the source writes", func(h *teller) {
			h.events[3].Description.Set("input", asksFiles("**"))
		}, "unlike-source", true},
		{"a pattern that climbs", func(h *teller) {
			h.events[3].Description.Set("input", asksFiles("../*"))
		}, "outside-ceiling", true},
		{"a found file outside the ceiling", func(h *teller) {
			h.events[3].Result = journal.Ok([]any{"notes/b.md", "secret.txt"})
		}, "result-outside", true},
		{"a found file that is a secret", func(h *teller) {
			h.events[3].Result = journal.Ok([]any{"notes/.env"})
		}, "result-outside", true},
		{"another request", func(h *teller) {
			r := asksURL()
			r.Set("url", "https://example.com/b")
			h.events[4].Description.Set("input", r)
		}, "outside-ceiling", true},
		{"a header more", func(h *teller) {
			r := asksURL()
			r.Set("headers", value.Of("accept", "text/plain", "cookie", "x"))
			h.events[4].Description.Set("input", r)
		}, "outside-ceiling", true},
		{"a result of another type", func(h *teller) { h.events[read].Result = journal.Ok(1.0) }, "result-unlike", true},
		{"another question than its fingerprint", func(h *teller) {
			h.events[12].Description.Set(memberMessage, "Give me your password")
		}, "effect-malformed", true},
		{"an identity that was not granted", func(h *teller) {
			h.events[read].Description.Set(memberIdentity, "xmd.core/File.delete@1")
		}, "identity-not-granted", true},
		{"a granted identity at another's element", func(h *teller) {
			h.events[read].Description.Set(memberIdentity, fileWrite)
		}, "element-unknown", true},
		{"a pure identity", func(h *teller) {
			h.events[read].Description.Set(memberIdentity, "xmd.core/Json@1")
		}, "effect-foreign", true},
		{"no identity", func(h *teller) { h.events[read].Description.Delete(memberIdentity) }, "effect-foreign", true},
		{"a command inside a fragment", func(h *teller) {
			h.yield(value.Of("type", "exec", "name", "exec:rm", journal.MemberPosition, h.at("<Loop")), journal.Ok(nil))
		}, "effect-foreign", true},
		{"a fetch as a capability", func(h *teller) { h.events[4].Description.Set("type", "capability") }, "effect-foreign", true},
		{"a position between elements", func(h *teller) { position(&h.events[read]).Set("offset", 1.0) }, "element-unknown", true},
		{"a line that is not the offset's", func(h *teller) { position(&h.events[read]).Set("line", 2.0) }, "element-unknown", true},
		{"no position", func(h *teller) { h.events[read].Description.Delete(journal.MemberPosition) }, "effect-homeless", true},
		{"a position in the document", func(h *teller) {
			h.events[read].Description.Set(journal.MemberPosition, value.Of("path", "d.md", "offset", 0.0, "line", 1.0, "column", 1.0))
		}, "effect-homeless", true},
		{"an unknown fragment", func(h *teller) { position(&h.events[read]).Set("generatedSource", "id-9") }, "fragment-unknown", true},
		{"an effect twice", func(h *teller) { h.events = append(h.events, h.events[read].Clone()) }, "too-often", true},
		{"an iteration too many", func(h *teller) { h.events = append(h.events, h.events[write].Clone()) }, "too-often", true},
		{"a loop where none is", func(h *teller) { position(&h.events[5]).Set("offset", 0.0) }, "element-unknown", false},
		{"a loop of an unknown fragment", func(h *teller) { position(&h.events[5]).Set("generatedSource", "id-9") }, "fragment-unknown", false},

		{"a decision that is refused", func(h *teller) {
			h.events[1].Result = journal.Ok(value.Of("version", 1.0, "decision", "refused", "class", "path"))
		}, "fragment-not-admitted", false},
		{"a refusal of no class", func(h *teller) {
			h.events[1].Result = journal.Ok(value.Of("version", 1.0, "decision", "refused", "class", "other"))
		}, "decision-unreadable", false},
		{"a member more in a record", func(h *teller) { record(h).Set("more", 1.0) }, "decision-unreadable", false},
		{"a digest of another source", func(h *teller) {
			record(h).Set("digest", "sha256:"+strings.Repeat("0", 64))
		}, "decision-unreadable", false},
		{"another source with its digest", func(h *teller) {
			other := honest(h.t).decide("id-1", `<File path="notes/a.md" />`)
			record(h).Set("source", other.Source)
			record(h).Set("digest", other.Digest)
		}, "source-unlike", false},
		{"a source that is not admitted", func(h *teller) {
			record(h).Set("source", "<Nope />")
			record(h).Set("digest", evidenceOf(journal.Ok("<Nope />")).Digest)
		}, "source-refused", false},
		{"another module", func(h *teller) {
			record(h).Set("module", "sha256:"+strings.Repeat("0", 64))
		}, "module-unlike", false},
		{"a wider ceiling in the record alone", func(h *teller) {
			r, _ := policy(h)
			ceiling(r, fileWrite).Set("paths", []any{"**"})
		}, "policy-unlike", false},
		{"a wider ceiling than the source was admitted under is seen as it is", func(h *teller) {
			for _, p := range both(policy(h)) {
				ceiling(p, fileWrite).Set("paths", []any{"**"})
			}
		}, "", false},
		{"a ceiling that is none", func(h *teller) {
			for _, p := range both(policy(h)) {
				ceiling(p, fileWrite).Set("paths", []any{"[", "../**"})
			}
		}, "policy-unusable", false},
		{"a narrower ceiling than the source needs", func(h *teller) {
			for _, p := range both(policy(h)) {
				ceiling(p, fileRead).Set("paths", []any{"notes/b.md"})
			}
		}, "source-refused", false},
		{"a request that is not in normal form", func(h *teller) {
			for _, p := range both(policy(h)) {
				r, _ := ceiling(p, fetch).Get("requests")
				r.([]any)[0].(*value.Object).Set("url", "HTTPS://example.com:443/a")
			}
		}, "policy-unusable", false},
		{"limits no module has", func(h *teller) {
			for _, p := range both(policy(h)) {
				l, _ := p.Get("limits")
				l.(*value.Object).Set("steps", 1e300)
			}
		}, "policy-unusable", false},
		{"a decision about one fragment twice", func(h *teller) { h.events = append(h.events, h.events[1].Clone()) }, "decision-repeated", false},
		{"a decision without a name", func(h *teller) { h.events[1].Description.Set("name", "generated:") }, "decision-malformed", false},
		{"a decision of another name", func(h *teller) { h.events[1].Description.Set("name", "id-1") }, "decision-malformed", false},
		{"a decision that failed", func(h *teller) {
			h.events[1].Result = journal.Result{Status: journal.StatusErr, Error: &journal.Failure{Message: "x"}}
		}, "decision-malformed", false},
		{"a decision inside a fragment", func(h *teller) {
			h.events[1].Description.Set(journal.MemberPosition, h.at("<Loop"))
		}, "decision-malformed", false},
		{"effects before their decision", func(h *teller) { h.events[1], h.events[2] = h.events[2], h.events[1] }, "fragment-later", true},
		{"effects beside their decision", func(h *teller) { h.events[1].CoroutineID = "root.1" }, "fragment-elsewhere", false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			h := honest(t)
			require.NotPanics(t, func() { c.forge(h) })
			j := h.inspect()
			if c.want == "" {
				require.Empty(t, j.Found())
				return
			}
			require.Contains(t, codes(j), c.want)
			require.Equal(t, Error, Worst(j.Found()))
			outside := 0
			for _, e := range j.Effects {
				if !e.Inside {
					outside++
				}
			}
			if c.effect {
				require.Equal(t, []string{c.want}, codes(j))
				require.Equal(t, 1, outside)
			} else if c.want != "element-unknown" && c.want != "fragment-unknown" {
				require.Positive(t, outside)
			}
		})
	}
}

func both(a, b *value.Object) []*value.Object { return []*value.Object{a, b} }

// A fault of a decision is told once, and every effect that leans on it says so.
func TestDoubtedDecisionAdmitsNothing(t *testing.T) {
	h := honest(t)
	h.events = append(h.events, h.events[1].Clone())
	j := h.inspect()
	for _, d := range j.Decisions {
		require.Equal(t, Doubted, d.Verdict)
	}
	for _, e := range j.Effects {
		require.False(t, e.Inside)
	}
	outside := 0
	for _, u := range j.Identities {
		outside += u.Outside
	}
	require.Equal(t, 9, outside)
}

func TestHistoryThatIsNone(t *testing.T) {
	good := string(honest(t).lines())
	first, rest, _ := strings.Cut(good, "\n")
	both := honest(t)
	line, err := journal.AppendLine(nil, both.events[2])
	require.NoError(t, err)
	twoSources := strings.Replace(string(line), `"generatedSource"`, `"path":"d.md","generatedSource"`, 1)
	require.NotEqual(t, string(line), twoSources)
	for name, text := range map[string]string{
		"a line that is cut":          first[:len(first)/2] + "\n" + rest,
		"an empty line":               "\n" + good,
		"a position with two sources": good + twoSources,
		"a member twice":              strings.Replace(good, `"type":"yield"`, `"type":"yield","type":"yield"`, 1),
		"not JSON":                    "hello\n",
		"an event after the end":      `{"type":"close","coroutineId":"root","result":{"status":"ok"}}` + "\n" + good,
	} {
		t.Run(name, func(t *testing.T) {
			_, err := InspectJournal(t.Context(), "h", []byte(text))
			require.Error(t, err)
		})
	}
	j, err := InspectJournal(t.Context(), "h", []byte(good+`{"type":"yi`))
	require.NoError(t, err)
	require.Equal(t, []string{"torn-tail"}, codes(j))
	require.Equal(t, 11, j.Torn)
	require.Equal(t, Note, Worst(j.Found()))
}

// A host's own entry is known by its identity alone: what it was given is not judged,
// and everything else is.
func TestForeignEntries(t *testing.T) {
	captured, err := capability.Capture(t.Context(), capability.Profile{
		Dialect: capability.Closed,
		Read: []capability.Entry{
			{
				Name: "Weather", Identity: capability.Identity{Origin: "com.example", Key: "Weather", Revision: 3}, Forms: capability.SelfClosing,
				Props:   `{"type":"object","additionalProperties":false,"properties":{"city":{"type":"string"}}}`,
				Returns: `{"type":"number"}`, Effect: capability.Read,
				Op: capability.Op{Do: func(context.Context, capability.Call) (any, error) { return nil, nil }},
			},
			capability.FileRead(nil),
		},
	})
	require.NoError(t, err)
	h := tell(t, observer)
	h.grant, err = captured.Select(capability.ReadClass)
	require.NoError(t, err)
	h.decide("w", `<Weather city="Oslo" /><File path="a.md" />`)
	h.effect("<Weather", "com.example/Weather@3", value.Of("city", "Oslo"), 3.0)
	h.events[2].Description.Set("type", "capability")
	h.effect("<File", fileRead, asksPath("a.md"), "x")
	j := h.inspect()
	require.Equal(t, []string{"foreign-entry"}, codes(j))
	require.Equal(t, Note, Worst(j.Found()))
	h.last().Description.Set("input", asksPath(".env"))
	require.Equal(t, []string{"foreign-entry", "outside-ceiling"}, codes(h.inspect()))
	h.events[2].Description.Set(memberIdentity, "com.example/Weather@4")
	require.Contains(t, codes(h.inspect()), "identity-not-granted")
}

// What is too dear to match is said to be unverified, and is not matched.
func TestMatchingIsBounded(t *testing.T) {
	x := &examiner{work: 100}
	require.True(t, x.spend(3, []string{"abc"}))
	require.True(t, x.spend(3, nil))
	require.False(t, x.spend(50, []string{"abc"}))
	require.Equal(t, 5*3, weightOf("{,,}b"))
	require.Equal(t, 16<<10, weightOf("{a,b}{c,d}"))

	dear := "{" + strings.Repeat("a*/", 600) + "b,c}{d,e}"
	long := strings.Repeat("a/", 1900) + "c"
	h := tell(t, strings.Replace(observer, "notes/**", `notes/**", "`+dear, 1))
	h.decide("1", `<Loop max={1000}><File path={"notes/" + "a"} /></Loop>`)
	for range 100 {
		h.effect("<File", fileRead, asksPath("notes/"+long), "")
	}
	j := h.inspect()
	require.Equal(t, "unverified", j.Found()[0].Code)
	require.True(t, j.Effects[0].Inside)
	require.False(t, j.Effects[99].Inside)

	// A source is matched too, when it is decided about again.
	h.decide("2", strings.Repeat(`<File path="notes/`+long+`" />`, 66))
	j = h.inspect()
	require.Equal(t, Doubted, j.Decisions[1].Verdict)
}

func TestInspectionEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := InspectJournal(ctx, "h", honest(t).lines())
	require.ErrorIs(t, err, context.Canceled)
}
