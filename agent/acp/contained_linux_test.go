package acp_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/agent"
	"github.com/executable-markdown/xmd/agent/acp"
	"github.com/executable-markdown/xmd/internal/contain"
)

// kernel is the containment of this machine. Without one, the test is skipped.
func kernel(t *testing.T) *contain.Kernel {
	t.Helper()
	k := contain.New()
	if level, abi := k.Level(); level < 2 {
		t.Skipf("the kernel contains at level %d with version %d of Landlock; this needs level 2", level, abi)
	}
	return k
}

// newCell is a hall whose agent is held by the kernel, with host effects that nothing
// but the kernel keeps it from.
func newCell(t *testing.T, do string, change ...func(*acp.CeilingOptions, agent.Entry)) *hall {
	t.Helper()
	k := kernel(t)
	reports := t.TempDir()
	h := newHall(t, "sessions:\n  \"\":\n    - { prompt: { any: true }, do: [ "+do+" ] }\n", append(change, func(o *acp.CeilingOptions, e agent.Entry) {
		o.Containment = k
		// The folder of the report can be written: it is none that holds anything else.
		e.Command = append(e.Command[:len(e.Command)-1], filepath.Join(reports, "r.jsonl"), "--allow-host-effects")
		o.Agents.Installed["fix"] = e
	})...)
	h.report = filepath.Join(reports, "r.jsonl")
	return h
}

// TestAG18_EffectsOfAScriptAreDenied: what its profile opens to the scripted agent is
// its scenario, its position and its report, and nothing beside them.
func TestAG18_EffectsOfAScriptAreDenied(t *testing.T) {
	outside := t.TempDir()
	canary := filepath.Join(outside, "canary")
	require.NoError(t, os.WriteFile(canary, []byte("c"), 0o600))
	h := newCell(t, `{ read: { path: "`+canary+`", expect: denied } }, { write: { path: "`+canary+`", content: x, expect: denied } }, `+
		`{ write: { path: left, content: x, expect: denied } }, { write: { path: "/tmp/xmd-left", content: x, expect: denied } }, `+
		`{ read: { path: /etc/shadow, expect: denied } }, { read: { path: /etc/hosts, expect: ok } }, { read: { path: ".", expect: ok } }, `+
		`{ spawn: { argv: [ "/bin/sh", "-c", "cat `+canary+`" ], expect: denied } }, { spawn: { argv: [ "/bin/sh", "-c", "exit 0" ], expect: ok } }, { say: held }`).enter()
	got := h.say(agent.PromptOptions{})
	require.NoError(t, got.err)
	require.NoError(t, got.end.Err)
	require.Equal(t, "held", got.text)
	require.NoError(t, h.Close(t.Context()))
	require.Empty(t, left(t, h.root))
	require.Empty(t, left(t, h.homes))
	require.Equal(t, []string{"canary"}, left(t, outside))
	text, err := os.ReadFile(h.report)
	require.NoError(t, err)
	require.Contains(t, string(text), `"noNewPrivs":true`)
	require.NotContains(t, string(text), "secret", "the environment holds no canary")
}

// TestAG16_ANamedConversationIsNotContinuedWithLess: the containment it was made under
// may grow and not shrink.
func TestAG16_ANamedConversationIsNotContinuedWithLess(t *testing.T) {
	h := newHall(t, answers, func(o *acp.CeilingOptions, _ agent.Entry) { o.Named, o.Containment = true, kernel(t) })
	named := agent.PromptOptions{Session: agent.SessionRef{Name: "n"}}
	for _, step := range []struct {
		by   acp.Containment
		want string
	}{{h.options.Containment, "first"}, {nil, ""}, {h.options.Containment, "second"}} {
		h.options.Containment = step.by
		h.enter()
		got := h.say(named)
		require.Equal(t, step.want, got.text, "%v", got.err)
		if step.want == "" {
			require.ErrorIs(t, got.err, agent.ErrSessionIncompatible)
			require.ErrorContains(t, got.err, "stronger")
		}
		require.NoError(t, h.Close(t.Context()))
	}
}
