package sandbox

import (
	"fmt"

	"github.com/executable-markdown/xmd/internal/ecma"
)

// A frame holds bindings and reads through to the frame around it. Only the
// innermost frame of a task changes, so a child may read those of its parent.
type frame struct {
	outer *frame
	names map[string]ecma.Value
}

func (f *frame) lookup(name string) (ecma.Value, bool) {
	for ; f != nil; f = f.outer {
		if v, bound := f.names[name]; bound {
			return v, true
		}
	}
	return nil, false
}

// scopeFields are the fields of xmd:scope: bindings.
func scopeFields() []field {
	return []field{
		{"open", 2, 0, (*task).openItem},
		{"close", 0, 0, (*task).closeItem},
		{"bind", 2, 0, (*task).bind},
		{"read", 1, 1, (*task).read},
	}
}

// openItem opens a frame for one item of an <Each>.
func (t *task) openItem(a []uint64) error {
	e, err := t.element(a[0])
	if err != nil {
		return err
	}
	t.rounds[e] = int(uint32(a[1]))
	t.names = &frame{outer: t.names}
	t.open(opened{kind: openEach, element: e})
	return nil
}

func (t *task) closeItem([]uint64) error {
	if _, err := t.innermost(openEach); err != nil {
		return err
	}
	t.close()
	t.names = t.names.outer
	return nil
}

func (t *task) bind(a []uint64) error {
	name, err := t.str(a[0])
	if err != nil {
		return err
	}
	v, err := t.value(a[1])
	if err != nil {
		return err
	}
	ecma.Seal(v)
	if t.names.names == nil {
		t.names.names = map[string]ecma.Value{}
	}
	t.names.names[name] = v
	return nil
}

func (t *task) read(a []uint64) error {
	name, err := t.str(a[0])
	if err != nil {
		return err
	}
	v, bound := t.names.lookup(name)
	if !bound {
		return fmt.Errorf("%s is not bound: the branch that binds it was not taken", name)
	}
	a[0] = t.hold(v)
	return nil
}
