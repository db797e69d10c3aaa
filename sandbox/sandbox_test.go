package sandbox_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/internal/value"
	"github.com/executable-markdown/xmd/sandbox"
	"github.com/executable-markdown/xmd/wasm"
)

// A meaning is a program with what it comes to.
type meaning struct {
	name   string
	write  func(d *draft) []wasm.Node
	output string
	log    []string // nil: nothing was done
	seen   []sandbox.Observation
	failed string // the whole text of the error
}

func meanings() []meaning {
	saw := func(name string, v any) sandbox.Observation { return sandbox.Observation{Name: name, Value: v} }
	return []meaning{
		{name: "nothing", write: func(d *draft) []wasm.Node { return nil }},
		{name: "text", write: func(d *draft) []wasm.Node { return nodes(text("a\n"), text("b")) }, output: "a\nb"},
		{
			name:   "a read renders its string",
			write:  func(d *draft) []wasm.Node { return nodes(text("["), d.peek("", lit("a")), text("]")) },
			output: "[<a>]", log: []string{"peek a"}, seen: []sandbox.Observation{saw("Peek", "<a>")},
		},
		{
			name:  "a read renders nothing but strings",
			write: func(d *draft) []wasm.Node { return nodes(d.peek("", lit("list")), d.peek("", lit("null"))) },
			log:   []string{"peek list", "peek null"},
			seen:  []sandbox.Observation{saw("Peek", []any{1.0, "two"}), saw("Peek", nil)},
		},
		{
			name: "a bound read renders nothing until it is shown",
			write: func(d *draft) []wasm.Node {
				return nodes(d.peek("x", lit("a")), text("."), show("{x}"), show("{x.length}"), show("{y}"))
			},
			output: ".<a>{x.length}{y}", log: []string{"peek a"}, seen: []sandbox.Observation{saw("Peek", "<a>")},
		},
		{
			name: "members of what was read",
			write: func(d *draft) []wasm.Node {
				return nodes(
					d.peek("x", lit("object")), show("{x}"), text(" "), show("{x.b}"), text(" "), show("{x.missing}"), text(" "), show("{x.b.c}"), text(" "),
					d.let("y", &wasm.Chain{Base: name("x"), Steps: []wasm.Step{{Property: "a"}, {Index: json("1")}}}), show("{y}"))
			},
			output: "[object Object] text undefined {x.b.c} 2", log: []string{"peek object"},
			seen: []sandbox.Observation{saw("Peek", value.Of("b", "text", "a", []any{1.0, 2.0}))},
		},
		{
			name: "expressions",
			write: func(d *draft) []wasm.Node {
				return nodes(
					d.let("x", json("3")),
					d.let("y", binary(wasm.Add, lit("n="), binary(wasm.Multiply, name("x"), json("2")))), show("{y}"), text(" "),
					d.let("z", &wasm.Conditional{Test: binary(wasm.Less, name("x"), json("5")), Then: lit("small"), Else: lit("large")}), show("{z}"), text(" "),
					d.let("o", &wasm.Logical{Op: wasm.Or, X: lit(""), Y: lit("other")}), show("{o}"), text(" "),
					d.let("c", &wasm.Logical{Op: wasm.Coalesce, X: json("null"), Y: lit("none")}), show("{c}"), text(" "),
					d.let("n", &wasm.Unary{Op: wasm.Not, X: name("x")}), show("{n}"), text(" "),
					d.let("u", &wasm.Chain{Base: json("null"), Steps: []wasm.Step{{Property: "a", Optional: true}, {Property: "b"}}}), show("{u}"))
			},
			output: "n=6 small other none false undefined",
		},
		{
			name: "the members of an object come in ECMAScript's order",
			write: func(d *draft) []wasm.Node {
				return nodes(d.let("x", json("7")), d.json(&wasm.ObjectLiteral{Members: []wasm.Prop{
					{Name: "b", Value: name("x")}, {Name: "2", Value: json("true")}, {Name: "1", Value: &wasm.Array{Elements: []wasm.Expr{name("x"), json("null")}}}}}))
			},
			output: "{\n  \"1\": [\n    7,\n    null\n  ],\n  \"2\": true,\n  \"b\": 7\n}",
		},
		{
			name: "pure components",
			write: func(d *draft) []wasm.Node {
				return nodes(
					d.single("CodeBlock", blockID, "", wasm.Prop{Name: "value", Value: lit("a ``` b")}, wasm.Prop{Name: "language", Value: lit("md")}), text("\n"),
					d.single("CodeBlock", blockID, "c", wasm.Prop{Name: "value", Value: lit("x")}), show("{c}"))
			},
			output: "````md\na ``` b\n````\n```\nx\n```",
		},
		{
			name: "a write gets what its content rendered",
			write: func(d *draft) []wasm.Node {
				return nodes(d.put("f", func() []wasm.Node { return nodes(text("a "), d.peek("", lit("k")), text(" b")) }), text("done"))
			},
			output: "done", log: []string{"peek k", `put :f "a <k> b"`}, seen: []sandbox.Observation{saw("Peek", "<k>")},
		},
		{
			name: "a directory is made first and left last",
			write: func(d *draft) []wasm.Node {
				return nodes(d.into("a", func() []wasm.Node {
					return nodes(text("in "), d.into("b", func() []wasm.Node { return nodes(d.put("f", func() []wasm.Node { return nodes(text("x")) })) }),
						d.put("g", func() []wasm.Node { return nil }))
				}), d.put("h", func() []wasm.Node { return nil }))
			},
			output: "in ", log: []string{"make :a", "make a:b", `put a/b:f "x"`, `put a:g ""`, `put :h ""`},
		},
		{
			name: "let trims the end",
			write: func(d *draft) []wasm.Node {
				return nodes(d.letText("x", func() []wasm.Node { return nodes(text("  a \n\t"), text("\u00a0\n")) }), show("[{x}]"[1:4]), text("|"))
			},
			output: "  a|",
		},
		{
			name: "each sees a copy that is dropped",
			write: func(d *draft) []wasm.Node {
				return nodes(
					d.each(json(`["a","b"]`), "i", "", func() []wasm.Node {
						return nodes(d.let("x", binary(wasm.Add, name("i"), lit("!"))), show("{x}"), text(" "))
					}), show("{x}"), show("{i}"),
					d.each(json(`["a","b"]`), "i", "all", func() []wasm.Node { return nodes(show("{i}"), text(" ")) }), text(" ["), show("{all}"), text("]"),
					d.each(json(`[]`), "i", "", func() []wasm.Node { return nodes(text("never")) }))
			},
			output: "a! b! {x}{i} [a b ]",
		},
		{
			name: "the items of each are copies",
			write: func(d *draft) []wasm.Node {
				return nodes(
					d.let("o", json(`{"a":1}`)), d.let("s", &wasm.Array{Elements: []wasm.Expr{name("o"), name("o")}}),
					d.each(name("s"), "i", "", func() []wasm.Node {
						return nodes(d.let("e", binary(wasm.StrictEqual, name("i"), name("o"))), show("{e}"), text(" "))
					}),
					d.let("e", binary(wasm.StrictEqual, &wasm.Chain{Base: name("s"), Steps: []wasm.Step{{Index: json("1")}}}, name("o"))), show("{e}"))
			},
			output: "false false true",
		},
		{
			name: "a loop ends by its bound or a break",
			write: func(d *draft) []wasm.Node {
				return nodes(
					d.let("n", json("0")),
					d.loop(json("10"), func() []wasm.Node {
						return nodes(
							d.let("n", binary(wasm.Add, name("n"), json("1"))), show("{n}"),
							d.when(binary(wasm.StrictEqual, name("n"), json("3")), func() []wasm.Node { return nodes(d.stop()) }, func() []wasm.Node { return nodes(text(",")) }),
							text(";"))
					}), text(" "),
					d.loop(json("2"), func() []wasm.Node { return nodes(show("{n}")) }))
			},
			output: "1,;2,;3 33",
		},
		{
			name: "a break closes the each and the region it leaves",
			write: func(d *draft) []wasm.Node {
				return nodes(
					d.answers(nil, []answered{{"", `"outer"`}}, func() []wasm.Node {
						return nodes(
							d.loop(json("5"), func() []wasm.Node {
								return nodes(d.each(json(`[1,2]`), "i", "", func() []wasm.Node {
									return nodes(show("{i}"), d.answers(nil, []answered{{"", `"inner"`}}, func() []wasm.Node {
										return nodes(d.ask("", "q"), d.stop(), text("never"))
									}), text("never"))
								}), text("never"))
							}),
							show("{i}"), d.ask("", "q"))
					}))
			},
			output: "1inner{i}outer", log: []string{`ask "q"`, `ask "q"`},
		},
		{
			name: "answers",
			write: func(d *draft) []wasm.Node {
				return nodes(d.let("who", lit("Ann")),
					d.answers(nil, []answered{{"for {who}", `{"a":1}`}, {"Is {?x}?", `true`}, {"other", `null`}}, func() []wasm.Node {
						return nodes(
							d.ask("a", "for Ann"), show("{a.a}"), d.ask("b", "Is it so?"), show("{b}"), d.ask("c", "other"), show("{c}"),
							d.answers(json("true"), []answered{{"near", `"n"`}}, func() []wasm.Node {
								return nodes(d.ask("", "near"), d.ask("d", "other"), show("{d}"))
							}))
					}))
			},
			output: "1truenullnnull",
			log:    []string{`ask "for Ann"`, `ask "Is it so?"`, `ask "other"`, `ask "near"`, `ask "other"`},
		},
		{
			name: "the content of an answer is its template, trimmed",
			write: func(d *draft) []wasm.Node {
				n := &wasm.Answers{}
				who := d.let("who", lit("Ann"))
				n.Element = d.element("Answers", "", wasm.Paired, "", func() {
					n.Answers = []wasm.Answer{d.asked(`"a"`, text("\n  Is {who} "), show("{who}"), text(" here?\n"))}
					n.Body = nodes(d.ask("", "Is Ann Ann here?"))
				})
				return nodes(who, n)
			},
			output: "a", log: []string{`ask "Is Ann Ann here?"`},
		},
		{
			name: "what a matcher asks goes to the regions around it",
			write: func(d *draft) []wasm.Node {
				return nodes(d.answers(nil, []answered{{"", `"outer"`}}, func() []wasm.Node {
					n := &wasm.Answers{}
					n.Element = d.element("Answers", "", wasm.Paired, "", func() {
						first := wasm.Answer{Value: &wasm.Literal{JSON: `"inner"`}}
						first.Element = d.element("Answer", "", wasm.Paired, "", func() { first.Children = nodes(d.ask("", "which?")) })
						n.Answers = []wasm.Answer{first}
						n.Body = nodes(d.ask("", "outer"))
					})
					return nodes(n)
				}))
			},
			output: "inner", log: []string{`ask "which?"`, `ask "outer"`},
		},
		{
			name: "delegate must be a truth value",
			write: func(d *draft) []wasm.Node {
				return nodes(d.answers(json("1"), []answered{{"", "1"}}, func() []wasm.Node { return nodes(text("a")) }))
			},
			failed: "<Answers> at byte 0 of the fragment: delegate of <Answers> must be true or false, not a number",
		},
		{
			name: "the value of an answer must be JSON",
			write: func(d *draft) []wasm.Node {
				n := &wasm.Answers{}
				n.Element = d.element("Answers", "", wasm.Paired, "", func() {
					n.Answers = []wasm.Answer{{Element: d.element("Answer", "", wasm.SelfClosing, "", nil), Value: &wasm.Array{Elements: []wasm.Expr{binary(wasm.Divide, json("0"), json("0"))}}}}
					n.Body = nodes(text("a"))
				})
				return nodes(n)
			},
			failed: "<Answer> at byte 10 of the fragment: value of <Answer> is not JSON: $[0] is no finite number",
		},
		{
			name: "all renders in document order",
			write: func(d *draft) []wasm.Node {
				return nodes(
					d.let("x", lit("x")),
					d.all(
						func() []wasm.Node { return nodes(d.let("y", lit("1")), show("{x}{y}"[:3]), show("{y}")) },
						func() []wasm.Node { return nodes(show("{x}"), show("{y}"), d.json(json("[]"))) },
					), show("{y}"))
			},
			output: "x1x{y}[]{y}",
		},
		{
			name: "all is rendered aside too",
			write: func(d *draft) []wasm.Node {
				return nodes(d.letText("t", func() []wasm.Node {
					return nodes(text("("), d.all(func() []wasm.Node { return nodes(d.peek("", lit("a"))) }, func() []wasm.Node { return nodes(text("b")) }), text(")"))
				}), show("{t}"))
			},
			output: "(<a>b)", log: []string{"peek a"}, seen: []sandbox.Observation{saw("Peek", "<a>")},
		},
		{
			name:   "lone surrogates",
			write:  func(d *draft) []wasm.Node { return nodes(d.let("x", json(`"\ud83d"`)), show("{x}"), d.json(name("x"))) },
			output: "\ufffd\"\\ud83d\"",
		},
		{
			name: "an authored failure",
			write: func(d *draft) []wasm.Node {
				return nodes(d.peek("", lit("a")), d.fail(lit("no way")), d.peek("", lit("b")))
			},
			log:    []string{"peek a"},
			failed: "no way",
		},
		{
			name: "a name that is not bound",
			write: func(d *draft) []wasm.Node {
				return nodes(d.when(json("false"), func() []wasm.Node { return nodes(d.let("x", json("1"))) }, nil), show("{x}"), d.peek("", name("x")))
			},
			failed: "x is not bound: the branch that binds it was not taken",
		},
		{
			name:   "an operation that fails",
			write:  func(d *draft) []wasm.Node { return nodes(text("a"), d.peek("", lit("broken")), d.peek("", lit("b"))) },
			log:    []string{"peek broken"},
			failed: "<Peek> at byte 0 of the fragment: there is nothing to see",
		},
		{
			name:   "an operation that panics",
			write:  func(d *draft) []wasm.Node { return nodes(d.peek("", lit("panic"))) },
			log:    []string{"peek panic"},
			failed: "<Peek> at byte 0 of the fragment: panic: the operation is broken",
		},
		{
			name: "computed props are judged before the content",
			write: func(d *draft) []wasm.Node {
				return nodes(d.let("x", lit("")), d.pair("Put", putID, "", []wasm.Prop{{Name: "path", Value: name("x")}}, func() []wasm.Node { return nodes(d.peek("", lit("a"))) }))
			},
			failed: "<Put> at byte 10 of the fragment: its props do not match what it takes:\n  - \"/path\" must NOT have fewer than 1 characters",
		},
		{
			name: "json of undefined",
			write: func(d *draft) []wasm.Node {
				return nodes(d.json(&wasm.Chain{Base: json("{}"), Steps: []wasm.Step{{Property: "a"}}}))
			},
			failed: "<Json> at byte 0 of the fragment: undefined has no JSON text: give a value, or null",
		},
		{
			name:   "a question nobody answers",
			write:  func(d *draft) []wasm.Node { return nodes(d.ask("", "q")) },
			log:    []string{`ask "q"`},
			failed: "<Ask> at byte 0 of the fragment: nobody is there",
		},
		{
			name: "a question no matcher answers",
			write: func(d *draft) []wasm.Node {
				return nodes(d.answers(nil, []answered{{"r {?x}", "1"}}, func() []wasm.Node { return nodes(d.ask("", "q")) }))
			},
			log:    []string{`ask "q"`},
			failed: `<Ask> at byte 20 of the fragment: no <Answer> matches the question "q"; templates tried: "r {?x}"; write delegate={true} on <Answers> to pass it on`,
		},
	}
}

