// Package suite judges regression suites of generated text (fragments 12).
//
// A suite is a list of cases, each one archive: a fragment, the profile it is judged
// under, and what has to come of it. Names and bytes enter ([Read]); what leaves is a
// [Report]: which cases are as wanted, what is different in the others, how their
// archives would read if they were, and which rules of admission no case shows. The
// forms a machine reads (TAP, JUnit, JSON) are written here, too.
//
// A case is a txtar archive with these members:
//
//	profile.yaml     a profile file; without it the ordinary profile of a run
//	allow            the tables it selects, such as read,write; without it read
//	fragment.md      the fragment, byte for byte
//	fragment.json    or so: a JSON string, or a list of strings and byte values
//	results          what its operations return; with it the fragment is evaluated
//	want             admitted, then an identity a line; or refused: and the class
//	want/output      what it renders
//	want/output.json or so: a JSON string
//	want/effects     its effects, an identity and a JSON text a line
//	want/failure     how it fails: limit: and its name, operation, or fail: and a JSON string
//
// An archive gives every member a final line end. A fragment without one is written
// in fragment.json; in want/output a final line end that the output does not have
// makes no difference.
//
// The room has one invariant: nothing outside it is touched. No directory is opened
// for a profile, no request is made and nobody is asked: every operation is answered
// from the results of the case, spawned children one after the other in document
// order. So a case means the same on every machine, however many run at once.
//
// It knows no file, no terminal and no exit status; what is admitted is decided by
// the packages a run uses, and nothing here decides it again.
package suite

import (
	"context"
	"runtime"
	"sync"

	"github.com/executable-markdown/xmd/sandbox"
)

// An Outcome is what came of one case.
type Outcome struct {
	Name      string
	Decision  string   // admitted, or refused: and a class; empty: there was none
	Evaluated bool     // the fragment ran
	Problems  []string // why the case is not as wanted; none: it is
	// Archive is the case with its expectations rewritten to what came of it, nil when
	// nothing would change or the case itself is what is wrong.
	Archive []byte
	// Changes shows what Archive changes, a line each, as a diff does.
	Changes []string
	shows   map[string]bool // items of the coverage
}

// Passed reports whether everything about the case is as wanted.
func (o *Outcome) Passed() bool { return len(o.Problems) == 0 }

// A Report is what came of a suite, in the order of its cases.
type Report struct {
	Outcomes []Outcome
}

// Failed is the number of cases that are not as wanted.
func (r *Report) Failed() int {
	n := 0
	for i := range r.Outcomes {
		if !r.Outcomes[i].Passed() {
			n++
		}
	}
	return n
}

// Run judges cases, as many at a time as there are processors. The report does not
// depend on that. progress, if it is not nil, is told how many are done, by one
// goroutine at a time. The error is the cause of ctx when that ended, or that of a
// runtime which cannot be made.
func Run(ctx context.Context, cases []*Case, progress func(done int)) (*Report, error) {
	j := &judge{grants: map[string]*granted{}}
	j.runtime = sync.OnceValues(func() (*sandbox.Runtime, error) {
		var err error
		j.made, err = sandbox.New(context.WithoutCancel(ctx))
		return j.made, err
	})
	defer j.close(context.WithoutCancel(ctx))
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	r := &Report{Outcomes: make([]Outcome, len(cases))}
	var (
		workers  sync.WaitGroup
		mu       sync.Mutex
		next     int
		finished int
	)
	take := func() (int, bool) {
		mu.Lock()
		defer mu.Unlock()
		next++
		return next - 1, next <= len(cases) && ctx.Err() == nil
	}
	tell := func() {
		mu.Lock()
		defer mu.Unlock()
		if finished++; progress != nil {
			progress(finished)
		}
	}
	for range min(runtime.GOMAXPROCS(0), len(cases)) {
		workers.Go(func() {
			for i, ok := take(); ok; i, ok = take() {
				var err error
				if r.Outcomes[i], err = j.judge(ctx, cases[i]); err != nil {
					stop(err)
					return
				}
				tell()
			}
		})
	}
	workers.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return r, nil
}
