package document

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// ordinary is a page of prose with some markup.
const ordinary = "## A section\n\nSome *ordinary* text that goes on for a while, with a [link](https://example.com/x), a\n" +
	"`code span`, an apostrophe that isn't a quote, and numbers such as 12 < 34.\n\n" +
	"- a list item\n- another one, with {meta.title} in it\n\n```text\nsome code\n```\n\n"

const document = ordinary + ordinary + "<Note kind=\"tip\" level={2}>\n\n" + ordinary + "</Note>\n\n<Let as=\"x\" value={{a: [1, 2]}} />\n\n" +
	"```bash exec as=\"r\"\nls -l\n```\n\n"

func repeat(unit string, size int) string { return strings.Repeat(unit, size/len(unit)+1) }

// nested opens elements up to depth and closes them, again and again.
func nested(size int) string {
	depth := min(size/7+1, MaxDepth)
	return repeat(strings.Repeat("<A>", depth)+strings.Repeat("</A>", depth), size)
}

func BenchmarkParse(b *testing.B) {
	shapes := []struct {
		name string
		make func(size int) string
	}{
		{"text", func(n int) string { return repeat(ordinary, n) }},
		{"document", func(n int) string { return repeat(document, n) }},
		{"nested", nested},
		{"unclosed", func(n int) string { return repeat("<A b=\"c\">", n) }},
		{"backticks", func(n int) string { return repeat("`a ``b ```c ", n) }},
		{"braces", func(n int) string { return repeat("<A b={", n) }},
		{"quotes", func(n int) string { return repeat("<A b=\"c' d='", n) }},
	}
	for _, shape := range shapes {
		for _, size := range []int{1 << 10, 64 << 10, 1 << 20, 8 << 20} {
			src := []byte(shape.make(size))
			b.Run(fmt.Sprintf("%s/%dKiB", shape.name, size>>10), func(b *testing.B) {
				b.SetBytes(int64(len(src)))
				for b.Loop() {
					if _, err := Parse("doc.md", src); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkTargets(b *testing.B) {
	for _, size := range []int{64 << 10, 1 << 20} {
		d, err := Parse("doc.md", []byte(repeat(document, size)))
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("%dKiB", size>>10), func(b *testing.B) {
			b.SetBytes(int64(len(d.Source)))
			for b.Loop() {
				d.Targets()
			}
		})
	}
}

func BenchmarkFrontmatter(b *testing.B) {
	src := []byte("---\ntitle: Report\ntags: [a, b]\nprops:\n  name: {type: string, default: x}\n---\ntext\n")
	for b.Loop() {
		if _, err := Parse("doc.md", src); err != nil {
			b.Fatal(err)
		}
	}
}

// hostile are sources made to make a reader look twice.
func hostile(size int) map[string]string {
	shapes := map[string]string{
		"nested":                  nested(size),
		"crossed":                 strings.Repeat("<A><B>", size/14) + strings.Repeat("</A></B>", size/14),
		"runs":                    runs(size),
		"heading":                 "# " + repeat("*a_ ", size),
		"levels":                  repeat("# a\n## b\n### c\n", size),
		"stairs":                  stairs(size),
		"marker and spaces":       strings.Repeat("- ", 2000) + "a\n" + repeat(strings.Repeat(" ", 4000)+"a\n", size),
		"markers and blank lines": strings.Repeat("- ", 2000) + "a\n" + repeat("\n", size),
		"quotes and blank lines":  strings.Repeat("> ", 2000) + "a\n" + repeat(">\n", size),
		"many names":              names(size),
		"long title":              "# " + repeat("a", size/2) + "\n# x\n" + repeat("## b\n", size/2),
	}
	for _, unit := range []string{
		"<A>", "</A>", "<A/>", "<A ", "<A b", "<A b=", "<A b=\"", "<A b='", "<A b={", "<A b={`", "<A b={`${", "<A b={\"", "<A b={\\\"", "<A {...",
		"<A b=\"c' d='", "<A b={{}", "<A b=\"<A c='\" d='", "<A b={`} c={'", "<A b=\"c\" {x}", "<A b=\\\\\\\\\\\\\"", "<A<A<A", "<A\u2003", "<",
		"`", "`a", "`a``b", "``a`", "```\n", "```a\n", "~~~\n", "~~~", "~~~~ a\n ", "```a`\n", "   ```\n", "```sh exec\n", "```sh exec a b c d e f\n```\n",
		"<!--", "<!-- -->", "<!--->", "-->", "<!-- a\n\n", "\n", " ", "\t", "a", "é", "\U0001F600<A/>", "<A b/>", "\\", "$", "{", "}", "{a}", "{meta.",
		"# a\n", "#\n", "# {a\n", "a\n=\n", "a\n-\n", "[a]: /u\n", "[a]: /u \"\n", "[a]:", "# [a](", "# [a](b(", "# ![", "# [", "# ]", "# <a b=\"", "# <?", "# <!--", "# &",
		"- ", "> ", "1. ", ">- ", "- \n", ">\n", "- a\n\n", "* * ", "<div>\n", "<pre>\n", "<script>\n\n", "---\n", "=\n", "a  \n",
	} {
		shapes[unit] = repeat(unit, size)
		shapes["# "+unit] = "# x" + repeat(strings.ReplaceAll(unit, "\n", " "), size) + "\n# y"
		shapes["[a]: /u # "+unit] = "[a]: /u\n\n# x" + repeat(strings.ReplaceAll(unit, "\n", " "), size) + "\n# y"
	}
	return shapes
}

func runs(size int) string {
	var b strings.Builder
	for n := 1; b.Len() < size; n++ {
		b.WriteString(strings.Repeat("`", n) + " ")
	}
	return b.String()
}

func stairs(size int) string {
	var b strings.Builder
	for n := 0; b.Len() < size; n++ {
		b.WriteString(strings.Repeat("  ", n) + "- a\n")
	}
	return b.String()
}

func names(size int) string {
	var b strings.Builder
	for n := 0; b.Len() < size; n++ {
		fmt.Fprintf(&b, "<A%d></B%d>", n, n)
	}
	return b.String()
}

// TestLinear holds reading, outlining and projecting hostile sources to time in
// proportion to their size. The fastest of several runs is compared, so that a
// busy machine does not matter.
func TestLinear(t *testing.T) {
	if testing.Short() {
		t.Skip("takes several seconds")
	}
	const small, factor = 16 << 10, 8
	measure := func(src string, runs int) time.Duration {
		best := time.Hour
		for range runs {
			start := time.Now()
			d, err := Parse("doc.md", []byte(src))
			if err == nil {
				if targets := d.Targets(); len(targets) > 0 {
					d.Project(targets[len(targets)-1])
				}
			}
			best = min(best, time.Since(start))
		}
		return best
	}
	large := hostile(small * factor)
	for name, src := range hostile(small) {
		limit := 20*measure(src, 5) + 5*time.Millisecond
		for attempt := 0; ; attempt++ {
			took := measure(large[name], 2)
			if took <= limit {
				break
			}
			require.Less(t, attempt, 5, "%q: %v, more than %v", name, took, limit)
		}
	}
}
