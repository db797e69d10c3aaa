package subset

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReferences(t *testing.T) {
	for text, want := range map[string][]Piece{
		"":          nil,
		"plain }":   {{Text: "plain }"}},
		"{a}":       {{Source: "{a}", Name: "a"}},
		"x{a.b.c}y": {{Text: "x"}, {Source: "{a.b.c}", Name: "a", Offset: 1}, {Text: "y", Offset: 8}},
		"{a}{$_9}":  {{Source: "{a}", Name: "a"}, {Source: "{$_9}", Name: "$_9", Offset: 3}},
		`\{a}`:      {{Text: "{a}"}},
		`\\{a}`:     {{Text: `\{a}`}},
		`\{{a}`:     {{Text: "{"}, {Source: "{a}", Name: "a", Offset: 2}},
		`{a}\{b}{c}`: {
			{Source: "{a}", Name: "a"}, {Text: "{b}", Offset: 3}, {Source: "{c}", Name: "c", Offset: 7},
		},
		`\`:                {{Text: `\`}},
		`\{`:               {{Text: "{"}},
		"{":                {{Text: "{"}},
		"{}":               {{Text: "{}"}},
		"{a":               {{Text: "{a"}},
		"{ a}":             {{Text: "{ a}"}},
		"{a }":             {{Text: "{a }"}},
		"{a.}":             {{Text: "{a.}"}},
		"{.a}":             {{Text: "{.a}"}},
		"{a..b}":           {{Text: "{a..b}"}},
		"{a.0}":            {{Text: "{a.0}"}},
		"{a[0]}":           {{Text: "{a[0]}"}},
		"{1a}":             {{Text: "{1a}"}},
		"{é}":              {{Text: "{é}"}},
		"{if}":             {{Source: "{if}", Name: "if"}},
		"{{a}}":            {{Text: "{"}, {Source: "{a}", Name: "a", Offset: 1}, {Text: "}", Offset: 4}},
		"{a{b}":            {{Text: "{a"}, {Source: "{b}", Name: "b", Offset: 2}},
		"{meta}":           {{Source: "{meta}", Name: "meta"}},
		"{props}":          {{Source: "{props}", Name: "props"}},
		"{props.x}":        {{Source: "{props.x}", Name: "props"}},
		"{meta.}":          {{Source: "{meta.}", Name: "meta"}},
		"{meta.a b{\n0}}":  {{Source: "{meta.a b{\n0}", Name: "meta"}, {Text: "}", Offset: 13}},
		"{metal.x}":        {{Source: "{metal.x}", Name: "metal"}},
		"{ meta.x}":        {{Text: "{ meta.x}"}},
		`\{meta.x}`:        {{Text: "{meta.x}"}},
		`{meta.\{x}`:       {{Source: `{meta.\{x}`, Name: "meta"}},
		"{meta.x {props.y": {{Text: "{meta.x {props.y"}},
		"{a}{meta.x":       {{Source: "{a}", Name: "a"}, {Text: "{meta.x", Offset: 3}},
	} {
		require.Equal(t, want, References(text), "%q", text)
	}
}

// split is References in the words of the language pages, in quadratic time.
func split(text string) []Piece {
	formA := regexp.MustCompile(`^\{(meta|props)\.[^}]*\}`)
	formB := regexp.MustCompile(`^\{([A-Za-z_$][A-Za-z0-9_$]*)(\.[A-Za-z_$][A-Za-z0-9_$]*)*\}`)
	var pieces []Piece
	plain := func(s string, offset int) {
		if n := len(pieces); n > 0 && pieces[n-1].Source == "" {
			pieces[n-1].Text += s
			return
		}
		pieces = append(pieces, Piece{Text: s, Offset: offset})
	}
	for at := 0; at < len(text); {
		if strings.HasPrefix(text[at:], `\{`) {
			plain("{", at)
			at += 2
			continue
		}
		m := formA.FindStringSubmatch(text[at:])
		if m == nil {
			m = formB.FindStringSubmatch(text[at:])
		}
		if m == nil {
			plain(text[at:at+1], at)
			at++
			continue
		}
		pieces = append(pieces, Piece{Source: m[0], Name: m[1], Offset: at})
		at += len(m[0])
	}
	return pieces
}

func FuzzReferences(f *testing.F) {
	for _, s := range []string{
		"", "{a}", `\{a} {b.c}`, `\\{a}`, "{meta.a b} {props.x{y}} {meta", "{{{a}}}", "{a.0}{é}{$}", "\\{{meta.\\}{", "{meta.x {b}", "{props}{props.}",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 4096 {
			t.Skip("the model is quadratic")
		}
		require.Equal(t, split(text), References(text))
	})
}
