package capability

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/internal/value"
)

func TestSelect(t *testing.T) {
	both := capture(t, Profile{Read: []Entry{observe("Look")}, Write: []Entry{change("Put")}})
	only := capture(t, Profile{Read: []Entry{observe("Look")}})
	for _, test := range []struct {
		name  string
		from  *Captured
		allow []Class
		want  []Class
		err   string
	}{
		{"read", both, []Class{ReadClass}, []Class{ReadClass}, ""},
		{"write", both, []Class{WriteClass}, []Class{WriteClass}, ""},
		{"both", both, []Class{ReadClass, WriteClass}, []Class{ReadClass, WriteClass}, ""},
		{"both, the other way", both, []Class{WriteClass, ReadClass}, []Class{ReadClass, WriteClass}, ""},
		{"nothing", both, nil, nil, "no class is allowed"},
		{"unknown", both, []Class{"ask"}, nil, `"ask" is no class`},
		{"pure", both, []Class{"pure"}, nil, `"pure" is no class`},
		{"no name", both, []Class{""}, nil, `"" is no class`},
		{"repeated", both, []Class{ReadClass, WriteClass, ReadClass}, nil, "the class read is allowed twice"},
		{"unavailable", only, []Class{ReadClass, WriteClass}, nil, "the class write is allowed, and the profile of this run has no write entry"},
	} {
		t.Run(test.name, func(t *testing.T) {
			g, err := test.from.Select(test.allow...)
			if test.err != "" {
				require.ErrorContains(t, err, test.err)
				require.Nil(t, g)
				return
			}
			require.NoError(t, err)
			require.Equal(t, test.want, g.Allow())
		})
	}
}

func TestEntriesStandInTheOrderPureReadWrite(t *testing.T) {
	p := Profile{Dialect: Closed, Read: []Entry{observe("Zoom"), observe("Look")}, Write: []Entry{change("Put")}}
	names := func(g *Grant) []string {
		var list []string
		for _, e := range g.Entries() {
			list = append(list, e.Name)
		}
		return list
	}
	require.Equal(t, []string{"Json", "CodeBlock", "Fail", "Zoom", "Look", "Put"}, names(grant(t, p, WriteClass, ReadClass)))
	require.Equal(t, []string{"Json", "CodeBlock", "Fail", "Put"}, names(grant(t, p, WriteClass)))
	p.Dialect = Flat
	require.Equal(t, []string{"Zoom", "Look"}, names(grant(t, p, ReadClass)), "a flat profile has no pure table")
	g := grant(t, p, ReadClass)
	g.Entries()[0] = nil
	require.Equal(t, []string{"Zoom", "Look"}, names(g), "the slice belongs to the caller")
}

func TestANameIsNotAForm(t *testing.T) {
	reads, writes := observe("Page"), change("Page")
	writes.Identity.Key = "Page.write"
	either := observe("Either")
	either.Forms = SelfClosing | Paired
	g := grant(t, Profile{Read: []Entry{reads, either, observe("Look")}, Write: []Entry{writes}}, ReadClass, WriteClass)

	e, other := g.Lookup("Page", SelfClosing)
	require.Equal(t, "com.example/Page@1", e.Identity.String())
	require.Equal(t, "com.example/Page.write@1", other.Identity.String())
	e, other = g.Lookup("Page", Paired)
	require.Equal(t, "com.example/Page.write@1", e.Identity.String())
	require.Equal(t, "com.example/Page@1", other.Identity.String())

	e, other = g.Lookup("Look", Paired)
	require.Nil(t, e)
	require.Equal(t, "com.example/Look@1", other.Identity.String())
	e, other = g.Lookup("Either", Paired)
	require.NotNil(t, e)
	require.Same(t, e, other)
	for _, unknown := range []string{"", "page", "Page.", "Pag", "Json", "Let"} {
		e, other = g.Lookup(unknown, SelfClosing)
		require.Nil(t, e, unknown)
		require.Nil(t, other, unknown)
	}

	require.Equal(t, "Page", g.ByIdentity("com.example/Page@1").Name)
	require.Nil(t, g.ByIdentity("com.example/Page@2"))
	require.Nil(t, g.ByIdentity(""))
	read := grant(t, Profile{Read: []Entry{reads}, Write: []Entry{writes}}, ReadClass)
	e, other = read.Lookup("Page", Paired)
	require.Nil(t, e, "the other form is in a table that is not selected")
	require.NotNil(t, other)
	require.Nil(t, read.ByIdentity("com.example/Page.write@1"))
}

