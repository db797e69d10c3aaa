package admission

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestScopes holds which names are visible where (fragments 4). V binds a name, R
// reads one in text and E in an expression.
func TestScopes(t *testing.T) {
	g := closed(t)
	const let = `<Let as="%s" value={1} />`
	x, y := fmt.Sprintf(let, "x"), fmt.Sprintf(let, "y")
	ex := `<Pick any={x} />`
	for _, r := range []struct {
		source string
		want   Class
	}{
		// Order, and an element cannot name what it is producing.
		{x + `{x}` + ex, ""},
		{`{x}` + x, Interpolation},
		{`<Pick as="x" any={x} />`, Expression},
		{`<Wrap as="x">{x}</Wrap>`, Interpolation},
		{`<Wrap as="x">t</Wrap>{x}`, ""},
		{`<Let as="x">{x}</Let>`, Interpolation},
		{`<Let as="x">t</Let>{x}`, ""},
		{x + `<Let as="x">{x}</Let>`, ""},
		{x + `<Pick as="x" any={x} />` + ex, ""},

		// Content keeps its names, and cannot bind an outer one again.
		{`<Wrap>` + x + `{x}</Wrap>`, ""},
		{`<Wrap>` + x + `</Wrap>{x}`, Interpolation},
		{`<Wrap>` + x + `</Wrap>` + x + `{x}`, ""},
		{`<Wrap>` + x + `</Wrap><Wrap>` + x + `</Wrap>`, ""},
		{`<Wrap>` + x + x + `</Wrap>`, ""},
		{x + `<Wrap>{x}` + ex + `</Wrap>`, ""},
		{x + `<Wrap>` + x + `</Wrap>`, Binding},
		{x + `<Wrap><Wrap>` + x + `</Wrap></Wrap>`, Binding},
		{`<Wrap>` + x + `<Wrap>` + x + `</Wrap></Wrap>`, Binding},
		{`<Wrap as="x"><Pick as="x" /></Wrap>{x}`, ""},
		{x + `<Wrap><If condition={x}>` + x + `</If></Wrap>`, Binding},
		{x + `<Wrap><Let as="y">` + x + `</Let></Wrap>`, Binding},
		{x + `<Wrap><Each in={[]} let="i" as="x">t</Each></Wrap>`, Binding},
		{x + `<Wrap><Each in={[]} let="x">t</Each></Wrap>`, Binding},
		{`<Each in={[]} let="x"><Wrap>` + x + `</Wrap></Each>`, Binding},
		{x + `<Wrap><All><Spawn>` + x + `</Spawn><Spawn>t</Spawn></All></Wrap>`, Binding},

		// The arms of a branch start alike; afterwards all their names are visible.
		{`<If condition={1}>` + x + `</If>{x}`, ""},
		{`<If condition={1}>` + x + `<Else>{x}</Else></If>`, Interpolation},
		{`<If condition={1}>` + x + `<Else>` + y + `</Else></If>{x}{y}`, ""},
		{`<If condition={1}>` + x + `<Else>` + x + `{x}</Else></If>{x}`, ""},
		{x + `<If condition={1}>` + x + `<Else>{x}</Else></If>{x}`, ""},
		{`<If condition={1}>` + x + `<Else><If condition={1}>` + y + `<Else>{x}</Else></If></Else></If>`, Interpolation},
		{`<If condition={1}>` + x + `<Else><If condition={1}>` + y + `<Else>{y}</Else></If></Else></If>`, Interpolation},
		{`<If condition={1}>` + x + `<Else><If condition={1}>` + y + `</If>{y}</Else></If>{x}{y}`, ""},
		{`<If condition={1}>` + x + `<Else><Wrap>` + x + `{x}</Wrap></Else></If>{x}`, ""},
		{`<If condition={1}>` + x + `<Else>` + x + `<Wrap>` + x + `</Wrap></Else></If>`, Binding},
		{`<If condition={1}>` + x + `<Else><Each in={[]} let="i">` + x + `{x}</Each>{x}</Else></If>`, Interpolation},
		{`<Switch value={1}><Case value={1}>` + x + `</Case><Case value={x}>t</Case></Switch>`, Expression},
		{`<Switch value={1}><Case value={1}>` + x + `</Case><Case value={2}>{x}</Case></Switch>`, Interpolation},
		{`<Switch value={1}><Case value={1}>` + x + `</Case><Case default>` + y + `</Case></Switch>{x}{y}`, ""},
		{x + `<Switch value={x}><Case value={x}>{x}</Case></Switch>`, ""},

		// Each sees a copy and its item; nothing survives but its own as.
		{`<Each in={[1]} let="i">{i}</Each>`, ""},
		{`<Each in={[1]} let="i">t</Each>{i}`, Interpolation},
		{`<Each in={i} let="i">t</Each>`, Expression},
		{`<Each in={[1]} let="i">` + x + `{x}</Each>{x}`, Interpolation},
		{`<Each in={[1]} let="i">` + x + `</Each><Each in={[1]} let="i">{x}</Each>`, Interpolation},
		{`<Each in={[1]} let="i" as="x">{x}</Each>`, Interpolation},
		{`<Each in={[1]} let="i" as="x">{i}</Each>{x}`, ""},
		{x + `<Each in={[1]} let="x">{x}` + x + `</Each>{x}`, ""},

		// Spawn sees a copy, of which nothing survives.
		{x + `<All><Spawn>{x}` + x + `</Spawn><Spawn>{x}</Spawn></All>{x}`, ""},
		{`<All><Spawn>` + x + `{x}</Spawn><Spawn>{x}</Spawn></All>`, Interpolation},
		{`<All><Spawn>` + x + `</Spawn><Spawn>t</Spawn></All>{x}`, Interpolation},

		// Loop, Let and Answers are transparent.
		{`<Loop max={2}>` + x + `</Loop>{x}`, ""},
		{`<Loop max={2}>{x}` + x + `</Loop>`, Interpolation},
		{`<Let as="y" value={2} /><Loop max={y}>t</Loop>`, ""},
		{`<Loop max={y}>t</Loop>`, Expression},
		{`<Let as="y">` + x + `{x}</Let>{x}{y}`, ""},
		{`<Answers>` + x + `{x}</Answers>{x}`, ""},

		// Matchers are read before the body, wherever they stand.
		{x + `<Answers><Answer template="{x}" value={x}/>t</Answers>`, ""},
		{`<Answers>` + x + `<Answer value={x} /></Answers>`, Expression},
		{`<Answers>` + x + `<Answer template="{x}" value={1} /></Answers>`, Interpolation},
		{`<Answers>` + x + `<Answer value={1}>{x}</Answer></Answers>`, Interpolation},
		{`<Answers>` + x + `<Answer value={1}>t</Answer>{x}</Answers>{x}`, ""},
		{`<Answers><Answer value={1}>` + x + `{x}</Answer>{x}</Answers>`, Interpolation},
		{`<Answers><Answer value={1}>` + x + `{x}</Answer><Answer value={x} />t</Answers>`, Expression},
		{`<Answers delegate={x}>` + x + `</Answers>`, Expression},
		{`<Answers><Answer template="{x.y} {z}" value={1} />t</Answers>`, Interpolation},

		// What a Break may leave, and what captures.
		{`<Loop max={1}><If condition={1}><Break /></If></Loop>`, ""},
		{`<Loop max={1}><Switch value={1}><Case default><Break /></Case></Switch></Loop>`, ""},
		{`<Loop max={1}><Each in={[]} let="i"><Answers>t<Break /></Answers></Each></Loop>`, ""},
		{`<Loop max={1}><Wrap><Loop max={1}><Break /></Loop></Wrap><Break /></Loop>`, ""},
		{`<Loop max={1}>t</Loop><Break />`, Structure},
		{`<Loop max={1}><Each in={[]} let="i" as="x"><If condition={1}><Break /></If></Each></Loop>`, Structure},
	} {
		require.Equal(t, r.want, class(r.source, g), r.source)
	}
}

