package markdown

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestUnescape(t *testing.T) {
	for _, row := range []struct{ written, want string }{
		{"", ""},
		{"a b", "a b"},
		{`\*a\* \\ \a \`, `*a* \ \a \`},
		{"&lt;&amp;&#42;&#x2a;&#X2A;", "<&***"},
		{"&nope; &lt &; & &#; &#x;", "&nope; &lt &; & &#; &#x;"},
		{`\&lt; &\lt;`, `&lt; &\lt;`},
		{"&amp;lt;", "&lt;"},
		{"&#0;", "\uFFFD"},
		{"a&CounterClockwiseContourIntegral;b", "a\u2233b"},
		{"&" + strings.Repeat("a", 40) + ";", "&" + strings.Repeat("a", 40) + ";"},
		{"&&lt;", "&<"},
	} {
		require.Equal(t, row.want, Unescape([]byte(row.written)), "%q", row.written)
	}
}

func FuzzUnescape(f *testing.F) {
	f.Add([]byte(`\*&lt;&#x41;&nope;\`))
	f.Add([]byte("&#xD800;&#1114112;&#99999999999;\xff"))
	f.Fuzz(func(t *testing.T, written []byte) {
		said := Unescape(written)
		require.True(t, utf8.ValidString(said) || !utf8.Valid(written), "%q", said)
		if !strings.ContainsAny(string(written), `\&`) {
			require.Equal(t, string(written), said)
		}
	})
}
