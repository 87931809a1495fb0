package spec

import (
	"maps"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/sheet"
	"github.com/pawl-run/pawl/model/script"
)

// checked is what is wrong with a spec in a directory.
func checked(t *testing.T, dir, text string, r *Registry) string {
	t.Helper()
	_, err := Parse(filepath.Join(dir, "spec.yaml"), []byte(text), &Options{Registry: r})
	if err == nil {
		return ""
	}
	return strings.ReplaceAll(err.Error(), dir+"/", "")
}

// A webhook of an agent that is a tool or a step, at any depth, is a problem unless
// the outermost spec has it as well.
func TestWebhooksOfMembers(t *testing.T) {
	t.Setenv("HOOK_SECRET", "long enough a secret")
	hook := func(host string) string {
		return "webhooks: [{url: https://" + host + "/x, secret: HOOK_SECRET}]\n"
	}
	dir := tree(t, map[string]string{
		"deep.yaml":  "name: deep\ndescription: d\n" + hook("deep.example.org"),
		"sub.yaml":   "name: sub\ndescription: d\ntools: [{agent: ./deep.yaml}]\n",
		"own.yaml":   "name: own\ndescription: d\n" + hook("own.example.org"),
		"quiet.yaml": "name: quiet\ndescription: d\n",
	})
	const (
		tools = "tools:\n  - {agent: ./quiet.yaml}\n  - {agent: ./own.yaml}\n  - {agent: ./sub.yaml}\n"
		deep  = "deep.yaml:3:12: the webhook is not called for an agent of spec.yaml (name it in spec.yaml as well, or leave it out here)"
		own   = "own.yaml:3:12: the webhook is not called for an agent of spec.yaml (name it in spec.yaml as well, or leave it out here)"
	)
	for hooks, want := range map[string]string{"": deep + "\n" + own, hook("own.example.org"): deep, hook("deep.example.org"): own} {
		if got := checked(t, dir, least+tools+hooks, nil); got != want {
			t.Errorf("with %q the problems are\n%s\nand not\n%s", hooks, got, want)
		}
	}
	const flow = "name: w\nmodel: anthropic/claude\nloop: workflow\nsteps: [{id: a, agent: ./own.yaml}]\n"
	if got := checked(t, dir, flow, nil); got != own {
		t.Errorf("of a step the problems are\n%s", got)
	}
}

// What a run recorded is read as it is, so that the run can be resumed.
func TestRecordedMembers(t *testing.T) {
	dir := tree(t, map[string]string{"own.yaml": "name: own\ndescription: d\n"})
	_, a := parseAgent(t, dir, least+"tools: [{agent: ./own.yaml}]\n", nil)
	t.Setenv("HOOK_SECRET", "long enough a secret")
	const useless = `thread: x\ninput: y\nwebhooks: [{url: https://a.example.org, secret: HOOK_SECRET}]\n`
	source := strings.Replace(a.Source, `name: own\n`, `name: own\n`+useless, 1)
	if source == a.Source {
		t.Fatal(a.Source)
	}
	_, err := ParseSource(source, &Options{Registry: registry()})
	must(t, err)
}

// Checking a spec warns of what its agents' specs lack as well.
func TestWarningsOfMembers(t *testing.T) {
	dir := tree(t, map[string]string{
		"own.yaml":  "name: own\ndescription: d\nenv: [PAWL_NOT_SET]\n",
		"step.yaml": "name: step\nmodel: anthropic/claude\ndescription: d\ntools: [{name: x, description: d, command: [./gone]}]\n",
	})
	s, _ := parseAgent(t, dir, "name: w\nmodel: anthropic/claude\nloop: workflow\nsteps: [{id: a, agent: ./step.yaml}]\ntools: [{agent: ./own.yaml}]\n", nil)
	var got []string
	for _, w := range s.Warnings(registry()) {
		got = append(got, strings.ReplaceAll(w.String(), dir+"/", ""))
	}
	const want = "own.yaml:3:7: the variable PAWL_NOT_SET is not set (commands run without it)\n" +
		"step.yaml:4:45: there is no file ./gone in the spec's directory"
	if text := strings.Join(got, "\n"); text != want {
		t.Errorf("it warns\n%s\nand not\n%s", text, want)
	}
}

