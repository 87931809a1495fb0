package pawl

import "slices"

// Tainted reports whether untrusted text is in the conversation: the result of a tool labelled
// [Untrusted], an untrusted input or any files of it (see [RunStarted]), the description of a tool that is
// [ToolInfo].Foreign, or any of these in a run that this one continues. A tainted run stays
// so: hiding a text from the model does not remove what the model has made of it.
func (s *State) Tainted() bool { return s.tainted }

// foreign reports whether the model reads an untrusted description from its first
// request on.
func (d *Declaration) foreign() bool {
	return slices.ContainsFunc(d.Tools, func(t ToolInfo) bool { return t.Foreign })
}

// gathered is what a party has computed from the first calls of a run.
type gathered struct {
	made  any
	count int
}

// Gather computes a value from the calls of all turns before the present one and passes it to
// use. begin returns the value for no calls, and add adds one call to it; add is called for the
// oldest call first. The State keeps the value under the name by. So each call is added about
// once in a run, and a policy that needs the past pays only for what is new.
//
// The value must depend on nothing but the calls and the beginning of the run. use must not
// keep its argument.
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
		add(g.made, s.calls[g.count])
	}
	put(&s.gathered, by, g)
	use(g.made)
}

// equal returns the id of a call of this run with the same content (see
// contentKey) whose result may answer another one: an Idempotent call that
// succeeded. It runs only when such a call is about to run, so that folding a
// log need not compute the content of every call.
func (s *State) equal(content string) (of string) {
	told := func(c *call) bool { return c.Ran && c.ok() && c.Effect == Idempotent }
	for _, c := range s.open {
		if told(c) && contentKey(c.Tool, c.args()) == content {
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