// A twin runs a scope beside the plainest model there is: a set of names that is
// copied wherever a construct begins.
type twin struct {
	t     *testing.T
	seed  uint64
	r     *rand.Rand
	scope *scope
	names map[string]bool // visible
	outer map[string]bool // visible before the content
}

// block makes a random body of n steps and compares after each.
func (w *twin) block(n, depth int) {
	for range n {
		before, outer := maps.Clone(w.names), w.outer
		kind := w.r.IntN(6)
		if depth == 0 {
			kind = 0
		}
		switch mark := w.scope.mark(); kind {
		case 0, 1:
			name := string(rune('a' + w.r.IntN(6)))
			w.scope.bind(name)
			w.names[name] = true
		case 2: // a copy of which nothing survives
			w.block(n, depth-1)
			w.scope.drop(mark)
			w.names = before
		case 3: // content
			content := w.scope.content
			w.scope.content, w.outer = mark, before
			w.block(n, depth-1)
			w.scope.drop(mark)
			w.scope.content, w.outer, w.names = content, outer, maps.Clone(before)
		case 4: // arms
			union := maps.Clone(before)
			for range 1 + w.r.IntN(3) {
				w.names = maps.Clone(before)
				w.scope.hide(mark)
				w.block(n, depth-1)
				w.scope.show()
				maps.Copy(union, w.names)
			}
			w.names = union
		case 5: // a body with matchers that see what was before it
			w.block(n, depth-1)
			after := w.names
			w.names = maps.Clone(before)
			w.scope.hide(mark)
			own := w.scope.mark()
			w.block(n, depth-1)
			w.scope.drop(own)
			w.scope.show()
			w.names = after
		}
		for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
			require.Equal(w.t, w.names[name], w.scope.visible(name), "%s, seed %d", name, w.seed)
			require.Equal(w.t, w.outer[name], w.scope.outer(name), "%s, seed %d", name, w.seed)
		}
	}
}

func TestScopeAgreesWithCopies(t *testing.T) {
	for seed := range uint64(300) {
		w := &twin{t: t, seed: seed, r: rand.New(rand.NewPCG(seed, 1)), scope: newScope(), names: map[string]bool{}}
		w.block(4, 4)
		require.Empty(t, w.scope.hidden)
	}
}
