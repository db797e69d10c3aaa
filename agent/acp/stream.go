package acp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"sync"

	sdk "github.com/coder/acp-go-sdk"
)

const (
	maxLine    = 10 << 20 // the longest message, in bytes, as the library has it
	burst      = 512      // messages handed on before the reader waits for their handling
	burstBytes = 4 << 20  // and their length in bytes, with the last
	markMethod = "_xmd/mark"
	markLine   = `{"jsonrpc":"2.0","method":"` + markMethod + `"}` + "\n"
)

var errLineTooLong = errors.New("a message is longer than 10 MiB")

// inbound reads what a peer writes, line by line, and paces it. The library handles
// notifications one at a time in a queue that must not overflow, and requests on
// goroutines of their own; pacing gives both a bound and an order. It puts a mark of
// its own into the stream and waits until the mark was handled: after every burst, at
// the end, and before a permission request, which is then itself waited for. So a request
// sees everything the peer said before it, and requests arrive in the order sent.
type inbound struct {
	r       *bufio.Reader
	start   <-chan struct{} // closed when the connection is ready to be read into
	marked  chan struct{}   // a mark was handled
	entered chan struct{}   // a permission request reached its handler
	answers *outbound       // what the peer has to read before it may ask on

	out   []byte        // handed on before anything else is read
	held  []byte        // the permission request behind the mark in out
	wait  chan struct{} // awaited when out is consumed
	lines int           // since the last mark
	bytes int           // since the last mark
	asked bool          // one of them may be a request
	err   error

	mu       sync.Mutex
	overlong bool
}

func newInbound(r io.Reader, start <-chan struct{}, answers *outbound) *inbound {
	return &inbound{answers: answers, r: bufio.NewReaderSize(r, 64<<10), start: start, marked: make(chan struct{}, 1), entered: make(chan struct{}, 1)}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

func drained(c chan struct{}) chan struct{} {
	select {
	case <-c:
	default:
	}
	return c
}

func (r *inbound) Read(p []byte) (int, error) {
	<-r.start
	for len(r.out) == 0 {
		if r.wait != nil {
			<-r.wait
			r.wait = nil
			if r.asked { // whoever does not read its answers is not heard for as long
				<-r.answers.written()
				r.asked = false
			}
		}
		if r.err != nil {
			return 0, r.err
		}
		r.next()
	}
	n := copy(p, r.out)
	r.out = r.out[n:]
	return n, nil
}

func (r *inbound) next() {
	if r.held != nil {
		r.out, r.held, r.wait = r.held, nil, drained(r.entered)
		return
	}
	var line []byte
	for {
		part, err := r.r.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > maxLine {
			r.mu.Lock()
			r.overlong = true
			r.mu.Unlock()
			r.last(nil, errLineTooLong)
			return
		}
		if err == nil {
			break
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			r.last(line, err) // an unfinished last line is the library's to judge
			return
		}
	}
	if permissionRequest(line) {
		r.out, r.held, r.wait, r.lines, r.bytes = []byte(markLine), line, drained(r.marked), 0, 0
		return
	}
	r.out = line
	r.asked = r.asked || bytes.Contains(line, []byte("id")) && bytes.Contains(line, []byte("method"))
	r.bytes += len(line)
	if r.lines++; r.lines == burst || r.bytes >= burstBytes {
		r.out, r.wait, r.lines, r.bytes = append(line, markLine...), drained(r.marked), 0, 0
	}
}

// last hands the end of the stream on, once everything before it was handled: a turn
// whose peer goes away has heard all it said.
func (r *inbound) last(line []byte, err error) {
	if len(line) > 0 {
		line = append(line, '\n')
	}
	r.out, r.wait, r.err = append(line, markLine...), drained(r.marked), err
}

// permissionRequest says whether the library will hand the line to the handler as a
// permission request. It decodes exactly what the library decodes, so that a request
// that is waited for does arrive.
func permissionRequest(line []byte) bool {
	if !bytes.Contains(line, []byte("request_permission")) {
		return false
	}
	var m struct {
		JSONRPC string            `json:"jsonrpc"`
		ID      *json.RawMessage  `json:"id,omitempty"`
		Method  string            `json:"method,omitempty"`
		Params  json.RawMessage   `json:"params,omitempty"`
		Result  json.RawMessage   `json:"result,omitempty"`
		Error   *sdk.RequestError `json:"error,omitempty"`
	}
	return json.Unmarshal(line, &m) == nil && m.Method == methodPermission
}

func (r *inbound) tooLong() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.overlong
}

// outbound writes to a peer and counts the permission answers that are owed, so that
// a cancellation can be sent after the last of them.
type outbound struct {
	w  io.Writer
	mu sync.Mutex
	n  int
	ok chan struct{} // closed while nothing is owed

	done chan struct{} // closed while nothing is being written
}

func newOutbound(w io.Writer) *outbound {
	done := make(chan struct{})
	close(done)
	return &outbound{w: w, ok: done, done: done}
}

func (o *outbound) owe() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.n++; o.n == 1 {
		o.ok = make(chan struct{})
	}
}

// settled is closed when every permission request so far was answered.
func (o *outbound) settled() <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.ok
}

// written is closed when the peer has read what is being written now.
func (o *outbound) written() <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.done
}

// Write writes one message. The library has one caller at a time.
func (o *outbound) Write(line []byte) (int, error) {
	done := make(chan struct{})
	defer close(done)
	o.mu.Lock()
	o.done = done
	o.mu.Unlock()
	n, err := o.w.Write(line)
	// Inside a string the quotes would be escaped: nothing but an answer matches.
	if bytes.Contains(line, []byte(`"result":{"outcome":{`)) {
		o.mu.Lock()
		if o.n--; o.n == 0 {
			close(o.ok)
		}
		o.mu.Unlock()
	}
	return n, err
}
