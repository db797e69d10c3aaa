package sandbox

import "github.com/executable-markdown/xmd/internal/ecma"

// valueFields are the fields of xmd:value: pure data.
func valueFields() []field {
	return []field{
		{"literal", 1, 1, (*task).literal},
		{"get", 2, 1, (*task).get},
		{"index", 2, 1, (*task).index},
		{"unary", 2, 1, (*task).unary},
		{"binary", 3, 1, (*task).binary},
		{"truthy", 1, 1, (*task).truthy},
		{"nullish", 1, 1, (*task).nullish},
		{"array", 0, 1, (*task).array},
		{"append", 2, 0, (*task).appendTo},
		{"object", 0, 1, (*task).object},
		{"set", 3, 0, (*task).set},
		{"items", 1, 1, (*task).items},
		{"length", 1, 1, (*task).length},
		{"at", 2, 1, (*task).item},
		{"count", 1, 1, (*task).count},
	}
}

// keep counts a value that was made and returns its handle in a.
func (t *task) keep(a []uint64, v ecma.Value) error {
	if _, absent := v.(ecma.Undefined); !absent {
		if err := t.made(v); err != nil {
			return err
		}
	}
	a[0] = t.hold(v)
	return nil
}

func (t *task) literal(a []uint64) error {
	text, err := t.str(a[0])
	if err != nil {
		return err
	}
	if err := t.work(len(text)); err != nil {
		return err
	}
	v, err := ecma.ParseJSON(text, t.one())
	if err != nil {
		return err
	}
	return t.keep(a, v)
}

// member returns what v holds in a: a part of a string is a value that was made.
func (t *task) member(a []uint64, v, member ecma.Value, read int) error {
	if s, ok := v.(ecma.String); ok {
		if err := t.work(len(s) + read); err != nil {
			return err
		}
		return t.keep(a, member)
	}
	a[0] = t.hold(member)
	return t.work(read)
}

func (t *task) get(a []uint64) error {
	v, err := t.value(a[0])
	if err != nil {
		return err
	}
	name, err := t.str(a[1])
	if err != nil {
		return err
	}
	member, err := ecma.Get(v, name)
	if err != nil {
		return err
	}
	return t.member(a, v, member, 0)
}

// two returns the values of two handles.
func (t *task) two(x, y uint64) (ecma.Value, ecma.Value, error) {
	v, err := t.value(x)
	if err != nil {
		return nil, nil, err
	}
	w, err := t.value(y)
	return v, w, err
}

func (t *task) index(a []uint64) error {
	v, key, err := t.two(a[0], a[1])
	if err != nil {
		return err
	}
	member, err := ecma.Index(v, key)
	if err != nil {
		return err
	}
	return t.member(a, v, member, ecma.Size(key))
}

func (t *task) unary(a []uint64) error {
	v, err := t.value(a[1])
	if err != nil {
		return err
	}
	if err := t.work(ecma.Size(v)); err != nil {
		return err
	}
	made, err := ecma.Unary(ecma.UnaryOp(min(uint32(a[0]), 255)), v)
	if err != nil {
		return err
	}
	return t.keep(a, made)
}

func (t *task) binary(a []uint64) error {
	x, y, err := t.two(a[1], a[2])
	if err != nil {
		return err
	}
	if err := t.work(ecma.Size(x) + ecma.Size(y)); err != nil {
		return err
	}
	made, err := ecma.Binary(ecma.BinaryOp(min(uint32(a[0]), 255)), x, y, t.one())
	if err != nil {
		return err
	}
	return t.keep(a, made)
}

// answerBool returns a truth value in a.
func answerBool(a []uint64, b bool) error {
	a[0] = 0
	if b {
		a[0] = 1
	}
	return nil
}

func (t *task) truthy(a []uint64) error {
	v, err := t.value(a[0])
	if err != nil {
		return err
	}
	return answerBool(a, ecma.Truthy(v))
}

func (t *task) nullish(a []uint64) error {
	v, err := t.value(a[0])
	if err != nil {
		return err
	}
	return answerBool(a, ecma.Nullish(v))
}

func (t *task) array(a []uint64) error { return t.keep(a, ecma.NewArray()) }

func (t *task) object(a []uint64) error { return t.keep(a, ecma.NewObject()) }

func (t *task) appendTo(a []uint64) error {
	v, element, err := t.two(a[0], a[1])
	if err != nil {
		return err
	}
	array, ok := v.(*ecma.Array)
	if !ok {
		return broken("append to %s", ecma.Kind(v))
	}
	return array.Append(element, t.one())
}

func (t *task) set(a []uint64) error {
	v, member, err := t.two(a[0], a[2])
	if err != nil {
		return err
	}
	name, err := t.str(a[1])
	if err != nil {
		return err
	}
	object, ok := v.(*ecma.Object)
	if !ok {
		return broken("set in %s", ecma.Kind(v))
	}
	return object.Set(name, member, t.one())
}

func (t *task) items(a []uint64) error {
	v, err := t.value(a[0])
	if err != nil {
		return err
	}
	if err := t.work(ecma.Size(v)); err != nil {
		return err
	}
	items, err := ecma.Items(v, t.one())
	if err != nil {
		return err
	}
	return t.keep(a, items)
}

func (t *task) length(a []uint64) error {
	v, err := t.value(a[0])
	if err != nil {
		return err
	}
	items, ok := v.(*ecma.Array)
	if !ok {
		return broken("length of %s", ecma.Kind(v))
	}
	a[0] = uint64(items.Len())
	return nil
}

func (t *task) item(a []uint64) error {
	v, err := t.value(a[0])
	if err != nil {
		return err
	}
	items, ok := v.(*ecma.Array)
	if !ok || uint32(a[1]) >= uint32(items.Len()) {
		return broken("%s has no item %d", ecma.Kind(v), uint32(a[1]))
	}
	a[0] = t.hold(items.At(int(uint32(a[1]))))
	return nil
}

func (t *task) count(a []uint64) error {
	v, err := t.value(a[0])
	if err != nil {
		return err
	}
	n, err := ecma.Count(v)
	if err != nil {
		return err
	}
	a[0] = uint64(n)
	return nil
}
