package spec

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/quick"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/model/script"
)

func policy(t *testing.T, text string) *Policy {
	t.Helper()
	p, err := ParsePolicy("policy.yaml", []byte(text))
	must(t, err)
	return p
}

const orders = `name: orders
model: anthropic/claude
limits: {iterations: 30, time: 10m}
tools:
  - {name: delete_file, description: D., command: [rm], approval: required}
  - {name: submit_po, description: S., command: [./s.sh], effect: idempotent, input: {type: object, properties: {amount: {type: number}}}}
  - {name: shell, description: Sh., command: [sh]}
`

func agentOf(t *testing.T, text string) pawl.Agent {
	t.Helper()
	s, err := Parse("spec.yaml", []byte(text), nil)
	must(t, err)
	a, err := s.Agent(registry())
	must(t, err)
	return a
}

// What a policy adds to an agent, and what it has nothing to say about.
func TestPolicyApply(t *testing.T) {
	a := agentOf(t, orders)
	before := len(a.Policies)
	got, err := policy(t, `
limits: {iterations: 50, tokens: 1000, time: 1m, cost: 0.5, tool_errors: 1, depth: 2}
models: [openai/*, script/*]
deny: [shell, "fetch_*", __store_memory__]
gates: [{effect: write}, {effect: read}, "delete_*", {tool: "submit_*", when: args.amount > 100}, {tool: "*_file", when: args.path == "/"}, {tool: drop}]
`).Apply(a)
	must(t, err)
	m, err := pawl.NewMachine(got)
	must(t, err)
	want := []string{
		`approval("delete_file")`, // the agent's own
		`approval("*_file")`,      // it has no such argument, so it is always asked about
		`approval("delete_*")`, `approval_effect(write)`, `approval_when("submit_*", args.amount > 100)`, `never("__store_memory__")`, `never("shell")`,
	}
	if diff := cmp.Diff(want, m.Declaration().Policies); diff != "" {
		t.Errorf("policies (-want +got):\n%s", diff)
	}
	limits := pawl.Limits{Iterations: 30, Tokens: 1000, Time: time.Minute, Cost: 0.5, ToolErrors: 1, Depth: 2, Attempts: 4, Margin: 0.1}
	if diff := cmp.Diff(limits, m.Declaration().Limits); diff != "" {
		t.Errorf("limits (-want +got):\n%s", diff)
	}
	if len(a.Policies) != before || a.Limits.Iterations != 30 || a.Limits.Tokens != 0 {
		t.Error("the agent itself was changed")
	}
}

// A ceiling above the default does not raise it.
func TestPolicyKeepsDefaults(t *testing.T) {
	got, err := policy(t, "limits: {iterations: 100, time: 5h, tokens: 9000000}").Apply(agentOf(t, "name: a\nmodel: mechanic\n"))
	if err != nil || got.Limits.Iterations != 20 || got.Limits.Time != 30*time.Minute || got.Limits.Tokens != 500_000 || got.Policies != nil {
		t.Errorf("%+v, %v", got.Limits, err)
	}
}

// Whatever the limits, a policy raises none.
func TestPolicyLowers(t *testing.T) {
	p := policy(t, "limits: {iterations: 7, tokens: 1000, time: 1m, cost: 0.5, tool_errors: 2, depth: 3}")
	if err := quick.Check(func(i, n, e, d uint16, span uint32, cost float64) bool {
		l := pawl.Limits{Iterations: int(i), Tokens: int(n), ToolErrors: int(e), Depth: int(d), Time: time.Duration(span) * time.Millisecond, Cost: cost}
		got := p.Lower(l)
		return got.Iterations == min(l.Iterations, 7) && got.Tokens == min(l.Tokens, 1000) && got.Time == min(l.Time, time.Minute) &&
			(got.Cost == min(l.Cost, 0.5) || l.Cost == 0 && got.Cost == 0.5) && got.ToolErrors == min(l.ToolErrors, 2) && got.Depth == min(l.Depth, 3)
	}, nil); err != nil {
		t.Error(err)
	}
}

// auxiliary brings a model of its own.
type auxiliary struct{ model pawl.Model }

func (a auxiliary) AuxiliaryModels() []pawl.Model                { return []pawl.Model{a.model} }
func (auxiliary) String() string                                 { return "auxiliary" }
func (auxiliary) Review(_ *pawl.State, step pawl.Step) pawl.Step { return step }

