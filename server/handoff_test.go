package server_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/explain"
	"github.com/pawl-run/pawl/team"
)

// TestLegs: a client that waits gets the last leg, and each leg can be looked at.
func TestLegs(t *testing.T) {
	w := serve(t, nil)
	back := w.agents["calm"]
	back.Name = "back"
	w.agents["front"] = pawl.Agent{Name: "front", Tools: []pawl.Tool{team.Handoff(&back, nil)},
		Model: pawl.ModelFunc(func(context.Context, pawl.Request) (pawl.Reply, error) {
			return pawl.Do(pawl.Call{Tool: "handoff_to_back", Args: []byte(`{"reason":"not mine"}`)}), nil
		})}
	var last, first pawl.Result
	if err := json.Unmarshal(w.ask(admin, "POST", "/v1/runs?wait=true", `{"agent":"front","input":"Go."}`, 201), &last); err != nil {
		t.Fatal(err)
	}
	if last.Agent != "back" || last.Answer != "hello" || len(last.Legs) != 2 || last.Legs[1] != last.Run {
		t.Fatalf("%s: %s, %v", last.Agent, last.Answer, last.Legs)
	}
	if err := json.Unmarshal(w.ask(admin, "GET", "/v1/runs/"+last.Legs[0], "", 200), &first); err != nil {
		t.Fatal(err)
	}
	for _, run := range last.Legs { // each leg shows all
		var r explain.Report
		if err := json.Unmarshal(w.ask(admin, "GET", "/v1/runs/"+run+"/explain", "", 200), &r); err != nil {
			t.Fatal(err)
		}
		if c := r.Conversation; len(c) != 2 || c[0].Run != first.Run || c[0].By != "" || c[1].Run != last.Run || c[1].By != "front" || c[1].Reason != "not mine" || c[1].Status != pawl.StatusSuccess {
			t.Errorf("the conversation by leg %s: %v", run, c)
		}
	}
	if to, handed := team.HandedIn(first); !handed || to != "back" || first.Legs != nil {
		t.Errorf("%v: %s, %v", first.Status, first.Reason.Leaf, first.Legs)
	}
}
