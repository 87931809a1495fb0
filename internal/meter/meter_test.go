package meter

import "testing"

// BenchmarkMeter is all that a turn spends on its estimate, beside what a turn
// costs (BenchmarkLoop of package engine): to expect, and to learn.
func BenchmarkMeter(b *testing.B) {
	var s Meters
	bytes, tokens := 4000, 1200
	for b.Loop() {
		m := s.Of("", 0)
		if m.Known() {
			tokens = m.Expect(bytes, true, 0.1)
		}
		m.Learn(tokens, bytes, true)
		s.Set(m)
		bytes, tokens = bytes%(1<<20)+700, tokens%(1<<18)+200
	}
}
