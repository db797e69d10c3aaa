package component

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"time"

	"github.com/executable-markdown/xmd/agent"
	"github.com/executable-markdown/xmd/internal/engine"
	"github.com/executable-markdown/xmd/internal/journal"
)

//go:embed docs/prompt.md
var promptDoc string

//go:embed docs/session.md
var sessionDoc string

//go:embed docs/agent.md
var agentDoc string

//go:embed docs/agentprovider.md
var agentProviderDoc string

//go:embed docs/approveall.md
var approveAllDoc string

//go:embed docs/askpermission.md
var askPermissionDoc string

// agentProvider installs a provider for its content (agents 4.1).
func agentProvider() engine.Component {
	return engine.Component{
		Name:   "AgentProvider",
		Origin: origin,
		Props: `{
			"name": {"type":"string","minLength":1,"description":"a provider this program has, such as acp"},
			"defaultAgent": {"type":"string","minLength":1,"description":"the agent of elements that name none"},
			"timeout": {"type":"string","description":"the limit of one prompt, such as 90s"}
		}`,
		Required: []string{"name"},
		Forms:    engine.Both,
		Effect:   "agent",
		Doc: engine.Doc{
			Description: "Uses another agent provider, default agent or prompt limit for its content.",
			As:          "what the content rendered",
			Context:     "Agents and sessions of the provider outside are not continued inside.",
			Long:        agentProviderDoc,
		},
		Run: provideAgents,
	}
}

func provideAgents(ctx context.Context, c *engine.Call) (any, error) {
	name := c.Text("name")
	makeProvider, ok := c.AgentProvider(name)
	if !ok {
		return nil, fatal(agent.UnknownProvider(name))
	}
	region := c.Region()
	defaultAgent := c.Text("defaultAgent")
	if defaultAgent == "" {
		defaultAgent = region.DefaultAgent
	}
	timeout, err := promptLimit(c, 0)
	if err != nil {
		return nil, fatal(err)
	}
	if !c.Paired() {
		return nil, nil
	}
	provider, err := makeProvider(defaultAgent, region.Mode)
	if err != nil {
		return nil, fatal(err)
	}
	c.Own(func() error { return provider.Close(context.WithoutCancel(ctx)) })
	return c.Content(ctx, engine.InRegion(region.Provided(provider, defaultAgent, timeout)))
}

// agentElement makes one agent the one of its content (agents 4.2).
func agentElement() engine.Component {
	return engine.Component{
		Name:   "Agent",
		Origin: origin,
		Props:  `{"name":{"type":"string","minLength":1,"description":"the agent, such as claude; else the one in force"}}`,
		Forms:  engine.Both,
		Effect: "agent",
		Doc: engine.Doc{
			Description: "Makes an agent the one of its content, and makes sure that it can be used.",
			As:          "what the content rendered",
			Context:     "Prompts that name no agent go to this one.",
			Long:        agentDoc,
		},
		Run: func(ctx context.Context, c *engine.Call) (any, error) {
			name, err := available(ctx, c, c.Text("name"))
			if err != nil || !c.Paired() {
				return nil, err
			}
			region := c.Region()
			region.PinnedAgent = name
			return c.Content(ctx, engine.InRegion(region))
		},
	}
}

// available resolves an agent and makes sure it can be used. While a history answers,
// nothing is asked: the first prompt that is taken asks (agents 6).
func available(ctx context.Context, c *engine.Call, named string) (string, error) {
	region := c.Region()
	provider, err := region.Installed()
	if err != nil {
		return "", fatal(err)
	}
	name := region.AgentName(named)
	if c.Replaying() {
		return name, nil
	}
	if name, err = provider.Agent(ctx, name); err != nil {
		return "", fatal(err)
	}
	return name, nil
}

// session makes one conversation the one of its content (agents 4.3).
func session() engine.Component {
	return engine.Component{
		Name:   "Session",
		Origin: origin,
		Props:  `{"name":{"type":"string","minLength":1,"description":"what to call the conversation"}}`,
		Forms:  engine.Both,
		Effect: "agent",
		Doc: engine.Doc{
			Description: "Makes one conversation with an agent the one of its content. It starts with the first prompt in it.",
			As:          "what the content rendered",
			Context:     "Prompts continue this conversation.",
			Long:        sessionDoc,
		},
		Run: func(ctx context.Context, c *engine.Call) (any, error) {
			name, err := available(ctx, c, "")
			if err != nil {
				return nil, err
			}
			region := c.Region()
			placed, err := region.Provider.Session(ctx, agent.Placement{
				Agent: name, Name: c.Text("name"), Identity: c.Expansion(), Cwd: c.Dir(),
			})
			if err != nil {
				return nil, fatal(err)
			}
			if !c.Paired() {
				return nil, nil
			}
			region.PinnedAgent, region.PinnedSession = name, placed
			return c.Content(ctx, engine.InRegion(region))
		},
	}
}

