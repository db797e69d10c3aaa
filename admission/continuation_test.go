package admission

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/internal/value"
	"github.com/executable-markdown/xmd/wasm"
)

// module stands for a compiled fragment: records name one by its digest only.
var module = &wasm.Module{Digest: digest("module")}

const retainedSource = "<File path=\"docs/a\" />\n<Fetch url=\"https://api.example.test/one\" />"

// retainedProfile belongs to a run that keeps its roots.
func retainedProfile(t testing.TB) capability.Profile {
	p := profile(t, capability.Flat)
	p.Roots = []capability.Root{{Name: "first", Retained: true}, {Name: "second", Retained: true}}
	p.Selected = "second"
	return p
}

// recordOf is an admission as it comes back from a history.
func recordOf(t testing.TB, source string, g *capability.Grant) any {
	t.Helper()
	d := Preflight("test", source, g)
	require.Nil(t, d.Refusal)
	return reread(t, d.Record(module))
}

func reread(t testing.TB, record *capability.Object) any {
	t.Helper()
	text, err := value.JSON(record)
	require.NoError(t, err)
	v, err := value.Parse([]byte(text))
	require.NoError(t, err)
	return v
}

func TestRecord(t *testing.T) {
	p := retainedProfile(t)
	p.Read, p.Write = p.Read[:1], nil
	g := grantOf(t, p)
	text, err := value.JSON(Preflight("test", "é <File path=\"docs/a\" />", g).Record(module))
	require.NoError(t, err)
	policy, err := value.JSON(g.Policy())
	require.NoError(t, err)
	require.Equal(t, `{"version":1,"decision":"admitted","source":"é <File path=\"docs/a\" />","digest":"`+digest("é <File path=\"docs/a\" />")+
		`","module":"`+module.Digest+`","compiler":1,"named":[{"name":"File","identity":"xmd.core/File.read@1","form":"self-closing",`+
		`"at":{"offset":3,"line":1,"column":3}}],"policy":`+policy+`}`, text)
	require.Contains(t, policy, `"allow":["read"],"dialect":"flat","roots":["first","second"],"selected":"second","allowed":[{"name":"File",`)

	text, err = value.JSON(Preflight("test", "<Exec />", g).Record(nil))
	require.NoError(t, err)
	require.Equal(t, `{"version":1,"decision":"refused","class":"component"}`, text)
}

func TestContinue(t *testing.T) {
	g := grantOf(t, retainedProfile(t))
	record := recordOf(t, retainedSource, g)
	same, other := retainedSource, retainedSource+" "

	for _, current := range []*string{nil, &same} {
		c, err := Continue("test", record, current, g)
		require.NoError(t, err)
		require.Equal(t, retainedSource, c.Decision.Source)
		require.NotNil(t, c.Decision.Program)
		require.NoError(t, c.Check(module))
	}
	_, err := Continue("test", record, &other, g)
	require.Equal(t, ErrTextChanged, err)
	require.EqualError(t, err, "a generated fragment's text is not the text that was admitted.")

	// A refusal that was recorded stays one, under any policy and text.
	refusal := reread(t, Preflight("test", "<Exec />", g).Record(nil))
	for _, g := range []*capability.Grant{g, closed(t)} {
		_, err = Continue("test", refusal, &same, g)
		require.Equal(t, &Refusal{Component}, err)
	}
}

// TestContinuationModule: another revision of the compiler writes other bytes; the
// same one does not.
func TestContinuationModule(t *testing.T) {
	g := grantOf(t, retainedProfile(t))
	record := recordOf(t, retainedSource, g)
	other := &wasm.Module{Digest: digest("other")}

	c, err := Continue("test", record, nil, g)
	require.NoError(t, err)
	require.Equal(t, ErrUnreadable, c.Check(other))

	record.(*value.Object).Set("compiler", float64(wasm.Revision+1))
	c, err = Continue("test", record, nil, g)
	require.NoError(t, err)
	require.NoError(t, c.Check(other))
}

