package team_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/approval"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/journal/sqlite"
	"github.com/pawl-run/pawl/pawltest"
	"github.com/pawl-run/pawl/team"
	"github.com/pawl-run/pawl/tool"
)

// results are the results that a model has read, oldest first.
func results(r pawl.Request) (all []string) {
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			if res, ok := p.(pawl.ToolResult); ok {
				all = append(all, res.Text())
			}
		}
	}
	return all
}

// inBackground is an agent that replies by how many results it has read, with an agent that works
// in the background and answers what it was asked.
func inBackground(replies map[int]pawl.Reply, look func(context.Context) error, tools ...pawl.Tool) pawl.Agent {
	see := func(ctx context.Context, _ struct{}) (string, error) { return "seen", look(ctx) }
	scout := pawl.Agent{Name: "scout", Description: "Finds out.", Tools: []pawl.Tool{tool.Func("look", "Looks.", see, pawl.Read)}, Model: pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
		if len(results(r)) == 0 {
			return pawl.Do(do("look", `{}`)), nil
		}
		var said []string
		for _, m := range r.Messages {
			for _, p := range m.Parts {
				if text, ok := p.(pawl.Text); ok && m.Role == pawl.RoleUser {
					said = append(said, text.Text)
				}
			}
		}
		return pawl.Say("About " + strings.Join(said, " and ")), nil
	})}
	lead := func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
		all := results(r)
		if reply, ok := replies[len(all)]; ok {
			return reply, nil
		}
		slices.Sort(all)
		return pawl.Say(strings.Join(all, "; ")), nil
	}
	return pawl.Agent{Name: "lead", Model: pawl.ModelFunc(lead), Tools: append(tools, tool.Agent(scout, &tool.AgentOptions{Background: true}))}
}

func atOnce(context.Context) error { return nil }

func blocks(ctx context.Context) error {
	<-ctx.Done()
	return context.Cause(ctx)
}

// TestBackgroundKills: wherever the process of a run or of one that works for it in the background
// dies, nothing is lost and nothing is done twice.
func TestBackgroundKills(t *testing.T) {
	replies := map[int]pawl.Reply{
		0: pawl.Do(do("scout", `{"input":"north"}`), do("scout", `{"input":"south"}`)),
		2: pawl.Do(do("collect", `{"id":"c_1"}`), do("collect", `{}`)),
	}
	log := pawltest.KillEverywhere(t, func() pawl.Agent { return inBackground(replies, atOnce) }, "Scout.", nil)
	begun := map[string]bool{}
	for _, e := range log {
		if c, ok := e.Event.(pawl.ChildStarted); ok && c.Background {
			begun[c.Child] = true
		}
	}
	if len(begun) != 2 {
		t.Errorf("in the background are %v", begun)
	}
}

// drive runs an agent to its end, and checks that the run can be decided again.
func drive(t *testing.T, j pawl.Journal, a pawl.Agent) pawl.Result {
	t.Helper()
	h, err := engine.New(j, nil).Start(t.Context(), a, "Scout.", &engine.StartOptions{ID: "r"})
	if err != nil {
		t.Fatal(err)
	}
	return ended(t, j, a, h)
}

func ended(t *testing.T, j pawl.Journal, a pawl.Agent, h *engine.Handle) pawl.Result {
	t.Helper()
	r, err := h.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := engine.New(j, nil).Replay(t.Context(), a, "r"); err != nil {
		t.Error(err)
	}
	return r
}

// TestBackgroundMessage: what the agent says to one that works for it is read before its next step.
func TestBackgroundMessage(t *testing.T) {
	free := make(chan struct{})
	release := tool.Func("release", "Releases.", func(context.Context, struct{}) (string, error) { close(free); return "", nil }, pawl.Read)
	a := inBackground(map[int]pawl.Reply{
		0: pawl.Do(do("scout", `{"input":"north"}`)),
		1: pawl.Do(do("message", `{"id":"c_1","text":"east"}`)),
		2: pawl.Do(do("release", `{}`)),
		3: pawl.Do(do("collect", `{}`)),
	}, func(context.Context) error { <-free; return nil }, release)
	if r := drive(t, memory.New(), a); !strings.Contains(r.Answer, "About north and east") {
		t.Errorf("%v: %s", r.Verdict, r.Answer)
	}
}

// TestBackgroundCancel: what is cancelled ends, what it used is accounted for, and its id is no
// longer known.
func TestBackgroundCancel(t *testing.T) {
	j := memory.New()
	a := inBackground(map[int]pawl.Reply{
		0: pawl.Do(do("scout", `{"input":"north"}`)),
		1: pawl.Do(do("cancel", `{"id":"c_1","why":"It is dark."}`)),
		2: pawl.Do(do("collect", `{"id":"c_1"}`)),
	}, blocks)
	if r := drive(t, j, a); !strings.Contains(r.Answer, `"status":"cancelled"`) || !strings.Contains(r.Answer, "nothing works in the background") {
		t.Errorf("%v: %s", r.Verdict, r.Answer)
	}
	s, err := engine.Load(t.Context(), j, "r.c_1")
	if err != nil || s.Verdict().Status != pawl.StatusCancelled || !strings.Contains(s.Verdict().Detail, "It is dark.") {
		t.Errorf("%v, %v", s.Verdict(), err)
	}
}

