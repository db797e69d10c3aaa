package subset

import (
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestA15_SubsetIsLinear holds reading constants, expressions and references to
// time in proportion to their size. It compares the processor time of its own
// thread, with garbage collection only in between, so that a busy machine does not
// matter.
func TestA15_SubsetIsLinear(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second")
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	constant := func(open, each, end string) func(int) func() {
		return func(n int) func() {
			text := open + strings.Repeat(each, n/len(each)) + end
			return func() { _, _ = Expression(text, true, depth) }
		}
	}
	references := func(each string) func(int) func() {
		return func(n int) func() {
			text := strings.Repeat(each, n/len(each))
			return func() { References(text) }
		}
	}
	nest := strings.Repeat("[", depth)
	shapes := map[string]func(int) func(){
		"elements":   constant("[", "1,", "]"),
		"in a nest":  constant(nest+"'", "x", "'"+strings.Repeat("]", depth)),
		"nests":      constant("[", "[[[[['a']]]]],", "]"),
		"escapes":    constant("'", `\ud800\n\ude00`, "'"),
		"pairs":      constant("'", `\ud83d\ude00`, "'"),
		"code point": constant(`'\u{`, "0", "41}'"),
		"spaces":     constant("", "\u3000", "1"),
		"digits":     constant(".", "1", ""),
		"separators": constant("1", "_1", "e-9999999"),
		"zeros":      constant("0x", "0", "1"),
		"hex":        constant("0x", "f", ""),
		"indexes":    constant("{", "3:1,2:1,a:0,", "}"),
		"template":   constant("`", "$\r{\r\n", "`"),
	}
	for _, each := range []string{"{", `\{`, "{meta.", "{props.x{", "{a{", "{a.", "{meta.}", "{a}", "}{", "{a.b}{meta.", `\`, "a"} {
		shapes["references "+each] = references(each)
	}
	measure := func(read func()) time.Duration {
		best := time.Hour
		for range 2 {
			runtime.GC()
			start := processorTime(t)
			read()
			best = min(best, processorTime(t)-start)
		}
		return best
	}
	const small, factor = 32 << 10, 8
	for name, shape := range shapes {
		var limit, took time.Duration
		for range 5 { // a quadratic reader exceeds every attempt, a disturbance one
			limit = 24*measure(shape(small)) + 5*time.Millisecond
			if took = measure(shape(small * factor)); took <= limit {
				break
			}
		}
		require.LessOrEqual(t, took, limit, name)
	}
}

func processorTime(t *testing.T) time.Duration {
	var now unix.Timespec
	require.NoError(t, unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &now))
	return time.Duration(now.Nano())
}
