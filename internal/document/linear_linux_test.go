package document

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

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
// proportion to their size. It compares the processor time of its own thread,
// with garbage collection only in between, so that a busy machine does not matter.
func TestLinear(t *testing.T) {
	if testing.Short() {
		t.Skip("takes several seconds")
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	const small, factor = 8 << 10, 8
	measure := func(src string) time.Duration {
		best := time.Hour
		for range 2 {
			runtime.GC() // so that later rounds find their memory mapped
			start := threadTime(t)
			d, err := Parse("doc.md", []byte(src))
			if err == nil {
				if targets := d.Targets(); len(targets) > 0 {
					d.Project(targets[len(targets)-1])
				}
			}
			best = min(best, threadTime(t)-start)
		}
		return best
	}
	large := hostile(small * factor)
	for name, src := range hostile(small) {
		var limit, took time.Duration
		for range 5 { // a quadratic reader exceeds every attempt, a disturbance one
			limit = 24*measure(src) + 5*time.Millisecond
			if took = measure(large[name]); took <= limit {
				break
			}
		}
		require.LessOrEqual(t, took, limit, name)
	}
}

// threadTime is the processor time the calling thread has used.
func threadTime(t *testing.T) time.Duration {
	t.Helper()
	var now unix.Timespec
	require.NoError(t, unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &now))
	return time.Duration(now.Nano())
}
