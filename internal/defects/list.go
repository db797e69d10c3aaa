package main

// defects is every deliberate defect, in the order of the rows they redden.
var defects = []defect{
	{
		name: "refusal-keeps-the-source",
		file: "admission/admission.go",
		old:  `return &Decision{Refusal: &Refusal{fault.class}}`,
		new:  `return &Decision{Refusal: &Refusal{fault.class}, Source: source}`,
		rows: []string{"A3"},
	},
	{
		name: "empty-pair-is-self-closing",
		file: "admission/walk.go",
		old: `	form := capability.SelfClosing
	if !el.SelfClosing {`,
		new: `	form := capability.SelfClosing
	if !el.SelfClosing && len(el.Children) > 0 {`,
		rows: []string{"A5"},
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
		name: "any-policy-holds",
		file: "admission/continuation.go",
		old:  `case !holds(r.policy, g.Policy()):`,
		new:  `case r.policy.Len() == 0:`,
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
}
