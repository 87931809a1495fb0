package sheet_test

import (
	"strings"
	"testing"

	"github.com/pawl-run/pawl/internal/sheet"
)

func names(rows []sheet.Model) string {
	var all []string
	for _, r := range rows {
		all = append(all, r.Provider+"/"+r.Name)
	}
	return strings.Join(all, " ")
}

func TestLookup(t *testing.T) {
	for _, c := range []struct{ provider, name, want string }{
		{"anthropic", "claude-sonnet-4-5", "claude-sonnet-4-5"},
		{"anthropic", "claude-sonnet-4-5-20250929", "claude-sonnet-4-5"},
		{"anthropic", "claude-haiku-4-5-20251001", "claude-haiku-4-5"},
		{"anthropic", "claude-sonnet-5-6", ""}, // another model than claude-sonnet-5
		{"anthropic", "claude-sonnet", ""},
		{"anthropic", "gpt-4o", ""},
		{"openai", "gpt-4o", "gpt-4o"},
		{"openai", "gpt-4o-2024-05-13", "gpt-4o"},
		{"openai", "gpt-4o-2024-08-06", "gpt-4o"},
		{"openai", "gpt-6-sol-2026-09-01", "gpt-6-sol"},
		{"google", "gemini-2.0-flash-001", ""}, // retired
		{"google", "gemini-2.5-flash-image", ""},
		{"mistral", "mistral-large", ""},
	} {
		got, ok := sheet.Lookup(c.provider, c.name)
		if got.Name != c.want || ok != (c.want != "") {
			t.Errorf("%s/%s found %q, %v; want %q", c.provider, c.name, got.Name, ok, c.want)
		}
	}
	got, _ := sheet.Lookup("anthropic", "claude-opus-5")
	got.Aliases[0], got.Efforts[0] = "x", "x"
	if again, _ := sheet.Lookup("anthropic", "claude-opus-5"); again.Aliases[0] == "x" || again.Efforts[0] == "x" {
		t.Error("a change to a row reached the sheet")
	}
}

func TestFindAndNear(t *testing.T) {
	for _, c := range []struct{ bare, find, near string }{
		{"gpt-6.2-sol", "openai/gpt-6.2-sol", ""},
		{"claude-haiku-4.5", "anthropic/claude-haiku-4-5", ""},
		{"claude-haiku", "", "anthropic/claude-haiku-4-5 anthropic/claude-haiku-5-5"},
		{"Fable", "", "anthropic/claude-fable-5 anthropic/claude-fable-5-1 anthropic/claude-fable-5-2"},
		{"o3-maxi", "", "openai/o3 openai/o3-pro"},
		{"llama3", "", ""},
		{"", "", ""},
	} {
		if got := names(sheet.Find(c.bare)); got != c.find {
			t.Errorf("find %q: %s, want %s", c.bare, got, c.find)
		}
		if c.find != "" {
			continue
		}
		if got := names(sheet.Near(c.bare)); got != c.near {
			t.Errorf("near %q: %s, want %s", c.bare, got, c.near)
		}
	}
}

func TestTableIsSane(t *testing.T) {
	if d := sheet.AsOf(); d.Year() < 2026 {
		t.Errorf("table of %v", d)
	}
	rows := sheet.All()
	if len(rows) < 40 || len(rows) > 130 {
		t.Errorf("%d rows", len(rows))
	}
	for _, r := range rows {
		for _, name := range append(r.Aliases, r.Name) {
			if got, _ := sheet.Lookup(r.Provider, name); got.Name != r.Name {
				t.Errorf("%s finds %s, want %s", name, got.Name, r.Name)
			}
		}
	}
	for _, p := range []string{"anthropic", "openai", "google"} {
		if _, ok := sheet.Lookup(p, sheet.Default(p)); !ok {
			t.Errorf("the default of %s, %q, has no row", p, sheet.Default(p))
		}
	}
	if sheet.Default("nobody") != "" {
		t.Error("an unknown provider has a default")
	}
}
