package main

// defects is every deliberate defect, in the order of the rows they redden.
var defects = []defect{
	{
		name: "effects-before-the-decision",
		file: "internal/component/evaluate.go",
		old: `		if p.decision.Refusal != nil {
			return p.decision.Record(nil), nil
`,
		new: `		if p.decision.Refusal != nil {
			for i := len(text) - 1; i > 0; i-- {
				if text[i] != '<' {
					continue
				}
				if d := admission.Preflight(p.id, text[:i], grant); d.Refusal == nil {
					m, _ := wasm.Compile(d.Program)
					rt, _ := sandbox.New(ctx)
					_, _ = rt.Run(ctx, m, grant, sandbox.Hooks{})
					break
				}
			}
			return p.decision.Record(nil), nil
`,
		rows: []string{"A1"},
	},
	{
		name: "refusal-keeps-the-source",
		file: "admission/admission.go",
		old:  `return &Decision{Refusal: &Refusal{fault.class}}`,
		new:  `return &Decision{Refusal: &Refusal{fault.class}, Source: source}`,
		rows: []string{"A3"},
	},
	{
		name: "refusal-quotes-the-candidate",
		file: "internal/component/evaluate.go",
		old:  `Message: fmt.Sprintf("<%s>: %v", c.Name(), p.decision.Refusal)`,
		new:  `Message: fmt.Sprintf("<%s>: %v (%.100s)", c.Name(), p.decision.Refusal, text)`,
		rows: []string{"A3"},
	},
	{
		name: "repository-file-replaces-a-capability",
		file: "internal/component/fragment.go",
		old:  "	record := e.Record(c)\n",
		new: `	if s := w.call.Host().Sources; s != nil && e.Name == "File" {
		if text, err := s.ReadSource("components/" + e.Name + ".md"); err == nil {
			do = func(context.Context) (any, error) { return string(text), nil }
		}
	}
	record := e.Record(c)
`,
		rows: []string{"A4"},
	},
	{
		name: "empty-pair-is-self-closing",
		file: "admission/walk.go",
		old: `	form := capability.SelfClosing
	if !el.SelfClosing {`,
		new: `	form := capability.SelfClosing
	if !el.SelfClosing && len(el.Children) > 0 {`,
		rows: []string{"A2", "A5", "A13"},
	},
	{
		name: "ungranted-import-falls-back",
		file: "sandbox/link.go",
		old:  `	return l.runtime.refusing`,
		new:  `	return nil`,
		rows: []string{"A6"},
	},
	{
		name: "capture-shares-the-roots",
		file: "capability/capture.go",
		old:  `c.roots, c.selected = slices.Clone(p.Roots), p.Selected`,
		new:  `c.roots, c.selected = p.Roots, p.Selected`,
		rows: []string{"A7"},
	},
	{
		name: "revoked-operation-still-works",
		file: "capability/capture.go",
		old:  "		if !live.Load() {\n",
		new:  "		if live == nil {\n",
		rows: []string{"A8"},
	},
	{
		name: "continuation-ignores-the-current-text",
		file: "internal/component/evaluate.go",
		old:  `admission.Continue(p.id, record, &text, grant)`,
		new:  `admission.Continue(p.id, record, nil, grant)`,
		rows: []string{"A9"},
	},
	{
		name: "any-policy-holds",
		file: "admission/continuation.go",
		old:  `case !holds(r.policy, g.Policy()):`,
		new:  `case r.policy.Len() == 0:`,
		rows: []string{"A10"},
	},
	{
		name: "limits-are-not-compared",
		file: "admission/continuation.go",
		old:  `{"allow", "dialect", "allowed", "limits"}`,
		new:  `{"allow", "dialect", "allowed"}`,
		rows: []string{"A10"},
	},
	{
		name: "split-by-map-order",
		file: "wasm/piece.go",
		old:  `	return p.units+child.units <= maxUnits &&`,
		new: `	limit := maxUnits
	for n := range map[int]bool{20: true, 24: true, 28: true, maxUnits: true} {
		limit = n
	}
	return p.units+child.units <= limit &&`,
		rows: []string{"A9", "A16"},
	},
	{
		name: "members-in-map-order",
		file: "internal/component/fragment.go",
		old: `	members := []journal.Member{
		{Name: memberCapability, Value: e.Identity.String()},
		{Name: "input", Value: record.Input},
	}
`,
		new: `	var members []journal.Member
	for name, v := range map[string]any{memberCapability: e.Identity.String(), "input": record.Input} {
		members = append(members, journal.Member{Name: name, Value: v})
	}
`,
		rows: []string{"A16"},
	},
	{
		name: "stray-backtick-hides",
		file: "internal/document/fragment_hidden.go",
		old:  `(!certain || r.others.spans)`,
		new:  `!certain`,
		rows: []string{"A17"},
	},
	{
		name: "content-before-the-check",
		file: "sandbox/operations.go",
		old: `	if err := t.check(u); err != nil {
		return err
	}
	t.open(opened{kind: openElement`,
		new: `	if err := t.check(u); err != nil && g.Identity.Key != "Elicit.ask" {
		return err
	}
	t.open(opened{kind: openElement`,
		rows: []string{"A19"},
	},
	{
		name: "module-is-not-read-again",
		file: "sandbox/link.go",
		old:  `read, err := wasm.Read(m.Bytes)`,
		new:  `read, err := m, error(nil)`,
		rows: []string{"A21"},
	},
	{
		name: "private-addresses-are-dialled",
		file: "internal/host/guarded.go",
		old:  `if !private && !IsPublic(a) {`,
		new:  `if !private && !a.IsValid() {`,
		rows: []string{"A23"},
	},
	{
		name: "a-question-is-granted-with-reads",
		file: "capability/grant.go",
		old: `	return g, nil
}

func (c *Captured) table`,
		new: `	for _, e := range c.write {
		if e.Effect == Asks {
			g.pinned[e.Identity.String()], g.spelled[spelling{e.Name, Paired}] = e, e
		}
	}
	return g, nil
}

func (c *Captured) table`,
		rows: []string{"EL1", "EL3"},
	},
	{
		name: "a-file-answers-questions",
		file: "internal/component/fragment.go",
		old:  "	record := e.Record(c)\n",
		new: `	if s := w.call.Host().Sources; s != nil && e.Name == "Elicit" {
		if text, err := s.ReadSource("components/" + e.Name + ".md"); err == nil {
			do = func(context.Context) (any, error) { return string(text), nil }
		}
	}
	record := e.Record(c)
`,
		rows: []string{"EL5"},
	},
	{
		name: "the-gate-lets-everything-through",
		file: "plan/sequence.go",
		old: `	case !a.Valid():
		return nil, &GateError{a.Diagnostics}`,
		new: `	case !a.Valid():
		return value.NewObject(0), nil`,
		rows: []string{"PR10"},
	},
	{
		name: "signatures-are-compared-too-late",
		file: "plan/assess.go",
		old: `	if err := a.frozen.compare(declared, a.supplied.Words); err != nil {
		return Assessment{}, err
	}
	props, err := a.resolve(declared)
	if err != nil {
		return Assessment{}, err
	}
`,
		new: `	props, err := a.resolve(declared)
	if err != nil {
		return Assessment{}, err
	}
	if err := a.frozen.compare(declared, a.supplied.Words); err != nil {
		return Assessment{}, err
	}
`,
		rows: []string{"PR7"},
	},
	{
		name: "a-callers-fault-is-the-drafts",
		file: "plan/candidate.go",
		old:  `return nil, &engine.Infrastructure{Err: err}`,
		new:  `return value.Of("valid", false, "diagnostics", value.Of("message", err.Error())), nil`,
		rows: []string{"PR7"},
	},
	{
		name: "a-failed-turn-is-a-draft",
		file: "plan/author.go",
		old:  `FailPrompts: true`,
		new:  `FailPrompts: false`,
		rows: []string{"PR4", "PR5", "PR11"},
	},
	{
		name: "the-saved-text-is-tidied",
		file: "plan/sequence.go",
		old:  `c.Save(source)`,
		new:  `c.Save(source + "\n")`,
		rows: []string{"PR9", "PR11", "PR13", "PR14", "PR15"},
	},
	{
		name: "a-failed-teardown-is-forgotten",
		file: "plan/author.go",
		old: `		if e := runtime.Close(context.WithoutCancel(ctx)); e != nil {
			source, err = "", errors.Join(err, e)
		}
	}()
`,
		new: `		_ = runtime.Close(context.WithoutCancel(ctx))
	}()
	_ = errors.Join
`,
		rows: []string{"PR13"},
	},
	{
		name: "every-planning-fails",
		file: "plan/prompt-plan.md",
		old:  `<If condition={approved === null}>`,
		new:  `<If condition={true}>`,
		rows: []string{"PR1", "PR2", "PR3", "PR4", "PR5", "PR7", "PR8", "PR9", "PR10", "PR11", "PR12", "PR13", "PR14", "PR15"},
	},
	{
		name: "a-document-widens-permissions",
		file: "agent/policy.go",
		old:  `verdict = min(verdict, a.authored.Verdict(r.Tool.Kind))`,
		new:  `verdict = a.authored.Verdict(r.Tool.Kind)`,
		rows: []string{"AG10"},
	},
	{
		name: "no-terminal-is-not-stated",
		file: "agent/acp/wire.go",
		old:  "`json:\"terminal\"`",
		new:  "`json:\"terminal,omitempty\"`",
		rows: []string{"AG13", "PR5"},
	},
	{
		name: "the-directory-is-not-looked-at-again",
		file: "agent/acp/directory.go",
		old: `	if d.check() == nil {
		return nil
	}
	return &agent.Error{Code: agent.ErrCeilingInterference}`,
		new:  `	return nil`,
		rows: []string{"AG16", "PR13"},
	},
	{
		name: "a-denial-asks-the-policy",
		file: "agent/acp/exchange.go",
		old: `	if x.strict {
		x.condemn(agent.ErrToolPermissionRefused)`,
		new: `	if x.strict && x.policy == nil {
		x.condemn(agent.ErrToolPermissionRefused)`,
		rows: []string{"AG14"},
	},
	{
		name: "containment-as-far-as-it-goes",
		file: "internal/contain/landlock_linux.go",
		old: `	fd, flags, err := config.NewRulesetFD(rules...)
	if err == nil {`,
		new: `	fd, flags, err := config.BestEffort().NewRulesetFD(rules...)
	if err == nil && fd >= 0 {`,
		rows: []string{"AG18"},
	},
}
