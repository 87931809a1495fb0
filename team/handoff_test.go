package team_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/approval"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/testkit/check"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/journal/sqlite"
	"github.com/pawl-run/pawl/team"
	"github.com/pawl-run/pawl/tool"
)

// says is a model that says one reply after the other, and counts the requests.
type says struct {
	replies []pawl.Reply
	asked   []pawl.Request
}

func (m *says) reply(_ context.Context, r pawl.Request) (pawl.Reply, error) {
	m.asked = append(m.asked, r)
	if len(m.asked) > len(m.replies) {
		return pawl.Reply{}, &pawl.ModelError{Class: pawl.ClassInvalid, Message: "the script is over"}
	}
	return m.replies[len(m.asked)-1], nil
}

func hand(to, args string) pawl.Call {
	return pawl.Call{Tool: "handoff_to_" + to, Args: json.RawMessage(args)}
}

// desk is two agents that hand over to each other.
func desk(triage, billing *says) (first pawl.Agent) {
	var t, b pawl.Agent
	t = pawl.Agent{Name: "triage", Description: "Sorts.", Model: pawl.ModelFunc(triage.reply), Tools: []pawl.Tool{team.Handoff(&b, nil)}}
	b = pawl.Agent{Name: "billing", Description: "Invoices.", Model: pawl.ModelFunc(billing.reply), Tools: []pawl.Tool{team.Handoff(&t, nil)}}
	return t
}

// TestFollowUp: the next message of a person goes to the agent that has the thread, on the limits
// of the agent that the caller would begin with.
func TestFollowUp(t *testing.T) {
	triage := &says{replies: []pawl.Reply{pawl.Do(hand("billing", `{"reason":"a refund"}`)), pawl.Say("Hello again.")}}
	billing := &says{replies: []pawl.Reply{pawl.Say("It is on its way."), pawl.Do(hand("triage", `{"reason":"not mine"}`))}}
	agent := desk(triage, billing)
	agent.Limits.Tokens = 30_000
	e := engine.New(memory.New(), nil)
	ask := func(text string) pawl.Result {
		t.Helper()
		h, err := e.Start(t.Context(), agent, text, &engine.StartOptions{Thread: "t", Key: text})
		must(t, err)
		r, err := h.Wait(t.Context())
		must(t, err)
		return r
	}
	if r := ask("I was charged twice."); r.Agent != "billing" || len(r.Legs) != 2 {
		t.Errorf("%s, %v", r.Agent, r.Legs)
	}
	again := ask("I was charged twice.") // under the same key
	if again.Agent != "billing" || again.Answer != "It is on its way." {
		t.Errorf("found: %s: %s", again.Agent, again.Answer)
	}
	r := ask("Who are you?") // billing has it, and hands it back
	if r.Agent != "triage" || r.Answer != "Hello again." || len(r.Legs) != 2 {
		t.Errorf("%s: %s, %v", r.Agent, r.Answer, r.Legs)
	}
	if got := len(triage.asked) + len(billing.asked); got != 4 { // a hop costs one call of a model
		t.Errorf("%d requests for two messages and two handoffs, want 4", got)
	}
}

// TestInherited: the rules of the agent that hands over hold for the next one, also when another
// process resumes its run.
func TestInherited(t *testing.T) {
	pay := tool.Func("pay", "Pays.", func(context.Context, struct{}) (string, error) { return "paid", nil }, pawl.Write)
	build := func() pawl.Agent {
		triage := &says{replies: []pawl.Reply{pawl.Do(hand("billing", `{"reason":"a refund"}`))}}
		billing := pawl.Agent{Name: "billing", Model: pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
			if n := len(r.Messages); n == 3 {
				return pawl.Do(pawl.Call{Tool: "pay", Args: []byte(`{}`)}), nil
			}
			return pawl.Say("Paid."), nil
		}), Tools: []pawl.Tool{pay}}
		return pawl.Agent{Name: "triage", Model: pawl.ModelFunc(triage.reply), Policies: []pawl.Policy{approval.For("pay")},
			Tools: []pawl.Tool{team.Handoff(&billing, nil)}}
	}
	j, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "pawl.db"), nil)
	must(t, err)
	defer j.Close()
	h, err := engine.New(j, nil).Start(t.Context(), build(), "I was charged twice.", nil)
	must(t, err)
	r, err := h.Wait(t.Context())
	if err != nil || r.Status != pawl.StatusWaitingApproval || r.Agent != "billing" {
		t.Fatalf("%s is %v: %v", r.Agent, r.Status, err)
	}
	other := engine.New(j, nil)
	must(t, other.Approve(t.Context(), r.Run, "c_1", "anna", nil))
	h, err = other.Resume(t.Context(), build(), r.Run, nil) // with the agent that the conversation began with
	must(t, err)
	if r, err = h.Wait(t.Context()); err != nil || r.Answer != "Paid." {
		t.Errorf("%v: %s, %v", r.Status, r.Answer, err)
	}
	if _, err := other.Replay(t.Context(), build(), r.Run); err != nil {
		t.Error(err)
	}
}

