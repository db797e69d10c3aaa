package audit

import (
	"fmt"
	"strings"

	"github.com/executable-markdown/xmd/agent/acp"
	"github.com/executable-markdown/xmd/internal/value"
)

// An Agent is what holds one agent that plans (agents 15.5), as a reviewer reads it.
type Agent struct {
	Held     acp.Report
	Findings []Finding
}

// InspectAgent says what a ceiling that was established comes to.
func InspectAgent(r acp.Report) *Agent {
	c := &Agent{Held: r}
	add := func(code, format string, args ...any) {
		c.Findings = append(c.Findings, finding(code, Place{}, format, args...))
	}
	switch {
	case r.Containment < 2:
		add("agent-uncontained", "the kernel contains nothing here: that %s reaches no file rests on its adapter alone", r.Agent)
	case r.Containment == 2:
		add("agent-survives", "a process that %s starts and that leaves its group is not ended with it", r.Agent)
	}
	if r.Containment >= 2 && r.ABI < 4 {
		add("agent-network", "the kernel does not restrict the connections of %s", r.Agent)
	}
	if !r.Verified {
		add("tools-unmeasured", "nobody has measured that %s offers its model no tool: the kernel is what holds it", r.Agent)
	}
	if r.Verified && r.AdapterVersion != "" && len(r.Measured) > 0 && !r.VersionKnown {
		add("adapter-unmeasured", "the adapter is %s %s, and was measured as %s", r.AdapterName, r.AdapterVersion, strings.Join(r.Measured, " and "))
	}
	return c
}

// Found implements Report.
func (c *Agent) Found() []Finding { return c.Findings }

func (c *Agent) adapter() string {
	if c.Held.AdapterName == "" && c.Held.AdapterVersion == "" {
		return "it does not say"
	}
	return strings.TrimSpace(c.Held.AdapterName + " " + c.Held.AdapterVersion)
}

func (c *Agent) profile() string {
	switch {
	case c.Held.Profile == "":
		return "none"
	case c.Held.Verified:
		return c.Held.Profile + " (measured to leave no tool)"
	}
	return c.Held.Profile + " (not measured to leave no tool)"
}

func (c *Agent) containment() string {
	if c.Held.ABI == 0 {
		return fmt.Sprintf("level %d of 3", c.Held.Containment)
	}
	return fmt.Sprintf("level %d of 3, Landlock version %d", c.Held.Containment, c.Held.ABI)
}

func (c *Agent) page() page {
	pg := page{title: "Audit of an agent under the ceiling", findings: c.Findings, facts: []fact{
		{"agent", []string{c.Held.Agent}},
		{"adapter", []string{c.adapter()}},
		{"profile", []string{c.profile()}},
		{"command", []string{"SHA-256 " + c.Held.CommandDigest}},
		{"containment", []string{c.containment()}},
		{"environment", []string{strings.Join(c.Held.Environment, " ")}},
	}}
	t := table{caption: "What holds it", headers: []string{"Clause", "Kept", "What that means"}}
	for _, clause := range c.Held.Clauses {
		t.rows = append(t.rows, []cell{one(clause.ID), one(clause.Class), one(clause.Text)})
	}
	pg.tables = []table{t}
	return pg
}

func (c *Agent) json() *value.Object {
	o := begin("agent")
	o.Set("agent", c.Held.Agent)
	o.Set("commandDigest", c.Held.CommandDigest)
	o.Set("adapter", value.Of("name", c.Held.AdapterName, "version", c.Held.AdapterVersion, "profile", c.Held.Profile,
		"verified", c.Held.Verified, "measured", strs(c.Held.Measured), "versionKnown", c.Held.VersionKnown))
	o.Set("directory", c.Held.Directory)
	o.Set("clientCapabilities", strs(c.Held.Capabilities))
	o.Set("mcpServers", float64(c.Held.MCPServers))
	o.Set("tools", strs(c.Held.Tools))
	o.Set("mode", c.Held.Mode)
	o.Set("containment", value.Of("level", float64(c.Held.Containment), "abi", float64(c.Held.ABI)))
	o.Set("environment", strs(c.Held.Environment))
	o.Set("clauses", list(c.Held.Clauses, func(clause acp.Clause) any {
		return value.Of("id", clause.ID, "class", clause.Class, "text", clause.Text)
	}))
	return findingsJSON(o, c.Findings)
}
