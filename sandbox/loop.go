package sandbox

// taskFields are the fields of xmd:task: loops and concurrent children.
func taskFields() []field {
	return []field{
		{"spawn", 1, 0, (*task).spawn},
		{"join", 0, 0, (*task).join},
		{"loop", 2, 0, (*task).iterate},
		{"done", 3, 0, (*task).done},
	}
}

// iterate enters an iteration of a <Loop>.
func (t *task) iterate(a []uint64) error {
	e, err := t.element(a[0])
	if err != nil {
		return err
	}
	i := int(uint32(a[1]))
	if i == 0 {
		t.open(opened{kind: openLoop, element: e})
	}
	o, err := t.innermost(openLoop)
	if err != nil {
		return err
	}
	if o.element != e || o.rounds != i {
		return broken("iteration %d of a loop comes after %d others", i, o.rounds)
	}
	o.rounds++
	t.rounds[e] = i
	if t.hooks.Iteration == nil {
		return nil
	}
	// Time goes on: a record is part of a turn, and turns are not waited for.
	_, err = t.guarded(func() (any, error) { return nil, t.hooks.Iteration(t.ctx, t.site(e), i) })
	return err
}

// done ends a <Loop>.
func (t *task) done(a []uint64) error {
	o, err := t.innermost(openLoop)
	if err != nil {
		return err
	}
	if o.element != int(uint32(a[0])) || o.rounds != int(uint32(a[1])) {
		return broken("this is not how the loop went that was entered")
	}
	if err := t.loopEnd(*o, uint32(a[2]) != 0, nil); err != nil {
		return err
	}
	t.close()
	return nil
}

func (t *task) loopEnd(o opened, broke bool, failure error) error {
	if t.hooks.LoopEnd == nil {
		return nil
	}
	_, err := t.guarded(func() (any, error) {
		return nil, t.hooks.LoopEnd(t.ctx, t.site(o.element), o.rounds, broke, failure)
	})
	return t.at(o.element, err)
}

// failLoops ends the loops that were open when the evaluation failed, the innermost
// first, and returns the failure.
func (t *task) failLoops(failure error) error {
	for len(t.opened) > 0 {
		o := t.opened[len(t.opened)-1]
		t.close()
		if o.kind != openLoop {
			continue
		}
		if err := t.loopEnd(o, false, failure); err != nil {
			return err
		}
	}
	return failure
}
