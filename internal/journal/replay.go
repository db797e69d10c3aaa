package journal

import (
	"fmt"
	"strings"
)

// A retained node is the recorded history of one coroutine and of those beneath
// it. Events are immutable; cursor and claimed move, under the journal's mutex.
type retained struct {
	id       string
	yields   []Event
	places   []int // of yields, in the whole history
	cursor   int
	close    *Result
	ended    int  // the close's place in the whole history
	claimed  bool // the close was handed out, which answers for the whole subtree
	children map[string]*retained
}

// child returns the retained history of the coroutine with that index; nil, on a
// nil node too, when there is none.
func (h *retained) child(index string) *retained {
	if h == nil {
		return nil
	}
	return h.children[index]
}

// pending reports whether the next effect is answered from history.
func (h *retained) pending() bool { return h != nil && h.cursor < len(h.yields) }

// consumed returns how many of the coroutine's retained effects were replayed,
// and how many there are.
func (h *retained) consumed() (int, int) {
	if h == nil {
		return 0, 0
	}
	return h.cursor, len(h.yields)
}

// aligned reports whether the program used up everything at and beneath h. The
// close of h itself is the caller's.
func (h *retained) aligned() bool {
	if h == nil {
		return true
	}
	if h.cursor < len(h.yields) {
		return false
	}
	for _, c := range h.children {
		if c.claimed {
			continue
		}
		if c.close != nil || !c.aligned() {
			return false
		}
	}
	return true
}

// index builds the tree of a history and refuses one that breaks the protocol:
// an event that is malformed, or that follows the end of its coroutine or of an
// ancestor.
func index(events []Event) (*retained, error) {
	root := &retained{id: rootID}
	for i, e := range events {
		err := e.check()
		if err == nil {
			err = root.add(e, i)
		}
		if err != nil {
			return nil, fmt.Errorf("event %d of the history: %w", i+1, err)
		}
	}
	return root, nil
}

// beneath adds the yields of h and of everything beneath it, with their places.
func (h *retained) beneath(out map[int]Event) {
	for i, e := range h.yields {
		out[h.places[i]] = e
	}
	for _, c := range h.children {
		c.beneath(out)
	}
}

func (h *retained) add(e Event, place int) error {
	for id := e.CoroutineID; ; {
		if h.close != nil {
			return malformed("$.coroutineId", "the coroutine had ended")
		}
		if len(h.id) == len(id) {
			break
		}
		index, _, _ := strings.Cut(id[len(h.id)+1:], ".")
		c := h.child(index)
		if c == nil {
			c = &retained{id: id[:len(h.id)+1+len(index)]}
			if h.children == nil {
				h.children = make(map[string]*retained)
			}
			h.children[index] = c
		}
		h = c
	}
	if e.Type == TypeClose {
		result := e.Result
		h.close, h.ended = &result, place
		return nil
	}
	h.yields, h.places = append(h.yields, e), append(h.places, place)
	return nil
}
