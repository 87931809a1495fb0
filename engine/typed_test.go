package engine_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/model/script"
	"github.com/pawl-run/pawl/stop"
)

type triage struct {
	Team   string   `json:"team" enum:"billing,shipping"`
	Urgent bool     `json:"urgent"`
	Orders []int    `json:"orders"`
	Refund *float64 `json:"refund,omitempty"`
}

func TestRunAs(t *testing.T) { // Promises: D7.
	refund := 19.9
	for _, c := range []struct {
		name    string
		agent   pawl.Agent
		replies []pawl.Reply
		want    triage
		err     string // empty: none
	}{
		{
			name:    "at once",
			replies: []pawl.Reply{pawl.Say(`{"team":"billing","urgent":true,"orders":[7],"refund":19.9}`)},
			want:    triage{"billing", true, []int{7}, &refund},
		}, {
			name: "after a mismatch, in a fence",
			replies: []pawl.Reply{
				pawl.Say(`{"team":"sales","urgent":true,"orders":[]}`),
				pawl.Say("```json\n" + `{"team":"shipping","urgent":false,"orders":[]}` + "\n```"),
			},
			want: triage{"shipping", false, []int{}, nil},
		}, {
			name:    "handed in",
			agent:   pawl.Agent{Strategy: pawl.StrategyJSON},
			replies: []pawl.Reply{pawl.Say(`{"action":"__complete__","action_input":{"answer":{"team":"billing","urgent":true,"orders":[1,2.0]}}}`)},
			want:    triage{"billing", true, []int{1, 2}, nil},
		}, {
			name:    "in one call",
			agent:   pawl.Agent{Loop: pawl.SingleCall{}},
			replies: []pawl.Reply{pawl.Say(`{"team":"billing","urgent":true,"orders":[]}`)},
			want:    triage{"billing", true, []int{}, nil},
		}, {
			name:    "never",
			replies: []pawl.Reply{pawl.Say("billing"), pawl.Say("billing"), pawl.Say("billing"), pawl.Say("b"), pawl.Say("b"), pawl.Say("b")},
			err:     ": plan_failed: ",
		}, {
			name:    "too large for its type",
			replies: []pawl.Reply{pawl.Say(`{"team":"billing","urgent":true,"orders":[99999999999999999999]}`)},
			err:     "its answer is no engine_test.triage",
		}, {
			name:    "stopped before it answered",
			agent:   pawl.Agent{Tools: []pawl.Tool{add{}}, Stop: stop.ToolCalled("add")},
			replies: []pawl.Reply{pawl.Do(pawl.Call{Tool: "add", Args: json.RawMessage(`{"a":1,"b":2}`)})},
			err:     "before the model answered",
		}, {
			name:  "two schemas",
			agent: pawl.Agent{Output: json.RawMessage(`{"type":"string"}`)},
			err:   "has an output schema already",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.agent.Name, c.agent.Model = "triage", script.Replies(c.replies...)
			got, result, err := engine.RunAs[triage](t.Context(), c.agent, "Where is my money?")
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			switch {
			case c.err == "" && err != nil:
				t.Fatalf("%v (%s)", err, result.Reason.Detail)
			case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
				t.Errorf("error %v, want one with %q", err, c.err)
			}
		})
	}
}

func TestRunAsOther(t *testing.T) {
	say := func(text string) pawl.Agent {
		return pawl.Agent{Name: "other", Model: script.Replies(pawl.Say(text))}
	}
	if got, _, err := engine.RunAs[string](t.Context(), say("Yes, \"all\" of it."), "?"); got != "Yes, \"all\" of it." || err != nil {
		t.Errorf("a string: %q, %v", got, err)
	}
	if got, _, err := engine.RunAs[int](t.Context(), say("42"), "?"); got != 42 || err != nil {
		t.Errorf("an int: %d, %v", got, err)
	}
	if got, _, err := engine.RunAs[int](t.Context(), say("42.0"), "?"); got != 42 || err != nil {
		t.Errorf("an int with a point: %d, %v", got, err)
	}
	if got, _, err := engine.RunAs[*triage](t.Context(), say(`{"team":"billing","urgent":true,"orders":[]}`), "?"); err != nil || got == nil || got.Team != "billing" {
		t.Errorf("a pointer: %v, %v", got, err)
	}
	exact := pawl.Agent{Name: "exact", Model: script.Replies(
		pawl.Say(`{"F":1e400,"G":0,"B":""}`), pawl.Say(`{"F":1,"G":1e39,"B":"AQI"}`), pawl.Say(`{"F":-1.5e308,"G":2,"B":"AQI="}`))}
	type floats struct {
		F float64
		G float32
		B []byte
	}
	if got, _, err := engine.RunAs[floats](t.Context(), exact, "?"); err != nil || got.F != -1.5e308 || string(got.B) != "\x01\x02" {
		t.Errorf("corrected: %v, %v", got, err)
	}
	if _, _, err := engine.RunAs[chan int](t.Context(), say("1"), "?"); err == nil {
		t.Error("a channel has a schema")
	}
	handed := say(`{"action":"__complete__","action_input":{"answer":"yes"}}`)
	handed.Strategy = pawl.StrategyJSON
	if got, _, err := engine.RunAs[string](t.Context(), handed, "?"); got != "yes" || err != nil {
		t.Errorf("a string handed in: %q, %v", got, err)
	}
}