// policyElement states how permission requests of its content are answered; it
// narrows what the invocation granted and never widens it (agents 7.1).
func policyElement(name string, mode agent.Mode, description, long string) engine.Component {
	return engine.Component{
		Name:   name,
		Origin: origin,
		Forms:  engine.Both,
		Effect: "agent",
		Doc: engine.Doc{
			Description: description,
			As:          "what the content rendered",
			Context:     "Counts for prompts of the content; the lower of this and what the command line granted decides.",
			Long:        long,
		},
		Run: func(ctx context.Context, c *engine.Call) (any, error) {
			if !c.Paired() {
				return nil, nil
			}
			region := c.Region()
			region.Policy = mode
			return c.Content(ctx, engine.InRegion(region))
		},
	}
}

// prompt takes one turn (agents 4.4).
func prompt() engine.Component {
	return engine.Component{
		Name:   "Prompt",
		Origin: origin,
		Props: `{
			"text": {"type":"string","description":"what is sent; content, where there is any, is sent instead"},
			"agent": {"type":"string","minLength":1,"description":"the agent; else the one in force"},
			"session": {"type":"string","minLength":1,"description":"a conversation by name; else the one in force"},
			"timeout": {"type":"string","description":"the limit of the turn, such as 90s"},
			"throwOnError": {"type":"boolean","default":false,"description":"stop the document when the turn fails"}
		}`,
		Forms:  engine.Both,
		Effect: "agent",
		Doc: engine.Doc{
			Description: "Sends one message to an agent and renders its reply. The reply is text: nothing in it is run.",
			As:          "the reply",
			Context:     "The content renders the message.",
			Long:        promptDoc,
		},
		Run: takeTurn,
	}
}

func takeTurn(ctx context.Context, c *engine.Call) (any, error) {
	text := c.Text("text")
	if c.Paired() {
		var err error
		if text, err = c.Content(ctx); err != nil {
			return nil, err
		}
	}
	name, err := available(ctx, c, c.Text("agent"))
	if err != nil {
		return nil, err
	}
	region := c.Region()
	options := agent.PromptOptions{Agent: name, Cwd: c.Dir(), Policy: region.Answers(), Session: agent.SessionRef{Placed: region.PinnedSession}}
	if named := c.Text("session"); named != "" {
		options.Session = agent.SessionRef{Name: named}
	}
	if options.Timeout, err = promptLimit(c, region.Timeout); err != nil {
		return nil, fatal(err)
	}
	throws, _ := c.Props().Get("throwOnError")
	raises := throws == true || region.FailPrompts
	place := c.Position().String()
	if place == "" {
		place = "unknown"
	}
	ordinal, sequence := c.NumberPrompt(place)
	var live error
	recorded, err := c.Effect(ctx, engine.Effect{
		Type:    "agent_prompt",
		Name:    fmt.Sprintf("prompt:%s#%d", place, ordinal),
		Members: []journal.Member{{Name: "input", Value: text}},
		Guard:   guardPrompt(text),
	}, func(ctx context.Context) (any, error) {
		record := agent.Record{Sequence: sequence, Agent: name}
		if placed := options.Session.Placed; placed != nil {
			record.SessionKey = placed.Key
		}
		if live = turn(ctx, region.Provider, text, options, &record); ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		record.Raised = raises && record.Status != agent.Completed
		return record.Value(), nil
	})
	if err != nil {
		return nil, err
	}
	record, err := agent.ParseRecord(recorded)
	if err != nil {
		return nil, fatal(err)
	}
	failed := record.PromptError(place, live)
	switch {
	case failed == nil:
		return record.Text, nil
	case record.Raised:
		return nil, failed
	}
	c.CollectPrompt(failed)
	return record.Text, nil
}

// turn takes the turn and notes what it came to.
func turn(ctx context.Context, p agent.Provider, text string, o agent.PromptOptions, record *agent.Record) error {
	var end *agent.Terminal
	o.Permission = func(a agent.Audit) { record.Permissions = append(record.Permissions, a) }
	reply, err := p.Prompt(text, o).Run(ctx, func(e agent.Event) error {
		switch e := e.(type) {
		case agent.Started:
			record.Agent = e.Agent
			record.SessionKey, record.AgentSessionID = e.Session.Key, e.Session.ID
		case agent.Terminal:
			end = &e
		}
		return nil
	})
	record.Text = reply
	record.Finish(end, err)
	if end != nil {
		err = end.Err
	}
	return err
}

// guardPrompt refuses a recorded turn that answered another message, and one that is
// no record of a turn.
func guardPrompt(text string) func(journal.Event) error {
	return func(e journal.Event) error {
		if sent, ok := e.Description.String("input"); !ok || sent != text {
			return errors.New("the recorded turn answered another message than <Prompt> sends now; restore the message, or start the document anew")
		}
		if e.Result.Status != journal.StatusOk {
			return errors.New("the recorded turn has no outcome")
		}
		_, err := agent.ParseRecord(e.Result.Value)
		return err
	}
}

// promptLimit is the limit of a turn that an element states.
func promptLimit(c *engine.Call, otherwise time.Duration) (time.Duration, error) {
	if !c.Has("timeout") {
		return otherwise, nil
	}
	return agent.ParseDuration("timeout of <"+c.Name()+">", c.Text("timeout"))
}

// fatal ends the document where it stands, whatever prints errors there (agents 4.5).
func fatal(err error) error { return &engine.Infrastructure{Err: err} }
