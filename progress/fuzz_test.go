package progress

import (
	"slices"
	"testing"

	"github.com/pawl-run/pawl/internal/meter"
)

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
				changed: b&32 != 0, fault: uint64(b >> 6 & 1), measure: &meter.Measure{Value: float64(i)}})
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
