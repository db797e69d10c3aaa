//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// recorded is a document that does everything an ordinary run records. Each
// command leaves its name in the file COUNT, and kills the run when it is told to
// by KILL.
const recorded = `---
props:
  who: { type: string, default: world }
  url: { type: string }
required: [url]
---
# Hello {props.who}

§bash exec
echo live >> "$COUNT"; [ "$KILL" != live ] || kill -9 $PPID
echo "shown to {props.who}"; echo noise >&2
§

<Let as="sum" value={0} /><Loop max={3} name="adding"><Let as="sum" value={sum + 2} /><If condition={sum > 3}><Break /></If>.</Loop>

sum {sum}

<Each in={["a", "b"]} let="x">

§bash silent exec
echo each-{x} >> "$COUNT"; [ "$KILL" != each-{x} ] || kill -9 $PPID
echo hidden
§
item {x}
</Each>

§bash exec as="bound"
echo bound >> "$COUNT"; [ "$KILL" != bound ] || kill -9 $PPID
printf said; exit 4
§
bound {bound.exitCode} {bound.stdout}

<Let as="captured">

§bash exec
echo captured >> "$COUNT"; [ "$KILL" != captured ] || kill -9 $PPID
echo caught
§
</Let>
captured {captured}

§js eval
const product = bound.exitCode * sum;
output("product " + product);
§

<File path="out/note.txt">{captured} {product}</File>

<Answers>
<Answer template="Ship {?what}?" value={{ go: true }} />
<Elicit schema={{ type: "object", properties: { go: { type: "boolean" } }, required: ["go"] }} as="gate">Ship {props.who}?</Elicit>
</Answers>
gate {gate.go}

<Fetch url={props.url} as="page" />
page {page.status} {page.body}

<All>
<Spawn>
<Part><Loop max={1}>left</Loop></Part>
</Spawn>
<Spawn>

§bash exec as="right"
echo spawned >> "$COUNT"; [ "$KILL" != spawned ] || kill -9 $PPID
printf right
§
{right.stdout}
</Spawn>
</All>

§bash exec as="last"
echo last >> "$COUNT"; [ "$KILL" != last ] || kill -9 $PPID
cat out/note.txt
§
last {last.stdout}
`

// commands are the names the commands of the document leave, in order.
var commands = []string{"live", "each-a", "each-b", "bound", "captured", "spawned", "last"}

// A stage is a directory with the document and a server for its request.
type stage struct {
	dir      string
	url      string
	requests atomic.Int64
}

func newStage(t *testing.T) *stage {
	t.Helper()
	needsBash(t)
	s := &stage{dir: t.TempDir()}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		s.requests.Add(1)
		w.Header()["Date"] = nil // the same answer at any time
		fmt.Fprint(w, "fetched")
	}))
	t.Cleanup(server.Close)
	s.url = server.URL + "/page"
	write(t, s.dir, "doc.md", strings.ReplaceAll(recorded, "§", "```"))
	write(t, s.dir, "components/Part.md", "part <Content />")
	return s
}

// A performance is what one run did.
type performance struct {
	stdout, stderr string
	ran            []string // commands, in order
	requests       int64
}

// perform runs the document to its end, which has to be a good one.
func (s *stage) perform(t *testing.T, options ...string) performance {
	t.Helper()
	count := filepath.Join(t.TempDir(), "count")
	before := s.requests.Load()
	args := append([]string{"doc.md", "--props-url", s.url}, options...)
	status, stdout, stderr := finish(t, s.dir, []string{"COUNT=" + count}, args...)
	require.Zero(t, status, "stderr: %s", stderr)
	return performance{stdout, stderr, strings.Fields(read(t, "", count)), s.requests.Load() - before}
}

// ranOf are the commands whose outcome a history holds.
func ranOf(history string) []string {
	names := []string{}
	for _, m := range regexp.MustCompile(`"command":\["bash","-c","echo ([a-z-]+) >>`).FindAllStringSubmatch(history, -1) {
		names = append(names, m[1])
	}
	return names
}

// eventsOf are the lines of a history.
func eventsOf(history string) []string { return slices.Collect(strings.Lines(history)) }

// byCoroutine orders a history by coroutine: siblings may write in any order.
func byCoroutine(t *testing.T, history string) []string {
	t.Helper()
	all := eventsOf(history)
	id := func(line string) string {
		var e struct{ CoroutineID string }
		require.NoError(t, json.Unmarshal([]byte(line), &e))
		return e.CoroutineID
	}
	slices.SortStableFunc(all, func(a, b string) int { return strings.Compare(id(a), id(b)) })
	return all
}