func TestFormsAreWrittenOut(t *testing.T) {
	require.Equal(t, "self-closing", SelfClosing.String())
	require.Equal(t, "paired", Paired.String())
	require.Equal(t, "self-closing or paired", (SelfClosing | Paired).String())
	require.Equal(t, "no form", Form(0).String())
}

func TestCheckJudgesWhatIsKnown(t *testing.T) {
	e := grant(t, Profile{Read: []Entry{observe("Look")}}, ReadClass).ByIdentity("com.example/Look@1")
	for _, test := range []struct {
		name     string
		props    *Object
		computed []string
		admitted bool
	}{
		{"all known", value.Of("key", "k"), nil, true},
		{"optional too", value.Of("key", "k", "deep", true), nil, true},
		{"missing", value.Of("deep", true), nil, false},
		{"nothing", nil, nil, false},
		{"unknown name", value.Of("key", "k", "other", "x"), nil, false},
		{"wrong type", value.Of("key", 1.0), nil, false},
		{"too short", value.Of("key", ""), nil, false},
		{"absent value", value.Of("key", value.Undefined{}), nil, false},
		{"required is computed", nil, []string{"key"}, true},
		{"optional is computed", value.Of("key", "k"), []string{"deep"}, true},
		{"everything is computed", nil, []string{"key", "deep"}, true},
		{"computed and missing", nil, []string{"deep"}, false},
		{"unknown name is computed", value.Of("key", "k"), []string{"other"}, false},
		{"unknown name beside computed", value.Of("other", "x"), []string{"key"}, false},
		{"wrong type beside computed", value.Of("deep", "yes"), []string{"key"}, false},
		{"too short beside computed", value.Of("key", ""), []string{"deep"}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			v := e.Check(Use{Form: SelfClosing, Props: test.props, Computed: test.computed})
			if test.admitted {
				require.Nil(t, v)
				return
			}
			require.NotNil(t, v)
			require.Equal(t, "props", v.Class)
			require.ErrorContains(t, v, "its props do not match what it takes")
		})
	}
	v := e.Check(Use{Props: value.Of("key", "")})
	require.Contains(t, v.Reason, "/key", "at run time the sentence says which prop")
}

// recorder is a rule that keeps what it was asked.
type recorder struct{ asked []Use }

func (r *recorder) check(_ *Granted, u Use) *Violation {
	r.asked = append(r.asked, u)
	return &Violation{Class: "request", Reason: "no"}
}
func (r *recorder) record(_ *Granted, c Call) Record { return Record{Type: "fetch", Input: c.Props} }

func TestARuleJudgesPropsTheSchemaAccepts(t *testing.T) {
	r := &recorder{}
	entry := observe("Look")
	entry.rule = r
	e := grant(t, Profile{Read: []Entry{entry}}, ReadClass).ByIdentity("com.example/Look@1")

	require.Equal(t, "props", e.Check(Use{Props: value.Of("key", 1.0)}).Class)
	require.Empty(t, r.asked, "the schema comes first")

	given := value.Of("key", "k")
	require.Equal(t, "request", e.Check(Use{Props: given}).Class)
	require.Equal(t, value.Of("key", "k", "deep", false), r.asked[0].Props, "defaults are filled in")
	require.Equal(t, value.Of("key", "k"), given, "and not into the caller's object")

	require.Equal(t, "request", e.Check(Use{Props: given, Computed: []string{"deep"}}).Class)
	require.Equal(t, value.Of("key", "k"), r.asked[1].Props, "no default stands for a computed prop")
	require.Equal(t, []string{"deep"}, r.asked[1].Computed)

	require.Equal(t, Record{Type: "fetch", Input: value.Of("key", "k", "deep", false)}, e.Record(Call{Props: given}))
}

func TestAnEntryOfAHostIsBoundBySchemaAlone(t *testing.T) {
	var got Call
	entry := observe("Look")
	entry.Op.Do = func(_ context.Context, c Call) (any, error) { got = c; return "seen", nil }
	e := grant(t, Profile{Read: []Entry{entry}}, ReadClass).ByIdentity("com.example/Look@1")
	given := value.Of("key", "k")
	v, err := e.Do(t.Context(), Call{Element: "Look", Form: SelfClosing, Props: given, Dir: "docs", Limit: 7})
	require.NoError(t, err)
	require.Equal(t, "seen", v)
	require.Equal(t, value.Of("key", "k", "deep", false), got.Props)
	require.Equal(t, "docs", got.Dir)
	require.Equal(t, 7, got.Limit)
	require.Equal(t, value.Of("key", "k"), given)
	require.Equal(t, Record{Type: "capability", Input: value.Of("key", "k", "deep", false)}, e.Record(Call{Props: given}))
	require.False(t, e.Moves())
}