// Models that are not allowed are refused wherever the agent has them.
func TestPolicyModels(t *testing.T) {
	named := func(name string, price *pawl.Price) pawl.Model {
		m := script.Replies(pawl.Say("done"))
		return other{m, name, price}
	}
	free := &pawl.Price{}
	for _, c := range []struct {
		policy string
		change func(*pawl.Agent)
		want   string
	}{
		{"models: [anthropic/*]", func(*pawl.Agent) {}, ""},
		{"models: ['anthropic/claude-?']", func(*pawl.Agent) {}, ""},
		{"models: [openai/*, 'script:*']", func(a *pawl.Agent) { a.Model = named("script/x.yaml", nil) }, ""},
		{"models: [openai/*]", func(*pawl.Agent) {}, "policy.yaml:1:9: the model anthropic/claude-x is not allowed (only openai/*)"},
		{"models: [anthropic/*]", func(a *pawl.Agent) { a.Fallback = []pawl.Model{named("openai/gpt", nil)} }, "policy.yaml:1:9: the model openai/gpt is not allowed (only anthropic/*)"},
		{"models: [anthropic/*]", func(a *pawl.Agent) { a.Policies = []pawl.Policy{auxiliary{named("openai/judge", nil)}} }, "policy.yaml:1:9: the model openai/judge is not allowed (only anthropic/*)"},
		{"limits: {cost: 1}", func(*pawl.Agent) {}, ""},
		{"limits: {cost: 1}", func(a *pawl.Agent) { a.Model = named("openai/gpt", nil) }, "policy.yaml:1:16: the model openai/gpt has no price, so the policy's limit of $1 cannot be enforced (give it one under prices in the spec)"},
	} {
		a := pawl.Agent{Name: "a", Model: named("anthropic/claude-x", free)}
		c.change(&a)
		_, err := policy(t, c.policy).Apply(a)
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: %s\nwant %s", c.policy, got, c.want)
		}
		if _, ok := err.(Problems); err != nil && !ok {
			t.Errorf("%s: the error is a %T", c.policy, err)
		}
	}
	if _, err := policy(t, "deny: [x]").Apply(pawl.Agent{}); err == nil {
		t.Error("an agent without a name or model is taken")
	}
}

type other struct {
	pawl.Model
	name  string
	price *pawl.Price
}

func (o other) Describe() pawl.ModelInfo { return pawl.ModelInfo{Name: o.name, Price: o.price} }

// In what a policy is looser than the one before.
func TestPolicyLooser(t *testing.T) {
	const strict = "limits: {iterations: 10, time: 1m, cost: 1}\nmodels: [anthropic/*, openai/gpt-6.2-sol]\ndeny: [shell]\ngates: [order, {effect: write}, {tool: pay, when: args.n > 1}]\n"
	for _, c := range []struct {
		text string
		want string
	}{
		{strict, ""},
		{strings.Replace(strict, "[order", "[more, order", 1), ""},
		{strings.Replace(strict, "deny: [shell]", "deny: [fetch, shell]", 1), ""},
		{strings.Replace(strict, "iterations: 10", "iterations: 5, tokens: 100", 1), ""},
		{strings.Replace(strict, "[anthropic/*, openai/gpt-6.2-sol]", "[anthropic/claude, anthropic/c*]", 1), ""},
		{strings.Replace(strict, "iterations: 10, time: 1m", "iterations: 11", 1), "iterations may be 11, not 10\ntime has no limit, which was 1m"},
		{strings.Replace(strict, "cost: 1", "cost: 1.5", 1), "cost may be 1.5, not 1"},
		{strings.Replace(strict, "models: [anthropic/*, openai/gpt-6.2-sol]\n", "", 1), "all models are allowed, not only anthropic/*, openai/gpt-6.2-sol"},
		{strings.Replace(strict, "openai/gpt-6.2-sol", "openai/gpt-?", 1), "the model openai/gpt-? is allowed"},
		{strings.Replace(strict, "anthropic/*", "'*'", 1), "the model * is allowed"},
		{strings.Replace(strict, "deny: [shell]\n", "", 1), "shell is not denied"},
		{strings.Replace(strict, "gates: [order, {effect: write}, {tool: pay, when: args.n > 1}]", "gates: [{tool: pay, when: args.n > 2}]", 1), "order is not gated\nevery write is not gated\npay when args.n > 1 is not gated"},
		{"{}", "iterations has no limit, which was 10\ntime has no limit, which was 1m\ncost has no limit, which was 1\nall models are allowed, not only anthropic/*, openai/gpt-6.2-sol\nshell is not denied\norder is not gated\nevery write is not gated\npay when args.n > 1 is not gated"},
	} {
		if got := strings.Join(policy(t, c.text).Looser(policy(t, strict)), "\n"); got != c.want {
			t.Errorf("%s\nis looser: %s\nwant: %s", c.text, got, c.want)
		}
	}
	if ways := policy(t, strict).Looser(policy(t, "{}")); ways != nil {
		t.Errorf("than none it is looser: %q", ways)
	}
}

// A stricter policy has the rules of the one before in their order, whatever
// the order in the file, so that a run can be resumed under it.
func TestPolicyOrder(t *testing.T) {
	a := agentOf(t, orders)
	sources := func(text string) (all []string) {
		b, err := policy(t, text).Apply(a)
		must(t, err)
		for _, p := range b.Policies {
			all = append(all, p.String())
		}
		return all
	}
	was, is := sources("deny: [shell]\ngates: [submit_po]"), sources("gates: [{effect: write}, '*', submit_po]\ndeny: ['sh*', shell]")
	for _, p := range is {
		if len(was) > 0 && was[0] == p {
			was = was[1:]
		}
	}
	if len(was) > 0 {
		t.Errorf("%q lacks %q or has it out of order", is, was)
	}
}

func TestLoadPolicy(t *testing.T) {
	file := filepath.Join(t.TempDir(), "policy.json")
	must(t, os.WriteFile(file, []byte(`{"deny":["a"]}`), 0o600))
	p, err := LoadPolicy(file)
	must(t, err)
	if name, text := p.Source(); name != file || text != `{"deny":["a"]}` {
		t.Errorf("the source is %s: %s", name, text)
	}
	if _, err := LoadPolicy(file + "x"); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
