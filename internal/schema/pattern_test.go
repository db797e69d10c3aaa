package schema_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/internal/value"
)

// Patterns mean what they mean in ECMA 262, where they are usually tried out.
func TestPatterns(t *testing.T) {
	tests := []struct {
		pattern, text string
		matches       bool
	}{
		{`^\d+$`, "42", true},
		{`^\d+$`, "٣", false},
		{`^\w+$`, "a_1", true},
		{`^\w+$`, "é", false},
		{`^\s$`, "\u00a0", true},
		{`^\s$`, "\v", true},
		{`^\s$`, "\ufeff", true},
		{`^\s$`, "x", false},
		{`^\S$`, "\u2028", false},
		{`^\S$`, "x", true},
		{`^[\s,]+$`, "\u3000,\t", true},
		{`^[\S]$`, "\u00a0", false},
		{`^[\s\S]*$`, "a\n\u00a0", true},
		{`^[^\s]$`, "\u00a0", false},
		{`^a\/b\-c$`, "a/b-c", true},
		{`^\u00e9$`, "é", true},
		{`^[\u0041-\u0043]$`, "B", true},
		{`^\u{1F600}$`, "😀", true},
		{`^\ud83d\ude00$`, "😀", true},
		{`^\cI$`, "\t", true},
		{`^[\b]$`, "\b", true},
		{`^.$`, "😀", true},
		{`^.$`, "\r", false},
		{`^.$`, "\u2028", false},
		{`^[^]$`, "\n", true},
		{`[]`, "a", false},
		{`^[[a]$`, "[", true},
		{`^[[:alpha:]]$`, ":]", true},
		{`^a$`, "a\n", false},
		{`^(?<year>\d{4})-(?:0[1-9]|1[0-2])$`, "2024-12", true},
		{`^\.é\\$`, `.é\`, true},
	}
	for _, tt := range tests {
		t.Run(tt.pattern+" "+tt.text, func(t *testing.T) {
			s := compile(t, jsonText(t, value.Of("type", "string", "pattern", tt.pattern)))
			require.Equal(t, tt.matches, len(s.Validate(tt.text)) == 0)
		})
	}
}

func TestPatternsRefused(t *testing.T) {
	tests := []struct{ name, pattern, want string }{
		{"trailing backslash", `a\`, "cannot run"},
		{"broken escape", `\u12`, "cannot run"},
		{"lookbehind", `(?<=a)b`, "no lookaround"},
		{"open class", `[a`, "cannot run"},
		{"long", strings.Repeat("a", 4097), "is longer than 4096 bytes"},
		{"large", strings.Repeat(`\d{1000}`, 500), "larger than 100000 instructions"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			list := problems(t, jsonText(t, value.Of("type", "string", "pattern", tt.pattern)))
			require.Len(t, list, 1)
			require.Contains(t, list[0], tt.want)
		})
	}
}

func TestPatternsAreBoundedTogether(t *testing.T) {
	o := value.NewObject(0)
	for i := range 200 {
		o.Set(strings.Repeat("b", i)+`a{1000}`, true)
	}
	list := problems(t, jsonText(t, value.Of("type", "object", "patternProperties", o)))
	require.Greater(t, len(list), 50)
	require.Less(t, len(list), 150)
}
