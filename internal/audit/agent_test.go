package audit

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/agent/acp"
)

func held(change func(*acp.Report)) acp.Report {
	r := acp.Report{
		Agent: "claude", CommandDigest: "00ff", Profile: "claude", Verified: true, AdapterName: "claude-code-acp\u202e", AdapterVersion: "0.16.2",
		Measured: []string{"0.16.2", "0.101.0"}, VersionKnown: true, Directory: "disposable", Capabilities: []string{}, Tools: []string{},
		Containment: 3, ABI: 7, Environment: []string{"HOME", "PATH"},
		Clauses: []acp.Clause{{ID: "C1", Class: acp.Enforced, Text: "Its directory is empty."}, {ID: "C5", Class: acp.BestEffort, Text: "No tool."}},
	}
	if change != nil {
		change(&r)
	}
	return r
}

func TestAgent(t *testing.T) {
	c := InspectAgent(held(nil))
	require.Empty(t, c.Found())
	goldens(t, "agent", c)
}

func TestAgentFindings(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*acp.Report)
		codes  []string
	}{
		"no kernel":      {func(r *acp.Report) { r.Containment, r.ABI = 0, 0 }, []string{"agent-uncontained"}},
		"level 1":        {func(r *acp.Report) { r.Containment, r.ABI = 1, 0 }, []string{"agent-uncontained"}},
		"level 2":        {func(r *acp.Report) { r.Containment = 2 }, []string{"agent-survives"}},
		"old landlock":   {func(r *acp.Report) { r.ABI = 3 }, []string{"agent-network"}},
		"not measured":   {func(r *acp.Report) { r.Verified = false }, []string{"tools-unmeasured"}},
		"another":        {func(r *acp.Report) { r.AdapterVersion, r.VersionKnown = "9", false }, []string{"adapter-unmeasured"}},
		"does not say":   {func(r *acp.Report) { r.AdapterVersion, r.VersionKnown = "", false }, []string{}},
		"nothing to say": {nil, []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.codes, codes(InspectAgent(held(c.change))))
		})
	}
}
