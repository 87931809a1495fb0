package spec

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/sheet"
	"github.com/pawl-run/pawl/model/script"
)

// A seller is a model at the endpoint of a provider.
type seller struct {
	pawl.Model
	at string
}

func (s seller) Describe() pawl.ModelInfo {
	return pawl.ModelInfo{Name: "seller", Endpoint: s.at, Price: &pawl.Price{Input: 1, Output: 2}, PriceFrom: "list"}
}

// sellers are the three providers at their own hosts, and a way to describe others.
func sellers(now time.Time) *Registry {
	at := func(endpoint string) Provider {
		return func(string) (pawl.Model, error) { return seller{script.Replies(pawl.Say("done")), endpoint}, nil }
	}
	return &Registry{
		Models: map[string]Provider{
			"anthropic": at("https://api.anthropic.com"), "openai": at("https://eu.api.openai.com/v1"), "google": at("https://gateway.example.com"),
			"desk": at("https://gateway.example.com"), "mechanic": at(""),
		},
		Endpoints: map[string]Endpoint{"desk": {Wire: "anthropic", Prices: map[string]pawl.Price{"small": {Input: 3}}}, "google": {Price: "none"}},
		Wire:      func(e Endpoint, name string) (pawl.Model, error) { return at(e.BaseURL)(name) },
		Now:       func() time.Time { return now },
	}
}

// rowWith returns the first row of the sheet that is so.
func rowWith(t *testing.T, so func(*sheet.Model) bool) sheet.Model {
	t.Helper()
	all := sheet.All()
	i := slices.IndexFunc(all, func(m sheet.Model) bool { return so(&m) })
	if i < 0 {
		t.Fatal("the sheet has no such row")
	}
	return all[i]
}

