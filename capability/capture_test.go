package capability

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/internal/value"
)

// observe is an entry of a host: it reads, by its schema alone.
func observe(name string) Entry {
	return Entry{
		Name:     name,
		Identity: Identity{"com.example", name, 1},
		Forms:    SelfClosing,
		Props:    `{"type":"object","properties":{"key":{"type":"string","minLength":1},"deep":{"type":"boolean","default":false}},"required":["key"],"additionalProperties":false}`,
		Returns:  `{"type":"string"}`,
		Effect:   Read,
		Op:       Op{Do: func(context.Context, Call) (any, error) { return "seen", nil }},
	}
}

// change is an entry of a host that writes around content.
func change(name string) Entry {
	e := observe(name)
	e.Forms, e.Effect, e.Returns = Paired, Write, ""
	return e
}

func openRoot(t *testing.T) *os.Root {
	t.Helper()
	root, err := os.OpenRoot(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, root.Close()) })
	return root
}

// deaf is a client that must not be asked.
type deaf struct{}

func (deaf) Do(context.Context, Normal, int) (Response, error) {
	return Response{}, errors.New("nobody may ask")
}

func capture(t *testing.T, p Profile) *Captured {
	t.Helper()
	c, err := Capture(t.Context(), p)
	require.NoError(t, err)
	return c
}

func grant(t *testing.T, p Profile, allow ...Class) *Grant {
	t.Helper()
	g, err := capture(t, p).Select(allow...)
	require.NoError(t, err)
	return g
}

func policyText(t *testing.T, g *Grant) string {
	t.Helper()
	text, err := value.JSON(g.Policy())
	require.NoError(t, err)
	return text
}

