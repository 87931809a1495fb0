package sheet_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl/internal/sheet"
)

// What Anthropic documents of its models on 2026-11-28.
func TestClaude(t *testing.T) {
	type facts struct {
		Thinking       sheet.Thinking
		Effort, Off    string // by default, and what turns thinking off
		Lowest         string
		Sampling       sheet.Sampling
		Unforced       bool
		Bound          bool
		From           int
		Input, Read    float64
		Search, Script string
	}
	const search, code = "web_search_20260318", "code_execution_20260521"
	newest := facts{sheet.Adaptive, "high", "", "low", sheet.NeverSample, true, true, 512, 0, 0, search, code}
	of := func(f facts, input, read float64) facts {
		f.Input, f.Read = input, read
		return f
	}
	haiku, sonnet := of(newest, 0.1, 0.01), of(newest, 2, 0.1)
	haiku.Effort, haiku.Off, haiku.Lowest, haiku.Unforced = "medium", "disabled", "none", false
	sonnet.Off, sonnet.Lowest = "between_tools", "none"
	opus := of(newest, 4, 0.2)
	opus.Effort = "medium"
	for name, want := range map[string]facts{
		"claude-fable-5-2":  of(newest, 8, 0.2),
		"claude-fable-5-1":  of(newest, 10, 0.25),
		"claude-opus-5-5":   opus,
		"claude-sonnet-5-5": sonnet,
		"claude-haiku-5-5":  haiku,
		"claude-opus-6":     newest, // unknown yet
		"claude-fable-5":    {sheet.Adaptive, "high", "", "low", sheet.NeverSample, false, false, 512, 10, 1, search, code},
		"claude-opus-5":     {sheet.Adaptive, "high", "disabled", "none", sheet.NeverSample, false, false, 512, 5, 0.5, search, code},
		"claude-sonnet-5":   {sheet.Adaptive, "high", "disabled", "none", sheet.NeverSample, false, false, 1024, 2, 0.2, search, code},
		"claude-opus-4-8":   {sheet.Adaptive, "", "disabled", "none", sheet.NeverSample, false, false, 1024, 5, 0.5, search, code},
		"claude-opus-4-7":   {sheet.Adaptive, "", "disabled", "none", sheet.NeverSample, false, false, 2048, 5, 0.5, search, code},
		"claude-sonnet-4-6": {sheet.Adaptive, "", "disabled", "none", sheet.Unthinking, false, false, 1024, 3, 0.3, search, code},
		"claude-opus-4-5":   {sheet.ByBudget, "", "disabled", "none", sheet.Unthinking, false, false, 4096, 5, 0.5, "web_search_20250305", code},
		"claude-haiku-4-5":  {sheet.ByBudget, "", "disabled", "none", sheet.Unthinking, false, false, 4096, 1, 0.1, "web_search_20250305", code},
	} {
		m, _ := sheet.Lookup("anthropic", name)
		x, known := sheet.TraitsOf("anthropic", name)
		got := facts{x.Thinking, x.Effort, x.Off, x.Clamp("none"), x.Sampling, x.Unforced, x.Bound, x.CacheFrom, m.Input, m.CacheRead, x.Hosted["web_search"], x.Hosted["code_execution"]}
		if d := cmp.Diff(want, got); d != "" || !known {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
	for name, want := range map[string]string{"xhigh": "high", "max": "max", "minimal": "low"} {
		if x, _ := sheet.TraitsOf("anthropic", "claude-sonnet-4-6"); x.Clamp(name) != want {
			t.Errorf("claude-sonnet-4-6 takes effort %s as %s, want %s", name, x.Clamp(name), want)
		}
	}
}

// No model stands in the sheet after its retirement, and the last day and successor of one that
// goes are known.
func TestClaudeRetires(t *testing.T) {
	day := time.Date(2026, 11, 28, 0, 0, 0, 0, time.UTC)
	for _, name := range []string{"claude-3-5-haiku-latest", "claude-3-5-sonnet", "claude-3-7-sonnet-latest", "claude-opus-4-0", "claude-opus-4-1", "claude-sonnet-4-0", "claude-mythos-preview"} {
		if _, ok := sheet.Lookup("anthropic", name); ok {
			t.Errorf("%s is retired", name)
		}
	}
	m, _ := sheet.Lookup("anthropic", "claude-sonnet-4-5-20250929")
	if left, known := m.Until(day); !known || left != 48*time.Hour || m.Successor != "claude-sonnet-5-5" {
		t.Errorf("claude-sonnet-4-5 retires in %v, successor %q", left, m.Successor)
	}
	for _, m := range sheet.All() {
		if m.Successor == "" || m.Provider != "anthropic" {
			continue
		}
		if _, ok := sheet.Lookup(m.Provider, m.Successor); !ok {
			t.Errorf("%s: its successor %s has no row", m.Name, m.Successor)
		}
	}
}
