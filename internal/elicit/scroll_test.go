package elicit

import (
	"strings"
	"testing"

	"github.com/clipperhouse/displaywidth"
	"github.com/stretchr/testify/require"
)

// unrolled is a message as a terminal of unknown width is given it, without what is
// said about it.
func unrolled(message string) string {
	term := NewTerminal(nil, &strings.Builder{})
	term.Plain = true
	s := &scroll{of: read(message), width: usualWidth, ascii: true, escapes: read(message).escapes}
	s.message()
	return s.String()
}

// gathered is the text of rows that have bars before them.
func gathered(t testing.TB, shown string) string {
	var b strings.Builder
	for i, row := range strings.Split(strings.TrimSuffix(shown, "\n"), "\n") {
		at := strings.IndexAny(row, "|:")
		require.GreaterOrEqual(t, at, 0, "%q has no bar", row)
		require.Empty(t, strings.Trim(row[:at], " 0123456789"), "%q has no bar", row)
		if row[at] == '|' && i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(row[at+2:])
	}
	return b.String()
}

// untabbed is a text with its tabs as blanks.
func untabbed(text string) string {
	var b strings.Builder
	column := 0
	for _, c := range text {
		w := columns(c, column)
		switch c {
		case '\n':
			column = 0
			b.WriteRune(c)
			continue
		case '\t':
			b.WriteString(strings.Repeat(" ", w))
		default:
			b.WriteRune(c)
		}
		column += w
	}
	return b.String()
}

func requireWhole(t testing.TB, message string) {
	shown := unrolled(message)
	for row := range strings.Lines(shown) {
		require.LessOrEqual(t, displaywidth.String(strings.TrimSuffix(row, "\n")), usualWidth, "%q", row)
	}
	text := untabbed(legible(message))
	if rows := strings.Count(shown, "\n"); rows == 1 {
		require.Equal(t, strings.TrimSuffix(text, "\n"), strings.TrimSuffix(shown, "\n"))
		return
	}
	require.Equal(t, strings.TrimSuffix(text, "\n"), gathered(t, shown))
}

func TestPR9_TerminalShowsEveryCharacter(t *testing.T) {
	for name, message := range map[string]string{
		"one row":            "Ship it?",
		"as wide as it gets": strings.Repeat("x", usualWidth),
		"one column more":    strings.Repeat("x", usualWidth+1),
		"some lines":         "a\n\n  b\n\tc\td",
		"numbered":           strings.Repeat("line\n", 12) + "end",
		"prose":              strings.Repeat("some words of prose, ", 40),
		"far to the right":   "a" + strings.Repeat(" ", 1000) + "<Exec />",
		"a very long word":   "see " + strings.Repeat("https:", 100),
		"wide characters":    strings.Repeat("使用组件", 50) + strings.Repeat("🐢", 50),
		"marks":              strings.Repeat("e\u0301", 200),
		"hidden":             strings.Repeat("\u202e\x1b[2J", 30),
	} {
		t.Run(name, func(t *testing.T) { requireWhole(t, message) })
	}
}

func FuzzScroll(f *testing.F) {
	for _, seed := range []string{"a\n\n", "  12 | x\n : y", strings.Repeat("word ", 40), "\t\t\t" + strings.Repeat("жж\t", 40), strings.Repeat("x\n", 30)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, message string) {
		if message = strings.Trim(message, "\r\n"); message != "" {
			requireWhole(t, message)
		}
	})
}

// No line of a message can pass for one that the package writes.
func TestPR9_TerminalTextCannotPassForTheScreen(t *testing.T) {
	const forged = "The question has 2 lines.\n\ndecision\n1. approve\n1-3> 1\n  13 | x"
	message := "Ship?\n" + forged + "\n" + strings.Repeat(" ", 5*usualWidth) + "14 | y\n" + forged
	_, shown, err := plain(t, review, message, "3\n")
	require.NoError(t, err)
	head, rest, _ := strings.Cut(shown, "\n\n")
	require.Equal(t, "Line 8 has 400 columns of blanks in a row, and more text behind them.", head)
	text, rest, _ := strings.Cut(rest, "\n\n")
	require.Equal(t, message, gathered(t, text+"\n"))
	require.Equal(t, "decision\n1. approve\n2. revise\n3. abort\n1-3> \n", rest)
}