func TestCaptureRefusesWhatNoFragmentCouldBeJudgedBy(t *testing.T) {
	root := openRoot(t)
	one := func(edit func(e *Entry)) Profile {
		e := observe("Look")
		edit(&e)
		return Profile{Name: "p", Read: []Entry{e}}
	}
	written := func(edit func(e *Entry)) Profile {
		e := change("Put")
		edit(&e)
		return Profile{Name: "p", Write: []Entry{e}}
	}
	whole := func(edit func(p *Profile)) Profile {
		p := Profile{Name: "p", Read: []Entry{observe("Look")}}
		edit(&p)
		return p
	}
	tests := []struct {
		name    string
		profile Profile
		want    string // all of the message after the profile's name
	}{
		{"no entry", Profile{Name: "p"}, "it has no entry; state what"},
		{"dialect", whole(func(p *Profile) { p.Dialect = "open" }), `"open" is no dialect; state flat or closed`},
		{"negative limit", whole(func(p *Profile) { p.Limits.Values = -1 }), "its limit values is -1"},
		{"huge limit", whole(func(p *Profile) { p.Limits.Steps = 1 << 31 }), "its limit steps is 2147483648"},
		{"negative time", whole(func(p *Profile) { p.Limits.Time = -time.Second }), "its limit time is -1s"},
		{"negative timeout", whole(func(p *Profile) { p.FetchTimeout = -time.Second }), "its limit of a request is -1s"},
		{"root without a name", whole(func(p *Profile) { p.Roots = []Root{{}} }), "a root has no name"},
		{"root twice", whole(func(p *Profile) { p.Roots = []Root{{Name: "a"}, {Name: "a"}} }), `two roots called "a"`},
		{"mixed roots", whole(func(p *Profile) { p.Roots = []Root{{"a", true}, {"b", false}} }), "retain all of them or none"},
		{"selected", whole(func(p *Profile) { p.Selected = "b"; p.Roots = []Root{{Name: "a"}} }), `it selects "b"`},
		{"selected nothing", whole(func(p *Profile) { p.Selected = "b" }), `it selects "b"`},

		{"no name", one(func(e *Entry) { e.Name = "" }), "read entry 1, <>: its name is no component name"},
		{"lower-case name", one(func(e *Entry) { e.Name = "look" }), "read entry 1, <look>: its name is no component name"},
		{"name with a hyphen", one(func(e *Entry) { e.Name = "A-b" }), "its name is no component name"},
		{"name with another alphabet", one(func(e *Entry) { e.Name = "L\u043eok" }), "its name is no component name"},
		{"structural name", one(func(e *Entry) { e.Name = "Each" }), "read entry 1, <Each>: its name is a construct"},
		{"pure name, flat", one(func(e *Entry) { e.Name = "Json" }), "its name belongs to a pure component"},
		{"pure name, closed", func() Profile {
			p := one(func(e *Entry) { e.Name = "Fail" })
			p.Dialect = Closed
			return p
		}(), "its name belongs to a pure component"},
		{"protected Syntax", one(func(e *Entry) { e.Name = "Syntax" }), "its name is protected"},
		{"protected Evaluate", one(func(e *Entry) { e.Name = "Evaluate" }), "its name is protected"},
		{"no form", one(func(e *Entry) { e.Forms = 0 }), "it has no form"},
		{"unknown form", one(func(e *Entry) { e.Forms = SelfClosing | 4 }), "it has no form"},
		{"no operation", one(func(e *Entry) { e.Op = Op{} }), "it has no operation"},
		{"place without paired form", written(func(e *Entry) {
			e.Forms = SelfClosing
			e.Op.Enter = func(context.Context, Call) error { return nil }
		}), "write entry 1, <Put>: it has Op.Enter"},
		{"place without a path", written(func(e *Entry) {
			e.Op.Enter = func(context.Context, Call) error { return nil }
		}), "it has Op.Enter and no prop path"},
		{"no origin", one(func(e *Entry) { e.Identity.Origin = "" }), "its identity has no origin"},
		{"no key", one(func(e *Entry) { e.Identity.Key = "" }), "its identity has no key"},
		{"no revision", one(func(e *Entry) { e.Identity.Revision = 0 }), "its identity has no revision"},
		{"negative revision", one(func(e *Entry) { e.Identity.Revision = -1 }), "the revision -1"},
		{"spelled origin", one(func(e *Entry) { e.Identity.Origin = "xmd:text" }), `the origin "xmd:text"`},
		{"spelled key", one(func(e *Entry) { e.Identity.Key = "Look/2" }), `the key "Look/2"`},
		{"write in read", one(func(e *Entry) { e.Effect = Write }), `read entry 1, <Look>: its effect is "write"`},
		{"ask in read", one(func(e *Entry) { e.Effect = Asks }), `its effect is "ask"`},
		{"pure in read", one(func(e *Entry) { e.Effect = Pure }), `its effect is "pure"`},
		{"pure in write", written(func(e *Entry) { e.Effect = Pure }), `write entry 1, <Put>: its effect is "pure"`},
		{"read in write", written(func(e *Entry) { e.Effect = Read }), `its effect is "read"`},
		{"no effect", one(func(e *Entry) { e.Effect = "" }), `its effect is ""`},

		{"same form twice", whole(func(p *Profile) {
			p.Read = append(p.Read, observe("Look"))
			p.Read[1].Identity.Key = "Other"
		}), "read entry 2, <Look>: its self-closing form is that of read entry 1, <Look>; keep one"},
		{"same form in both tables", whole(func(p *Profile) {
			p.Write = []Entry{change("Look")}
			p.Write[0].Forms, p.Write[0].Identity.Key = SelfClosing|Paired, "Other"
		}), "write entry 1, <Look>: its self-closing form is that of read entry 1, <Look>"},
		{"same identity", whole(func(p *Profile) {
			p.Read = append(p.Read, observe("Peek"))
			p.Read[1].Identity.Key = "Look"
		}), "read entry 2, <Peek>: its identity com.example/Look@1 is that of read entry 1, <Look>"},
		{"identity of a pure entry", whole(func(p *Profile) {
			p.Dialect, p.Read[0].Identity = Closed, Identity{core, "Json", 1}
		}), "its identity xmd.core/Json@1 is that of pure table"},

		{"no props", one(func(e *Entry) { e.Props = "" }), "its Props cannot be read"},
		{"props no schema", one(func(e *Entry) { e.Props = `[]` }), "its Props are not closed"},
		{"props of no object", one(func(e *Entry) { e.Props = `{"type":"string","additionalProperties":false}` }), "its Props are not closed"},
		{"open props", one(func(e *Entry) { e.Props = `{"type":"object"}` }), "its Props are not closed"},
		{"half open props", one(func(e *Entry) { e.Props = `{"type":"object","additionalProperties":{"type":"string"}}` }), "its Props are not closed"},
		{"patterned props", one(func(e *Entry) {
			e.Props = `{"type":"object","patternProperties":{"^x":{"type":"string"}},"additionalProperties":false}`
		}), "its Props are not closed"},
		{"props declare as", one(func(e *Entry) {
			e.Props = `{"type":"object","properties":{"as":{"type":"string"}},"additionalProperties":false}`
		}), `no property may be called "as"`},
		{"props declare slot", one(func(e *Entry) {
			e.Props = `{"type":"object","properties":{"slot":{"type":"string"}},"additionalProperties":false}`
		}), `no property may be called "slot"`},
		{"props keyword", one(func(e *Entry) {
			e.Props = `{"type":"object","additionalProperties":false,"minimun":1}`
		}), "its Props cannot be used"},
		{"props member twice", one(func(e *Entry) { e.Props = `{"type":"object","type":"object","additionalProperties":false}` }), "its Props cannot be read"},
		{"props load a file", one(func(e *Entry) {
			e.Props = `{"type":"object","properties":{"key":{"$ref":"file:///etc/passwd"}},"additionalProperties":false}`
		}), "its Props cannot be used"},
		{"returns no JSON", one(func(e *Entry) { e.Returns = "string" }), "its Returns cannot be read"},
		{"returns no schema", one(func(e *Entry) { e.Returns = `{"type":"text"}` }), "its Returns cannot be used"},

		{"paths nobody keeps", one(func(e *Entry) { e.Paths = []string{"docs/**"} }), "it states Paths, which only"},
		{"requests nobody keeps", one(func(e *Entry) { e.Requests = []Request{{URL: "https://example.com/"}} }), "it states Requests, which only Fetch"},
		{"no paths", whole(func(p *Profile) {
			p.Read[0] = FileRead(root)
			p.Read[0].Paths = []string{}
		}), "read entry 1, <File>: its Paths are an empty list"},
		{"bad path", whole(func(p *Profile) {
			p.Read[0] = FileRead(root)
			p.Read[0].Paths = []string{"docs/**", "../x"}
		}), "read entry 1, <File>: its Paths cannot be used"},
		{"paths of a question", whole(func(p *Profile) {
			p.Write = []Entry{Ask(nil)}
			p.Write[0].Paths = []string{"docs/**"}
		}), "write entry 1, <Elicit>: it states Paths"},
		{"no requests", whole(func(p *Profile) { p.Read[0] = Fetch(deaf{}) }), "read entry 1, <Fetch>: it states no request"},
		{"bad request", whole(func(p *Profile) {
			p.Read[0] = Fetch(deaf{}, Request{URL: "https://example.com/"}, Request{URL: "file:///etc/passwd"})
		}), "read entry 1, <Fetch>: its request 2 cannot be used"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c, err := Capture(t.Context(), test.profile)
			require.Nil(t, c)
			var bad *ProfileError
			require.ErrorAs(t, err, &bad)
			require.Equal(t, "p", bad.Profile)
			require.ErrorContains(t, err, `the profile "p" cannot be used: `)
			require.ErrorContains(t, err, test.want)
		})
	}
}

func TestCaptureOfAnEndedContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Capture(ctx, Profile{Read: []Entry{observe("Look")}})
	require.ErrorIs(t, err, context.Canceled)
}

func TestCaptureFillsInDefaults(t *testing.T) {
	g := grant(t, Profile{Read: []Entry{observe("Look")}, Limits: Limits{Depth: 3, Time: time.Second}}, ReadClass)
	require.Equal(t, Flat, g.Dialect(), "the narrower dialect, where none is stated")
	require.Equal(t, Limits{
		Source: 256 << 10, Elements: 1024, Depth: 3, Steps: 1_000_000,
		Values: 8 << 20, Value: 1 << 20, Output: 1 << 20, Time: time.Second,
	}, g.Limits())
	require.Equal(t, 10*time.Second, grant(t, Profile{Read: []Entry{observe("Look")}}, ReadClass).Limits().Time)
}

// TestA7_ACapturedProfileIsAValue changes everything a host can reach after the
// capture, and asks whether any decision or behaviour changed.
func TestA7_ACapturedProfileIsAValue(t *testing.T) {
	root := openRoot(t)
	for path, text := range map[string]string{"docs/a.md": "a", "other.md": "secret"} {
		require.NoError(t, root.MkdirAll("docs", 0o755))
		require.NoError(t, root.WriteFile(path, []byte(text), 0o644))
	}
	headers := map[string]string{"accept": "text/plain"}
	requests := []Request{{URL: "https://example.com/a", Headers: headers}}
	paths := []string{"docs/**"}
	read := []Entry{FileRead(root), Fetch(deaf{}, requests...), observe("Look")}
	read[0].Paths = paths
	write := []Entry{FileWrite(root)}
	roots := []Root{{"repo", true}, {"more", true}}
	control := Control{Files: []string{"profile.yaml"}, Dirs: []string{"parts"}, Names: []string{"Card"}}
	p := Profile{Name: "p", Read: read, Write: write, Roots: roots, Dialect: Closed, Control: control}

	c := capture(t, p)
	g, err := c.Select(ReadClass, WriteClass)
	require.NoError(t, err)
	file, write0 := g.ByIdentity("xmd.core/File.read@1"), g.ByIdentity("xmd.core/File.write@1")
	fetch, look := g.ByIdentity("xmd.core/Fetch@1"), g.ByIdentity("com.example/Look@1")
	use := func(pairs ...any) Use { return Use{Props: value.Of(pairs...), DirKnown: true} }
	decisions := func(g *Grant) map[string]any {
		text, err := file.Do(t.Context(), Call{Element: "File", Form: SelfClosing, Props: value.Of("path", "docs/a.md"), Limit: 100})
		require.NoError(t, err)
		seen, err := look.Do(t.Context(), Call{Props: value.Of("key", "k")})
		require.NoError(t, err)
		return map[string]any{
			"policy":  policyText(t, g),
			"inside":  file.Check(use("path", "docs/a.md")) == nil,
			"outside": file.Check(use("path", "other.md")) == nil,
			"profile": write0.Check(use("path", "profile.yaml")) == nil,
			"parts":   write0.Check(use("path", "parts/x.md")) == nil,
			"card":    write0.Check(use("path", "Card.md")) == nil,
			"stated":  fetch.Check(use("url", "https://example.com/a", "headers", value.Of("accept", "text/plain"))) == nil,
			"bare":    fetch.Check(use("url", "https://example.com/a")) == nil,
			"props":   look.Check(use("key", "k")) == nil,
			"surplus": look.Check(use("key", "k", "more", true)) == nil,
			"text":    text,
			"seen":    seen,
			"entry":   look.Describe,
			"paths":   strings.Join(file.Paths, " "),
			"headers": fetch.Requests[0].Headers["accept"],
			"limits":  g.Limits(),
		}
	}
	before := decisions(g)
	require.Equal(t, true, before["inside"])
	require.Equal(t, true, before["stated"])
	for _, refused := range []string{"outside", "profile", "parts", "card", "bare", "surplus"} {
		require.Equal(t, false, before[refused], refused)
	}

	headers["accept"], headers["authorization"] = "*/*", "all"
	requests[0] = Request{URL: "https://example.com/b"}
	paths[0] = "**"
	roots[0].Name, roots[1].Retained = "other", false
	control.Files[0], control.Dirs[0], control.Names[0] = "x", "y", "Z"
	for i := range read {
		if read[i].Requests != nil {
			read[i].Requests[0] = Request{URL: "https://example.com/b"}
		}
		read[i] = Entry{Name: "Other", Describe: "changed"}
	}
	write[0] = Entry{}

	require.Equal(t, before, decisions(g), "the grant taken before")
	again, err := c.Select(WriteClass, ReadClass)
	require.NoError(t, err)
	require.Equal(t, before, decisions(again), "a grant taken afterwards")
}

