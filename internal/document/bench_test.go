package document

import (
	"fmt"
	"strings"
	"testing"
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