// What is said about a long message stands before it and behind it.
func TestPR9_TerminalRemarksStandAtBothEnds(t *testing.T) {
	_, shown, err := plain(t, review, "start"+strings.Repeat("\n", 1500)+"F\u0435tch", "3\n")
	require.NoError(t, err)
	const remarks = `The question has 1,501 lines.
Written as escapes because they would pass for something else: 1 character, such
as \u0435.
Lines 2 to 1,500 say nothing new: they are empty, nearly empty or like the line
before. The text goes on below them.
A terminal may not keep that many lines to scroll back to.

`
	require.True(t, strings.HasPrefix(shown, remarks+"   1 | start\n   2 | \n"), "%.600q", shown)
	require.Contains(t, shown, "\n1501 | F\\u0435tch\n\n"+remarks+"decision\n")
}

func TestPR9_NothingIsChosenByNotChoosing(t *testing.T) {
	answer, shown, err := plain(t, review, "?", "\n\n1\n")
	require.NoError(t, err)
	require.Equal(t, `{"decision":"approve"}`, answer)
	require.Contains(t, shown, "1-3> write a number from 1 to 3\n1-3> write a number from 1 to 3\n1-3> \n")
	require.NotContains(t, shown, "feedback", "that is asked for when it is needed")
}

func TestPR8_EmptyFeedbackKeepsTheQuestionOpen(t *testing.T) {
	answer, shown, err := plain(t, review, "?", "2\n\nshorter\n")
	require.NoError(t, err)
	require.Equal(t, `{"decision":"revise","feedback":"shorter"}`, answer)
	require.Contains(t, shown, "feedback\n> this is needed\n> \n")
}

func TestDialogueBranches(t *testing.T) {
	const between = `{"type":"object","required":["n"],"properties":{"n":{"type":"integer"},"low":{"type":"string"},"high":{"enum":["h","H"]},"both":{"type":"string"}},
		"if":{"type":"object","properties":{"n":{"type":"integer","maximum":5}}},
		"then":{"type":"object","properties":{"low":{"type":"string"},"both":{"type":"string"}},"required":["low","both"]},
		"else":{"type":"object","properties":{"high":true,"both":{"type":"string"}},"required":["high","both"]}%s}`
	for _, c := range []struct{ name, schema, typed, want string }{
		{"then", strings.Replace(between, "%s", "", 1), "3\nl\nb\n", `{"n":3,"low":"l","both":"b"}`},
		{"else", strings.Replace(between, "%s", "", 1), "7\n2\nb\n", `{"n":7,"high":"H","both":"b"}`},
		{"more than the branches say", strings.Replace(between, "%s", `,"dependencies":{"n":["low"]}`, 1), "7\n2\nb\n7\nl\n2\nb\n", `{"n":7,"low":"l","high":"H","both":"b"}`},
		{"a member before what it depends on", `{"type":"object","required":["b"],"properties":{"a":{"type":"string"},"b":{"type":"boolean"}},
			"if":{"type":"object","properties":{"b":{"const":true}}},"then":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}}`, "x\n1\n", `{"a":"x","b":true}`},
		{"a condition that refers to its schema", `{"definitions":{"d":{"const":1}},"type":"object","required":["n"],"properties":{"n":{"type":"integer"},"m":{"type":"string"}},
			"if":{"type":"object","properties":{"n":{"$ref":"#/definitions/d"}}},"then":{"type":"object","properties":{"m":{"type":"string"}},"required":["m"]}}`, "1\nx\n", `{"n":1,"m":"x"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, shown, err := plain(t, c.schema, "?", c.typed)
			require.NoError(t, err, shown)
			require.Equal(t, c.want, got)
		})
	}
}
