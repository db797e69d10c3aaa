package document

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func FuzzFragment(f *testing.F) {
	for _, seed := range []string{
		document, "<A b='c' {...d} e={`${{}}`}>x<B/></A>\n", "`<A/>` ``b`` \\` c", "<!-- a --><!--><!--->", "```html\n<A/>\n\n```\n~~~\n~~~\n", "- a\n  ```\n  b\n  ```\n",
		"<div>\n\n```\n<A/>\n```\n<pre>", "a ` b\n\nc ` d ` e", "<a href=\"b\"> <http://c> <?d ?> `<A/>`", "> - ```sh\n> x\n", "---\n", "\ufeff", "a\r\n<A\r\n/>",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, src string) {
		nodes, problem := ReadFragment("g", src, wide)
		if problem != nil {
			require.Nil(t, nodes)
			require.GreaterOrEqual(t, problem.Offset, 0)
			require.LessOrEqual(t, problem.Offset, len(src))
			return
		}
		if len(src) > 4<<10 {
			return // the second reader's time is not bounded
		}
		checkFragment(t, src, nodes)
	})
}