// TestA10_CeilingsThatMoved changes one thing of a policy at a time.
func TestA10_CeilingsThatMoved(t *testing.T) {
	record := recordOf(t, retainedSource, grantOf(t, retainedProfile(t), capability.ReadClass))
	continued := func(p capability.Profile, allow ...capability.Class) error {
		if allow == nil {
			allow = []capability.Class{capability.ReadClass}
		}
		_, err := Continue("test", record, nil, grantOf(t, p, allow...))
		return err
	}
	require.NoError(t, continued(retainedProfile(t)))

	for name, change := range map[string]func(p *capability.Profile){
		"dialect":       func(p *capability.Profile) { p.Dialect = capability.Closed },
		"source":        func(p *capability.Profile) { p.Limits.Source = 1 << 20 },
		"elements":      func(p *capability.Profile) { p.Limits.Elements = 1000 },
		"depth":         func(p *capability.Profile) { p.Limits.Depth = 65 },
		"steps":         func(p *capability.Profile) { p.Limits.Steps = 10 },
		"values":        func(p *capability.Profile) { p.Limits.Values = 1 << 20 },
		"value":         func(p *capability.Profile) { p.Limits.Value = 1 << 10 },
		"output":        func(p *capability.Profile) { p.Limits.Output = 1 << 10 },
		"time":          func(p *capability.Profile) { p.Limits.Time = time.Second },
		"entry removed": func(p *capability.Profile) { p.Read = p.Read[:len(p.Read)-1] },
		"entry added": func(p *capability.Profile) {
			p.Read = append(p.Read, custom(t, "More", capability.Read, capability.Paired, noProps, ""))
		},
		"entry order":      func(p *capability.Profile) { p.Read[3], p.Read[4] = p.Read[4], p.Read[3] },
		"entry name":       func(p *capability.Profile) { p.Read[3].Name = "Prober" },
		"origin":           func(p *capability.Profile) { p.Read[3].Identity.Origin = "com.other" },
		"key":              func(p *capability.Profile) { p.Read[3].Identity.Key = "other" },
		"revision":         func(p *capability.Profile) { p.Read[3].Identity.Revision++ },
		"forms":            func(p *capability.Profile) { p.Read[3].Forms |= capability.Paired },
		"path removed":     func(p *capability.Profile) { p.Read[0].Paths = nil },
		"path narrower":    func(p *capability.Profile) { p.Read[0].Paths = []string{"docs/*"} },
		"path added":       func(p *capability.Profile) { p.Read[0].Paths = []string{"docs/**", "src/**"} },
		"path of an entry": func(p *capability.Profile) { p.Read[1].Paths = []string{"docs/**"} },
		"request removed":  func(p *capability.Profile) { p.Read[2].Requests = p.Read[2].Requests[:1] },
		"request url":      func(p *capability.Profile) { p.Read[2].Requests[1].URL += "?x" },
		"request method":   func(p *capability.Profile) { p.Read[2].Requests[1].Method = "HEAD" },
		"request header":   func(p *capability.Profile) { p.Read[2].Requests[1].Headers["accept"] = "text/html" },
		"request headers":  func(p *capability.Profile) { p.Read[2].Requests[1].Headers["x-other"] = "1" },
		"request timeout":  func(p *capability.Profile) { p.Read[2].Requests[1].Timeout = time.Second },
		"run's timeout":    func(p *capability.Profile) { p.FetchTimeout = time.Second },
		"root gone":        func(p *capability.Profile) { p.Roots = p.Roots[1:] },
		"selected gone":    func(p *capability.Profile) { p.Roots, p.Selected = p.Roots[:1], "first" },
		"no workspace":     func(p *capability.Profile) { p.Roots[0].Retained, p.Roots[1].Retained = false, false },
	} {
		p := retainedProfile(t)
		change(&p)
		require.Equal(t, ErrCeilings, continued(p), name)
	}
	require.Equal(t, ErrCeilings, continued(retainedProfile(t), capability.ReadClass, capability.WriteClass), "selection")
	require.Equal(t, ErrCeilings, continued(retainedProfile(t), capability.WriteClass), "selection")

	// A workspace that appears refuses, too.
	plain := profile(t, capability.Flat)
	_, err := Continue("test", recordOf(t, retainedSource, grantOf(t, plain)), nil, grantOf(t, retainedProfile(t)))
	require.Equal(t, ErrCeilings, err)

	// What was not selected, and what authorises nothing, may change.
	for name, change := range map[string]func(p *capability.Profile){
		"write entry removed": func(p *capability.Profile) { p.Write = p.Write[1:] },
		"write table gone":    func(p *capability.Profile) { p.Write = nil },
		"write revision":      func(p *capability.Profile) { p.Write[3].Identity.Revision = 7 },
		"write paths":         func(p *capability.Profile) { p.Write[0].Paths = []string{"**"} },
		"profile name":        func(p *capability.Profile) { p.Name = "another" },
		"description":         func(p *capability.Profile) { p.Read[3].Describe = "Another sentence." },
		"root added":          func(p *capability.Profile) { p.Roots = append(p.Roots, capability.Root{Name: "third", Retained: true}) },
		"selection moved on": func(p *capability.Profile) {
			p.Roots, p.Selected = append(p.Roots, capability.Root{Name: "third", Retained: true}), "third"
		},
	} {
		p := retainedProfile(t)
		change(&p)
		require.NoError(t, continued(p), name)
	}

	// The policy is held before the text, and a record is read before both.
	changed := "other"
	moved := grantOf(t, profile(t, capability.Closed))
	_, err = Continue("test", record, &changed, moved)
	require.Equal(t, ErrCeilings, err)
	require.EqualError(t, err, "a generated fragment was admitted under ceilings this run no longer states. A retained admission resumes only under the exact effect classes, roots, pinned identities, forms, requests and limits it was admitted with.")
	_, err = Continue("test", nil, &changed, moved)
	require.Equal(t, ErrUnreadable, err)
}

