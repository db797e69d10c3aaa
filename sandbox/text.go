package sandbox

import (
	"strings"

	"github.com/executable-markdown/xmd/internal/answer"
	"github.com/executable-markdown/xmd/internal/ecma"
)

// textFields are the fields of xmd:text: what the evaluation renders.
func textFields() []field {
	return []field{
		{"emit", 1, 0, (*task).emit},
		{"show", 1, 0, (*task).show},
		{"render", 1, 0, (*task).render},
		{"push", 0, 0, (*task).push},
		{"pop", 0, 1, (*task).pop},
		{"trim", 1, 1, (*task).trim},
	}
}

// write renders text. What is rendered for good counts as output; what is rendered
// aside becomes a value, and counts as one while it grows (F8).
func (t *task) write(text string) error {
	if err := t.work(len(text)); err != nil {
		return err
	}
	return t.append(text)
}

// append is write without its fuel.
func (t *task) append(text string) error {
	b := t.text[len(t.text)-1]
	if len(t.text) == 1 {
		if err := spend(&t.left.output, len(text), "output"); err != nil {
			return err
		}
	} else {
		if len(text) > t.limits.Value-b.Len() {
			return &LimitError{"value"}
		}
		if err := spend(&t.left.values, len(text), "values"); err != nil {
			return err
		}
	}
	b.WriteString(text)
	return nil
}

func (t *task) emit(a []uint64) error {
	text, err := t.str(a[0])
	if err != nil {
		return err
	}
	return t.write(text)
}

// show renders a reference as it was authored (language 3.4): where it leads nowhere
// it stays as it is.
func (t *task) show(a []uint64) error {
	source, err := t.str(a[0])
	if err != nil {
		return err
	}
	path, n := answer.Reference(source)
	if n != len(source) || n == 0 {
		return broken("%q is no reference", source)
	}
	if v, bound := t.names.lookup(path[0]); bound {
		if text, ok := ecma.Show(v, path[1:]); ok {
			return t.write(text)
		}
	}
	return t.write(source)
}

// render renders what an element came to: a string, and nothing of anything else.
func (t *task) render(a []uint64) error {
	v, err := t.value(a[0])
	if err != nil {
		return err
	}
	if s, ok := v.(ecma.String); ok {
		return t.write(s.Text())
	}
	return nil
}

// push renders aside until pop, which makes a string of it.
func (t *task) push([]uint64) error {
	t.text = append(t.text, &strings.Builder{})
	return nil
}

func (t *task) pop(a []uint64) error {
	n := len(t.text) - 1
	if n == 0 {
		return broken("pop without push")
	}
	v := ecma.FromText(t.text[n].String())
	t.text = t.text[:n]
	if err := t.work(len(v)); err != nil {
		return err
	}
	if err := spend(&t.left.values, ecma.Overhead, "values"); err != nil {
		return err
	}
	a[0] = t.hold(v)
	t.popped = uint32(a[0])
	return nil
}

// trim removes the white space at the end of a string.
func (t *task) trim(a []uint64) error {
	v, err := t.value(a[0])
	if err != nil {
		return err
	}
	s, ok := v.(ecma.String)
	if !ok {
		return broken("trim of %s", ecma.Kind(v))
	}
	if err := t.work(len(s)); err != nil {
		return err
	}
	trimmed := s.TrimEnd()
	if err := t.made(trimmed); err != nil {
		return err
	}
	a[0] = t.hold(trimmed)
	return nil
}
