package sheet_test

import (
	"slices"
	"testing"
	"time"

	"github.com/pawl-run/pawl/internal/sheet"
)

// What Google documents of its models (https://ai.google.dev/gemini-api/docs/pricing and the
// guides that the rows name): the price before and after the announced days, how the model is
// asked to think, and whether it takes a temperature.
func TestGoogle(t *testing.T) {
	for _, c := range []struct {
		name      string
		now, then [3]float64 // dollars for input, output and cached input, on 2026-11-28 and 2027-01-01
		thinking  sheet.Thinking
		effort    string
		efforts   string // the lowest and the highest
		sampling  sheet.Sampling
		retires   string
	}{
		{"gemini-4-argon", [3]float64{2, 10, 0.1}, [3]float64{4, 20, 0.2}, sheet.ByLevel, "medium", "low high", sheet.NeverSample, ""},
		{"gemini-4-carbon", [3]float64{2, 10, 0.1}, [3]float64{4, 20, 0.2}, sheet.ByLevel, "medium", "low high", sheet.NeverSample, ""},
		{"gemini-4-hydrogen", [3]float64{1.5, 7.5, 0.075}, [3]float64{1.5, 7.5, 0.075}, sheet.ByLevel, "high", "low xhigh", sheet.NeverSample, ""},
		{"gemini-4-neon", [3]float64{3, 15, 0.15}, [3]float64{3, 15, 0.15}, sheet.ByLevel, "high", "low xhigh", sheet.NeverSample, ""},
		{"gemini-3.8-flash", [3]float64{0.75, 3.75, 0.075}, [3]float64{1.5, 7.5, 0.15}, sheet.ByLevel, "medium", "low high", sheet.NeverSample, ""},
		{"gemini-3.6-flash", [3]float64{0.75, 3.75, 0.075}, [3]float64{1.5, 7.5, 0.15}, sheet.ByLevel, "medium", "minimal high", sheet.NeverSample, ""},
		{"gemini-3.5-flash-lite", [3]float64{0.3, 2.5, 0.03}, [3]float64{0.3, 2.5, 0.03}, sheet.ByLevel, "minimal", "minimal high", sheet.NeverSample, ""},
		{"gemini-3.1-pro-preview", [3]float64{2, 12, 0.2}, [3]float64{2, 12, 0.2}, sheet.ByLevel, "high", "low high", sheet.Always, ""},
		{"gemini-2.5-pro", [3]float64{1.25, 10, 0.125}, [3]float64{1.25, 10, 0.125}, sheet.ByBudget, "medium", "low high", sheet.Always, "2026-12-01"},
		{"gemini-2.5-flash-lite", [3]float64{0.1, 0.4, 0.01}, [3]float64{0.1, 0.4, 0.01}, sheet.ByBudget, "", "none high", sheet.Always, ""},
	} {
		m, ok := sheet.Lookup("google", c.name)
		if !ok {
			t.Errorf("%s has no row", c.name)
			continue
		}
		for day, want := range map[string][3]float64{"2026-11-28": c.now, "2027-01-01": c.then} {
			at, _ := time.Parse(time.DateOnly, day)
			if r := m.On(at); [3]float64{r.Input, r.Output, r.CacheRead} != want || r.Search == 0 {
				t.Errorf("%s costs %+v on %s, want %v", c.name, r, day, want)
			}
		}
		if m.Thinking != c.thinking || m.Effort != c.effort || m.Efforts[0]+" "+m.Efforts[len(m.Efforts)-1] != c.efforts || m.Sampling != c.sampling || m.Retires != c.retires {
			t.Errorf("%s: %+v", c.name, m.Traits)
		}
		if m.Window != 1<<20 || m.Reply != 1<<16 {
			t.Errorf("%s: a window of %d and replies of %d tokens", c.name, m.Window, m.Reply)
		}
	}
	for _, name := range []string{"gemini-2.0-flash", "gemini-2.0-flash-lite", "gemini-3-pro-preview", "gemini-3.1-flash-lite-preview"} {
		if _, ok := sheet.Lookup("google", name); ok {
			t.Errorf("%s has retired and has a row", name)
		}
	}
	for name, want := range map[string]string{"gemini-5-xenon": "xhigh", "gemini-3.9-flash": "high", "gemini-2.5-flash-thinking": "high", "gemini-flash-latest": "xhigh"} {
		got, known := sheet.TraitsOf("google", name)
		if !known || got.Efforts[len(got.Efforts)-1] != want || got.Signed == slices.Contains(got.Efforts, "none") {
			t.Errorf("%s: %+v, known: %v", name, got, known)
		}
	}
	if _, known := sheet.TraitsOf("google", "gemma-3-27b-it"); known {
		t.Error("a model of another family is known")
	}
}