// TestA11_UnreadableRecords takes every member of a record away, gives every object
// one more, and every leaf another type.
func TestA11_UnreadableRecords(t *testing.T) {
	p := retainedProfile(t)
	p.Read[2].Requests[0].Timeout = time.Second
	g := grantOf(t, p)
	pristine := recordOf(t, retainedSource, g)
	unreadable := func(record any, what string) {
		t.Helper()
		_, err := Continue("test", record, nil, g)
		require.Equal(t, ErrUnreadable, err, what)
	}
	edits := 0
	// visit edits the value found at the end of path, in a fresh copy each time.
	var visit func(v any, path string, replace func(with any) any)
	visit = func(v any, path string, replace func(with any) any) {
		for _, wrong := range []any{nil, true, 1.5, -1.0, "text", []any{1.0}, value.Of("x", 1.0)} {
			if value.Kind(wrong) == value.Kind(v) && value.Kind(v) != "number" || path == ".policy.limits.time" && wrong == 1.5 || strings.HasSuffix(path, ".timeout") {
				continue
			}
			unreadable(replace(wrong), path)
			edits++
		}
		switch v := v.(type) {
		case *value.Object:
			free := strings.HasSuffix(path, ".headers") // any name is one
			optional := strings.HasSuffix(path, ".ceiling") || strings.HasSuffix(path, ".requests[]")
			for name, member := range v.All() {
				within := func(with any) any {
					o := value.Clone(v).(*value.Object)
					o.Set(name, with)
					return replace(o)
				}
				visit(member, path+"."+name, within)
				if !free && !(optional && (name == "paths" || name == "requests" || name == "timeout")) {
					o := value.Clone(v).(*value.Object)
					o.Delete(name)
					unreadable(replace(o), path+" without "+name)
				}
				upper := value.NewObject(v.Len())
				for n, m := range v.All() {
					if n == name {
						n = strings.ToUpper(n)
					}
					upper.Set(n, m)
				}
				if !free {
					unreadable(replace(upper), path+" in capitals: "+name)
				}
			}
			if !free {
				o := value.Clone(v).(*value.Object)
				o.Set("extra", nil)
				unreadable(replace(o), path+" with more")
			}
		case []any:
			for i, e := range v {
				visit(e, path+"[]", func(with any) any {
					list := slices.Clone(v)
					list[i] = with
					return replace(list)
				})
			}
		}
	}
	visit(pristine, "", func(with any) any { return with })
	require.Greater(t, edits, 100)

	edited := func(change func(o *value.Object)) any {
		o := value.Clone(pristine).(*value.Object)
		change(o)
		return o
	}
	first := func(o *value.Object) *value.Object {
		v, _ := o.Get("named")
		return v.([]any)[0].(*value.Object)
	}
	for name, change := range map[string]func(o *value.Object){
		"version":        func(o *value.Object) { o.Set("version", 2.0) },
		"decision":       func(o *value.Object) { o.Set("decision", "maybe") },
		"refused":        func(o *value.Object) { o.Set("decision", "refused") },
		"source":         func(o *value.Object) { o.Set("source", retainedSource+" ") },
		"digest":         func(o *value.Object) { o.Set("digest", digest("other")) },
		"another source": func(o *value.Object) { o.Set("source", "text"); o.Set("digest", digest("text")) },
		"module":         func(o *value.Object) { o.Set("module", strings.ToUpper(module.Digest)) },
		"compiler":       func(o *value.Object) { o.Set("compiler", 0.0) },
		"nobody named":   func(o *value.Object) { o.Set("named", []any{}) },
		"name":           func(o *value.Object) { first(o).Set("name", "Glob") },
		"identity":       func(o *value.Object) { first(o).Set("identity", "xmd.core/File.write@1") },
		"form":           func(o *value.Object) { first(o).Set("form", "paired") },
		"no form":        func(o *value.Object) { first(o).Set("form", "open") },
		"offset":         func(o *value.Object) { first(o).Set("at", value.Of("offset", 1.0, "line", 1.0, "column", 1.0)) },
		"generatedSource": func(o *value.Object) {
			first(o).Set("at", value.Of("offset", 0.0, "line", 1.0, "column", 1.0, "generatedSource", "test"))
		},
	} {
		unreadable(edited(change), name)
	}

	for name, record := range map[string]any{
		"absent":    nil,
		"undefined": value.Undefined{},
		"text":      "{}",
		"list":      []any{pristine},
		"empty":     value.NewObject(0),
		"no object": (*value.Object)(nil),
		"class":     value.Of("version", 1.0, "decision", "refused", "class", "other"),
		"no class":  value.Of("version", 1.0, "decision", "refused"),
		"text kept": value.Of("version", 1.0, "decision", "refused", "class", "block", "source", "x"),
	} {
		unreadable(record, name)
	}
	require.NotContains(t, ErrUnreadable.Error(), "docs")
}