func TestPureEntries(t *testing.T) {
	g := grant(t, Profile{Read: []Entry{observe("Look")}, Dialect: Closed}, ReadClass)
	for _, test := range []struct {
		identity string
		binds    bool
		good     []*Object
		bad      []*Object
	}{
		{"xmd.core/Json@1", false,
			[]*Object{value.Of("value", nil), value.Of("value", 1.0), value.Of("value", []any{value.Of("a", "b")})},
			[]*Object{nil, value.Of("value", "x", "indent", 2.0)}},
		{"xmd.core/CodeBlock@1", true,
			[]*Object{value.Of("value", ""), value.Of("value", "x", "language", "go"), value.Of("value", "x", "language", "c++")},
			[]*Object{nil, value.Of("value", 1.0), value.Of("value", "x", "language", ""), value.Of("value", "x", "language", "go exec"), value.Of("value", "x", "language", "go\n")}},
		{"xmd.core/Fail@1", false,
			[]*Object{value.Of("message", "no")},
			[]*Object{nil, value.Of("message", ""), value.Of("message", 1.0)}},
	} {
		t.Run(test.identity, func(t *testing.T) {
			e := g.ByIdentity(test.identity)
			require.NotNil(t, e)
			require.Equal(t, Pure, e.Effect)
			require.Equal(t, SelfClosing, e.Forms)
			require.Equal(t, test.binds, e.Binds())
			require.NotEmpty(t, e.Describe)
			require.NoError(t, e.CheckResult("text"))
			for _, props := range test.good {
				require.Nil(t, e.Check(Use{Props: props}))
			}
			for _, props := range test.bad {
				require.NotNil(t, e.Check(Use{Props: props}))
			}
			_, err := e.Do(t.Context(), Call{})
			require.ErrorContains(t, err, test.identity+" is computed by the evaluator")
		})
	}
}

func TestCheckResult(t *testing.T) {
	binds := observe("Binds")
	binds.Returns = `{"type":"object","properties":{"status":{"type":"integer"}},"required":["status"],"additionalProperties":false}`
	anything := observe("Anything")
	anything.Returns = `{}`
	silent := observe("Silent")
	silent.Returns = ""
	g := grant(t, Profile{Read: []Entry{binds, anything, silent}}, ReadClass)
	deep := any("x")
	for range value.MaxDepth + 2 {
		deep = []any{deep}
	}
	for _, test := range []struct {
		name  string
		entry string
		v     any
		err   string
	}{
		{"as declared", "Binds", value.Of("status", 200.0), ""},
		{"missing member", "Binds", value.Of(), "what its own schema refuses"},
		{"other kind", "Binds", "200", "what its own schema refuses"},
		{"nothing", "Binds", nil, "what its own schema refuses"},
		{"no JSON", "Binds", 200, "what is not JSON"},
		{"any JSON", "Anything", []any{nil, value.Of("a", true)}, ""},
		{"null", "Anything", nil, ""},
		{"a Go map", "Anything", map[string]any{}, "what is not JSON"},
		{"undefined", "Anything", value.Undefined{}, "what is not JSON"},
		{"not finite", "Anything", math.Inf(1), "what is not JSON"},
		{"too deep", "Anything", deep, "what is not JSON"},
		{"nothing declared, nothing returned", "Silent", nil, ""},
		{"nothing declared, undefined", "Silent", value.Undefined{}, ""},
		{"nothing declared, text to render", "Silent", "text", ""},
		{"nothing declared, a value", "Silent", value.Of("a", 1.0), "returned a value and declares none"},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := g.ByIdentity("com.example/" + test.entry + "@1").CheckResult(test.v)
			if test.err == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, test.err)
		})
	}
	require.True(t, g.ByIdentity("com.example/Anything@1").Binds())
	require.False(t, g.ByIdentity("com.example/Silent@1").Binds())
}

