package admission

import "sort"

// A scope knows which names are visible at the current place of the walk and which
// of them may be bound there (fragments 4). Bindings are a stack in the order of the
// walk. What a construct keeps to itself is taken off again when it ends; what only
// the other arms of a branch bound is hidden meanwhile, as a range of the stack. So
// every binding is pushed and popped once, whatever the nesting.
type scope struct {
	bound   []binding
	newest  map[string]int // place of the last binding of a name
	hidden  []stretch      // ascending and apart
	content int            // bindings made before the content being walked
}

// A binding is one name; older is the place of an earlier one of the same name,
// hidden when this one was made, or -1.
type binding struct {
	name  string
	older int
}

// A stretch is a range of places, the end excluded.
type stretch struct{ start, end int }

func newScope() *scope { return &scope{newest: make(map[string]int)} }

// visible reports whether a name can be read. The newest binding of a name is
// visible whenever any is: another is only made where all before it are hidden, and
// then stays hidden no longer than they do.
func (s *scope) visible(name string) bool {
	at, ok := s.newest[name]
	if !ok {
		return false
	}
	i := sort.Search(len(s.hidden), func(i int) bool { return s.hidden[i].end > at })
	return i == len(s.hidden) || s.hidden[i].start > at
}

// outer reports whether a name was visible before the content being walked, so that
// binding it again could be seen outside.
func (s *scope) outer(name string) bool {
	return s.visible(name) && s.newest[name] < s.content
}

// bind makes a name visible from here on.
func (s *scope) bind(name string) {
	if s.visible(name) {
		return
	}
	older, ok := s.newest[name]
	if !ok {
		older = -1
	}
	s.newest[name] = len(s.bound)
	s.bound = append(s.bound, binding{name, older})
}

// mark is the current place, for drop.
func (s *scope) mark() int { return len(s.bound) }

// drop forgets every name bound since the mark.
func (s *scope) drop(mark int) {
	for i := len(s.bound) - 1; i >= mark; i-- {
		if b := s.bound[i]; b.older < 0 {
			delete(s.newest, b.name)
		} else {
			s.newest[b.name] = b.older
		}
	}
	s.bound = s.bound[:mark]
}

// hide keeps what was bound since the mark from sight until show is called.
func (s *scope) hide(mark int) {
	s.hidden = append(s.hidden, stretch{mark, len(s.bound)})
}

// show ends the last hide.
func (s *scope) show() { s.hidden = s.hidden[:len(s.hidden)-1] }