// TestA8_AnOperationKeptPastTheEndRefuses keeps an operation in every way there is.
func TestA8_AnOperationKeptPastTheEndRefuses(t *testing.T) {
	performed := 0
	e := change("Put")
	e.Props = `{"type":"object","properties":{"path":{"type":"string"}},"additionalProperties":false}`
	e.Op = Op{
		Enter: func(context.Context, Call) error { performed++; return nil },
		Do:    func(context.Context, Call) (any, error) { performed++; return nil, nil },
	}
	ctx, cancel := context.WithCancel(t.Context())
	c, err := Capture(ctx, Profile{Read: []Entry{observe("Look")}, Write: []Entry{e}, Dialect: Closed})
	require.NoError(t, err)
	cancel()
	require.True(t, c.Live(), "the context of the capture is not the execution")
	g, err := c.Select(ReadClass, WriteClass)
	require.NoError(t, err)
	put, look, pure := g.ByIdentity("com.example/Put@1"), g.ByIdentity("com.example/Look@1"), g.ByIdentity("xmd.core/Json@1")
	kept := put.Op
	require.NoError(t, put.Enter(t.Context(), Call{}))
	_, err = put.Do(t.Context(), Call{})
	require.NoError(t, err)
	require.NoError(t, look.Enter(t.Context(), Call{}), "nothing to enter")
	require.Equal(t, 2, performed)

	c.Revoke()
	c.Revoke()
	require.False(t, c.Live())
	require.False(t, g.Live())
	require.ErrorIs(t, put.Enter(t.Context(), Call{}), ErrRevoked)
	_, err = put.Do(t.Context(), Call{})
	require.ErrorIs(t, err, ErrRevoked)
	require.ErrorIs(t, kept.Enter(t.Context(), Call{}), ErrRevoked)
	_, err = kept.Do(t.Context(), Call{})
	require.ErrorIs(t, err, ErrRevoked)
	require.ErrorIs(t, look.Enter(t.Context(), Call{}), ErrRevoked)
	_, err = pure.Do(t.Context(), Call{})
	require.ErrorIs(t, err, ErrRevoked)
	require.Equal(t, 2, performed, "a refused operation performs nothing")
	_, err = c.Select(ReadClass)
	require.ErrorIs(t, err, ErrRevoked)
}