// TestOneSlot: an engine that drives one run at a time drives all of its legs.
func TestOneSlot(t *testing.T) {
	triage := &says{replies: []pawl.Reply{pawl.Do(hand("billing", `{"reason":"a refund"}`))}}
	billing := &says{replies: []pawl.Reply{pawl.Say("Done.")}}
	h, err := engine.New(memory.New(), &engine.Options{MaxRuns: 1}).Start(t.Context(), desk(triage, billing), "Go.", nil)
	must(t, err)
	if r, err := h.Wait(t.Context()); err != nil || r.Answer != "Done." {
		t.Errorf("%s, %v", r.Answer, err)
	}
}

func TestContradictions(t *testing.T) {
	model := pawl.ModelFunc((&says{}).reply)
	good := pawl.Agent{Name: "billing", Model: model}
	for _, c := range []struct {
		agent pawl.Agent
		want  string
	}{
		{pawl.Agent{Name: "a", Tools: []pawl.Tool{team.Handoff(&pawl.Agent{Name: "a", Model: model}, nil)}}, "hands over to itself"},
		{pawl.Agent{Name: "a", Tools: []pawl.Tool{team.Handoff(&pawl.Agent{Name: "b"}, nil)}}, "model: none is set"},
		{pawl.Agent{Name: "a", Tools: []pawl.Tool{team.Handoff(&good, &team.Options{Carry: 9})}}, "9 is nothing to carry"},
		{pawl.Agent{Name: "a", Tools: []pawl.Tool{team.Handoff(&good, nil)}, Loop: steps{}}, "only an agent that chooses its calls"},
		{pawl.Agent{Name: "a", Tools: []pawl.Tool{team.Handoff(&pawl.Agent{Name: "b", Model: model, Tools: []pawl.Tool{team.Handoff(&pawl.Agent{Name: "b", Model: model}, nil)}}, nil)}}, `two agents "b"`},
	} {
		c.agent.Model = model
		if _, err := pawl.NewMachine(c.agent); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

type steps struct{ pawl.ReAct }

func (steps) Steps() json.RawMessage { return json.RawMessage(`[]`) }

// TestDeclared: a change of any agent of the team is noticed by the one that began.
func TestDeclared(t *testing.T) {
	declared := func(prompt string) pawl.Declaration {
		agent := desk(&says{}, &says{})
		mate := team.Of(&agent)[1]
		mate.Prompt = prompt
		m, err := pawl.NewMachine(agent)
		must(t, err)
		return m.Declaration()
	}
	was, now := declared("Be kind."), declared("Be brief.")
	if got := was.Differences(now); len(got) != 1 || got[0] != "tool handoff_to_billing (billing)" {
		t.Errorf("%q", got)
	}
	if got := was.Differences(declared("Be kind.")); len(got) != 0 {
		t.Errorf("the same agents differ: %q", got)
	}
}

// between is a journal in which somebody cancels a run just before it begins the next leg.
type between struct {
	*memory.Journal
	run string
}

func (b *between) Claim(ctx context.Context, c pawl.Claim) (pawl.Lease, error) {
	if c.Run == engine.NextLeg("", b.run) && c.New {
		if err := engine.New(b.Journal, nil).Cancel(ctx, b.run, "anna", "enough"); err != nil {
			return pawl.Lease{}, err
		}
	}
	return b.Journal.Claim(ctx, c)
}

// A run that is cancelled between two legs does not go on with the next one.
func TestCancelledBetweenLegs(t *testing.T) {
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	billing := pawl.Agent{Name: "billing", Model: pawl.ModelFunc(func(ctx context.Context, _ pawl.Request) (pawl.Reply, error) {
		<-ctx.Done()
		return pawl.Reply{}, ctx.Err()
	})}
	first := pawl.Agent{Name: "triage", Tools: []pawl.Tool{team.Handoff(&billing, nil)}, Model: pawl.ModelFunc(func(context.Context, pawl.Request) (pawl.Reply, error) {
		return pawl.Do(hand("billing", `{"reason":"not mine"}`)), nil
	})}
	j := &between{memory.New(), "first"}
	run, err := engine.New(j, nil).Start(ctx, first, "Where is my refund?", &engine.StartOptions{ID: j.run})
	must(t, err)
	if r, err := run.Wait(ctx); err != nil || r.Status != pawl.StatusCancelled || r.Reason.Detail != "cancelled by anna: enough" {
		t.Errorf("the conversation ends as %v (%s), %v", r.Status, r.Reason.Detail, err)
	}
	var over []string
	for _, run := range []string{j.run, engine.NextLeg("", j.run)} {
		over = append(over, fmt.Sprint(engine.New(j, nil).Cancel(ctx, run, "anna", "")))
	}
	if want := []string{"run first is over: success", "run " + engine.NextLeg("", j.run) + " is over: cancelled"}; !slices.Equal(over, want) {
		t.Errorf("cancelled again: %q, not %q", over, want)
	}
}

var must = check.Must
