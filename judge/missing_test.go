package judge

import (
	"slices"
	"strings"
	"testing"
)

// FuzzMissing: any text can be checked against any other, and what is called
// missing is part of the answer. A line that a tool returned is never missing in it.
func FuzzMissing(f *testing.F) {
	lines := []string{
		"T-100 is closed: 1,000.50 or 1.000,50 on 12 March 2026, 3/4/2026 and May 1st", `See "https://a.example/b?c=1", «ein langes Zitat mit 12%»`,
		"1. one\n2) 3fa85f64\n# 4711\n```x 815```", "5,6 ١٢٣ 1 000 000 -5.5% €12", "a@b.co v1.2.3 10.0.0.1 mid-2024 24h", "not 0%\x00\xff\u2009",
		"{\"id\": \"T-88\", \"n\": -5.25, \"at\": \"2026-03-12T08:40:00Z\"}", "T-100は閉じています。1,200個", "v2.10.3-rc1 of go1.26, int64, x86_64 and SHA-256 took 1:05:33",
		"ID DE89 3704 0044 0532 0130 00, +49 30 901820, 10:30-11:00, 2026/117, 3fa85f64-5717-4562-b3fc-2c963f66afa6",
	}
	for _, text := range lines {
		f.Add(text, text)
		f.Add("In 2024 there were 1,234 of V-1043.", text)
	}
	f.Fuzz(func(t *testing.T, answer, result string) {
		if len(answer)+len(result) > 4000 {
			return
		}
		k := &known{dates: map[string]bool{}}
		k.add(result)
		k.seal()
		if wrong := k.missing(result); wrong != nil && slices.Contains(lines, result) {
			t.Errorf("%q is missing in %q", wrong, result)
		}
		for _, value := range k.missing(answer) {
			if !strings.Contains(flat(asciiDigits(answer)), flat(value)) && !strings.HasSuffix(value, "…") {
				t.Errorf("%q is not in %q", value, answer)
			}
		}
	})
}
