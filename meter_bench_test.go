package pawl

import "testing"

// BenchmarkMeter is all that a turn spends on its estimate, beside what a turn
// costs (BenchmarkLoop of package engine): to expect, and to learn.
func BenchmarkMeter(b *testing.B) {
	var s meters
	bytes, tokens := 4000, 1200
	for b.Loop() {
		m := s.of("", 0)
		if m.bytes > 0 {
			tokens = m.expect(bytes, true, 0.1)
		}
		m.learn(tokens, bytes, true)
		s.set(m)
		bytes, tokens = bytes%(1<<20)+700, tokens%(1<<18)+200
	}
}
