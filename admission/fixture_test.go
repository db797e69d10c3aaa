package admission

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/capability"
)

// client is a transport that must not be used: preflight performs nothing.
type client struct{ t testing.TB }

func (c client) Do(context.Context, capability.Normal, int) (capability.Response, error) {
	c.t.Error("preflight made a request")
	return capability.Response{}, nil
}

// custom is an entry whose operation must not be used.
func custom(t testing.TB, name string, effect capability.Effect, forms capability.Form, props, returns string) capability.Entry {
	return capability.Entry{
		Name: name, Identity: capability.Identity{Origin: "com.example", Key: name, Revision: 1}, Forms: forms,
		Props: props, Returns: returns, Effect: effect, Describe: "For tests.",
		Op: capability.Op{Do: func(context.Context, capability.Call) (any, error) {
			t.Errorf("preflight performed %s", name)
			return nil, nil
		}},
	}
}

const (
	noProps = `{"type":"object","properties":{},"additionalProperties":false}`
	anyPick = `{"type":"object","properties":{"n":{"type":"number"},"s":{"type":"string","minLength":1},"list":{"type":"array"},"any":{}},"additionalProperties":false}`
)

// profile is what most tests admit fragments under.
func profile(t testing.TB, d capability.Dialect) capability.Profile {
	root, err := os.OpenRoot(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { root.Close() })
	read, write := capability.FileRead(root), capability.FileWrite(root)
	read.Paths, write.Paths = []string{"docs/**"}, []string{"docs/**"}
	return capability.Profile{
		Name:    "tests",
		Dialect: d,
		Roots:   []capability.Root{{Name: "repo"}},
		Read: []capability.Entry{
			read,
			capability.Glob(root),
			capability.Fetch(client{t},
				capability.Request{URL: "https://api.example.test/one"},
				capability.Request{URL: "https://api.example.test/two", Headers: map[string]string{"accept": "text/plain"}}),
			custom(t, "Probe", capability.Read, capability.SelfClosing, noProps, ""),
			custom(t, "Pick", capability.Read, capability.SelfClosing, anyPick, `{}`),
			custom(t, "Wrap", capability.Read, capability.Paired, anyPick, `{"type":"string"}`),
		},
		Write: []capability.Entry{
			write,
			capability.FileDelete(root),
			capability.EnsureDir(root),
			capability.Ask(func(context.Context, capability.Question) (any, error) {
				t.Error("preflight asked somebody")
				return nil, nil
			}),
		},
	}
}

// grantOf captures a profile and selects the classes, both tables by default.
func grantOf(t testing.TB, p capability.Profile, allow ...capability.Class) *capability.Grant {
	t.Helper()
	captured, err := capability.Capture(context.Background(), p)
	require.NoError(t, err)
	if len(allow) == 0 {
		if len(p.Read) > 0 {
			allow = append(allow, capability.ReadClass)
		}
		if len(p.Write) > 0 {
			allow = append(allow, capability.WriteClass)
		}
	}
	g, err := captured.Select(allow...)
	require.NoError(t, err)
	return g
}

func flat(t testing.TB) *capability.Grant   { return grantOf(t, profile(t, capability.Flat)) }
func closed(t testing.TB) *capability.Grant { return grantOf(t, profile(t, capability.Closed)) }

// class is what preflight says of a source: a class, or empty when it admits it.
func class(source string, g *capability.Grant) Class {
	d := Preflight("test", source, g)
	if d.Refusal == nil {
		return ""
	}
	return d.Refusal.Class
}

// raised is a profile whose limits do not stand in the way of a long source.
func raised(t testing.TB, d capability.Dialect) capability.Profile {
	p := profile(t, d)
	p.Limits = capability.Limits{Source: 1 << 30, Elements: 1 << 30, Depth: 1_000_000}
	return p
}
