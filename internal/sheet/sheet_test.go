package sheet_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

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
		{"anthropic", "claude-haiku-4-5", "claude-haiku-4-5"},
		{"anthropic", "claude-haiku-4-5-20251001", "claude-haiku-4-5"},
		{"anthropic", "claude-sonnet-5-6", ""}, // another model than claude-sonnet-5
		{"anthropic", "claude-sonnet", ""},
		{"anthropic", "gpt-6-sol", ""},
		{"openai", "gpt-6-sol", "gpt-6-sol"},
		{"openai", "gpt-6-sol-2026-09-01", "gpt-6-sol"},
		{"openai", "gpt-6-sol-latest", "gpt-6-sol"},
		{"openai", "gpt-6-sol-mini", ""},
		{"google", "gemini-3.8-flash-001", "gemini-3.8-flash"},
		{"google", "gemini-3.8-flash-image", ""},
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
		{"gpt-" + "4", "openai/gpt-" + "4", ""}, // retired, without a row
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
	if d := sheet.AsOf(); d.Year() < 2026 || sheet.Source() == "" {
		t.Errorf("sheet of %v, by %s", d, sheet.Source())
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
		switch next, ok := sheet.Lookup(r.Provider, r.Successor); {
		case r.Window < 1000 || r.Reply < 1000 || r.Input == 0 && r.Source == "":
			t.Errorf("%s has a window of %d tokens, replies of %d and costs %v", r.Name, r.Window, r.Reply, r.Input)
		case r.Successor != "" && !ok, r.Retires != "" && r.Successor == "":
			t.Errorf("the successor of %s, %q, has no row", r.Name, r.Successor)
		case next.Name == r.Name:
			t.Errorf("%s succeeds itself", r.Name)
		case r.Thinking != "" && r.Clamp("medium") == "none":
			t.Errorf("%s thinks and takes no effort", r.Name)
		case sheet.Retired(r.Provider, r.Name):
			t.Errorf("%s has a row and is among the retired", r.Name)
		}
	}
	for _, p := range []string{"anthropic", "openai", "google"} {
		row, ok := sheet.Lookup(p, sheet.Default(p))
		if left, known := row.Until(sheet.AsOf()); !ok || known && left < 180*24*time.Hour {
			t.Errorf("the default of %s, %q, has no row or retires on %s", p, sheet.Default(p), row.Retires)
		}
	}
	if sheet.Default("nobody") != "" {
		t.Error("an unknown provider has a default")
	}
}

func TestRetired(t *testing.T) {
	for _, c := range []struct {
		provider, name string
		want           bool
	}{
		{"anthropic", "claude-3-5-sonnet-20241022", true}, {"anthropic", "claude-opus-4-1", true}, {"anthropic", "claude-opus-4-8", false},
		{"openai", "gpt-4", true}, {"openai", "gpt-4-turbo", true}, {"openai", "gpt-4.1", false}, {"openai", "o1-mini", true}, {"openai", "o3", false},
		{"google", "gemini-1.5-pro", true}, {"google", "gemini-4-hydrogen", false}, {"nobody", "gpt-4", false}, {"openai", "", false},
	} {
		if got := sheet.Retired(c.provider, c.name); got != c.want {
			t.Errorf("%s/%s: %v", c.provider, c.name, got)
		}
	}
}

func TestClamp(t *testing.T) {
	low, full := []string{"low", "medium", "high"}, sheet.Levels
	for _, c := range []struct {
		thinking sheet.Thinking
		usual    string // effort
		efforts  []string
		want     string // of each of the levels, and of none asked for
		thinks   string // the same
	}{
		{"", "", nil, "none none none none none none none -", "n n n n n n n n"},
		{sheet.ByEffort, "medium", nil, "none minimal low medium high xhigh max -", "n y y y y y y y"}, // nobody knows its levels
		{sheet.ByEffort, "medium", low, "low low low medium high high high -", "y y y y y y y y"},
		{sheet.ByBudget, "", append([]string{"none"}, low...), "none low low medium high high high -", "n y y y y y y n"},
		{sheet.Adaptive, "high", full, "none minimal low medium high xhigh max -", "n y y y y y y y"},
		{sheet.ByLevel, "high", []string{"low", "high"}, "low low low low high high high -", "y y y y y y y y"},
		{sheet.ByEffort, "", []string{"none"}, "none none none none none none none -", "n n n n n n n n"},
	} {
		x := sheet.Traits{Thinking: c.thinking, Effort: c.usual, Efforts: c.efforts}
		var got, thinks []string
		for _, effort := range append(slices.Clone(sheet.Levels), "") {
			level, does := x.Clamp(effort), "n"
			if level == "" {
				level = "-"
			}
			if x.Thinks(effort) {
				does = "y"
			}
			got, thinks = append(got, level), append(thinks, does)
		}
		if g, th := strings.Join(got, " "), strings.Join(thinks, " "); g != c.want || th != c.thinks {
			t.Errorf("%q with %v: %s and %s, want %s and %s", c.thinking, c.efforts, g, th, c.want, c.thinks)
		}
	}
}

