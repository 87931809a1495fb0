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

// A page has what was made of the calls of finished turns.
type page struct {
	made  any
	count int    // calls it is made of
	last  []call // the last of them, those that were made at once
}

// Gather hands use what is made of the calls of all turns before the present one:
// begin makes what there is of none, add puts in one call after the other, oldest
// first. What was made for a state that this one was folded from is gone on with,
// so that over a whole run every call is added about once, and a policy that must
// know the past pays for what is new. What add makes must follow from the calls
// alone, and what begin makes from what a run begins with. by keeps the makings of
// several parties apart. use must not keep what it is handed, nor gather itself.
func (s *State) Gather(by string, begin func() any, add func(made any, c CallState), use func(made any)) {
	s.gather(by, begin, func(made any, c *call) { add(made, c.state()) }, use)
}

func (s *State) gather(by string, begin func() any, add func(made any, c *call), use func(made any)) {
	book := s.aside
	if book == nil {
		use(begin())
		return
	}
	book.Open(by, func(p *page) {
		if p.made == nil || !p.before(s) {
			*p = page{made: begin()}
		}
		was := *p
		*p = page{} // should add panic, what it left is of no use
		for _, c := range s.calls.From(was.count) {
			add(was.made, &c)
			if len(was.last) > 0 && was.last[0].prior != c.prior {
				was.last = nil
			}
			was.last, was.count = append(was.last, c), was.count+1
		}
		*p = was
		use(p.made)
	})
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

// before reports whether the calls that a page is made of are the first of a
// state. When calls are made those before them stand for good; so it is enough to
// look at those that were made last.
func (p *page) before(s *State) bool {
	if p.count > s.calls.Len() {
		return false
	}
	for i := range p.last {
		was, is := &p.last[i], s.calls.At(p.count-len(p.last)+i)
		if was.asked != is.asked || was.ending != is.ending {
			return false
		}
	}
	return true
}
