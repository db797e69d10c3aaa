package subset

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/wasm"
)

func FuzzExpression(f *testing.F) {
	for _, s := range []string{
		"a", "-1", "a.b?.[c].d", "`x${a}\\u{41}`", "{a, 'b': [1,,], 1: -0}", "a ?? (b || c) ? d : e", "'\\ud83d\\ude00\\ud800'",
		"a\u00a0-\ufeff-b", "0x1_f + 1e3 / .5 % 5.", "!(a === b) && c !== d", "a?.5:b", "a--b", "a<!--b", "a/*b*/", "(a?.b).c",
		"[...a]", "a()", "a => a", "/a/", "{__proto__: 1}.a", "a['constructor']", "010", "1n", "'\\08'", "`${`${a}`}`", "((((a))))",
	} {
		f.Add(s, false)
		f.Add(s, true)
	}
	vm := newWorld()
	f.Fuzz(func(t *testing.T, text string, flat bool) {
		tree, err := Expression(text, flat, depth)
		if err != nil {
			require.Nil(t, tree)
			require.True(t, err == ErrRefused || err == ErrLimit)
			return
		}
		agree(t, vm, text)
		if flat {
			require.IsType(t, &wasm.Literal{}, tree)
			closed, err := Expression(text, false, depth)
			require.NoError(t, err)
			require.Equal(t, tree, closed)
		}
		Names(tree, func(name string) bool {
			require.True(t, IsBindingName(name))
			require.Contains(t, text, name)
			return true
		})
		if strings.TrimFunc(text, isSpace) != text {
			same, err := Expression(strings.TrimFunc(text, isSpace), flat, depth)
			require.NoError(t, err)
			require.Equal(t, tree, same)
		}
	})
}