// TestReplayOfEveryPrefix cuts a history after each of its events: what is left
// answers what it holds and nothing else, and the outcome is the same.
func TestReplayOfEveryPrefix(t *testing.T) {
	s := newStage(t)
	plain := s.perform(t)
	golden := s.perform(t, "--journal", "golden.jsonl")
	require.Equal(t, plain.stdout, golden.stdout)
	require.Equal(t, plain.stderr, golden.stderr)
	require.ElementsMatch(t, commands, golden.ran)
	require.EqualValues(t, 1, golden.requests)
	for _, text := range []string{
		"shown to world", "# Hello world", "sum 4", "item a", "item b", "bound 4 said", "captured \n\ncaught", "product 16", "gate true",
		"page 200 fetched", "part left", "right", "last \n\ncaught 16",
	} {
		require.Contains(t, golden.stdout, text)
	}

	history := read(t, s.dir, "golden.jsonl")
	events := eventsOf(history)
	require.Greater(t, len(events), len(commands))
	for k := range len(events) + 1 {
		t.Run(fmt.Sprintf("%d_of_%d", k, len(events)), func(t *testing.T) {
			kept := strings.Join(events[:k], "")
			write(t, s.dir, "cut.jsonl", kept)
			fresh := fmt.Sprintf("fresh-%d.jsonl", k)
			again := s.perform(t, "--replay", "cut.jsonl", "--journal", fresh)

			require.Equal(t, golden.stdout, again.stdout)
			require.Equal(t, golden.stderr, again.stderr)
			require.ElementsMatch(t, commands, append(ranOf(kept), again.ran...), "each command has run once")
			require.EqualValues(t, strings.Count(kept, `"type":"fetch"`), 1-again.requests)
			require.Equal(t, kept, read(t, s.dir, "cut.jsonl"), "a history that is read stays as it is")
			require.Equal(t, byCoroutine(t, history), byCoroutine(t, read(t, s.dir, fresh)))
		})
		if k == len(events) || k%3 != 0 { // a few torn tails are enough
			continue
		}
		t.Run(fmt.Sprintf("%d_and_a_half", k), func(t *testing.T) {
			kept, torn := strings.Join(events[:k], ""), events[k][:len(events[k])/2]
			write(t, s.dir, "cut.jsonl", kept+torn)
			again := s.perform(t, "--replay", "cut.jsonl")
			require.Equal(t, golden.stdout, again.stdout)
			require.ElementsMatch(t, commands, append(ranOf(kept), again.ran...))
			require.Contains(t, again.stderr, fmt.Sprintf("cut.jsonl ends in an unfinished record of %d bytes", len(torn)))
		})
	}
}

// requireRest checks what a killed run left behind and that it can be finished.
func (s *stage) requireRest(t *testing.T, golden performance, trace string) {
	t.Helper()
	left := read(t, s.dir, trace)
	whole := left[:strings.LastIndexByte(left, '\n')+1]
	for line := range strings.Lines(whole) {
		require.True(t, json.Valid([]byte(line)), "a line that was acknowledged is whole: %s", line)
	}
	again := s.perform(t, "--replay", trace)
	require.Equal(t, golden.stdout, again.stdout)
	require.ElementsMatch(t, commands, append(ranOf(whole), again.ran...), "what is recorded does not run again, what is not does")
	require.EqualValues(t, strings.Count(whole, `"type":"fetch"`), 1-again.requests)
}

// TestKilledByItsCommand kills the run inside each of its commands: everything
// before the command is recorded, the command is not.
func TestKilledByItsCommand(t *testing.T) {
	s := newStage(t)
	golden := s.perform(t)
	for i, name := range commands {
		t.Run(name, func(t *testing.T) {
			trace := name + ".jsonl"
			count := filepath.Join(t.TempDir(), "count")
			p := prepare(t, s.dir, []string{"COUNT=" + count, "KILL=" + name}, "doc.md", "--props-url", s.url, "--journal", trace).start()
			p.wait()
			require.Equal(t, syscall.SIGKILL, p.killedBy())
			require.Equal(t, commands[:i+1], strings.Fields(read(t, "", count)))
			require.Equal(t, commands[:i], ranOf(read(t, s.dir, trace)))
			s.requireRest(t, golden, trace)
		})
	}
}

// TestKilledAtEachEvent kills the run as soon as its history holds so many
// events, whatever it is doing.
func TestKilledAtEachEvent(t *testing.T) {
	s := newStage(t)
	golden := s.perform(t, "--journal", "golden.jsonl")
	total := strings.Count(read(t, s.dir, "golden.jsonl"), "\n")
	for k := 1; k <= total; k++ {
		t.Run(fmt.Sprint(k), func(t *testing.T) {
			trace := fmt.Sprintf("killed-%d.jsonl", k)
			p := prepare(t, s.dir, []string{"COUNT=/dev/null"}, "doc.md", "--props-url", s.url, "--journal", trace).start()
			until(t, "the history to grow", func() bool {
				select {
				case <-p.ended:
					return true
				default:
					return strings.Count(read(t, s.dir, trace), "\n") >= k
				}
			})
			_ = p.cmd.Process.Kill() // it may have come to its end
			p.wait()
			s.requireRest(t, golden, trace)
		})
	}
}