// TestEL1_AQuestionIsAWriteAndResolvesNothing: Elicit stands in the write table,
// and nothing is asked or looked for until a fragment asks.
func TestEL1_AQuestionIsAWriteAndResolvesNothing(t *testing.T) {
	asked := 0
	p, err := Standard(Machine{
		Root: func(string, string) (*os.Root, error) { return openRoot(t), nil },
		Ask:  func(context.Context, Question) (any, error) { asked++; return nil, nil },
	})
	require.NoError(t, err)
	c := capture(t, p)
	read, err := c.Select(ReadClass)
	require.NoError(t, err)
	e, other := read.Lookup("Elicit", Paired)
	require.Nil(t, e, "a read selection interrupts nobody")
	require.Nil(t, other)
	require.Nil(t, read.ByIdentity("xmd.core/Elicit.ask@1"))

	write, err := c.Select(WriteClass)
	require.NoError(t, err)
	e, other = write.Lookup("Elicit", Paired)
	require.NotNil(t, e)
	require.Nil(t, other)
	require.Equal(t, Asks, e.Effect)
	require.Equal(t, "xmd.core/Elicit.ask@1", e.Identity.String())
	require.Nil(t, e.Check(Use{Form: Paired, Props: value.Of("schema", value.Of("type", "string")), DirKnown: true}))
	require.Zero(t, asked)
}
