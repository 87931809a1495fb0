package team_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/team"
	"github.com/pawl-run/pawl/tool"
)

// heard is the result of the latest call in a conversation, and how many calls there are.
func heard(r pawl.Request) (text string, failed bool, calls int) {
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			if res, ok := p.(pawl.ToolResult); ok {
				text, failed, calls = res.Text(), res.Failed, calls+1
			}
		}
	}
	return text, failed, calls
}

func do(name, args string) pawl.Call { return pawl.Call{Tool: name, Args: json.RawMessage(args)} }

// drains is a worker that claims and finishes tasks until none is open.
func drains(_ context.Context, r pawl.Request) (pawl.Reply, error) {
	switch text, _, calls := heard(r); {
	case strings.Contains(text, `"task":null`):
		return pawl.Say("Nothing is left."), nil
	case calls > 0 && strings.Contains(text, `"text"`):
		return pawl.Do(do("board_finish", `{"result":"counted"}`)), nil
	}
	return pawl.Do(do("board_claim", `{}`)), nil
}

// TestBoardTaint: what a worker with untrusted tools may have written on the board taints all who
// read it, and nobody else.
func TestBoardTaint(t *testing.T) {
	look := tool.Func("look", "Looks.", func(context.Context, struct{}) (string, error) { return "x", nil }, pawl.Read)
	for _, trust := range []pawl.Trust{pawl.Trusted, pawl.Untrusted} {
		reader := pawl.Agent{Name: "reader", Description: "Reads the web.", Model: pawl.ModelFunc(drains), Tools: []pawl.Tool{look}, Trust: map[string]pawl.Trust{"look": trust}}
		writer := pawl.Agent{Name: "writer", Description: "Writes.", Model: pawl.ModelFunc(drains)}
		says := &says{replies: []pawl.Reply{pawl.Do(do("board_add", `{"tasks":["a"]}`)), pawl.Do(do("writer", `{"input":"x"}`)), pawl.Say("Done.")}}
		j := memory.New()
		agent := team.Board(pawl.Agent{Name: "lead", Model: pawl.ModelFunc(says.reply), Tools: []pawl.Tool{tool.Agent(reader, nil), tool.Agent(writer, nil)}})
		h, err := engine.New(j, nil).Start(t.Context(), agent, "Go.", &engine.StartOptions{ID: "r"})
		must(t, err)
		if _, err := h.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		s, err := engine.Load(t.Context(), j, "r.c_2")
		if err != nil || s.Tainted() != (trust == pawl.Untrusted) {
			t.Errorf("%v: the worker that claimed is tainted: %v, %v", trust, s.Tainted(), err)
		}
	}
}

// TestBoardRefused: an agent that cannot have a board is refused when it is made.
func TestBoardRefused(t *testing.T) {
	for want, a := range map[string]pawl.Agent{
		"nobody shares the board":              {},
		"nobody shares the board; give lead":   {Tools: []pawl.Tool{tool.Agent(pawl.Agent{Name: "w", Description: "W.", Model: pawl.ModelFunc(drains), Loop: pawl.SingleCall{}}, nil)}},
		"a board is for an agent that chooses": {Loop: pawl.SingleCall{}, Tools: []pawl.Tool{tool.Agent(pawl.Agent{Name: "w", Description: "W.", Model: pawl.ModelFunc(drains)}, nil)}},
	} {
		a.Name, a.Model = "lead", pawl.ModelFunc(drains)
		if _, err := pawl.NewMachine(team.Board(a)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
