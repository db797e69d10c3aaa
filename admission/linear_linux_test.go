package admission

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/executable-markdown/xmd/capability"
)

// hostile are sources made to make a reader look twice; each is of about a size.
func hostile(size int) map[string]string {
	shapes := map[string]string{
		"nested elements": strings.Repeat("<Wrap>", size/13) + strings.Repeat("</Wrap>", size/13),
		"nested in depth": repeat(strings.Repeat("<Wrap>", MaxDepth)+strings.Repeat("</Wrap>", MaxDepth), size),
		"crossed tags":    strings.Repeat("<Wrap><Dir>", size/24) + strings.Repeat("</Wrap></Dir>", size/24),
		"backtick runs":   runs(size),
		"many names":      numbered(`<Let as="x%d" value={1} />`, size),
		"one name":        repeat(`<Let as="x" value={1} />{x}`, size),
		"arms":            `<Switch value={1}>` + numbered(`<Case value={%d}><Let as="x" value={1} />{x}</Case>`, size) + `</Switch>{x}`,
		"nested arms":     nestedArms(size),
		"attributes":      "<Pick " + numbered(`a%d `, size) + "/>",
		"long literal":    "<Pick list={[" + repeat("1,", size) + "1]} />",
		"long string":     "<Pick s=\"" + repeat("a", size) + "\" />",
		"surrogates":      "<Pick s={'" + repeat(`\ud800`, size) + "'} />",
		"spawns":          "<All>" + repeat("<Spawn>a</Spawn>", size) + "</All>",
		"matchers":        "<Answers>a" + repeat("<Answer value={1} /><Let as='x' value={1} />", size) + "</Answers>",
		"template":        "<Answers><Answer value={1} template='" + repeat("{?a} ", size) + "' />a</Answers>",
	}
	for _, unit := range []string{
		"text ", "\n", "`", "``a`", "{", "}", "{a}", "{a.", "\\{", "<Wrap", "<Wrap ", "<Wrap a=\"", "<Wrap a={", "<Wrap>", "</Wrap>",
		"<Probe />", "<Pick n={1} />", "<!-- -->", "<!--", "-->", "<!-- a\n", "```\n", "```\na\n```\n", "> ```\n", "- ", "[](", "<", "<a>",
	} {
		shapes[unit] = repeat(unit, size)
	}
	return shapes
}

func repeat(unit string, size int) string { return strings.Repeat(unit, size/len(unit)+1) }

func numbered(format string, size int) string {
	var b strings.Builder
	for n := 0; b.Len() < size; n++ {
		fmt.Fprintf(&b, format, n)
	}
	return b.String()
}

func runs(size int) string {
	var b strings.Builder
	for n := 1; b.Len() < size; n++ {
		b.WriteString(strings.Repeat("`", n) + " ")
	}
	return b.String()
}

// nestedArms binds many names under as many branches as may nest, each of which
// hides them from an other arm.
func nestedArms(size int) string {
	const depth = MaxDepth - 2
	return strings.Repeat("<If condition>", depth) + numbered(`<Let as="x%d" value={1} />`, size) +
		strings.Repeat("<Else>a</Else></If>", depth) + "{x1}"
}

// TestA15_PreflightIsLinear holds preflight to time in proportion to the source. It
// compares the processor time of its own thread, with garbage collection only in
// between, so that a busy machine does not matter.
func TestA15_PreflightIsLinear(t *testing.T) {
	if testing.Short() {
		t.Skip("takes several seconds")
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	g := grantOf(t, raised(t, capability.Closed))
	measure := func(source string) time.Duration {
		best := time.Hour
		for range 2 {
			runtime.GC() // so that later rounds find their memory mapped
			start := threadTime(t)
			Preflight("test", source, g)
			best = min(best, threadTime(t)-start)
		}
		return best
	}
	grows := func(small, large map[string]string, factor time.Duration) {
		for name, source := range small {
			var limit, took time.Duration
			for range 5 { // a quadratic reader exceeds every attempt, a disturbance one
				limit = 3*factor*measure(source) + 5*time.Millisecond
				if took = measure(large[name]); took <= limit {
					break
				}
			}
			require.LessOrEqual(t, took, limit, name)
		}
	}
	grows(hostile(16<<10), hostile(128<<10), 8)
	for size := 1 << 10; size < 10<<20; size *= 10 {
		grows(plainShapes(size), plainShapes(10*size), 10)
	}
}

// plainShapes are the shapes whose growth is held up to 10 MiB.
func plainShapes(size int) map[string]string {
	return map[string]string{
		"text":            repeat("some words of text\n", size),
		"nested elements": repeat("<Wrap>", size/2) + repeat("</Wrap>", size/2),
		"backticks":       repeat("`a ``b ", size),
		"braces":          repeat("{a {", size),
		"unclosed tags":   repeat("<Wrap a=\"", size),
		"comments":        repeat("<!-- a -->", size),
		"crossed tags":    repeat("<Wrap><Dir></Wrap></Dir>", size),
	}
}

// threadTime is the processor time the calling thread has used.
func threadTime(t *testing.T) time.Duration {
	t.Helper()
	var now unix.Timespec
	require.NoError(t, unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &now))
	return time.Duration(now.Nano())
}
