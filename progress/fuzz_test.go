package progress

import (
	"testing"
)

// FuzzCycles: whatever came before, a cycle of up to Period turns is found by
// the time it has come round window times after the first.
func FuzzCycles(f *testing.F) { // Promises: H5.
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