// What a spec asks of a model that the model does not take is a warning at the field.
func TestUntaken(t *testing.T) {
	takes := func(s sheet.Sampling, efforts ...string) sheet.Model {
		return rowWith(t, func(m *sheet.Model) bool {
			return m.Sampling == s && m.Thinking != "" && m.Retires == "" &&
				!slices.ContainsFunc(efforts, func(e string) bool { return !slices.Contains(m.Efforts, e) })
		})
	}
	never := takes(sheet.NeverSample, "low")
	off := takes(sheet.Unthinking, "none", "low")
	without := rowWith(t, func(m *sheet.Model) bool {
		return len(m.Efforts) > 0 && m.Retires == "" && m.Clamp("minimal") != "minimal"
	})
	dumb := rowWith(t, func(m *sheet.Model) bool { return m.Thinking == "" })
	for name, c := range map[string]struct {
		model sheet.Model
		more  string
		want  string
	}{
		"never":       {never, "temperature: 0.2", "4:16: MODEL takes no temperature; leave it out (or use effort)"},
		"thinking":    {off, "effort: low\n  temperature: 0", "5:16: MODEL takes a temperature only without thinking; write effort: none, or leave it out"},
		"off":         {off, "effort: none\n  temperature: 0.5", ""},
		"effort":      {without, "effort: minimal", "4:11: effort minimal is not known to MODEL; " + without.Clamp("minimal") + " is used"},
		"known":       {never, "effort: low", ""},
		"not at all":  {dumb, "effort: low", "4:11: MODEL does not think; leave effort out"},
		"not thought": {dumb, "effort: none", ""},
		"no question": {never, "max_tokens: 100", ""},
		"longest":     {never, fmt.Sprint("max_tokens: ", never.Reply), ""},
		"too long":    {never, fmt.Sprint("max_tokens: ", never.Reply+1), fmt.Sprintf("4:15: MODEL writes at most %d tokens in a reply; write max_tokens: %[1]d, or leave it out", never.Reply)},
	} {
		model := c.model.Provider + "/" + c.model.Name
		got := warned(t, "name: a\nmodel:\n  name: "+model+"\n  "+c.more+"\n", sellers(sheet.AsOf().AddDate(-1, 0, 0)))
		if want := strings.ReplaceAll(c.want, "MODEL", model); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	// A fallback is asked in the same way, a judge is not, and nobody knows a model of another maker.
	model := never.Provider + "/" + never.Name
	got := warned(t, "name: a\nmodel: {name: desk/llama, temperature: 1, fallback: ["+model+"]}\njudge: {reflexion: {model: "+model+"}}\n", sellers(sheet.AsOf()))
	if want := "2:40: " + model + " takes no temperature; leave it out (or use effort)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// An effort that is given as an option counts, and its warning names the option.
func TestUntakenOption(t *testing.T) {
	off := rowWith(t, func(m *sheet.Model) bool { return m.Sampling == sheet.Unthinking && slices.Contains(m.Efforts, "none") })
	without := rowWith(t, func(m *sheet.Model) bool { return m.Clamp("minimal") == "low" && m.Retires == "" })
	for _, c := range []struct {
		model              sheet.Model
		more, effort, want string
	}{
		{without, "", "minimal", "effort: effort minimal is not known to MODEL; low is used"},
		{without, "effort: low", "minimal", "effort: effort minimal is not known to MODEL; low is used"},
		{without, "effort: minimal", "low", ""},
		{off, "effort: low\n  temperature: 0.5", "none", ""},
		{off, "effort: none\n  temperature: 0.5", "low", "5:16: MODEL takes a temperature only without thinking; write effort: none, or leave it out"},
	} {
		model := c.model.Provider + "/" + c.model.Name
		got := warnedOf(t, "name: a\nmodel:\n  name: "+model+"\n  "+c.more+"\n", &Options{Registry: sellers(sheet.AsOf().AddDate(-1, 0, 0)), Effort: c.effort})
		if want := strings.ReplaceAll(c.want, "MODEL", model); got != want {
			t.Errorf("%s, --effort %s: %q, want %q", c.more, c.effort, got, want)
		}
	}
}

// warned are the warnings of a spec without the name of its file.
func warned(t *testing.T, text string, r *Registry) string {
	t.Helper()
	return warnedOf(t, text, &Options{Registry: r})
}

func warnedOf(t *testing.T, text string, o *Options) string {
	t.Helper()
	s, err := Parse("spec.yaml", []byte(text), o)
	must(t, err)
	return strings.ReplaceAll(Problems(s.Warnings(o.Registry)).Error(), "spec.yaml:", "")
}

func TestRetirement(t *testing.T) {
	old := rowWith(t, func(m *sheet.Model) bool { return m.Retires != "" && m.Successor != "" && m.Provider != "google" })
	day, _ := time.Parse(time.DateOnly, old.Retires)
	name := old.Provider + "/" + old.Name
	for _, c := range []struct {
		days int // until it retires
		want string
	}{
		{61, ""}, {60, "retires on"}, {1, "retires on"}, {0, "was retired on"}, {-400, "was retired on"},
	} {
		r := sellers(day.AddDate(0, 0, -c.days))
		got := warned(t, "name: a\nmodel: "+name+"\nprice_staleness: warn\nprices: {"+name+": {input: 1, output: 2}}\n", r)
		want := ""
		if c.want != "" {
			want = fmt.Sprintf("2:8: %s %s %s (write %s/%s)", name, c.want, old.Retires, old.Provider, old.Successor)
		}
		if got != want {
			t.Errorf("%d days before: %q, want %q", c.days, got, want)
		}
	}
	// Behind a gateway it is the same model, and where it is no longer named it is no matter.
	text := "name: a\nmodel: corp/" + old.Name + "\nproviders: {corp: {wire: " + old.Provider + ", base_url: \"http://localhost\"}}\nprices: {corp/" + old.Name + ": {input: 1, output: 2}}\n"
	s, err := Parse("spec.yaml", []byte(text), nil)
	must(t, err)
	if got := s.Retiring(sellers(day)); len(got) != 1 || !strings.HasSuffix(got[0].Message, "(write corp/"+old.Successor+")") {
		t.Errorf("behind a gateway: %v", got)
	}
	if s, err = Parse("spec.yaml", []byte(text), &Options{Model: "desk/small"}); err != nil || len(s.Retiring(sellers(day))) != 0 {
		t.Errorf("with another model: %v, %v", err, s.Retiring(sellers(day)))
	}
}

// A name that the sheet does not have is an error at its provider's own host, unless it is given a price.
func TestUnlisted(t *testing.T) {
	const priced = "prices: {gpt-6.2-sun: {input: 1, output: 2}}\n"
	for _, c := range []struct{ model, more, want string }{
		{"anthropic/claude-sonet-5-5", "", "spec.yaml:2:8: the model sheet does not have anthropic/claude-sonet-5-5 (there is anthropic/claude-sonnet-5-5, "},
		{"openai/gpt-6.2-sun", "", "spec.yaml:2:8: the model sheet does not have openai/gpt-6.2-sun (there is openai/gpt-"},
		{"openai/llama", "", "spec.yaml:2:8: the model sheet does not have openai/llama (there is openai/" + sheet.Default("openai") + ";"},
		{"openai/gpt-6.2-sun", priced, ""},
		{"google/gemini-42", "", ""},
		{"desk/claude-sonet-5-5", "", ""},
		{"anthropic/claude-sonnet-5-5", "", ""},
	} {
		_, err := Parse("spec.yaml", []byte("name: a\nmodel: "+c.model+"\n"+c.more), &Options{Registry: sellers(sheet.AsOf())})
		if got := fmt.Sprint(err); c.want == "" && err != nil || c.want != "" && !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %s, want %q", c.model, got, c.want)
		}
	}
}

// The entry of a provider sets prices, in the spec or in the user's file, and the spec's own prices come first.
func TestPricesOfProviders(t *testing.T) { // Promises: N4.
	const providers = "providers: {anthropic: {prices: {x: {input: 5, output: 6}}, price: none}, openai: {prices: {x: {input: 7, output: 8}}}}\n"
	for _, c := range []struct {
		model, more, from string
		input             float64
	}{
		{"anthropic/claude-sonnet-5-5", "", "list", 1},
		{"anthropic/x", providers, "spec", 5},
		{"anthropic/y", providers, "", 0},
		{"anthropic/y", providers + "prices: {y: {input: 9, output: 9}}\n", "spec", 9},
		{"openai/x", providers, "spec", 7},
		{"openai/gpt-6.2-sol", providers, "list", 1},
		{"desk/small", "", "spec", 3},
		{"desk/large", "", "list", 1},
		{"google/x", "", "", 0},
		{"google/x", "providers: {google: {prices: {x: {input: 2, output: 2}}}}\n", "spec", 2},
	} {
		r := sellers(sheet.AsOf())
		s, err := Parse("spec.yaml", []byte("name: a\nmodel: "+c.model+"\n"+c.more), &Options{Registry: r})
		must(t, err)
		a, err := s.Agent(r)
		must(t, err)
		info, input := describe(a.Model), 0.0
		if info.Price != nil {
			input = info.Price.Input
		}
		if info.PriceFrom != c.from || input != c.input {
			t.Errorf("%s with %q: %v from %q", c.model, c.more, input, info.PriceFrom)
		}
	}
	_, err := Parse("spec.yaml", []byte("name: a\nmodel: anthropic/y\nlimits: {cost: 1}\n"+providers), &Options{Registry: sellers(sheet.AsOf())})
	if err == nil || !strings.Contains(err.Error(), "the model anthropic/y at https://api.anthropic.com has no price") {
		t.Error(err)
	}
	all, err := Endpoints(filepath.Join(t.TempDir(), "providers.yaml"), []byte(strings.Replace(providers, "openai: {", "own: {wire: openai, base_url: \"http://localhost\", ", 1)), sellers(sheet.AsOf()))
	if err != nil || len(all) != 2 || all["anthropic"].Price != "none" || all["anthropic"].Wire != "" || all["own"].Prices["x"].Input != 7 || all["own"].Wire != "openai" {
		t.Errorf("the file of the user has %+v, %v", all, err)
	}
}
