package pawl

import "slices"

// Tainted reports whether the model has read untrusted text: the result of a tool labelled [Untrusted],
// an untrusted input, files of an input, the description of a tool that is [ToolInfo].Foreign, or any
// of these in a run that this one continues. A tainted run stays so, whatever is hidden from the model.
func (s *State) Tainted() bool { return s.tainted }

// foreign reports whether the model reads an untrusted description with its first request.
func (d *Declaration) foreign() bool {
	return slices.ContainsFunc(d.Tools, func(t ToolInfo) bool { return t.Foreign })
}

// gathered is what a party has computed from the first calls of a run.
type gathered struct {
	made  any
	count int
}

// Gather returns a value computed from the calls of all turns before the present one. begin returns
// the value for no calls, and add adds the next call to it, the oldest first. The State keeps the
// value under the name by, so that each call is added about once in a run. The value must depend on
// nothing but the calls and the beginning of the run, and only add may change it.
func (s *State) Gather(by string, begin func() any, add func(made any, c CallState)) any {
	return s.gather(by, begin, func(made any, c *call) { add(made, c.state()) })
}

func (s *State) gather(by string, begin func() any, add func(made any, c *call)) any {
	g := s.gathered[by]
	if g == nil {
		g = &gathered{made: begin()}
	}
	delete(s.gathered, by) // if add panics, what it left is of no use
	for ; g.count < len(s.calls); g.count++ {
		add(g.made, s.calls[g.count])
	}
	put(&s.gathered, by, g)
	return g.made
}

// equal returns the id of a call of this run with the same content (see
// contentKey) whose result may answer another one: an Idempotent call that
// succeeded. It runs only when such a call is about to run, so that folding a
// log need not compute the content of every call.
func (s *State) equal(content string) string {
	told := func(c *call) bool { return c.Ran && c.ok() && c.Effect == Idempotent }
	for _, c := range slices.Backward(s.open) {
		if told(c) && contentKey(c.Tool, c.args()) == content {
			return c.ID
		}
	}
	return s.gather("\x00equal", func() any { return map[string]string{} }, func(made any, c *call) {
		if told(c) {
			made.(map[string]string)[contentKey(c.Tool, c.args())] = c.ID
		}
	}).(map[string]string)[content]
}
