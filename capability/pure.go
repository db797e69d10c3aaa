package capability

// pureEntries is the third table of every closed profile (fragments 2). They have no
// operation: an evaluator computes them, and nothing leaves it.
func pureEntries() []Entry {
	return []Entry{
		{
			Name:     "Json",
			Identity: Identity{core, "Json", 1},
			Forms:    SelfClosing,
			Props: `{"type":"object","properties":{
				"value":{"description":"any value"}
			},"required":["value"],"additionalProperties":false}`,
			Effect:   Pure,
			Describe: "Renders its value as JSON text, indented by two spaces.",
		},
		{
			Name:     "CodeBlock",
			Identity: Identity{core, "CodeBlock", 1},
			Forms:    SelfClosing,
			Props: `{"type":"object","properties":{
				"value":{"type":"string","description":"the text to show"},
				"language":{"type":"string","pattern":"^[A-Za-z0-9][A-Za-z0-9._+#-]*$","description":"the language after the fence"}
			},"required":["value"],"additionalProperties":false}`,
			Returns:  `{"type":"string"}`,
			Effect:   Pure,
			Describe: "Shows text in a code fence long enough that the text cannot close it; binds the fence and the text.",
		},
		{
			Name:     "Fail",
			Identity: Identity{core, "Fail", 1},
			Forms:    SelfClosing,
			Props: `{"type":"object","properties":{
				"message":{"type":"string","minLength":1,"description":"why the evaluation stops"}
			},"required":["message"],"additionalProperties":false}`,
			Effect:   Pure,
			Describe: "Stops the evaluation with the sentence in message.",
		},
	}
}

// isPure reports whether a name belongs to the pure table. It does so in a flat
// profile too, which has no such table: there the name means nothing.
func isPure(name string) bool { return name == "Json" || name == "CodeBlock" || name == "Fail" }
