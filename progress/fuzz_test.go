package progress

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/pawl-run/pawl/internal/gauge"
)

// naive says by the definitions which pattern a trail follows, oldest turn first
// and without regard to what it costs.
func naive(t trail, window, patience int) pattern {
	turns := slices.Clone(t.turns)
	slices.Reverse(turns)
	all := len(turns)
	// improves reports whether a turn of turns[from:], the first keep of them
	// apart, left the goal better than it had been since before from.
	improves := func(from, keep int) bool {
		var known []float64
		for i := from - 1; i >= -1 && len(known) == 0; i-- {
			m := t.before
			if i >= 0 {
				m = turns[i].measure
			}
			if m != nil {
				known = append(known, m.Value)
			}
		}
		for i := from; i < all; i++ {
			m := turns[i].measure
			if m == nil {
				continue
			}
			if i >= from+keep && len(known) > 0 && m.Value > slices.Max(known) {
				return true
			}
			known = append(known, m.Value)
		}
		return false
	}
	is := func(p pattern, n int) bool {
		switch p {
		case stalled:
			var calling []int
			for i, u := range turns {
				if !u.answer {
					calling = append(calling, i)
				}
			}
			if len(calling) < n || calling[len(calling)-1] != all-1 {
				return false
			}
			calling = calling[len(calling)-n:]
			for _, i := range calling {
				if turns[i].outcome != turns[calling[0]].outcome {
					return false
				}
			}
			return !improves(calling[0], 1)
		case monologue:
			for i := all - n; i < all; i++ {
				if i < 0 || !turns[i].answer {
					return false
				}
			}
			return !improves(all-n, 1)
		case cycle:
			for k := 2; k <= Period; k++ {
				from, round := all-k*n, true
				for i := from; i < all; i++ {
					round = round && from >= 0 && (i < from+k ||
						turns[i].answer == turns[i-k].answer && (turns[i].answer || turns[i].outcome == turns[i-k].outcome))
				}
				if round && !improves(from, k) {
					return true
				}
			}
			return false
		case sameFault:
			count := map[uint64]int{}
			for _, u := range turns {
				count[u.outcome]++
			}
			fault := turns[all-1].fault
			for i, times := all-1, 0; i >= 0 && fault != 0; i-- {
				switch u := turns[i]; {
				case u.fault == fault:
					if times++; times == n {
						return !improves(i, 1)
					}
				case u.answer || count[u.outcome] > 1:
				default:
					return false
				}
			}
			return false
		case sameThought:
			results := map[uint64]bool{}
			for i := all - n; i < all; i++ {
				if i < 0 || turns[i].answer || turns[i].changed && t.spares || turns[i].thought == 0 || turns[i].thought != turns[all-1].thought {
					return false
				}
				if turns[i].fault == 0 {
					results[turns[i].outcome>>8|0x20] = true
				}
			}
			return len(results) <= 1 && !improves(all-n, 1)
		case metricWorse, metricFlat:
			values, changes := []float64{}, 0
			if t.before != nil {
				values = append(values, t.before.Value)
			}
			for _, u := range turns {
				if u.measure != nil {
					values = append(values, u.measure.Value)
				}
			}
			if p == metricWorse {
				for i := range n {
					if k := len(values) - 1 - i; k < 1 || values[k] >= values[k-1] {
						return false
					}
				}
				return true
			}
			for i := all - 1; i >= 0; i-- {
				if turns[i].changed {
					changes++
				}
				if changes == patience {
					base := t.base(all - i)
					return base != nil && base.Value < 100 && !improves(i, 0)
				}
			}
		}
		return false
	}
	if all <= window {
		return none
	}
	for _, p := range []pattern{stalled, monologue, cycle, sameFault, sameThought, metricWorse, metricFlat} {
		if is(p, window+1) {
			return p
		}
	}
	return none
}

// FuzzPatterns: the patterns are found where their definitions say.
func FuzzPatterns(f *testing.F) {
	f.Add([]byte("AAAA"), uint8(3))
	f.Add([]byte("ABABABAB"), uint8(3))
	f.Add([]byte{0, 64, 128, 0, 64, 128, 0, 64, 128}, uint8(2))
	f.Add([]byte{7, 7, 7, 16, 17, 18, 16, 17, 18, 200, 201, 202, 203}, uint8(1))
	f.Add([]byte{96, 97, 98, 99, 96, 97, 98, 99, 160, 161, 162, 163}, uint8(1))
	f.Fuzz(func(t *testing.T, turns []byte, w uint8) { byDefinition(t, turns, w) })
}

// TestDefinitions does for a sample what the fuzzer does for as long as it is let.
func TestDefinitions(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	found := map[pattern]int{}
	for range 30_000 {
		turns := make([]byte, rng.IntN(40))
		few := 1 + rng.IntN(5) // kinds of turns in this run
		kinds := make([]byte, few)
		for i := range kinds {
			kinds[i] = byte(rng.Uint32())
		}
		for i := range turns {
			turns[i] = kinds[rng.IntN(few)]
			if i >= few && rng.IntN(4) > 0 {
				turns[i] = turns[i-few]
			}
		}
		found[byDefinition(t, turns, uint8(rng.Uint32()))]++
	}
	for p := none; p <= metricFlat; p++ {
		if found[p] < 5 {
			t.Errorf("pattern %d came up %d times only", p, found[p])
		}
	}
}

