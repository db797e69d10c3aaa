//go:build unix

package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var (
	hang   = map[string]any{"hang": true}       // until the process ends
	untold = map[string]any{"waitCancel": true} // until the turn is cancelled
)

// A waiting point is a place at which an xmd prompt may wait for somebody else.
type waitingPoint struct {
	name string
	// play prepares the agent, and reach goes on until the command waits there.
	play   func(d *desk)
	reach  func(d *desk, p *prompting)
	ran    bool   // the approved document had begun
	ending bool   // what is waited for is the end of the agent
	said   string // what had already ended the planning, which a deadline does not unsay
}

// waitingPoints lists all of them, in the order an invocation passes them.
func waitingPoints() []waitingPoint {
	// It answers no request to close and hears no signal, so that ending it takes a while.
	closing := func(d *desk, draft string) {
		d.scenario(script{"capabilities": map[string]any{"close": true}, "close": hang}, turn(map[string]any{"ignoreTerm": true}, d.say(draft)))
	}
	draft := "<File path=\"out.txt\">x</File>\n"
	return []waitingPoint{
		{name: "the agent starts",
			play:  func(d *desk) { d.scenario(script{"initialize": hang}) },
			reach: func(d *desk, p *prompting) { d.reaches("initialize", 1) }},
		{name: "the conversation begins",
			play:  func(d *desk) { d.scenario(script{"new": hang}, d.replies(draft)...) },
			reach: func(d *desk, p *prompting) { d.reaches("new", 1) }},
		{name: "the first turn",
			play:  func(d *desk) { d.scenario(nil, turn(d.say(draft), untold)) },
			reach: func(d *desk, p *prompting) { d.reaches("match", 1) }},
		{name: "a repair",
			play:  func(d *desk) { d.scenario(nil, append(d.replies(invalid), turn(d.say(draft), untold))...) },
			reach: func(d *desk, p *prompting) { d.reaches("match", 2) }},
		{name: "the review",
			play:  func(d *desk) { d.answers(draft) },
			reach: func(d *desk, p *prompting) { p.ask() }},
		{name: "a revision",
			play:  func(d *desk) { d.scenario(nil, append(d.replies(draft), turn(d.say(draft), untold))...) },
			reach: func(d *desk, p *prompting) { p.ask().revise("more"); d.reaches("match", 2) }},
		{name: "the review of what could not be repaired",
			play:  func(d *desk) { d.answers(repeated(invalid, 4)...) },
			reach: func(d *desk, p *prompting) { p.ask() }},
		{name: "a second review",
			play:  func(d *desk) { d.answers(draft, draft) },
			reach: func(d *desk, p *prompting) { p.ask().revise("more"); p.ask() }},
		{name: "the conversation ends after the approval", ending: true,
			play:  func(d *desk) { closing(d, draft) },
			reach: func(d *desk, p *prompting) { p.ask().approve(); d.reaches("close", 1) }},
		{name: "the conversation ends after the review was left", ending: true, said: "you ended the review",
			play:  func(d *desk) { closing(d, draft) },
			reach: func(d *desk, p *prompting) { p.ask().abort(); d.reaches("close", 1) }},
		{name: "a question of the run", ran: true,
			play:  func(d *desk) { d.answers(asksForAnAge) },
			reach: func(d *desk, p *prompting) { p.ask().approve(); p.ask() }},
		{name: "a turn of the run", ran: true,
			play: func(d *desk) {
				d.plays(map[string][]scene{"*": d.replies("<Prompt>do it</Prompt>\n"), "": {turn(untold)}})
			},
			reach: func(d *desk, p *prompting) { p.ask().approve(); d.reaches("match", 2) }},
		{name: "a turn of the run in a named conversation", ran: true,
			play: func(d *desk) {
				d.plays(map[string][]scene{"*": d.replies("<Prompt session=\"x\">do it</Prompt>\n"), "x": {turn(untold)}})
			},
			reach: func(d *desk, p *prompting) { p.ask().approve(); d.reaches("match", 2) }},
		{name: "a request of the run", ran: true,
			play: func(d *desk) {
				server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
					d.tell("fetched")
					<-r.Context().Done()
				}))
				d.t.Cleanup(server.Close)
				d.answers("<Fetch url=\"" + server.URL + "\" />\n")
			},
			reach: func(d *desk, p *prompting) { p.ask().approve(); d.reaches("fetched", 1) }},
		{name: "a command of the run", ran: true,
			play: func(d *desk) {
				needsBash(d.t)
				// Its child has the scenario in its words, and so is one of those that must be gone.
				d.answers("<TempDir>\n\n```bash exec\nbash -c 'sleep 600; true' \"$BASE\" &\necho '{\"event\":\"working\"}' >\"$BASE/report\"\nwait\n```\n</TempDir>\n")
				d.env = append(d.env, "BASE="+d.base)
			},
			reach: func(d *desk, p *prompting) { p.ask().approve(); d.reaches("working", 1) }},
	}
}