func newWorld() *world {
	return &world{values: map[string]any{
		"null": nil, "list": []any{1.0, "two"}, "object": value.Of("b", "text", "a", []any{1.0, 2.0}),
	}}
}

// TestEnginesAgree runs every program in both engines: the interpreter, which is the
// product, and the compiler, which is the second reading (F10).
func TestEnginesAgree(t *testing.T) {
	engines := map[string]*sandbox.Runtime{"interpreter": interpreter(t), "compiler": compiler(t)}
	for _, m := range meanings() {
		t.Run(m.name, func(t *testing.T) {
			module := compile(t, program(m.write))
			used := map[string]sandbox.Result{}
			for engine, r := range engines {
				w := newWorld()
				got, err := r.Run(t.Context(), module, w.grant(t, capability.Limits{}), sandbox.Hooks{})
				if m.failed != "" {
					require.EqualError(t, err, m.failed, engine)
					require.Empty(t, got.Output)
					require.Empty(t, got.Observations)
				} else {
					require.NoError(t, err, engine)
				}
				require.Equal(t, m.output, got.Output, engine)
				require.Equal(t, m.seen, got.Observations, engine)
				require.ElementsMatch(t, m.log, w.done(), engine)
				used[engine] = got
			}
			require.Equal(t, used["interpreter"], used["compiler"], "steps and values are the same in every engine")
		})
	}
}