func byDefinition(t *testing.T, turns []byte, w uint8) pattern {
	window := int(w%3) + 1
	tr := trail{scale: gauge.ScaleOf("metric >= 100")}
	if w&4 != 0 {
		tr.before = &gauge.Measure{Value: 2}
	}
	for i, b := range turns[:min(len(turns), 40)] {
		u := turn{iteration: i + 1, outcome: uint64('A'+b&3) << 8}
		switch b >> 5 {
		case 1:
			u.answer, u.outcome = true, 0
		case 2:
			u.fault = uint64(b>>2&1) + 1
			u.outcome += 1 << 20
		case 3:
			u.thought = uint64(b>>2&1) + 1
			u.outcome += uint64(b>>3&1) << 13 // the case of the letter
		case 4:
			u.changed, u.measure = true, &gauge.Measure{Value: float64(b >> 2 & 7)}
		case 5:
			u.measure = &gauge.Measure{Value: float64(b >> 2 & 3)}
		case 6:
			u.changed, u.outcome, u.measure = true, uint64(i)<<20, &gauge.Measure{Value: float64(b & 1)}
		}
		tr.turns = append(tr.turns, u)
	}
	slices.Reverse(tr.turns)
	patience := Patience(window)
	got, want := tr.look(window, patience, tr.sameWords), naive(tr, window, patience)
	if got.pattern != want {
		t.Errorf("window %d: %v, want pattern %d\n%+v", window, got, want, tr.turns)
	}
	if got.pattern != none && (got.turns < 1 || got.turns > len(tr.turns) || got.times < 1) {
		t.Errorf("%v in %d turns", got, len(tr.turns))
	}
	return want
}

// FuzzNew: turns each of which is new follow no pattern, whatever their words,
// and neither do turns each of which gets the goal further.
func FuzzNew(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18}, uint8(3))
	f.Fuzz(func(t *testing.T, turns []byte, w uint8) {
		window := int(w%4) + 1
		var fresh, better trail
		for i, b := range turns[:min(len(turns), 100)] {
			fresh.turns = append(fresh.turns, turn{iteration: i + 1, outcome: uint64(i+1) << 8, thought: uint64(b&1) * uint64(i+1), changed: b&2 != 0})
			better.turns = append(better.turns, turn{iteration: i + 1, outcome: uint64(b&3) << 8, thought: uint64(b >> 2 & 1), answer: b&24 == 0,
				changed: b&32 != 0, fault: uint64(b >> 6 & 1), measure: &gauge.Measure{Value: float64(i)}})
		}
		slices.Reverse(fresh.turns)
		slices.Reverse(better.turns)
		for _, tr := range []trail{fresh, better} {
			if got := tr.look(window, Patience(window), tr.sameWords); got.pattern != none {
				t.Errorf("window %d: %v\n%+v", window, got, tr.turns)
			}
		}
	})
}

// FuzzMoves: what is ruled out at a glance is not found by looking.
func FuzzMoves(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 1, 2, 3}, uint8(2))
	f.Add([]byte{9, 1, 9, 1, 9, 65, 9, 129, 9, 16, 9}, uint8(1))
	f.Fuzz(func(t *testing.T, turns []byte, w uint8) {
		window := int(w%4) + 1
		for _, foreign := range []bool{false, true} {
			tr := trail{foreign: foreign}
			for i, b := range turns[:min(len(turns), 100)] {
				u := turn{iteration: i + 1, outcome: uint64(b & 7), thought: uint64(b >> 3 & 3), answer: b>>5 == 7, changed: b&32 != 0, fault: uint64(b >> 6 & 1)}
				tr.turns = append([]turn{u}, tr.turns...)
				if got := tr.look(window, Patience(window), tr.sameWords); tr.moves() && got.pattern != none {
					t.Fatalf("window %d: %v\n%+v", window, got, tr.turns)
				}
			}
		}
	})
}

// FuzzCycles: whatever came before, a cycle of up to Period turns is found by
// the time it has come round window times after the first.
func FuzzCycles(f *testing.F) {
	f.Add([]byte{1, 1, 2, 3}, []byte{1, 2}, uint8(3))
	f.Add([]byte{1, 2, 3, 1, 2}, []byte{1, 2, 1, 3}, uint8(2))
	f.Fuzz(func(t *testing.T, before, round []byte, w uint8) {
		window := int(w%4) + 1
		round = round[:min(len(round), Period)]
		if len(round) == 0 {
			return
		}
		var tr trail
		add := func(b byte) {
			tr.turns = append([]turn{{iteration: len(tr.turns) + 1, outcome: uint64(b) << 8}}, tr.turns...)
		}
		for _, b := range before[:min(len(before), 30)] {
			add(b)
		}
		for range window + 1 {
			for _, b := range round {
				add(b)
			}
		}
		if got := tr.look(window, Patience(window), tr.sameWords); got.pattern != cycle && got.pattern != stalled {
			t.Errorf("window %d: %v\n%+v", window, got, tr.turns)
		}
	})
}
