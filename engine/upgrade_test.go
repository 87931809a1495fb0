package engine_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/approval"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/sqlite"
	"github.com/pawl-run/pawl/model/script"
	"github.com/pawl-run/pawl/stop"
	"github.com/pawl-run/pawl/tool"
)

// Each part of a change decides whether a run that waits may go on with the changed agent.
func TestUpgradeCompatible(t *testing.T) {
	j, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "runs.db"), nil)
	must(t, err)
	defer j.Close()
	e := engine.New(j, nil)
	defer e.Close()
	other := tool.Client("other", "Other.", json.RawMessage(`{"type":"object"}`), nil)
	first := func() pawl.Agent {
		return pawl.Agent{
			Name: "clerk", Version: "1", Prompt: "Ask.", Policies: []pawl.Policy{approval.For("other")}, Tools: []pawl.Tool{tool.AskHuman(), other},
			Model: script.Replies(pawl.Do(pawl.Call{Tool: "ask_human", Args: json.RawMessage(`{"question": "When?"}`)}), pawl.Say("Done.")),
		}
	}
	begun := talks(t, e, first(), "Go.", "")
	if begun.Status != pawl.StatusWaitingInput {
		t.Fatal(begun.Status)
	}
	for _, c := range []struct {
		what   string
		change func(*pawl.Agent)
		want   string // why it is refused
	}{
		{"only the version", func(*pawl.Agent) {}, ""},
		{"prompt", func(a *pawl.Agent) { a.Prompt = "Ask always." }, ""},
		{"model", func(a *pawl.Agent) { a.Model = renamed{a.Model, pawl.ModelInfo{Name: "other/model"}} }, ""},
		{"limits", func(a *pawl.Agent) { a.Limits.Iterations = 7 }, ""},
		{"stop", func(a *pawl.Agent) { a.Stop = stop.Iterations(9) }, ""},
		{"a tool more", func(a *pawl.Agent) { a.Tools = append(a.Tools, tool.ReadMore()) }, ""},
		{"a tool less", func(a *pawl.Agent) { a.Tools, a.Policies = a.Tools[:1], nil }, "policies"},
		{"the tool with the open call less", func(a *pawl.Agent) { a.Tools = a.Tools[1:] }, "tool ask_human (its call c_1 is open)"},
		{"a policy more", func(a *pawl.Agent) { a.Policies = append(a.Policies, approval.Never("other")) }, ""},
		{"a policy less", func(a *pawl.Agent) { a.Policies = nil }, "policies (one was removed or changed)"},
		{"loop", func(a *pawl.Agent) { a.Loop = pawl.SingleCall{}; a.Tools, a.Policies = nil, nil }, "loop"},
		{"strategy", func(a *pawl.Agent) { a.Strategy = pawl.StrategyJSON }, "strategy"},
		{"approvals", func(a *pawl.Agent) { a.Approvals.StopOnDeny = true }, "approvals"},
	} {
		changed := first()
		changed.Version = "2"
		c.change(&changed)
		p, err := e.PlanUpgrade(t.Context(), changed, begun.Run, engine.UpgradeCompatible)
		if err != nil || c.want == "" && p.Refused != "" || !strings.Contains(p.Refused, c.want) {
			t.Errorf("%s: refused %q, %v; want %q", c.what, p.Refused, err, c.want)
		}
	}

	// What is planned is what is done, and the run replays with both agents' parts recorded.
	changed := first()
	changed.Version, changed.Prompt = "2", "Ask always."
	if _, err := e.Resume(t.Context(), changed, begun.Run, nil); err == nil {
		t.Fatal("a changed agent resumes without a rule")
	}
	if p, err := e.Upgrade(t.Context(), changed, begun.Run, engine.UpgradeCompatible); err != nil || p.Refused != "" {
		t.Fatalf("%+v, %v", p, err)
	}
	s, err := engine.Load(t.Context(), j, begun.Run)
	if err != nil || s.Status() != pawl.StatusWaitingInput || s.Declaration().Version != "2" || s.Declaration().Prompt != changed.Prompt {
		t.Fatalf("%v, %v, %+v", err, s.Status(), s.Declaration())
	}
	must(t, e.Answer(t.Context(), begun.Run, "c_1", "ada", "now"))
	again, err := e.Resume(t.Context(), changed, begun.Run, nil)
	must(t, err)
	if r, err := again.Wait(t.Context()); err != nil || r.Err() != nil {
		t.Fatalf("%v, %v", err, r.Err())
	}
	replays(t, e, changed, begun.Run)
}
