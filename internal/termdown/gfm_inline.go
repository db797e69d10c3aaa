package termdown

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// strikethroughs reads text between one or two tildes. It is both the parser that
// finds the tildes and the processor that goldmark asks about them when it pairs
// them like those of emphasis.
type strikethroughs struct{}

func (strikethroughs) Trigger() []byte { return []byte{'~'} }

// Parse reads one run of tildes; a longer run is text.
func (s strikethroughs) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	before := block.PrecendingCharacter()
	line, segment := block.PeekLine()
	run := parser.ScanDelimiter(line, before, 1, s)
	if run == nil || run.OriginalLength > 2 || before == '~' {
		return nil
	}
	run.Segment = segment.WithStop(segment.Start + run.OriginalLength)
	block.Advance(run.OriginalLength)
	pc.PushDelimiter(run)
	return run
}

func (strikethroughs) IsDelimiter(c byte) bool { return c == '~' }

func (strikethroughs) CanOpenCloser(opener, closer *parser.Delimiter) bool {
	return opener.Char == closer.Char
}

func (strikethroughs) OnMatch(int) ast.Node { return extast.NewStrikethrough() }

// checkBoxes reads the `[ ]` or `[x]` that begins a list item.
type checkBoxes struct{}

func (checkBoxes) Trigger() []byte { return []byte{'['} }

// Parse reads a box and the white space that has to follow it: without, it may be
// the text of a link.
func (checkBoxes) Parse(parent ast.Node, block text.Reader, _ parser.Context) ast.Node {
	item, ok := parent.Parent().(*ast.ListItem)
	if !ok || item.FirstChild() != parent || parent.HasChildren() {
		return nil
	}
	line, _ := block.PeekLine()
	if len(line) < 3 || strings.IndexByte(" \t\fxX", line[1]) < 0 || line[2] != ']' {
		return nil
	}
	after := line[3:]
	rest := bytes.TrimLeft(after, " \t\n\f")
	if len(after) > 0 && len(rest) == len(after) {
		return nil
	}
	block.Advance(len(line) - len(rest))
	return extast.NewTaskCheckBox(line[1] == 'x' || line[1] == 'X')
}
