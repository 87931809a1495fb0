package progress

import "github.com/pawl-run/pawl/internal/meter"

// pattern is a way of being stuck, by its name in the verdict.
type pattern string

const (
	none        pattern = ""
	stalled     pattern = "stalled"
	cycle       pattern = "cycle"
	sameFault   pattern = "same_fault"
	monologue   pattern = "monologue"
	sameThought pattern = "same_thought"
	metricWorse pattern = "metric_worse"
	metricFlat  pattern = "metric_flat"
)

// finding is a pattern that a run follows.
type finding struct {
	pattern pattern
	period  int // of a cycle
	turns   int // how many of the latest turns follow the pattern
	times   int // how many times the pattern's event happened
}

// moves reports whether the latest turn rules out every pattern when no goal is
// measured: one of its calls did not fail, and its results differ from those of
// the few turns before. It needs one turn more than the longest cycle has, and
// may return false without a pattern.
func (t *trail) moves() bool {
	for i, u := range t.turns[:min(len(t.turns), Period+1)] {
		switch latest := t.turns[0]; {
		case u.answer || u.measure != nil || latest.fault != 0:
			return false
		case i > 0 && u.outcome == latest.outcome, i == 1 && u.thought == latest.thought && u.thought != 0:
			return false
		}
	}
	return t.before == nil
}

// look finds the pattern that the latest turns follow. same reports whether the
// calling turns in a range had equal results, whatever their arguments; it
// costs more than a digest and is called rarely.
func (t *trail) look(window, patience int, same func(from, to int) bool) finding {
	if len(t.turns) <= window {
		return finding{}
	}
	n := window + 1
	for _, find := range []func(int) finding{t.stalled, t.monologue, t.cycle, t.sameFault} {
		if f := find(n); f.pattern != none {
			return f
		}
	}
	if f := t.sameThought(n, same); f.pattern != none {
		return f
	}
	if f := t.metricWorse(n); f.pattern != none {
		return f
	}
	return t.metricFlat(patience)
}

// stalled finds n turns with equal calls and results. Answers between them do
// not count.
func (t *trail) stalled(n int) finding {
	if t.turns[0].answer {
		return finding{}
	}
	f := finding{pattern: stalled, times: -1}
	for i, u := range t.turns {
		switch {
		case u.answer:
			continue
		case u.outcome != t.turns[0].outcome:
			return f.enough(n - 1)
		}
		if f.times+1 >= n-1 && t.gain(i+1) < i {
			break // the goal's measure improved in between
		}
		f.times++
		f.turns = i + 1
	}
	return f.enough(n - 1)
}

// enough returns the finding if it happened that many times, else none.
func (f finding) enough(times int) finding {
	if f.times < times {
		return finding{}
	}
	return f
}

// cycle finds the shortest cycle that repeated n times.
func (t *trail) cycle(n int) finding {
	for k := 2; k <= Period && k*n <= len(t.turns); k++ {
		round := true
		for i := 0; i < k*(n-1) && round; i++ {
			round = t.key(i) == t.key(i+k)
		}
		if round && t.gain(k*n) >= k*(n-1) {
			return finding{pattern: cycle, period: k, turns: k * n, times: n}
		}
	}
	return finding{}
}

// sameFault finds n turns that failed in the same way. Answers and results seen
// before or after may come between them, because they bring nothing new.
func (t *trail) sameFault(n int) finding {
	fault := t.turns[0].fault
	if fault == 0 {
		return finding{}
	}
	f := finding{pattern: sameFault}
	for i, u := range t.turns {
		switch {
		case u.fault == fault:
			f.times++
			if f.turns = i + 1; f.times == n && t.gain(f.turns) < i {
				return finding{}
			}
		case !u.answer && t.novel(i):
			return f.enough(n)
		}
	}
	return f.enough(n)
}

// novel reports whether no other turn had the results of this one.
func (t *trail) novel(i int) bool {
	for k, u := range t.turns {
		if k != i && u.outcome == t.turns[i].outcome {
			return false
		}
	}
	return true
}

// monologue finds n turns that called nothing. In a loop other than ReAct,
// which may ask for text turn by turn, they count only if the model wrote the
// same each time.
func (t *trail) monologue(n int) finding {
	f := finding{pattern: monologue}
	for _, u := range t.turns {
		if !u.answer || t.foreign && u.thought != t.turns[0].thought {
			break
		}
		f.times++
	}
	if f.turns = f.times; f.times < n || t.gain(n) < n-1 {
		return finding{}
	}
	return f
}

// sameThought finds n calling turns in a row with equal thoughts and nothing
// new: each of them failed, or all of them had equal results.
func (t *trail) sameThought(n int, same func(from, to int) bool) finding {
	for _, u := range t.turns[:n] {
		if u.answer || u.thought == 0 || u.thought != t.turns[0].thought {
			return finding{}
		}
	}
	if t.gain(n) < n-1 || !same(t.turns[n-1].iteration, t.turns[0].iteration) {
		return finding{}
	}
	return finding{pattern: sameThought, turns: n, times: n}
}

// metricWorse finds n measures in a row that were each worse than the previous
// one.
func (t *trail) metricWorse(n int) finding {
	f := finding{pattern: metricWorse}
	var later *meter.Measure
	for i := 0; i <= len(t.turns); i++ {
		m, began := t.before, t.before
		if i < len(t.turns) {
			m, began = t.turns[i].measure, t.turns[i].left()
		}
		if began == nil {
			continue
		}
		if later != nil {
			if t.scale.Compare(*later, *began) >= 0 || t.scale.Trend(*began, *later) == meter.Improving {
				break
			}
			f.times++
			f.turns = i
		}
		later = m
	}
	return f.enough(n)
}

// metricFlat finds patience turns that changed something and improved nothing.
func (t *trail) metricFlat(patience int) finding {
	f := finding{pattern: metricFlat}
	for i, u := range t.turns {
		if !u.changed {
			continue
		}
		if f.times++; f.times < patience {
			continue
		}
		f.turns = i + 1
		base := t.base(f.turns)
		if base == nil || t.gain(f.turns) < f.turns || t.scale.Reached(base.Value) {
			return finding{}
		}
		return f
	}
	return finding{}
}
