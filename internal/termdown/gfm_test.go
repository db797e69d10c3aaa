package termdown

import (
	"bytes"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// goldmarkReader is reader with goldmark's own extensions instead of ours.
func goldmarkReader() parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(parser.DefaultBlockParsers()...),
		parser.WithInlineParsers(parser.DefaultInlineParsers()...),
		parser.WithInlineParsers(
			util.Prioritized(extension.NewTaskCheckBoxParser(), 0),
			util.Prioritized(extension.NewStrikethroughParser(), 500),
		),
		parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
		parser.WithParagraphTransformers(util.Prioritized(extension.NewTableParagraphTransformer(), 200)),
		parser.WithASTTransformers(util.Prioritized(extension.NewTableASTTransformer(), 0)),
	)
}

// outlines returns the trees that goldmark's extensions and ours read from
// markdown, one node a line, with its own text. What only one of them has is made
// equal: empty cells at the end of a row, the cell with what a row has too much,
// and the backslash before a pipe in the code of a cell.
func outlines(markdown string) (theirs, ours string) {
	source := []byte(markdown)
	a, b := outliner{source: source}, outliner{source: source, unescape: true}
	a.node(goldmarkReader().Parse(text.NewReader(source)), "")
	b.node(reader().Parse(text.NewReader(source)), "")
	return a.String(), b.String()
}

type outliner struct {
	strings.Builder
	source   []byte
	unescape bool // pipes in the code of a cell
	cell     bool
}

func (o *outliner) node(n ast.Node, indent string) {
	o.WriteString(indent + n.Kind().String())
	children := n.ChildCount()
	switch n := n.(type) {
	case *extast.Table:
		for _, a := range n.Alignments {
			o.WriteString(" " + a.String())
		}
	case *extast.TableHeader, *extast.TableRow:
		children = len(n.Parent().(*extast.Table).Alignments)
	case *extast.TableCell:
		o.cell = true
		defer func() { o.cell = false }()
	case *extast.TaskCheckBox:
		if n.IsChecked {
			o.WriteString(" x")
		}
	case *ast.Text:
		o.WriteString(" " + string(n.Value(o.source)))
	case *ast.CodeSpan:
		var code []byte
		for c := n.FirstChild(); c != nil; c = c.NextSibling() {
			code = append(code, c.(*ast.Text).Value(o.source)...)
		}
		if o.cell && o.unescape {
			code = bytes.ReplaceAll(code, []byte(`\|`), []byte("|"))
		}
		o.WriteString(" " + string(code))
		children = 0
	}
	o.WriteString("\n")
	c := n.FirstChild()
	for range children {
		if c == nil {
			o.WriteString(indent + "  TableCell\n")
			continue
		}
		o.node(c, indent+"  ")
		c = c.NextSibling()
	}
}

// differs matches lines that we read as GFM has it and goldmark does not: see
// TestBetterThanGoldmark.
var differs = regexp.MustCompile(`(?m)\|[ \t]*\|[ \t]*$|\\\|[ \t]*$|\[[ \t\fxX]\][^ \t\f\n]|^[^\w|:]*-[ \t]*$`)

func TestSameAsGoldmark(t *testing.T) {
	page := func(lines ...string) string { return strings.Join(lines, "\n") }
	for _, markdown := range []string{
		// tables
		page("|a|b|", "|-|-|", "|c|d|"),
		page("a|b", "-|-", "c|d"),
		page("| a | b |", "|:--|--:|", "| c |"),
		page("a|b|c|d", ":-|-:|:-:|---", "e|f|g|h|i|j"),
		page("|a|", "|-|", "|b|c \\| d|e|"),
		page("a", ":-", "b"),
		page("a", "|-", "b"),
		page("a|b", "-|-"),
		page("text", "more  ", "a|b", "-|-", "c|d", "", "text"),
		page("a|b", "x", "-|-", "c|d"),
		page("a|b", "-|-|-", "c|d", "-|-"),
		page("a|b|c", "-|-", "d|e", "-|-"),
		page("|a||", "|-|-|", "|b|"),
		page("a|b", "-|x", "c|d"),
		page("a|b", "-|::", "c|d"),
		page("a|b", "-|:", "c|d"),
		page("a|b", "-|-:-", "c|d"),
		page("a|b", "-||-", "c|d"),
		page("a|b", "| |-", "c|d"),
		page("a|b", " - | - ", " c | d "),
		page("a|b", "\t-\t|\t-", "\tc\t|\td"),
		page("|", "|-|"),
		page("a", "|"),
		page("|a|b|", "|-|-|", "|", "|c"),
		page("|a|b|", "|-|-|", "||c|", "| | d |"),
		page("`a|b`|c", "-|-", "`d\\|e` f|`g` \\| `h\\|\\|i`"),
		page("*a|b*|c", "-|-|-", "~~d~~|[e](f)|<g>"),
		page("a\\\\|b", "-|-", "c\\\\\\|d"),
		page("> a|b", "> -|-", "> c|d", "e|f"),
		page("- a|b", "  -|-", "  c|d", "- e"),
		page("1. a", "", "   a|b", "   -|-", "2. c|d"),
		page("a|b", "-|-", "# c", "d|e", "-|-"),
		page("[a]: b", "c|d", "-|-", "[a]|e"),
		page("a|b", "---"),
		page("a|b", "===", "-|-"),
		page("日本|b", "-|-", "\u00a0c\u00a0|\u3000d"),
		page("a|b", "-|-", "c|d  ", "e\\", "f|g"),
		// strikethrough
		"~a~ ~~b~~ ~~~c~~~ ~~~~d~~~~",
		"~~a~ ~b~~ ~c ~d~ ~ e~ f~",
		"a~b~c a~~b~~c ~*a~* *~b*~ **~~c~~**",
		"~~a\nb~~ ~~c\n\nd~~ \\~e~ ~f\\~ `~`g~",
		"~.a.~ x~.a~ ~~(b)~~c ~日~本",
		"~~~\ncode\n~~~\n\n~~~ a~~~",
		"[~a](b)~ ~[c](d)~ ![~e~](f)",
		// task lists
		"- [ ] a\n- [x] b\n- [X] c\n- [y] d\n- [] e\n- [  ] f",
		"* [x]\n+ [x] \n1. [ ] a\n2) [x]\tb",
		"- [x]\n  a\n- a [x] b\n- [ ]  *c*",
		"- [x] a\n\n  [x] b\n\n- > [x] c\n- - [x] d",
		"[x] a\n\n> [ ] b\n\n- # [x] c",
		"- [\t] a\n- \\[x] b\n- `[x] c`\n- [x",
	} {
		theirs, ours := outlines(markdown)
		require.Equal(t, theirs, ours, "%q", markdown)
	}
}