func TestPricesOfDays(t *testing.T) {
	m := sheet.Model{Rates: sheet.Rates{Input: 1}, Next: []sheet.Change{{"2026-12-01", sheet.Rates{Input: 2}}, {"2027-01-01", sheet.Rates{Input: 3}}}, Retires: "2027-02-01"}
	for day, want := range map[string]float64{"2026-11-30": 1, "2026-12-01": 2, "2026-12-31": 2, "2027-01-01": 3, "2030-01-01": 3} {
		at, _ := time.Parse(time.DateOnly, day)
		if got := m.On(at.Add(23 * time.Hour)).Input; got != want {
			t.Errorf("on %s it costs %v, want %v", day, got, want)
		}
		if left, known := m.Until(at); !known || left != time.Date(2027, 2, 1, 0, 0, 0, 0, time.UTC).Sub(at) {
			t.Errorf("on %s it has %v", day, left)
		}
	}
	berlin := time.FixedZone("", 3600)
	if got := m.On(time.Date(2026, 12, 1, 0, 30, 0, 0, berlin)).Input; got != 1 {
		t.Errorf("days are not of UTC: %v", got)
	}
	m.Retires = ""
	if _, known := m.Until(time.Now()); known {
		t.Error("it retires on no day")
	}
}

// A name without a row is taken for the newest of the family that it begins like most.
func TestTraitsOf(t *testing.T) {
	for _, c := range []struct{ provider, name, like string }{
		{"anthropic", "claude-opus-77", "claude-fable-5-2"},
		{"openai", "gpt-77", "gpt-6.2-sol"},
		{"google", "gemini-77-x", "gemini-4-hydrogen"},
		{"anthropic", "claude-sonnet-5-5-20300101", "claude-sonnet-5-5"},
		{"openai", "llama-3", ""},
		{"anthropic", "gpt-77", ""},
		{"nobody", "claude-opus-77", ""},
	} {
		got, known := sheet.TraitsOf(c.provider, c.name)
		want, _ := sheet.TraitsOf(c.provider, c.like)
		if known != (c.like != "") || got.Thinking != want.Thinking || got.Sampling != want.Sampling || got.Window != want.Window {
			t.Errorf("%s/%s is %+v", c.provider, c.name, got)
		}
	}
	got, _ := sheet.TraitsOf("anthropic", "claude-opus-77")
	got.Efforts[0], got.Hosted["web_search"] = "x", "x"
	if again, _ := sheet.TraitsOf("anthropic", "claude-opus-77"); again.Efforts[0] == "x" || again.Hosted["web_search"] == "x" {
		t.Error("a change reached the sheet")
	}
}

// A bad file is refused with its name and what is wrong, and the sheet stays.
func TestUseBadFiles(t *testing.T) {
	head := `{"as_of":"2026-01-01","families":[{"name":"f","provider":"openai","reply":100,"window":1000}],"models":[`
	row := func(members string) string { return head + `{"provider":"openai","name":"x",` + members + `}]}` }
	file, used := filepath.Join(t.TempDir(), "sheet.json"), sheet.File()
	for text, want := range map[string]string{
		"":                               "unexpected end of JSON input",
		"[]":                             "cannot unmarshal array into Go value of type sheet.document",
		`{"as_of":"today","models":[]}`:  "as_of: want a day such as 2026-11-28",
		head + "]}":                      "the sheet has no models",
		head + `{"provider":"openai"}]}`: "a row needs a provider and a name",
		head + `7]}`:                     "row 7: ",
		row(`"family":"g"`):              `openai/x is of family "g", which the sheet does not have`,
		row(`"window":"big"`):            "openai/x: ",
		row(`"aliases":["x"]`):           "openai/x is a name of x and of x",
		row(`"input":2,"output":1`):      "odd prices: input 2",
		row(`"input":2,"output":3,"cache_write":1`):                                           "odd prices: input 2, cache_write 1",
		row(`"input":2,"output":3,"long":{"from":5}`):                                         "odd prices of long requests",
		row(`"next":[{"from":"soon"}]`):                                                       `next: "soon" is not a day after ""`,
		row(`"next":[{"from":"2026-02-01"},{"from":"2026-01-01"}]`):                           `next: "2026-01-01" is not a day after "2026-02-01"`,
		row(`"next":[{"from":"2026-02-01","input":2,"output":1}]`):                            "from 2026-02-01: odd prices",
		row(`"retires":"never"`):                                                              `retires: "never" is not a day`,
		row(`"family":"f","reply":2000`):                                                      "a reply of 2000 tokens does not fit a window of 1000",
		row(`"sampling":"now"`):                                                               `sampling: "now" is unknown`,
		row(`"thinking":"deep"`):                                                              `thinking: "deep" is unknown`,
		row(`"endpoint":"both"`):                                                              `endpoint: "both" is unknown`,
		row(`"efforts":["high","low"]`):                                                       `efforts: "low" is unknown or out of order`,
		row(`"effort":"max","efforts":["low"]`):                                               `effort: "max" is not among the efforts [low]`,
		strings.TrimSuffix(row(`"input":1,"output":1`), "}") + `,"retired":{"openai":["["]}}`: `retired: openai: "["`,
	} {
		must(t, os.WriteFile(file, []byte(text), 0o600))
		if err := sheet.Use(file); err == nil || !strings.HasPrefix(err.Error(), "model sheet "+file+": ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	if err := sheet.Use(file + ".none"); err == nil || !strings.HasPrefix(err.Error(), "model sheet "+file+".none: ") {
		t.Error(err)
	}
	if _, ok := sheet.Lookup("anthropic", sheet.Default("anthropic")); !ok || sheet.File() != used {
		t.Error("a bad file took the place of the sheet")
	}
}
