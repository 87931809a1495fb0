package prices_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl/internal/prices"
)

func names(rows []prices.Row) string {
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
		{"anthropic", "claude-3-5-haiku-20241022", "claude-3-5-haiku-latest"},
		{"anthropic", "claude-sonnet-5-5", ""}, // another model than claude-sonnet-5
		{"anthropic", "claude-sonnet", ""},
		{"anthropic", "gpt-4o", ""},
		{"openai", "gpt-4o", "gpt-4o"},
		{"openai", "gpt-4o-2024-05-13", "gpt-4o-2024-05-13"}, // dearer than gpt-4o
		{"openai", "gpt-4o-2024-08-06", "gpt-4o"},
		{"openai", "gpt-6-sol-2026-09-01", "gpt-6-sol"},
		{"google", "gemini-2.0-flash-001", "gemini-2.0-flash"},
		{"google", "gemini-2.5-flash-image", ""},
		{"mistral", "mistral-large", ""},
	} {
		got, ok := prices.Lookup(c.provider, c.name)
		if got.Name != c.want || ok != (c.want != "") {
			t.Errorf("%s/%s found %q, %v; want %q", c.provider, c.name, got.Name, ok, c.want)
		}
	}
	got, _ := prices.Lookup("anthropic", "claude-sonnet-4-5")
	want := prices.Row{
		Provider: "anthropic", Name: "claude-sonnet-4-5", Aliases: []string{"claude-sonnet-4.5"},
		Input: 3, Output: 15, CacheRead: 0.3, CacheWrite: 3.75, CacheLong: 6,
		Long:   prices.Long{From: 200000, Input: 6, Output: 22.5, CacheRead: 0.6, CacheWrite: 7.5, CacheLong: 12},
		Search: 0.01,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("row (-want +got):\n%s", d)
	}
	got.Aliases[0] = "x"
	if again, _ := prices.Lookup("anthropic", "claude-sonnet-4-5"); !cmp.Equal(again, want) {
		t.Error("a change to a row reached the table")
	}
}

func TestFindAndNear(t *testing.T) {
	for _, c := range []struct{ bare, find, near string }{
		{"gpt-4", "openai/gpt-4", ""},
		{"claude-haiku-4.5", "anthropic/claude-haiku-4-5", ""},
		{"claude-haiku", "", "anthropic/claude-haiku-4-5"},
		{"Fable", "", "anthropic/claude-fable-5 anthropic/claude-fable-5-1"},
		{"o4-maxi", "", "openai/o4-mini"},
		{"llama3", "", ""},
		{"", "", ""},
	} {
		if got := names(prices.Find(c.bare)); got != c.find {
			t.Errorf("find %q: %s, want %s", c.bare, got, c.find)
		}
		if c.find != "" {
			continue
		}
		if got := names(prices.Near(c.bare)); got != c.near {
			t.Errorf("near %q: %s, want %s", c.bare, got, c.near)
		}
	}
}

func TestTableIsSane(t *testing.T) {
	if d := prices.AsOf(); d.Year() < 2026 {
		t.Errorf("table of %v", d)
	}
	rows := prices.All()
	if len(rows) < 40 || len(rows) > 130 {
		t.Errorf("%d rows", len(rows))
	}
	for _, r := range rows {
		if got, ok := prices.Lookup(r.Provider, r.Name); !ok || got.Name != r.Name {
			t.Errorf("%s/%s is hidden by %s", r.Provider, r.Name, got.Name)
		}
		if r.Input <= 0 || r.Output < r.Input || r.CacheRead > r.Input || (r.CacheWrite != 0 && r.CacheWrite < r.Input) || (r.CacheLong != 0 && r.CacheLong < r.CacheWrite) {
			t.Errorf("odd prices: %+v", r)
		}
		if r.Long != (prices.Long{}) && (r.Long.From < 1000 || r.Long.Input < r.Input || r.Long.Output < r.Output) {
			t.Errorf("odd long prices: %+v", r)
		}
		for _, a := range r.Aliases {
			if got, _ := prices.Lookup(r.Provider, a); got.Name != r.Name {
				t.Errorf("alias %s of %s finds %s", a, r.Name, got.Name)
			}
		}
	}
	for _, p := range []string{"anthropic", "openai", "google"} {
		if _, ok := prices.Lookup(p, prices.Default(p)); !ok {
			t.Errorf("the default of %s, %q, has no row", p, prices.Default(p))
		}
	}
	if prices.Default("nobody") != "" {
		t.Error("an unknown provider has a default")
	}
}