// TestSameAsGoldmarkAtRandom reads texts put together from what matters.
func TestSameAsGoldmarkAtRandom(t *testing.T) {
	tokens := strings.Split("|,|,|,-,-,:,a,b, ,  ,\n,\n,\n,\\,`,`,~,~~,*,[x] ,[ ] ,- ,> ,1. ,    ,\t,[,],(c),<d>,|-|-|\n,-|-\n,&lt;,~~~\n,[a]: b\n", ",")
	random := rand.New(rand.NewPCG(1, 2))
	tables := 0
	for range 2000 {
		var b strings.Builder
		for range random.IntN(30) {
			b.WriteString(tokens[random.IntN(len(tokens))])
		}
		if differs.MatchString(b.String()) {
			continue
		}
		theirs, ours := outlines(b.String())
		require.Equal(t, theirs, ours, "%q", b.String())
		if strings.Contains(ours, "TableRow") {
			tables++
		}
	}
	require.Greater(t, tables, 50)
}

// Where goldmark loses something, or takes for GFM what is none, we do not.
func TestBetterThanGoldmark(t *testing.T) {
	for _, row := range []struct{ markdown, want string }{
		{"a|b\n-|-\nc|d \\|", "a │ b\n──┼────\nc │ d |"},
		{"a\n:-\nb|c\\||", "a │\n──┼───\nb │ c|"},
		{"a|||\n:-\nb", "a\n─\nb"},
		{"|a|\n|-|\n|b|*c* `d\\|e` | f|", "a │\n──┼──────────\nb │ c d|e | f"},
		{"- [x](http://a)", "• x (http://a)"},
		{"- [x]y", "• [x]y"},
		{"> a\n    --\nb", "│ a -- b"},
	} {
		require.Equal(t, row.want, Render(row.markdown, Options{}), "%q", row.markdown)
	}
}

func TestTableSize(t *testing.T) {
	table := func(columns, rows int) string {
		return strings.Repeat("|a", columns) + "\n" + strings.Repeat("|-", columns) + strings.Repeat("\na", rows-1)
	}
	for _, row := range []struct {
		columns, rows int
		isTable       bool
	}{
		{maxColumns, 2, true},
		{maxColumns + 1, 2, false},
		{10 * maxColumns, 2, false},
		{maxColumns, maxCells / maxColumns, true},
		{maxColumns, maxCells/maxColumns + 1, false},
		{2, maxCells / 2, true},
		{2, maxCells/2 + 1, false},
	} {
		block := reader().Parse(text.NewReader([]byte(table(row.columns, row.rows)))).FirstChild()
		require.Equal(t, row.isTable, block.Kind() == extast.KindTable, row)
		if !row.isTable {
			continue
		}
		require.Equal(t, row.rows, block.ChildCount())
		require.Equal(t, 1, block.LastChild().ChildCount(), "a short row has no empty cells")
	}
}

func FuzzSameAsGoldmark(f *testing.F) {
	f.Add("|a|b|\n|-|:-:|\n|c|d|e|\n`f\\|g`")
	f.Add("text\na|b\n-|-\n> ~~c~~ ~d~\n- [x] e\n- [ ] ~f")
	f.Fuzz(func(t *testing.T, markdown string) {
		markdown = strings.NewReplacer("\r", " ", "\v", " ").Replace(markdown)
		if len(markdown) > 1<<10 || costly(markdown) || differs.MatchString(markdown) || strings.Count(markdown, "|") > maxColumns {
			t.Skip()
		}
		theirs, ours := outlines(markdown)
		require.Equal(t, theirs, ours, "%q", markdown)
	})
}
