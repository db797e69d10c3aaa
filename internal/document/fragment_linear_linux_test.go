package document

import (
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A shape is a text that can be made in any size.
type shape struct {
	name string
	make func(size int) string
}

// hostileShapes are made to make the strict reader look twice. Most are accepted,
// so that they are read to their end. The first ones are the largest test's, too.
func hostileShapes() (shapes []shape, large int) {
	add := func(name string, make func(size int) string) { shapes = append(shapes, shape{name, make}) }
	unit := func(unit string) { add(unit, func(size int) string { return repeat(unit, size) }) }
	around := func(open, inside, close string) {
		add(open+inside, func(size int) string { return open + repeat(inside, size) + close })
	}
	halves := func(name, start, open, middle, close, end string) {
		add(name, func(size int) string {
			n := size / (len(open) + len(close))
			return start + strings.Repeat(open, n) + middle + strings.Repeat(close, n) + end
		})
	}

	unit(ordinary)
	add("nested", nested)
	add("runs", runs)
	halves("braces", "<A b={", "{", "", "}", "}/>")
	unit("<A b=\"c' d='")
	unit("<!-- {a b} -->")
	add("crossed", func(size int) string {
		return strings.Repeat("<A>", min(size/6, MaxDepth-1)) + "<B>" + strings.Repeat("</A>", size/8)
	})
	unit("<A/>")
	unit("- ")
	unit("[](")
	unit("```\n```\n")
	large = len(shapes)

	add("stairs", stairs)
	around("", "- ", "```sh")
	around("", "> 1. ", "~~~ sh")
	around("```\n", "a\n", "```\n")
	around("```\n", "``\n", "")
	around("```", "&#101;", "\n```\n")
	around("<A b=\"", "\\\"<", "\"/>")
	around("<A b='", "\\", "'/>")
	around("<!--", "{a", "-->")
	around("<!--", "\\{a}", "-->")
	halves("templates", "<A b={", "`${", "", "}`", "}/>")
	for _, u := range []string{
		"a", "a\n", "\n", "é", "{a} ", "{", "}", "\\{", "[](\n", "*a_ ", "> ", "1. ", ">- ", "\t", "&", "\\",
		"<", "<a", "<a ", "<a '", "<a \"<a '", "</", "</a>", "<?", "<!", "<!D>", "<pre>\n", "<div>\n", "x<y `",
		"<A></A>", "<A b='c' {...d}/>", "<A b={`c`}/>\n", "<A\n\n/>", "<A ", "<A b=\"", "<A b={", "<A>", "</A>", "<A></B>",
		"`", "` ", "`a` ", "`a``b", "`a\n", "``a`", "\\`a`", "`<A>` ", "```\n", "~~~\n", "~~~a\n<A/>\n~~~\n", "~", "~~ ", "   ```\na\n```\n",
		"> ```\n", "- ~~~ sh\n", "```a`\n", "```\\&#32;", "<!--", "<!---->", "<!-- -->", "<!-- <a \n -->", "-->",
	} {
		unit(u)
	}
	return shapes, large
}

// Reading takes time in proportion to the text, whatever the text. Times are
// compared as in TestLinear.
func TestA15_FragmentsAreReadInLinearTime(t *testing.T) {
	if testing.Short() {
		t.Skip("takes several seconds")
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	measure := func(src string) time.Duration {
		best := time.Hour
		for range 2 {
			runtime.GC()
			start := threadTime(t)
			_, _ = ReadFragment("g", src, wide)
			best = min(best, threadTime(t)-start)
		}
		return best
	}
	const small, factor = 16 << 10, 8
	shapes, _ := hostileShapes()
	for _, shape := range shapes {
		var limit, took time.Duration
		for range 5 { // a quadratic reader exceeds every attempt, a disturbance one
			limit = 24*measure(shape.make(small)) + 3*time.Millisecond
			if took = measure(shape.make(small * factor)); took <= limit {
				break
			}
		}
		require.LessOrEqual(t, took, limit, shape.name)
	}
}

// Ten mebibytes are read, or refused, in about a second.
func TestA15_TenMebibytes(t *testing.T) {
	if testing.Short() {
		t.Skip("takes several seconds")
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	shapes, large := hostileShapes()
	for _, shape := range shapes[:large] {
		src := shape.make(10 << 20)
		runtime.GC()
		start := threadTime(t)
		_, _ = ReadFragment("g", src, wide)
		require.Less(t, threadTime(t)-start, 5*time.Second, shape.name) // a margin for busy machines
	}
}
