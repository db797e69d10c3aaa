package sandbox

import (
	"context"

	"github.com/executable-markdown/xmd/capability"
)

// Hooks connect an evaluation with the execution around it. The zero Hooks performs
// operations directly, asks nobody and records nothing. The functions of one Hooks
// are called from one goroutine at a time, the one that evaluates.
type Hooks struct {
	// Effect performs one operation as a durable effect: do performs it, and is not
	// called where a history answers instead. The value is judged after Effect has
	// returned, so a recorded one is judged like a fresh one. Nil: do is called.
	Effect func(ctx context.Context, s Site, e *capability.Granted, c capability.Call, do func(context.Context) (any, error)) (any, error)
	// Ask asks the provider of the enclosing execution. Nil: nobody is there.
	Ask func(ctx context.Context, q capability.Question) (any, error)
	// Replaying reports whether the next effect is answered by a history: until then
	// the end of the context does not stop the evaluation, so that it arrives where
	// it was stopped before. Nil: false.
	Replaying func() bool
	// Fork returns n concurrent children in document order, before any of them
	// starts. Nil: children with the same Effect and Ask, which then are called
	// concurrently.
	Fork func(n int) []Child
	// Iteration records that iteration i of the loop s is entered, and LoopEnd that
	// the loop has ended after so many iterations: exhausted, broken or, where failure
	// is not nil, failed. Loops nest, so LoopEnd belongs to the last one that was
	// entered and has not ended; i is 0 when a loop is entered. A loop the context
	// ended in does not end. Nil: nothing.
	Iteration func(ctx context.Context, s Site, i int) error
	LoopEnd   func(ctx context.Context, s Site, iterations int, broken bool, failure error) error
}

// A Child is one concurrent child of an <All>.
type Child struct {
	Hooks Hooks
	// Restore returns the result the child ended with in an earlier execution, all of
	// it, so that it need not run; ok is false when it is to run. It may wait for ctx
	// to end, as the child did. Nil: the child runs.
	Restore func(ctx context.Context) (r Result, ok bool, err error)
	// Failed says that the child failed in an earlier execution: it fails again,
	// whatever becomes of its siblings.
	Failed bool
	// End is told what the child came to, and returns the error it then has. It is
	// not called for a child that was restored. Nil: nothing.
	End func(ctx context.Context, r Result, err error) error
}

// A Site is the place of an element in one evaluation (language 5.13).
type Site struct {
	Element int // index into the element table
	Name    string
	Offset  int    // of its <, in bytes of the source
	Path    []Step // from the outside in, the element itself last
	// Entering says that the effect is the Enter of a paired entry, not its Do.
	Entering bool
}

// A Step is one frame of an expansion identity.
type Step struct {
	Kind   StepKind
	Name   string // of an Element
	Offset int    // of an Element
	Index  int    // of an Item, an Iteration or a Spawned child, from 0
}

// A StepKind says what a Step enters.
type StepKind uint8

const (
	Element     StepKind = iota // an element, structural ones, <Else>, <Case> and <Answer> included
	Content                     // the content of the capability entered before
	Item                        // an item of the <Each> entered before
	Iteration                   // an iteration of the <Loop> entered before
	AnswersBody                 // the body of the <Answers> entered before
	Spawned                     // the body of the <Spawn> entered before, by its place in its <All>
)
