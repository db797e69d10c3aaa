package workflow

import (
	"context"
	"time"

	"github.com/executable-markdown/xmd/internal/journal"
	"github.com/executable-markdown/xmd/internal/value"
)

// A Status is where a run stands (workflow 21).
type Status string

// The statuses. Only Running and the two it can be continued from are followed by
// another.
const (
	Running     Status = "running"
	Suspended   Status = "suspended"
	Interrupted Status = "interrupted"
	Completed   Status = "completed"
	Failed      Status = "failed"
	Cancelled   Status = "cancelled"
)

// A Reason is why a run stopped: a code of the host, or an event of its history. The
// zero Reason is none. It holds no text.
type Reason struct {
	Code  string // of the host
	Event string // id of an event
}

// The codes of a host.
const (
	ExecutorInterrupted = "executor-interrupted"
	ExecutorDisappeared = "executor-disappeared"
	ExecutionFailed     = "document-execution-failed"
	RunCancelled        = "cancelled"
)

// An Identity is all of a run that is compared when it is started again (workflow 17).
type Identity struct {
	ID         string
	Definition *value.Object // closed, version 1; compared canonically
	Base       string
	Props      *value.Object // normalised; compared canonically
}

// A Source is a text the definition pins, byte for byte.
type Source struct {
	Path string
	Role string // root, component or profile
	Text []byte
}

// A Record is a run as it is retained.
type Record struct {
	Identity
	Status  Status
	Reason  Reason
	Epoch   int64
	Created time.Time
	Updated time.Time
}

// An Execution is one attempt of an executor to carry a run out.
type Execution struct {
	ID      string
	Epoch   int64
	Started time.Time
	Stopped time.Time // zero: it has not
	Status  Status    // of what has stopped
	Reason  Reason
}

// A StoredEvent is an event with the name it has for everybody and the root of the
// Workspace that was current when it was appended.
type StoredEvent struct {
	ID    string
	Event journal.Event
	Root  string
}

// An Answer is one that waits to be taken, or was.
type Answer struct {
	Suspension  string
	Request     string // id of the request's event
	Fingerprint string // of the request, 64 hex digits
	Value       any
	Consumed    bool
}

// A Snapshot is a run read in one transaction, without a lock and without a change.
type Snapshot struct {
	Record
	Sources    []Source
	Executions []Execution
	Events     []StoredEvent
	Root       string // of the Workspace
	Answers    []Answer
	Sessions   int
}

// A Store keeps runs. Everything above it is the same for every store. Its errors are
// *StoreError; a store is safe for concurrent use.
type Store interface {
	// Create makes a run with its first execution, status running, and returns the
	// executor that holds it. A run of that id makes it a Conflict; nothing is compared.
	Create(ctx context.Context, id Identity, sources []Source) (Executor, error)
	// Acquire takes the lock of a run, or says Live at once. It writes nothing.
	Acquire(ctx context.Context, id string) (Executor, error)
	// Inspect reads a run; verify also reads and hashes every object of the Workspace.
	Inspect(ctx context.Context, id string, verify bool) (Snapshot, error)
	// List reads the record of every run, the one updated last first. One that cannot be
	// read fails the whole.
	List(ctx context.Context) ([]Record, error)
	// Deliver leaves an answer for a suspended run. judge is asked inside the transaction,
	// with the run as it is then; its error refuses the answer and nothing is changed.
	Deliver(ctx context.Context, id string, a Answer, judge func(Snapshot) error) error
	// Delete removes a run that nobody executes and says what went.
	Delete(ctx context.Context, id string) (removed []string, err error)
}

// An Executor holds the lock of a run. It is used by one goroutine at a time, but for
// Append, which takes turns.
type Executor interface {
	Snapshot(ctx context.Context) (Snapshot, error)
	// Reconcile closes an execution that a killed process left open. status and reason
	// are what the history says of it.
	Reconcile(ctx context.Context, status Status, reason Reason) error
	// Begin opens an execution, and makes the run running unless replay is set.
	Begin(ctx context.Context, replay bool) error
	// Append adds one event, fenced by the epoch. It is durable when Append returns.
	Append(ctx context.Context, e journal.Event) (StoredEvent, error)
	// Transact runs body in one transaction that commits what it did, or nothing. The
	// event it returns is appended in it. Transactions of a run do not nest.
	Transact(ctx context.Context, body func(Tx) (*journal.Event, error)) (StoredEvent, error)
	// Settle ends the execution and states what became of the run.
	Settle(ctx context.Context, status Status, reason Reason) error
	// Release gives the lock back. A second call does nothing.
	Release() error
}

// A Tx is a transaction of a run.
type Tx interface {
	// Root is the current root of the Workspace.
	Root() string
	// SetRoot makes an object that was put the current root.
	SetRoot(root string) error
	// Object returns the bytes of an object of the Workspace, kind "tree" or "blob".
	Object(hash string) (kind string, data []byte, err error)
	// PutObject keeps an object under its hash; one that is there already is not changed.
	PutObject(hash, kind string, data []byte) error
	// Consume marks the answer of a suspension taken and returns it; ok is false when
	// none waits for exactly this request.
	Consume(suspension, request string) (a Answer, ok bool, err error)
}

// A Condition is why a store does not do what it was asked (workflow 29).
type Condition string

// The conditions. NotFound, Conflict, Live and Refused are refusals; the rest say that
// what is stored cannot be trusted, and nothing of it is repaired.
const (
	NotFound         Condition = "not-found"
	Conflict         Condition = "conflict"
	Live             Condition = "live"
	Refused          Condition = "refused"
	IDMismatch       Condition = "id-mismatch"
	Format           Condition = "format"
	SchemaVersion    Condition = "schema-version"
	Corrupt          Condition = "corrupt"
	RecordMalformed  Condition = "record-malformed"
	WorkspaceDamaged Condition = "workspace-damaged"
	Inspection       Condition = "inspection"
	Fenced           Condition = "fenced"
)

// A StoreError is a condition with the run it is about and what to do.
type StoreError struct {
	Condition Condition
	Run       string
	Message   string
	Err       error
}

func (e *StoreError) Error() string { return e.Message }
func (e *StoreError) Unwrap() error { return e.Err }

// Damage reports whether the condition says that something stored cannot be trusted.
func (c Condition) Damage() bool {
	switch c {
	case NotFound, Conflict, Live, Refused:
		return false
	}
	return true
}
