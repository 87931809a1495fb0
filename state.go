package pawl

import (
	"fmt"
	"maps"
	"slices"
)

// State is a folded log: [State.Fold] applies the next entry, and all other methods only read.
// The zero State is a run that has not begun. A State must not be copied; [State.Clone] makes another.
//
// Results of methods belong to the caller and cost O(1), unless a method says otherwise. Many
// goroutines may read a State at the same time while none calls Fold or Gather.
type State struct {
	noCopy noCopy
	facts
	gathered map[string]*gathered // a cache; see [State.Gather]
}

// facts are what the log says, in parts. Each part stands in a file of its own, with what it
// takes in and who reads it.
type facts struct {
	life
	conversation
	window
	turn
	callList
	spending
	progress
	memory
}

// Internals returns what an engine and a window need of a State.
func (s *State) Internals() Internals { return Internals{s} }

// Internals has the methods of a State that only an engine, a journal's reader or a window needs:
// what is sent to the model, what was read from the inbox, what an import changed. Loops, policies
// and conditions do without.
type Internals struct{ *State }

// noCopy has go vet report a State that is copied.
type noCopy struct{}

func (*noCopy) Lock() {}

func (*noCopy) Unlock() {}

// Clone returns an equal State that is independent of s. It costs O(open calls and notes).
func (s *State) Clone() *State {
	c := &State{facts: s.facts}
	c.turns, c.trail, c.exchanges, c.calls = slices.Clip(s.turns), slices.Clip(s.trail), slices.Clip(s.exchanges), slices.Clip(s.calls)
	c.open, c.tools, c.meters = slices.Clone(s.open), slices.Clone(s.tools), s.meters.Clone()
	c.notes, c.notices, c.unknown = maps.Clone(s.notes), maps.Clone(s.notices), maps.Clone(s.unknown)
	c.replies, c.steps, c.failures = maps.Clone(s.replies), maps.Clone(s.steps), maps.Clone(s.failures)
	c.inputs, c.followUps, c.found = slices.Clip(s.inputs), slices.Clip(s.followUps), slices.Clip(s.found)
	for i := range c.open {
		c.open[i] = new(*c.open[i])
	}
	return c
}

// put sets a value of a map that may not exist yet.
func put[V any](m *map[string]V, key string, v V) {
	if *m == nil {
		*m = map[string]V{}
	}
	(*m)[key] = v
}

// value is what p points to, and whether it points to anything.
func value[T any](p *T) (v T, ok bool) {
	if p != nil {
		v = *p
	}
	return v, p != nil
}

// Fold takes in the next entry of the log. It is the only way a state changes.
// Fold is total: any entry leaves a state, and one that makes no sense (an answer
// to a call that does not exist) changes nothing but the place in the log. See
// [Internals.CheckNext].
func (s *State) Fold(e Entry) {
	s.advance(&e)
	s.foldLife(e.Event)
	s.foldConversation(e.Event)
	s.foldWindow(e.Event)
	s.foldTurn(e.Event, e.Iteration)
	s.foldCalls(e.Event, e.Time)
	s.foldApprovals(e.Event)
	s.foldProgress(e.Event)
	s.foldMemory(e.Event)
}

// CheckNext says whether e may follow s in a log: the next seq of the same
// run, a start first and only first, and a decision no later than the entry.
func (s Internals) CheckNext(e Entry) error {
	_, starts := e.Event.(RunStarted)
	switch {
	case e.Seq != s.seq+1:
		return fmt.Errorf("run %s: entry %d follows entry %d", e.Run, e.Seq, s.seq)
	case s.seq > 0 && e.Run != s.run:
		return fmt.Errorf("run %s: entry %d belongs to run %s", s.run, e.Seq, e.Run)
	case starts != (e.Seq == 1):
		return fmt.Errorf("run %s: entry %d is %s; run.started comes first and only first", e.Run, e.Seq, e.Type())
	case e.At >= e.Seq:
		return fmt.Errorf("run %s: entry %d was decided on entry %d, which comes after it", e.Run, e.Seq, e.At)
	}
	return nil
}

// CheckMachine returns an error if the run was written under another [MachineNumber]: its
// entries may have another meaning in this build.
func (s Internals) CheckMachine() error {
	if n := s.declared().Machine; n != MachineNumber {
		return fmt.Errorf("run %s was written under machine number %d, and this build decides as machine %d: continue it with the build that wrote it, or start it again", s.run, n, MachineNumber)
	}
	return nil
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
