package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/approval"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/progress"
	"github.com/pawl-run/pawl/stop"
)

// renamed is a model that describes itself otherwise.
type renamed struct {
	pawl.Model

	info pawl.ModelInfo
}

func (m renamed) Describe() pawl.ModelInfo { return m.info }

// advised is a policy that does nothing, and brings a model.
type advised struct{ model pawl.Model }

func (advised) String() string                                 { return "advised()" }
func (advised) Review(_ *pawl.State, step pawl.Step) pawl.Step { return step }
func (a advised) AuxiliaryModels() []pawl.Model                { return []pawl.Model{a.model} }

func named(m pawl.Model, name string, in float64) pawl.Model {
	return &renamed{m, pawl.ModelInfo{Name: name, Price: &pawl.Price{Input: in}}}
}

// tooled changes what is declared of a tool.
func tooled(a *pawl.Agent, n int, change func(*pawl.ToolInfo)) {
	a.Tools = slices.Clone(a.Tools)
	p := a.Tools[n].(part)
	change(&p.info)
	a.Tools[n] = p
}

// part is a tool that is what it is declared to be, and does nothing.
type part struct{ info pawl.ToolInfo }

func (p part) Info() pawl.ToolInfo { return p.info }
func (part) Run(context.Context, pawl.Invocation) (pawl.Output, error) {
	return pawl.Output{JSON: json.RawMessage(`"worked"`)}, nil
}

