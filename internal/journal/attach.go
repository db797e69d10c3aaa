package journal

import "context"

type attachmentKey struct{}

// An attachment is what an effect leaves to be kept together with its event.
type attachment struct {
	with    any
	release func()
}

// attachable lets live leave something for the append of its event; end lets go of it.
func attachable(ctx context.Context) (inner context.Context, a *attachment) {
	a = &attachment{}
	return context.WithValue(ctx, attachmentKey{}, a), a
}

func (a *attachment) end() {
	if a.release != nil {
		a.release()
	}
}

// Attach leaves with for the append of the effect that ctx belongs to, where the stream
// finds it with Attached and keeps both or neither. release is called once, when the
// effect has been recorded or never will be. It reports false, and calls nothing, where
// ctx belongs to no effect or something is attached already.
func Attach(ctx context.Context, with any, release func()) bool {
	a, ok := ctx.Value(attachmentKey{}).(*attachment)
	if !ok || a.release != nil {
		return false
	}
	a.with, a.release = with, release
	return true
}

// Attached returns what the effect whose event is appended with ctx has left, or nil.
func Attached(ctx context.Context) any {
	a, _ := ctx.Value(attachmentKey{}).(*attachment)
	if a == nil {
		return nil
	}
	return a.with
}
