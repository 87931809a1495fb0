package pawl

import "slices"

// Tainted reports whether untrusted text is in the conversation: the result of a
// tool that is labelled [Untrusted], an input that is (see [RunStarted]), the
// description of a tool that is [ToolInfo].Foreign, or the like in a run that this
// one continues. It stays so. Leaving text out of what a
// model sees does not change it, since what the model has made of it stays.
func (s *State) Tainted() bool { return s.tainted }

// foreign reports whether the model reads an untrusted description from its first
// request on. Runs before machine 3 did not count that as taint.
func (d *Declaration) foreign() bool {
	return d.Machine >= 3 && slices.ContainsFunc(d.Tools, func(t ToolInfo) bool { return t.Foreign })
}

// gathered is what a party has made of the first calls of a run.
type gathered struct {
	made  any
	count int
}

// Gather hands use what is made of the calls of all turns before the present one:
// begin makes what there is of none, and add puts in one call after the other,
// oldest first. The State keeps what was made, so that each call is added about
// once in a run, and a policy that must know the past pays only for what is new.
// What add makes must follow from the calls alone, and what begin makes from the
// beginning of the run. by keeps the parties apart. use must not keep its
// argument.
func (s *State) Gather(by string, begin func() any, add func(made any, c CallState), use func(made any)) {
	s.gather(by, begin, func(made any, c *call) { add(made, c.state()) }, use)
}

func (s *State) gather(by string, begin func() any, add func(made any, c *call), use func(made any)) {
	g := s.gathered[by]
	if g == nil {
		g = &gathered{made: begin()}
	}
	delete(s.gathered, by) // if add panics, what it left is of no use
	for ; g.count < len(s.calls); g.count++ {
		c := s.calls[g.count]
		add(g.made, &c)
	}
	put(&s.gathered, by, g)
	use(g.made)
}

// equal is the call of this run that did what content names, see contentKey, and
// may be told for another one that would: an Idempotent one that succeeded. It is
// looked for only when such a call is to be made, so that a log is folded without
// reckoning what each of its calls did.
func (s *State) equal(content string) (of string) {
	told := func(c *call) bool { return c.Ran && c.ok() && c.Effect == Idempotent }
	for i := range s.open {
		if c := &s.open[i]; told(c) && contentKey(c.Tool, c.args()) == content {
			of = c.ID
		}
	}
	if of != "" {
		return of
	}
	s.gather("\x00equal", func() any { return map[string]string{} }, func(made any, c *call) {
		if told(c) {
			made.(map[string]string)[contentKey(c.Tool, c.args())] = c.ID
		}
	}, func(made any) { of = made.(map[string]string)[content] })
	return of
}
