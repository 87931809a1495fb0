package team_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/pawltest"
	"github.com/pawl-run/pawl/tool"
	"github.com/pawl-run/pawl/workflow"
)

// counts is an agent that answers with what it was asked in its conversation.
func counts() pawl.Agent {
	return pawl.Agent{Name: "counts", Description: "Counts.", Model: pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
		var said []string
		for _, m := range r.Messages {
			if text, ok := m.Parts[0].(pawl.Text); ok && m.Role == pawl.RoleUser {
				said = append(said, text.Text)
			}
		}
		return pawl.Say(strings.Join(said, "+")), nil
	})}
}

// TestContinues: a step goes on with the conversation of its own earlier rounds, or of another
// step.
func TestContinues(t *testing.T) {
	build := func() pawl.Agent {
		return workflow.New(pawl.Agent{Name: "rounds", Model: counts().Model},
			workflow.Step{ID: "twice", While: "steps.twice.rounds != 2", Max: 2, Do: []workflow.Step{
				{ID: "draft", Agent: new(counts()), Input: "a", Continues: "draft"},
			}},
			workflow.Step{ID: "title", Agent: new(counts()), Input: "b", Continues: "draft"},
		)
	}
	pawltest.KillEverywhere(t, build, "Count.", nil)
	if r := drive(t, memory.New(), build()); r.Answer != "a+a+b" {
		t.Errorf("%v: %s", r.Verdict, r.Answer)
	}
	for want, run := range map[string]workflow.Step{
		"nothing is no step beside this one": {ID: "x", Agent: new(counts()), Continues: "nothing"},
		"look has no conversation":           {ID: "x", Agent: new(counts()), Continues: "look"},
	} {
		_, err := pawl.NewMachine(workflow.New(pawl.Agent{Name: "w", Model: counts().Model}, workflow.Step{ID: "look", Parallel: [][]workflow.Step{{{ID: "ask", Single: &workflow.Single{Prompt: "Ask."}}}}}, run))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestCarry: what a called agent sees of the conversation of its caller, and a step of that of
// another step, wherever a process died.
func TestCarry(t *testing.T) {
	note := tool.Func("note", "Notes.", func(context.Context, struct{}) (string, error) { return "noted", nil }, pawl.Read)
	for carry, want := range map[string]string{
		"all":     "user Scout. assistant note user noted a",
		"summary": "user Scout. What is known so far:\nall\n\na",
		"last":    "user Scout. a",
	} {
		build := func() pawl.Agent {
			lead := func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
				switch all := results(r); len(all) {
				case 0:
					return pawl.Do(do("note", `{}`)), nil
				case 1:
					args := `{"input":"a"}`
					if carry == "summary" {
						args = `{"input":"a","summary":"all"}`
					}
					return pawl.Do(do("sees", args), do("sees", args)), nil
				default:
					return pawl.Say(strings.Join(all[1:], "|")), nil
				}
			}
			return pawl.Agent{Name: "lead", Model: pawl.ModelFunc(lead), Tools: []pawl.Tool{note, tool.Agent(sees(), &tool.AgentOptions{Carry: carry})}}
		}
		pawltest.KillEverywhere(t, build, "Scout.", nil)
		if r := drive(t, memory.New(), build()); r.Answer != want+"|"+want {
			t.Errorf("%s: %v: %q", carry, r.Verdict, r.Answer)
		}
	}
	for carry, want := range map[string]string{
		"all": "user a assistant sees user saw assistant user a user b", "summary": "user a assistant user a user b", "last": "user a b",
	} {
		build := func() pawl.Agent {
			a := sees()
			a.Tools = []pawl.Tool{tool.Func("sees", "Sees.", func(context.Context, struct{}) (string, error) { return "saw", nil }, pawl.Read)}
			first := a
			first.Model = pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
				if len(results(r)) == 0 {
					return pawl.Do(do("sees", `{}`)), nil
				}
				return pawl.Say("user a"), nil
			})
			return workflow.New(pawl.Agent{Name: "two", Model: first.Model},
				workflow.Step{ID: "one", Agent: &first, Input: "a"},
				workflow.Step{ID: "other", Agent: &a, Input: "b", Continues: "one", Carry: carry})
		}
		pawltest.KillEverywhere(t, build, "Count.", nil)
		if r := drive(t, memory.New(), build()); r.Answer != want {
			t.Errorf("step %s: %v: %q", carry, r.Verdict, r.Answer)
		}
	}
	lead := pawl.Agent{Name: "lead", Model: sees().Model}
	for want, a := range map[string]pawl.Agent{
		`"more" is nothing to carry`:        {Tools: []pawl.Tool{tool.Agent(sees(), &tool.AgentOptions{Carry: "more"})}},
		"leave Remember or Carry out":       {Tools: []pawl.Tool{tool.Agent(sees(), &tool.AgentOptions{Carry: "all", Remember: true})}},
		"there is no conversation to carry": workflow.New(lead, workflow.Step{ID: "x", Agent: new(sees()), Carry: "all"}),
		"carry is for an agent that has":    workflow.New(pawl.Agent{Name: "w", Model: lead.Model, Tools: []pawl.Tool{tool.Agent(sees(), &tool.AgentOptions{Carry: "all"})}}, workflow.Step{ID: "ask", Single: &workflow.Single{Prompt: "Ask."}}),
	} {
		if a.Name == "" {
			a.Name, a.Model = lead.Name, lead.Model
		}
		if _, err := pawl.NewMachine(a); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// sees is an agent that answers with the conversation it sees.
func sees() pawl.Agent {
	return pawl.Agent{Name: "sees", Description: "Sees.", Model: pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
		var all []string
		for _, m := range r.Messages {
			all = append(all, m.Role.String())
			for _, p := range m.Parts {
				switch p := p.(type) {
				case pawl.Text:
					all = append(all, p.Text)
				case pawl.Call:
					all = append(all, p.Tool)
				case pawl.ToolResult:
					all = append(all, p.Text())
				}
			}
		}
		return pawl.Say(strings.Join(all, " ")), nil
	})}
}

