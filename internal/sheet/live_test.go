package sheet_test

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/sheet"
	"github.com/pawl-run/pawl/internal/testkit/check"
	"github.com/pawl-run/pawl/internal/testkit/fakeprovider"
	"github.com/pawl-run/pawl/model/anthropic"
	"github.com/pawl-run/pawl/model/google"
	"github.com/pawl-run/pawl/model/openai"
	"github.com/pawl-run/pawl/model/script"
)

// A host is where the models of a provider are asked.
type host struct{ key, base string }

// keys are the variables with the key of each provider.
var keys = map[string]string{"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY", "google": "GEMINI_API_KEY"}

func (h host) model(provider, name string) pawl.Model {
	switch provider {
	case "anthropic":
		return anthropic.New(name, &anthropic.Options{APIKey: h.key, BaseURL: h.base})
	case "openai":
		return openai.New(name, &openai.Options{APIKey: h.key, BaseURL: h.base, API: openai.Responses}) // as at its own host
	}
	return google.New(name, &google.Options{APIKey: h.key, BaseURL: h.base})
}

// try asks a model something small, with a tool and the least effort, and returns what became of
// it in a few words.
func try(ctx context.Context, m pawl.Model, effort string) string {
	ask := pawl.Request{
		Messages:  []pawl.Message{{Role: pawl.RoleUser, Parts: []pawl.Part{pawl.Text{Text: "Say: ok."}}}},
		Tools:     []pawl.ToolInfo{{Name: "clock", Description: "Tells the time.", Input: json.RawMessage(`{"type":"object","properties":{}}`)}},
		MaxTokens: 2048,
		Sampling:  pawl.Sampling{Effort: effort},
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	outcome := "no reply"
	for chunk, err := range m.Stream(ctx, ask) {
		switch {
		case err != nil:
			outcome = err.Error()
		case chunk.Reply != nil:
			outcome = strings.Join(append([]string{"ok"}, chunk.Reply.Notes...), "; ")
		}
	}
	const longest = 160
	return outcome[:min(len(outcome), longest)]
}

// tried sends a request to each model of a sheet whose provider has a host, writes the day and the
// outcomes into the file, and returns them.
func tried(ctx context.Context, file, day string, hosts map[string]host) (map[string]string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	outcomes := map[string]string{}
	lines := strings.Split(string(text), "\n")
	for i, line := range lines {
		row := strings.TrimSuffix(line, ",")
		var m sheet.Model
		h, ok := hosts[provider(row)]
		if !ok || json.Unmarshal([]byte(row), &m) != nil || !strings.HasPrefix(row, `{"provider":`) {
			continue
		}
		effort := ""
		if all, _ := sheet.TraitsOf(m.Provider, m.Name); len(all.Efforts) > 0 {
			effort = all.Efforts[0]
		}
		outcome := day + " " + try(ctx, h.model(m.Provider, m.Name), effort)
		outcomes[m.Provider+"/"+m.Name] = outcome
		member := func(outcome string) string {
			text, _ := json.Marshal(outcome) // a text
			return `,"tried":` + string(text)
		}
		if m.Tried != "" {
			row = strings.Replace(row, member(m.Tried), "", 1)
		}
		lines[i] = strings.TrimSuffix(row, "}") + member(outcome) + "}" + line[len(strings.TrimSuffix(line, ",")):]
	}
	return outcomes, os.WriteFile(file, []byte(strings.Join(lines, "\n")), 0o600)
}

// provider returns the provider of a row.
func provider(row string) string {
	var head struct{ Provider string }
	_ = json.Unmarshal([]byte(row), &head) // a line that is no row has none
	return head.Provider
}

// TestLive asks the providers whose keys are set, for make live.
func TestLive(t *testing.T) {
	if os.Getenv("PAWL_LIVE") == "" {
		t.Skip("it costs money: set PAWL_LIVE, and the key of a provider")
	}
	hosts := map[string]host{}
	for provider, variable := range keys {
		if key := os.Getenv(variable); key != "" {
			hosts[provider] = host{key: key}
		} else {
			t.Logf("%s is not set, so no model of %s is asked", variable, provider)
		}
	}
	outcomes, err := tried(t.Context(), "sheet.json", time.Now().UTC().Format(time.DateOnly), hosts)
	must(t, err)
	for name, outcome := range outcomes {
		t.Logf("%s: %s", name, outcome)
	}
}

// Every model of the sheet takes a small request, by the rules that the fake providers have of it;
// what each said is in its row, and the sheet is otherwise as it was.
func TestTried(t *testing.T) {
	brain, err := script.Parse("ok.yaml", []byte("replies: [{text: ok}]\nrepeat: last\n"))
	must(t, err)
	fake := fakeprovider.New(brain, nil)
	srv := httptest.NewServer(fake)
	defer srv.Close()
	defer fake.Close()
	before, err := os.ReadFile("sheet.json")
	must(t, err)
	file := filepath.Join(t.TempDir(), "sheet.json")
	must(t, os.WriteFile(file, before, 0o600))
	hosts := map[string]host{"anthropic": {"k", srv.URL}, "openai": {"k", srv.URL + "/v1"}, "google": {"k", srv.URL}}
	outcomes, err := tried(t.Context(), file, "2026-01-02", hosts)
	if err != nil || len(outcomes) != len(sheet.All()) {
		t.Fatal(len(outcomes), err)
	}
	for name, outcome := range outcomes {
		if outcome != "2026-01-02 ok" {
			t.Errorf("%s: %s", name, outcome)
		}
	}
	srv.Close()
	if outcomes, err = tried(t.Context(), file, "2026-01-03", map[string]host{"google": hosts["google"]}); err != nil || len(outcomes) == 0 {
		t.Fatal(err)
	}
	after, err := os.ReadFile(file)
	must(t, err)
	want := strings.Count(string(before), `{"provider":"google"`)
	if got := strings.Count(string(after), `"tried":"2026-01-03 model: network: `); got != want || got != strings.Count(string(after), `"tried":"2026-01-03 `) {
		t.Errorf("%d rows say that nobody answered, want %d", got, want)
	}
	if got, want := strings.Count(string(after), `"tried":"`), len(sheet.All()); got != want {
		t.Errorf("%d rows say what was tried, want %d", got, want)
	}
	if err := sheet.Use(file); err != nil {
		t.Error(err)
	}
	defer func() { _ = sheet.Use("sheet.json") }() // for other tests
	if row, _ := sheet.Lookup("google", sheet.Default("google")); !strings.HasPrefix(row.Tried, "2026-01-03 ") {
		t.Errorf("the sheet has %q", row.Tried)
	}
}

var must = check.Must
