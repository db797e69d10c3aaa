package sandbox

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tetratelabs/wazero/api"

	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/wasm"
)

// tank is fuel without a module.
type tank struct {
	api.MutableGlobal
	fuel uint64
}

func (t *tank) Get() uint64  { return t.fuel }
func (t *tank) Set(v uint64) { t.fuel = v }

// loose is a task without a module that would call it, and everything it could call
// but join, which needs one.
func loose(t testing.TB) (*task, []field) {
	t.Helper()
	entry := func(name string, forms capability.Form, enter func(context.Context, capability.Call) error) capability.Entry {
		return capability.Entry{
			Name: name, Identity: capability.Identity{Origin: "test", Key: name, Revision: 1}, Forms: forms,
			Props:  `{"type":"object","properties":{"path":{}},"additionalProperties":false}`,
			Effect: capability.Write, Describe: "Does nothing.",
			Op: capability.Op{Enter: enter, Do: func(_ context.Context, c capability.Call) (any, error) { return c.Content, nil }},
		}
	}
	captured, err := capability.Capture(t.Context(), capability.Profile{
		Name: "calls", Dialect: capability.Closed,
		Write: []capability.Entry{
			entry("One", capability.SelfClosing, nil),
			entry("Two", capability.Paired, func(context.Context, capability.Call) error { return nil }),
		},
	})
	require.NoError(t, err)
	g, err := captured.Select(capability.WriteClass)
	require.NoError(t, err)
	elements := []wasm.Element{{Name: "Loop", Form: wasm.Paired, Parent: -1}, {Name: "Answers", Form: wasm.Paired, Parent: 0}}
	fields := append(append(append(append(textFields(), valueFields()...), scopeFields()...), answerFields()...), taskFields()...)
	for i := range fields {
		if fields[i].name == "join" {
			fields[i].call = func(*task, []uint64) error { return nil }
		}
	}
	for _, e := range g.Entries() {
		form := wasm.SelfClosing
		if e.Forms == capability.Paired {
			form = wasm.Paired
		}
		elements = append(elements, wasm.Element{Name: e.Name, Identity: e.Identity.String(), Form: form, Parent: len(elements) - 1})
		fields = append(fields, operation(e)...)
	}
	l := &linked{
		limits: g.Limits(),
		module: &wasm.Module{Elements: elements, Strings: []string{"x", "{x}", `{"path":"a"}`, `[1,"b"]`, "2", "true", "{x.y}", "\\{"}, Spawns: 2},
	}
	task := l.task(Hooks{}, budget{steps: 1e6, values: 1 << 20, output: 1 << 20, time: time.Hour})
	task.ctx = t.Context()
	task.fuel = &tank{fuel: 1e6}
	return task, fields
}

// FuzzCalls calls imports in any order and with any arguments, which no module does
// that Compile wrote: each is answered or a failure, and none a panic.
func FuzzCalls(f *testing.F) {
	f.Add([]byte("\x06\x03\x00\x00\x11\x01\x00\x00"))
	f.Add([]byte{3, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 5, 1, 0, 0})
	f.Add([]byte{6, 2, 0, 0, 40, 2, 1, 0, 41, 3, 1, 0, 3, 0, 0, 0, 4, 0, 0, 0, 42, 3, 2, 0})
	f.Fuzz(func(t *testing.T, calls []byte) {
		task, fields := loose(t)
		for ; len(calls) >= 4; calls = calls[4:] {
			f := fields[int(calls[0])%len(fields)]
			stack := []uint64{uint64(calls[1]), uint64(calls[2]), uint64(calls[3])}
			if err := task.attempt(f, 1, stack); err != nil {
				require.False(t, strings.Contains(err.Error(), "panic"), "%s(%v): %v", f.name, calls[1:4], err)
			}
		}
	})
}

// TestCallsNoModuleMakes names some of them.
func TestCallsNoModuleMakes(t *testing.T) {
	for _, c := range []struct {
		field string
		args  []uint64
		want  string
	}{
		{"emit", []uint64{99}, "99 is no string"},
		{"show", []uint64{0}, `"x" is no reference`},
		{"render", []uint64{99}, "99 is no handle"},
		{"pop", []uint64{0}, "pop without push"},
		{"append", []uint64{0, 0}, "append to undefined"},
		{"set", []uint64{0, 0, 0}, "set in undefined"},
		{"at", []uint64{0, 1}, "undefined has no item 1"},
		{"length", []uint64{0}, "length of undefined"},
		{"trim", []uint64{0}, "trim of undefined"},
		{"close", nil, "nothing like this is open"},
		{"add", []uint64{0, 0, 0}, "an answer without a region"},
		{"begin", nil, "no region is open"},
		{"loop", []uint64{99, 0}, "99 is no element"},
		{"loop", []uint64{0, 1}, "nothing like this is open"},
		{"done", []uint64{0, 0, 0}, "nothing like this is open"},
		{"spawn", []uint64{2}, "2 is no spawn"},
		{"invoke", []uint64{0, 0}, "<Loop> is not an element of xmd.core/Json@1"},
		{"invoke", []uint64{2, 0}, "props are undefined"},
		{"enter", []uint64{5, 0}, "<One> is not an element of test/Two@1"},
		{"leave", []uint64{6, 0}, "nothing like this is open"},
	} {
		t.Run(c.field+" "+c.want, func(t *testing.T) {
			task, fields := loose(t)
			f, known := find(fields, c.field)
			require.True(t, known)
			err := task.attempt(f, 1, append(c.args, 0, 0, 0))
			var trap *TrapError
			require.ErrorAs(t, err, &trap)
			require.EqualError(t, trap.Err, c.want)
		})
	}
}