// TestBackgroundHeld: an answer is rejected while something works in the background, and so is a
// handoff.
func TestBackgroundHeld(t *testing.T) {
	asked := 0
	a := inBackground(nil, atOnce)
	a.Model = pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
		asked++
		return []pawl.Reply{
			pawl.Do(do("scout", `{"input":"north"}`)), pawl.Say("Done."), pawl.Do(hand("other", `{"reason":"x"}`)), pawl.Do(do("collect", `{}`)),
			pawl.Say(strings.Join(results(r), "; ") + fmt.Sprint(r.Messages)),
		}[asked-1], nil
	})
	other := pawl.Agent{Name: "other", Description: "Other.", Model: a.Model}
	a.Tools = append(a.Tools, team.Handoff(&other, nil))
	r := drive(t, memory.New(), a)
	for _, want := range []string{"what works in the background is not collected: c_1 (scout)", "not handed over to other: what works", "About north"} {
		if !strings.Contains(r.Answer, want) {
			t.Errorf("the model does not read %q:\n%s", want, r.Answer)
		}
	}
}

// TestBackgroundEnds: when the run ends at a limit, so does what works for it, and both go on when
// the run is resumed.
func TestBackgroundEnds(t *testing.T) {
	j, free := memory.New(), make(chan struct{})
	a := inBackground(map[int]pawl.Reply{0: pawl.Do(do("scout", `{"input":"north"}`)), 1: pawl.Do(do("collect", `{}`))}, func(ctx context.Context) error {
		select {
		case <-free:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
	a.Limits.Iterations = 1
	if r := drive(t, j, a); r.Status != pawl.StatusExhausted {
		t.Fatal(r.Verdict)
	}
	if s, err := engine.Load(t.Context(), j, "r.c_1"); err != nil || s.Status() != pawl.StatusCancelled {
		t.Fatalf("%v, %v", s.Status(), err)
	}
	close(free)
	h, err := engine.New(j, nil).Resume(t.Context(), a, "r", &engine.ResumeOptions{Limits: pawl.Limits{Iterations: 5}})
	if err != nil {
		t.Fatal(err)
	}
	if r := ended(t, j, a, h); !strings.Contains(r.Answer, "About north") {
		t.Errorf("%v: %s", r.Verdict, r.Answer)
	}
}

// TestBackgroundWaits: what somebody must approve for an agent in the background, the run waits for
// when it collects the answer.
func TestBackgroundWaits(t *testing.T) {
	j, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "pawl.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	a := inBackground(map[int]pawl.Reply{0: pawl.Do(do("scout", `{"input":"north"}`)), 1: pawl.Do(do("collect", `{}`))}, atOnce)
	a.Policies = []pawl.Policy{approval.For("look")}
	r := drive(t, j, a)
	if r.Status != pawl.StatusWaitingApproval || len(r.Pending) != 1 || r.Pending[0].Run != "r.c_1" {
		t.Fatalf("%v waits for %v", r.Status, r.Pending)
	}
	e := engine.New(j, nil)
	if err := e.Approve(t.Context(), "r.c_1", r.Pending[0].Call, "anna", nil); err != nil {
		t.Fatal(err)
	}
	h, err := e.Resume(t.Context(), a, "r", nil)
	if err != nil {
		t.Fatal(err)
	}
	if r = ended(t, j, a, h); !strings.Contains(r.Answer, "About north") {
		t.Errorf("%v: %s", r.Verdict, r.Answer)
	}
}

// TestBackgroundRefused: what cannot work in the background is refused when the agent is made.
func TestBackgroundRefused(t *testing.T) {
	writes := pawl.Agent{Name: "writer", Description: "Writes.", Model: pawl.ModelFunc(drains),
		Tools: []pawl.Tool{tool.Func("write", "Writes.", func(context.Context, struct{}) (string, error) { return "", nil }, pawl.Write)}}
	a := pawl.Agent{Name: "lead", Model: pawl.ModelFunc(drains), Tools: []pawl.Tool{tool.Agent(writes, &tool.AgentOptions{Background: true})}}
	if _, err := pawl.NewMachine(a); err == nil || !strings.Contains(err.Error(), "its writes would be made beside other calls") {
		t.Error(err)
	}
	if _, err := pawl.NewMachine(team.Board(a)); err == nil || !strings.Contains(err.Error(), "a worker of a board cannot work in the background") {
		t.Error(err)
	}
}

// TestWeight: what is left is divided by weight, and with runs in the background the run keeps a
// share.
func TestWeight(t *testing.T) {
	shares := func(o ...tool.AgentOptions) (tokens []float64) {
		a := inBackground(map[int]pawl.Reply{0: pawl.Do(do("a", `{"input":"x"}`), do("b", `{"input":"x"}`)), 2: pawl.Do(do("collect", `{}`), do("collect", `{}`))}, atOnce)
		scout := a.Tools[0].(pawl.Delegate).Agent()
		a.Tools = nil
		for i, name := range []string{"a", "b"} {
			o[i].Name = name
			a.Tools = append(a.Tools, tool.Agent(scout, &o[i]))
		}
		j := memory.New()
		drive(t, j, a)
		for e, err := range engine.Entries(t.Context(), j, "r", 1) {
			if c, ok := e.Event.(pawl.ChildStarted); ok && err == nil && len(tokens) < 2 {
				tokens = append(tokens, float64(c.Limits.Tokens)/500_000)
			}
		}
		return tokens
	}
	for want, got := range map[string][]float64{
		"[0.50 0.50]": shares(tool.AgentOptions{}, tool.AgentOptions{}),
		"[0.25 0.75]": shares(tool.AgentOptions{}, tool.AgentOptions{Weight: 3}),
		"[0.40 0.40]": shares(tool.AgentOptions{Weight: 2}, tool.AgentOptions{Weight: 2, Background: true}),
	} {
		if s := fmt.Sprintf("%.2f", got); s != want {
			t.Errorf("the shares are %s, want %s", s, want)
		}
	}
}
