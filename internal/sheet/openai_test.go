package sheet_test

import (
	"testing"

	"github.com/pawl-run/pawl/internal/sheet"
)

// The newest rows of OpenAI, and what a name gets that the sheet does not have.
func TestOpenAI(t *testing.T) {
	for _, c := range []struct {
		name, asked, effort string
		read, write, long   float64 // dollars of cached input, and of writing it
		retires             string
	}{
		{"gpt-6.2-sol", "none", "low", 0.1, 2.5, 5, ""},
		{"gpt-6.2-astra", "minimal", "low", 0.4, 10, 20, ""},
		{"gpt-6.1-sol", "max", "max", 0.1, 2.5, 5, ""},
		{"gpt-6.1-terra", "none", "none", 0.05, 1.25, 2.5, ""},
		{"gpt-6-luna", "minimal", "low", 0.01, 0.125, 0.25, ""},
		{"gpt-5.6-sol", "max", "max", 0.4, 5, 10, ""},
		{"gpt-5.4", "max", "xhigh", 0.25, 0, 0, ""},
		{"gpt-5", "none", "minimal", 0.125, 0, 1.25, "2026-12-11"},
		{"gpt-4o", "high", "none", 1.25, 0, 0, "2027-01-14"},
	} {
		row, ok := sheet.Lookup("openai", c.name)
		if !ok || row.CacheRead != c.read || row.CacheWrite != c.write || row.CacheLong != c.long || row.Retires != c.retires || row.Clamp(c.asked) != c.effort {
			t.Errorf("%s: %v, %+v, effort %s", c.name, ok, row, row.Clamp(c.asked))
		}
	}
	for _, gone := range []string{"gpt-4", "gpt-4-turbo", "gpt-4.1-nano", "o1", "o3-mini", "o4-mini", "gpt-5.2-chat-latest"} {
		if row, ok := sheet.Lookup("openai", gone); ok {
			t.Errorf("%s, which has retired, is %s", gone, row.Name)
		}
	}
	for _, foreign := range []string{"orca-mini", "olmo-3", "gpt-j-6b", "llama3.2"} {
		if traits, known := sheet.TraitsOf("openai", foreign); known {
			t.Errorf("%s, which is another maker's, has %+v", foreign, traits)
		}
	}
	if traits, _ := sheet.TraitsOf("openai", "gpt-oss-120b"); traits.Sampling != sheet.Always || traits.Clamp("max") != "high" {
		t.Errorf("gpt-oss has %+v", traits)
	}
	for name, want := range map[string]sheet.Thinking{"gpt-7-sol": sheet.ByEffort, "gpt-5.6-cyber": sheet.ByEffort, "ft:gpt-4o:me": "", "gpt-audio-2": ""} {
		if traits, known := sheet.TraitsOf("openai", name); !known || traits.Thinking != want {
			t.Errorf("%s: %v, %+v", name, known, traits)
		}
	}
}