// textual is a model that takes no files.
type textual struct{ pawl.Model }

func (textual) Takes(files []pawl.File) error {
	if len(files) > 0 {
		return errors.New("the model reads no " + files[0].Type)
	}
	return nil
}

// TestCarryFiles holds that a called agent that sees its caller's conversation gets the files of the
// input, and that one whose model takes none is refused, which the caller reads.
func TestCarryFiles(t *testing.T) {
	reads := pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
		text := "nothing"
		for _, m := range r.Messages {
			for _, p := range m.Parts {
				if f, ok := p.(pawl.File); ok {
					text = f.Name + " " + string(f.Data[:4])
				}
			}
		}
		return pawl.Say(text), nil
	})
	for carry, model := range map[string]pawl.Model{"": reads, "all": reads, "last": reads, "summary": textual{reads}} {
		aide := pawl.Agent{Name: "aide", Description: "Reads.", Model: model}
		lead := pawl.Agent{Name: "lead", Tools: []pawl.Tool{tool.Agent(aide, &tool.AgentOptions{Carry: carry})}, Model: pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
			if all := results(r); len(all) > 0 {
				return pawl.Say(all[0]), nil
			}
			args := `{"input":"Read it."}`
			if carry == "summary" {
				args = `{"input":"Read it.","summary":"A scan."}`
			}
			return pawl.Do(do("aide", args)), nil
		})}
		h, err := engine.New(memory.New(), nil).Start(t.Context(), lead, "Go.", &engine.StartOptions{Files: []pawl.File{{Name: "a.pdf", Data: []byte("%PDF-1.4\n")}}})
		must(t, err)
		want := map[string]string{"": "nothing", "all": "a.pdf %PDF", "last": "a.pdf %PDF", "summary": "the model reads no application/pdf"}[carry]
		if r, err := h.Wait(t.Context()); err != nil || !strings.Contains(r.Answer, want) {
			t.Errorf("carry %q: %v: %q, want %q; %v", carry, r.Verdict, r.Answer, want, err)
		}
	}
}