// entire is an agent that has every part an agent can have. It works, and ends by
// its ceiling after the first turn.
func entire() pawl.Agent {
	model := turns([]pawl.Call{call("look", 1)}, []pawl.Call{call("put", 2)})
	input := json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`)
	return pawl.Agent{
		Name: "entire", Prompt: "Work.", Model: named(model, "house/big", 1), Fallback: []pawl.Model{named(model, "house/small", 1)},
		Tools: []pawl.Tool{
			part{pawl.ToolInfo{Name: "look", Effect: pawl.Read, Input: input}},
			part{pawl.ToolInfo{Name: "put", Effect: pawl.Idempotent, Input: input}},
			part{pawl.ToolInfo{Name: "rm_all", Input: input}},
		},
		Stop:     stop.Iterations(50),
		Policies: []pawl.Policy{advised{named(model, "house/judge", 1)}, approval.For("rm_*"), progress.NoProgress(3, 0, "")},
		Observer: func(context.Context) (pawl.Observation, error) { return pawl.Observation{Text: "fair"}, nil },
		Limits:   pawl.Limits{Iterations: 1},
		Trust:    map[string]pawl.Trust{"rm_all": pawl.Untrusted},
		Sampling: pawl.Sampling{Temperature: 0.5}, Approvals: pawl.Approvals{TTL: time.Hour},
	}
}

// TestCompatible changes one part of an agent at a time: a run goes on, or says
// what has changed and stays as it is. With the change allowed it goes on, the log
// says under what, and no later resumption complains of it.
func TestCompatible(t *testing.T) { // Promises: T8.
	for name, c := range map[string]struct {
		change func(a *pawl.Agent)
		parts  string // empty: it may change
		noted  bool   // it may change, and the log says so
	}{
		"nothing": {func(*pawl.Agent) {}, "", false},
		"limits":  {func(a *pawl.Agent) { a.Limits = pawl.Limits{Iterations: 7, Tokens: 9999, ToolErrors: 9} }, "", false},
		"parallel calls": {func(a *pawl.Agent) {
			a.MaxParallel = 3
			tooled(a, 0, func(i *pawl.ToolInfo) { i.MaxParallel, i.External = 2, true })
		}, "", false},
		"labels, source":   {func(a *pawl.Agent) { a.Labels, a.Source = map[string]string{"k": "v"}, "elsewhere" }, "", false},
		"description":      {func(a *pawl.Agent) { a.Description = "One that works." }, "", false},
		"price":            {func(a *pawl.Agent) { a.Model = named(a.Model, "house/big", 3) }, "", true},
		"time-out, output": {func(a *pawl.Agent) { tooled(a, 0, func(i *pawl.ToolInfo) { i.Timeout, i.MaxOutput = time.Hour, 99 }) }, "", false},
		"schema's spelling": {func(a *pawl.Agent) {
			tooled(a, 0, func(i *pawl.ToolInfo) {
				i.Input = json.RawMessage("{\"properties\": {\"n\": {\"type\":\"integer\"}},\n \"type\": \"object\"}")
			})
		}, "", false},
		"another policy more": {func(a *pawl.Agent) { a.Policies = append(slices.Clone(a.Policies), approval.For("put")) }, "", true},
		"one in between":      {func(a *pawl.Agent) { a.Policies = slices.Insert(slices.Clone(a.Policies), 1, approval.For("put")) }, "", true},

		"less trust": {func(a *pawl.Agent) { a.Trust = map[string]pawl.Trust{"rm_all": pawl.Untrusted, "look": pawl.Untrusted} }, "", true},
		"less trust and another policy": {func(a *pawl.Agent) {
			a.Trust, a.Policies = map[string]pawl.Trust{"rm_all": pawl.Untrusted, "put": pawl.Untrusted}, append(slices.Clone(a.Policies), approval.For("put"))
		}, "", true},
		"more trust":  {func(a *pawl.Agent) { a.Trust = nil }, "trust rm_all", false},
		"trust moved": {func(a *pawl.Agent) { a.Trust = map[string]pawl.Trust{"look": pawl.Untrusted} }, "trust look trust rm_all", false},

		"name":     {func(a *pawl.Agent) { a.Name = "other" }, "agent", false},
		"prompt":   {func(a *pawl.Agent) { a.Prompt = "Work well." }, "prompt", false},
		"model":    {func(a *pawl.Agent) { a.Model = named(a.Model, "house/new", 1) }, "model", false},
		"fallback": {func(a *pawl.Agent) { a.Fallback = nil }, "model", false},
		"auxiliary": {func(a *pawl.Agent) {
			a.Policies = slices.Clone(a.Policies)
			a.Policies[0] = advised{named(a.Model, "house/new", 1)}
		}, "model", false},
		"loop":     {func(a *pawl.Agent) { a.Loop = looping(pawl.ReAct{}.Next) }, "loop", false},
		"strategy": {func(a *pawl.Agent) { a.Strategy = pawl.StrategyJSON }, "strategy tool __complete__", false},
		"builtins": {func(a *pawl.Agent) { a.Builtins = true }, "tool __complete__ tool __log_progress__ tool __pause_for_human__ tool __retrieve_memory__ tool __store_memory__", false},
		"stop":     {func(a *pawl.Agent) { a.Stop = stop.Iterations(51) }, "stop", false},
		"no stop":  {func(a *pawl.Agent) { a.Stop = nil }, "stop", false},
		"goal": {func(a *pawl.Agent) {
			a.Goal = &pawl.Goal{Metric: badWorld{new(fuse)}.Measure, Success: stop.Metric(">=", 10)}
		}, "goal", false},
		"output":      {func(a *pawl.Agent) { a.Output = json.RawMessage(`{"type":"string"}`) }, "output", false},
		"sampling":    {func(a *pawl.Agent) { a.Sampling.MaxTokens = 99 }, "sampling", false},
		"options":     {func(a *pawl.Agent) { a.Sampling.Options = map[string]json.RawMessage{"k": []byte("1")} }, "sampling", false},
		"serial":      {func(a *pawl.Agent) { a.Serial = true }, "serial", false},
		"observer":    {func(a *pawl.Agent) { a.Observer = nil }, "observes", false},
		"approvals":   {func(a *pawl.Agent) { a.Approvals.StopOnDeny = true }, "approvals", false},
		"observation": {func(a *pawl.Agent) { a.Approvals.IgnoreObservation = true }, "approvals", false},
		"schema": {func(a *pawl.Agent) {
			tooled(a, 0, func(i *pawl.ToolInfo) { i.Input = json.RawMessage(`{"type":"object"}`) })
		}, "tool look", false},
		"tool's text":  {func(a *pawl.Agent) { tooled(a, 0, func(i *pawl.ToolInfo) { i.Description = "Look." }) }, "tool look", false},
		"effect":       {func(a *pawl.Agent) { tooled(a, 1, func(i *pawl.ToolInfo) { i.Effect = pawl.Read }) }, "tool put", false},
		"version":      {func(a *pawl.Agent) { tooled(a, 1, func(i *pawl.ToolInfo) { i.Version = "2" }) }, "tool put", false},
		"on doubt":     {func(a *pawl.Agent) { tooled(a, 1, func(i *pawl.ToolInfo) { i.OnDoubt = pawl.DoubtTell }) }, "tool put", false},
		"client":       {func(a *pawl.Agent) { tooled(a, 1, func(i *pawl.ToolInfo) { i.Client = true }) }, "tool put", false},
		"max calls":    {func(a *pawl.Agent) { tooled(a, 1, func(i *pawl.ToolInfo) { i.MaxCalls = 1 }) }, "tool put", false},
		"tool renamed": {func(a *pawl.Agent) { tooled(a, 1, func(i *pawl.ToolInfo) { i.Name = "set" }) }, "tool put tool set", false},
		"tool removed": {func(a *pawl.Agent) { a.Tools = slices.Delete(slices.Clone(a.Tools), 1, 2) }, "tool put", false},
		"tool added":   {func(a *pawl.Agent) { a.Tools = append(slices.Clone(a.Tools), fake{name: "new", effect: pawl.Read}) }, "tool new", false},
		"gate removed": {func(a *pawl.Agent) { a.Policies = slices.Delete(slices.Clone(a.Policies), 1, 2) }, "policies", false},
		"gate weaker": {func(a *pawl.Agent) {
			a.Policies = slices.Clone(a.Policies)
			a.Policies[1] = approval.For("rm_all")
		}, "policies", false},
		"other order": {func(a *pawl.Agent) {
			a.Policies = slices.Clone(a.Policies)
			slices.Reverse(a.Policies)
		}, "policies", false},
		"several at once": {func(a *pawl.Agent) { a.Prompt, a.Tools = "Rest.", a.Tools[1:] }, "prompt tool look", false},
	} {
		t.Run(name, func(t *testing.T) {
			j := newTap()
			e := engine.New(j, nil)
			began := entire()
			ends(t, begin(t, e, began), pawl.StatusExhausted)
			was := logOf(t, j, "r")
			now := entire()
			c.change(&now)
			more := &engine.ResumeOptions{Limits: pawl.Limits{Iterations: 5}}

			complains := func(what string, err error) {
				t.Helper()
				changed, ok := errors.AsType[*engine.ChangedError](err)
				if !ok || strings.Join(changed.Parts, " ") != c.parts {
					t.Errorf("%s: %v; it is to name %q", what, err, c.parts)
				}
				if ok && (!strings.Contains(err.Error(), strings.Join(changed.Parts, ", ")+" changed") || !strings.Contains(err.Error(), "or allow the change") || changed.Run != "r") {
					t.Errorf("%s: %v; it is to say what and what to do", what, err)
				}
			}
			if c.parts != "" {
				_, err := e.Resume(t.Context(), now, "r", more)
				complains("resume", err)
				_, err = e.Fork(t.Context(), now, "r", uint64(len(was)), &engine.ForkOptions{ID: "f"})
				complains("fork", err)
				if is := logOf(t, j, "r"); len(is) != len(was) {
					t.Errorf("the log has grown by %d entries", len(is)-len(was))
				}
			}
			fork, err := e.Fork(t.Context(), now, "r", uint64(len(was)), &engine.ForkOptions{ID: "g", AllowChange: c.parts != "", Limits: more.Limits})
			if err != nil {
				t.Fatalf("forking with the change allowed: %v", err)
			}
			if _, err := wait(t, fork); err != nil {
				t.Error(err)
			}
			more.AllowChange = c.parts != ""
			h, err := e.Resume(t.Context(), now, "r", more)
			if err != nil {
				t.Fatalf("with the change allowed: %v", err)
			}
			if res, err := wait(t, h); err != nil || res.Iterations < 2 {
				t.Errorf("it went on to %v, %v", res.Verdict, err)
			}
			var recorded *pawl.Declaration
			for entry, err := range engine.Entries(t.Context(), j, "r", uint64(len(was)+1)) {
				must(t, err)
				if resumed, ok := entry.Event.(pawl.RunResumed); ok {
					recorded = resumed.Changed
				}
			}
			if got := recorded != nil; got != (c.parts != "" || c.noted) {
				t.Errorf("that the agent has changed is recorded: %v", got)
			}
			// It began with the new agent, as it were; the old one is the changed one now.
			replays(t, e, now, "r")
			s := loaded(t, j, "r")
			if s.Status() != pawl.StatusSuccess {
				if c.parts != "" {
					_, err := e.Resume(t.Context(), began, "r", nil)
					complains("resuming the old one", err)
				}
				if h, err = e.Resume(t.Context(), now, "r", nil); err != nil {
					t.Fatalf("resumed again: %v", err)
				}
				if _, err := wait(t, h); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestToolRemoved takes a tool away while a call of it is open, in every way in
// which one can be: nothing of it runs, and the model is told.
func TestToolRemoved(t *testing.T) {
	for name, c := range map[string]struct {
		effect pawl.Effect
		client bool
		gated  bool
		cut    string // the event before which the first owner dies
		want   string // the event that tells what became of the call
	}{
		"decided on":        {pawl.Read, false, false, "tool.started", "tool.refused"},
		"read in flight":    {pawl.Read, false, false, "tool.finished", "tool.refused"},
		"put in flight":     {pawl.Idempotent, false, false, "tool.finished", "tool.refused"},
		"pay in flight":     {pawl.Write, false, false, "tool.finished", "tool.doubted"},
		"with the client":   {pawl.Write, true, false, "", "client_tool.returned"},
		"waiting for a nod": {pawl.Write, false, true, "", "tool.refused"},
	} {
		t.Run(name, func(t *testing.T) {
			j, l := newTap(), new(ledger)
			e := engine.New(j, nil)
			act := func(_ context.Context, inv pawl.Invocation) (pawl.Output, error) {
				l.add(inv)
				return pawl.Output{JSON: json.RawMessage(`"done"`)}, nil
			}
			agent := pawl.Agent{Name: "a", Model: turns([]pawl.Call{call("old", 1)}), Tools: []pawl.Tool{
				fake{name: "old", effect: c.effect, client: c.client, run: act}, fake{name: "new", effect: pawl.Read, run: act},
			}}
			if c.gated {
				agent.Policies = []pawl.Policy{approval.ForEffect(pawl.Write)}
			}
			if c.cut != "" {
				j.on(func(b pawl.Batch, write func() error) error {
					if has(b, c.cut) {
						return errDisk
					}
					return write()
				})
			}
			_, err := wait(t, begin(t, e, agent))
			if (err != nil) != (c.cut != "") {
				t.Fatal(err)
			}
			j.on(nil)
			before := l.len()
			now := agent
			now.Tools = agent.Tools[1:]
			if _, err := e.Resume(t.Context(), now, "r", nil); err == nil || !strings.Contains(err.Error(), "tool old changed") {
				t.Errorf("without leave: %v", err)
			}
			h, err := e.Resume(t.Context(), now, "r", &engine.ResumeOptions{AllowChange: true})
			must(t, err)
			res, err := wait(t, h)
			must(t, err)
			if c.want == "tool.doubted" {
				if res.Status != pawl.StatusWaitingDoubt {
					t.Errorf("the run is %v", res.Verdict)
				}
				must(t, e.Resolve(t.Context(), "r", "c_1", "me", engine.DidNotHappen()))
				h = resume(t, e, now)
				res, err = wait(t, h)
				must(t, err)
			}
			if c.client { // who has been asked for it may still do it, and answer
				if res.Status != pawl.StatusWaitingClientTool {
					t.Errorf("the run is %v", res.Status)
				}
				must(t, e.Submit(t.Context(), "r", "c_1", "me", json.RawMessage(`"there is no tool \"old\"; there are new"`)))
				res = ends(t, resume(t, e, now), pawl.StatusSuccess)
			}
			if res.Status != pawl.StatusSuccess || l.len() != before {
				t.Errorf("the run is %v: %v; %d calls more were made", res.Status, res.Verdict, l.len()-before)
			}
			log := strings.Join(logOf(t, j, "r"), "\n")
			if !strings.Contains(log, `"type":"`+c.want+`"`) || !strings.Contains(log, `there is no tool \"old\"; there are new`) {
				t.Errorf("the model was not told:\n%s", log)
			}
			sound(t, e, j, now, "r")
		})
	}
}

// TestCeilingWithoutPrice: a run with a ceiling in dollars does not continue with a
// model that has no price, even if the change is allowed.
func TestCeilingWithoutPrice(t *testing.T) { // Promises: T3.
	e := engine.New(newTap(), nil)
	agent := entire()
	agent.Limits.Cost = 1
	ends(t, begin(t, e, agent), pawl.StatusExhausted)
	agent.Limits.Cost = 0
	agent.Model = renamed{agent.Model, pawl.ModelInfo{Name: "house/big"}}
	_, err := e.Resume(t.Context(), agent, "r", &engine.ResumeOptions{AllowChange: true})
	if err == nil || !strings.Contains(err.Error(), "cost is $1, but the model has no price") {
		t.Errorf("resumed: %v", err)
	}
}

// A looping is a loop of a test's own.
type looping func(*pawl.State) pawl.Step

func (looping) Name() string                   { return "own" }
func (l looping) Next(s *pawl.State) pawl.Step { return l(s) }