// listed is a model of the model sheet.
type listed struct{ pawl.Model }

func (listed) Describe() pawl.ModelInfo {
	return pawl.ModelInfo{Name: "anthropic/" + sheet.Default("anthropic"), Price: &pawl.Price{Input: 3, Output: 15}}
}

// The rates of an agent hold for providers of which its caller names none.
func TestRatesOfMembers(t *testing.T) {
	dir := tree(t, map[string]string{
		"clerk.yaml": "name: clerk\ndescription: d\nproviders: {mechanic: {rate: {requests: 1}}, script: {rate: {tokens: 2}}}\n",
	})
	text := "name: a\nmodel: mechanic\nproviders: {mechanic: {rate: {requests: 3}}}\ntools: [{agent: ./clerk.yaml}]\n"
	s, err := Parse(filepath.Join(dir, "spec.yaml"), []byte(text), nil)
	must(t, err)
	want := map[string]engine.Rate{"mechanic": {Requests: 3}, "script": {Tokens: 2}}
	for from, got := range map[string]map[string]engine.Rate{"the spec": s.Rates(), "its source": ReadSource(s.record(nil)).Rates()} {
		if !maps.Equal(got, want) {
			t.Errorf("the rates of %s are %v", from, got)
		}
	}
}

// Prices and price_staleness in the spec of an agent are also of the model that it
// has from its caller.
func TestPricesOfMembers(t *testing.T) {
	name := sheet.Default("anthropic")
	r := &Registry{
		Models: map[string]Provider{"anthropic": func(string) (pawl.Model, error) { return listed{script.Replies(pawl.Say("done"))}, nil }},
		Now:    func() time.Time { return sheet.AsOf().Add(Outdated + time.Hour) },
	}
	dir := tree(t, map[string]string{
		"plain.yaml":  "name: plain\ndescription: d\n",
		"own.yaml":    "name: own\ndescription: d\nprices: {" + name + ": {input: 1.0, output: 2.0}}\n",
		"token.yaml":  "name: token\ndescription: d\nprice_staleness: token-only\n",
		"refuse.yaml": "name: refuse\ndescription: d\nprice_staleness: refuse\n",
	})
	text := "name: a\nmodel: anthropic/" + name + "\ntools: [{agent: ./plain.yaml}, {agent: ./own.yaml}, {agent: ./token.yaml}]\n"
	if problems := checked(t, dir, text, r); problems != "" {
		t.Fatal(problems)
	}
	s, err := Parse(filepath.Join(dir, "spec.yaml"), []byte(text), &Options{Registry: r})
	must(t, err)
	a, err := s.Agent(r)
	must(t, err)
	got := map[string]*pawl.Price{}
	for _, one := range a.Tools {
		agent := one.(pawl.Delegate).Agent()
		got[agent.Name] = describe(agent.Model).Price
	}
	if got["plain"] == nil || got["plain"].Input != 3 || got["own"] == nil || got["own"].Input != 1 || got["token"] != nil {
		t.Errorf("the prices are %v", got)
	}
	const refused = "tools: [{agent: ./refuse.yaml}]\n"
	want := "refuse.yaml:3:18: the price of anthropic/" + name + " is of " + sheet.AsOf().Format(time.DateOnly) + ", more than 30 days ago (give it under prices, or a newer sheet in PAWL_MODELS)"
	if got := checked(t, dir, "name: a\nmodel: anthropic/"+name+"\n"+refused, r); got != want {
		t.Errorf("with refuse the problems are\n%s\nand not\n%s", got, want)
	}
	own := "prices: {" + name + ": {input: 1.0, output: 2.0}}\n"
	if got := checked(t, dir, "name: a\nmodel: anthropic/"+name+"\n"+refused+own, r); got != "" {
		t.Errorf("at the caller's own price the problems are\n%s", got)
	}
}