func TestTargetIsTheCleanedPathBelowTheCursor(t *testing.T) {
	place := change("Place")
	place.Props = `{"type":"object","properties":{"path":{"type":"string"}},"required":["path"],"additionalProperties":false}`
	place.Op.Enter = func(context.Context, Call) error { return nil }
	g := grant(t, Profile{Write: []Entry{place, change("Put")}}, WriteClass)
	e := g.ByIdentity("com.example/Place@1")
	require.True(t, e.Moves())
	require.False(t, g.ByIdentity("com.example/Put@1").Moves())
	for _, test := range []struct{ dir, path, want string }{
		{"", "a", "a"},
		{"a", "b/./c", "a/b/c"},
		{"a/b", "../c", "a/c"},
		{"a", "..", ""},
		{"a", "../..", "a"},
		{"a", "/etc", "a"},
	} {
		require.Equal(t, test.want, e.Target(test.dir, value.Of("path", test.path)), "%s in %s", test.path, test.dir)
	}
	require.Equal(t, "a", e.Target("a", value.Of()), "a path not known yet")
	require.Equal(t, "a", e.Target("a", nil))
}

func TestPolicyIsTheNormalFormOfWhatADecisionRestsOn(t *testing.T) {
	root := openRoot(t)
	file := FileRead(root)
	file.Paths = []string{"docs/**", "CHANGELOG.md"}
	p := Profile{
		Name:    "not part of a decision",
		Dialect: Closed,
		Read: []Entry{
			file,
			Fetch(deaf{},
				Request{Method: "head", URL: "HTTPS://Example.com:443/a/../b", Headers: map[string]string{"X-B": "2", "Accept": "1"}, Timeout: 1500 * time.Millisecond},
				Request{URL: "https://example.com/c"}),
		},
		Write:        []Entry{FileWrite(root)},
		Roots:        []Root{{"repo", true}, {"notes", true}},
		Selected:     "notes",
		Limits:       Limits{Output: 64 << 10, Time: 2500 * time.Microsecond},
		FetchTimeout: 30 * time.Second,
	}
	require.Equal(t, `{"allow":["read"],"dialect":"closed","roots":["repo","notes"],"selected":"notes","allowed":[`+
		`{"name":"Json","identity":"xmd.core/Json@1","forms":["self-closing"],"effect":"pure","ceiling":{}},`+
		`{"name":"CodeBlock","identity":"xmd.core/CodeBlock@1","forms":["self-closing"],"effect":"pure","ceiling":{}},`+
		`{"name":"Fail","identity":"xmd.core/Fail@1","forms":["self-closing"],"effect":"pure","ceiling":{}},`+
		`{"name":"File","identity":"xmd.core/File.read@1","forms":["self-closing"],"effect":"read","ceiling":{"paths":["docs/**","CHANGELOG.md"]}},`+
		`{"name":"Fetch","identity":"xmd.core/Fetch@1","forms":["self-closing"],"effect":"read","ceiling":{"requests":[`+
		`{"url":"https://example.com/b","method":"HEAD","headers":{"accept":"1","x-b":"2"},"timeout":1500},`+
		`{"url":"https://example.com/c","method":"GET","headers":{},"timeout":30000}]}}],`+
		`"limits":{"source":262144,"elements":1024,"depth":64,"steps":1000000,"values":8388608,"value":1048576,"output":65536,"time":2.5}}`,
		policyText(t, grant(t, p, ReadClass)))

	either := observe("Either")
	either.Forms = SelfClosing | Paired
	require.Equal(t, `{"allow":["read","write"],"dialect":"flat","roots":[],"allowed":[`+
		`{"name":"Either","identity":"com.example/Either@1","forms":["self-closing","paired"],"effect":"read","ceiling":{}},`+
		`{"name":"Put","identity":"com.example/Put@1","forms":["paired"],"effect":"write","ceiling":{}}],`+
		`"limits":{"source":262144,"elements":1024,"depth":64,"steps":1000000,"values":8388608,"value":1048576,"output":1048576,"time":10000}}`,
		policyText(t, grant(t, Profile{Read: []Entry{either}, Write: []Entry{change("Put")}, Roots: []Root{{Name: "repo"}}}, WriteClass, ReadClass)))
}

func TestPolicyBelongsToItsCaller(t *testing.T) {
	g := grant(t, Profile{Read: []Entry{Fetch(deaf{}, Request{URL: "https://example.com/"})}, Roots: []Root{{"repo", true}}}, ReadClass)
	before := policyText(t, g)
	var spoil func(v any)
	spoil = func(v any) {
		switch v := v.(type) {
		case []any:
			for i := range v {
				spoil(v[i])
				v[i] = "spoiled"
			}
		case *Object:
			for _, name := range v.Keys() {
				member, _ := v.Get(name)
				spoil(member)
				v.Set(name, "spoiled")
			}
		}
	}
	spoil(g.Policy())
	require.Equal(t, before, policyText(t, g))
}