// kept are the files a run that was cut short may leave: what was saved before it and
// its own history.
func (w waitingPoint) kept() []string {
	if w.ran {
		return []string{"out.md", "t.jsonl"}
	}
	return nil
}

// TestPR13_Cancelled stops the command at every point it can wait at: by a signal, and
// by --timeout, which is one limit on all of it. It puts away what it started before it
// ends, and no later phase begins.
func TestPR13_Cancelled(t *testing.T) {
	for i, point := range waitingPoints() {
		t.Run(point.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			point.play(d)
			started := time.Now()
			p := d.prompt("r", "--save", "out.md", "--journal", "t.jsonl")
			point.reach(d, p)
			took := time.Since(started)
			p.signal(os.Interrupt)
			require.Equal(t, 130, p.end(), p.stderr.String())
			require.Empty(t, p.reported())
			d.requireTidy(point.kept()...)

			if testing.Short() && i%4 != 2 {
				return // each waits for its deadline
			}
			// It has to pass after the point is reached, and where something ends, before
			// that has ended.
			limit := 3*took + time.Second
			if point.ending {
				limit = took + 2500*time.Millisecond
			}
			limit = limit.Round(time.Millisecond)
			d = newDesk(t)
			point.play(d)
			p = d.prompt("r", "--save", "out.md", "--journal", "t.jsonl", "--timeout", strconv.FormatInt(limit.Milliseconds(), 10)+"ms")
			point.reach(d, p)
			require.Equal(t, 1, p.end(), p.stderr.String())
			said := point.said
			if said == "" {
				said = fmt.Sprintf("the deadline of %d ms (--timeout) was exceeded", limit.Milliseconds())
			}
			require.Contains(t, p.reported(), said)
			require.Equal(t, 1, strings.Count(p.reported(), "\n"), p.reported())
			d.requireTidy(point.kept()...)
		})
	}
}

// TestPR13_CancelledTurn: the agent is told.
func TestPR13_CancelledTurn(t *testing.T) {
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			d := newDesk(t)
			d.scenario(nil, turn(d.say(valid), map[string]any{"waitCancel": true}))
			p := d.prompt("r", "--save", "out.md")
			d.reaches("match", 1)
			p.signal(signal)
			require.Equal(t, 130, p.end(), p.stderr.String())
			d.report()
			require.Len(t, d.named("cancel"), 1)
			d.requireTidy()
		})
	}
}

// TestPR13_CancelledQuestion: leaving the page of a review is an interruption.
func TestPR13_CancelledQuestion(t *testing.T) {
	d := newDesk(t)
	d.answers(valid)
	p := d.prompt("r", "--save", "out.md")
	r := p.ask()
	r.cancel()
	require.Equal(t, 130, p.end(), p.stderr.String())
	_, err := http.Get(r.address)
	require.Error(t, err, "the page is gone")
	d.requireTidy()
}

// TestPR13_Stubborn: an agent that hears nothing is ended in the end, and a second
// signal does not wait for that. Either way the directory is given back.
func TestPR13_Stubborn(t *testing.T) {
	for name, again := range map[string]bool{"once": false, "twice": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if !again && testing.Short() {
				t.Skip("waits for every grace period there is")
			}
			d := newDesk(t)
			d.scenario(nil, turn(map[string]any{"ignoreCancel": true}, map[string]any{"ignoreTerm": true}, d.say(valid), hang))
			p := d.prompt("r", "--save", "out.md")
			d.reaches("match", 1)
			p.signal(os.Interrupt)
			d.reaches("cancel", 1) // two signals that arrive at once are one
			started := time.Now()
			if again {
				p.signal(os.Interrupt)
			}
			require.Equal(t, 130, p.end(), p.stderr.String())
			if again {
				require.Less(t, time.Since(started), 5*time.Second, "the graces of an agent that is asked are longer")
			}
			d.requireTidy()
		})
	}
}
