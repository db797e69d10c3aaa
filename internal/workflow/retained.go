package workflow

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/executable-markdown/xmd/internal/journal"
	"github.com/executable-markdown/xmd/internal/workspace"
)

// A stage is a change of the Workspace that waits for its event: the two are committed
// in one transaction (workflow 22).
type stage struct {
	tx      Tx // while the operation runs
	base    string
	root    string
	objects map[string]object
}

type object struct {
	kind string
	data []byte
}

// Object implements workspace.Objects.
func (s *stage) Object(hash string) (string, []byte, error) {
	if o, ok := s.objects[hash]; ok {
		return o.kind, o.data, nil
	}
	return s.tx.Object(hash)
}

// PutObject implements workspace.Objects.
func (s *stage) PutObject(hash, kind string, data []byte) error {
	s.objects[hash] = object{kind, data}
	return nil
}

// commit makes the change in the transaction of its event.
func (s *stage) commit(tx Tx) error {
	if tx.Root() != s.base {
		return errors.New("the files of the run changed under an effect")
	}
	for _, hash := range slices.Sorted(maps.Keys(s.objects)) {
		if err := tx.PutObject(hash, s.objects[hash].kind, s.objects[hash].data); err != nil {
			return err
		}
	}
	return tx.SetRoot(s.root)
}

// Do implements workspace.Store. A change is prepared here and made when its effect is
// recorded; until then nobody else prepares one.
func (s *stream) Do(ctx context.Context, mutate bool, body func(workspace.Objects, string) (string, error)) error {
	release := func() {}
	if mutate {
		select {
		case s.mutating <- struct{}{}:
			release = func() { <-s.mutating }
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	st := &stage{objects: map[string]object{}}
	var failed error
	s.turn.Lock()
	_, err := s.exec.Transact(ctx, func(tx Tx) (*journal.Event, error) {
		st.tx, st.base = tx, tx.Root()
		st.root, failed = body(st, st.base)
		return nil, nil
	})
	s.turn.Unlock()
	st.tx = nil
	if err != nil || failed != nil || !mutate {
		release()
		return errors.Join(err, failed)
	}
	if !journal.Attach(ctx, st, release) {
		release()
		return errors.New("the files of a run are changed by its effects only")
	}
	return nil
}
