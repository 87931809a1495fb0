package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/tool"
)

// weighing is an agent that weighs two parcels at once, notes the sum, and repeats what it
// was told last. calls counts what its tools did.
func weighing(calls map[string]int) pawl.Agent {
	type parcel struct {
		Parcel string `json:"parcel"`
	}
	var mu sync.Mutex
	count := func(name string) {
		mu.Lock()
		defer mu.Unlock()
		calls[name]++
	}
	return pawl.Agent{
		Name: "weigher",
		Model: pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
			var said []string
			for _, m := range r.Messages {
				for _, p := range m.Parts {
					switch p := p.(type) {
					case pawl.ToolResult:
						said = append(said, p.Text())
					case pawl.Text:
						said = append(said, p.Text)
					}
				}
			}
			switch len(r.Messages) {
			case 1:
				return pawl.Reply{Parts: []pawl.Part{
					pawl.Call{Tool: "weigh", Args: json.RawMessage(`{"parcel":"a"}`)},
					pawl.Call{Tool: "weigh", Args: json.RawMessage(`{"parcel":"b"}`)},
				}}, nil
			case 3:
				return pawl.Reply{Parts: []pawl.Part{pawl.Call{Tool: "note", Args: json.RawMessage(`{"parcel":"both"}`)}}}, nil
			}
			return pawl.Reply{Parts: []pawl.Part{pawl.Text{Text: strings.Join(said, " ")}}}, nil
		}),
		Tools: []pawl.Tool{
			tool.Func("weigh", "Weighs.", func(_ context.Context, p parcel) (string, error) { count("weigh"); return p.Parcel + " 1 kg", nil }, pawl.Read),
			tool.Func("note", "Notes.", func(context.Context, parcel) (string, error) { count("note"); return "noted", nil }, pawl.Write),
		},
	}
}

// find is the seq of the first entry with a type and, unless it is empty, for a call.
func find(t *testing.T, j pawl.Journal, run, kind, call string) uint64 {
	t.Helper()
	for entry := range entriesOf(t, j, run) {
		line, err := entry.AppendJSON(nil)
		must(t, err)
		if entry.Type() == kind && strings.Contains(string(line), call) {
			return entry.Seq
		}
	}
	t.Fatalf("run %s has no such %s", run, kind)
	return 0
}

// An edited result or reply stands in the log as a person's, what was in progress beside
// it ends as it did, nothing that the other run did is done again, and the fork replays.
func TestForkEdits(t *testing.T) {
	said := func(parts ...pawl.Part) *engine.Edit { return &engine.Edit{Reply: &pawl.Reply{Parts: parts}} }
	for _, tt := range []struct {
		name   string
		kind   string
		call   string
		edit   *engine.Edit
		answer string
		calls  string // of the tools, in the fork
		log    string // an entry of the fork
	}{
		{"the first of two results", "tool.finished", "c_1", &engine.Edit{Result: json.RawMessage(`"a 7 kg"`)}, "weigh both a 7 kg b 1 kg noted", "map[note:1]",
			`"type":"tool.settled","data":{"call":"c_1","happened":true,"result":"a 7 kg","by":"ada"}`},
		{"the second of two results", "tool.finished", "c_2", &engine.Edit{Result: json.RawMessage(`"b 7 kg"`)}, "weigh both a 1 kg b 7 kg noted", "map[note:1]",
			`"by":"ada","edited":true}`},
		{"a failure", "tool.finished", "c_1", &engine.Edit{Error: "the scales broke"}, "weigh both error: the scales broke b 1 kg noted", "map[note:1]",
			`"happened":true,"status":"error","error":"the scales broke","by":"ada"}`},
		{"the result of a write", "tool.finished", "c_3", &engine.Edit{Result: json.RawMessage(`"lost"`)}, "weigh both a 1 kg b 1 kg lost", "map[]", `"result":"lost"`},
		{"a reply", "model.replied", "", said(pawl.Text{Text: "I know."}), "I know.", "map[]", `"text":"I know."`},
		{"the calls of a reply", "model.replied", "", said(pawl.Call{Tool: "weigh", Args: json.RawMessage(`{"parcel":"c"}`)}), "weigh both c 1 kg noted", "map[note:1 weigh:1]", `{"parcel":"c"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			calls := map[string]int{}
			agent, ctx, j := weighing(calls), t.Context(), memory.New()
			eng := engine.New(j, nil)
			run, err := eng.Start(ctx, agent, "weigh both", nil)
			must(t, err)
			first, err := run.Wait(ctx)
			if err != nil || first.Answer != "weigh both a 1 kg b 1 kg noted" {
				t.Fatalf("%q, %v", first.Answer, err)
			}
			clear(calls)
			at := find(t, j, first.Run, tt.kind, tt.call)
			fork, err := eng.Fork(ctx, agent, first.Run, at, &engine.ForkOptions{Edit: tt.edit, By: "ada"})
			must(t, err)
			second, err := fork.Wait(ctx)
			if err != nil || second.Answer != tt.answer || second.Status != pawl.StatusSuccess {
				t.Errorf("%v: %q, want %q; %v", second.Status, second.Answer, tt.answer, err)
			}
			if got := fmt.Sprint(calls); got != tt.calls {
				t.Errorf("the fork called %s, want %s", got, tt.calls)
			}
			var log strings.Builder
			for entry, err := range engine.Entries(ctx, j, second.Run, at) {
				must(t, err)
				line, _ := entry.AppendJSON(nil)
				fmt.Fprintf(&log, "%s\n", line)
			}
			if !strings.Contains(log.String(), tt.log) || !strings.Contains(log.String(), fmt.Sprintf(`"seq":%d,"owner"`, at-1)) {
				t.Errorf("the log lacks %s:\n%s", tt.log, &log)
			}
			replays(t, eng, agent, second.Run)
			if state, err := engine.Load(ctx, j, first.Run); err != nil || state.Answer() != first.Answer {
				t.Errorf("the first run now says %q, %v", state.Answer(), err)
			}
		})
	}
}

// An edit that does not fit its entry is refused, and leaves no run.
func TestForkEditsRefused(t *testing.T) {
	ctx, j := t.Context(), memory.New()
	agent, eng := weighing(map[string]int{}), engine.New(j, nil)
	run, err := eng.Start(ctx, agent, "weigh both", nil)
	must(t, err)
	first, err := run.Wait(ctx)
	must(t, err)
	result, reply := json.RawMessage(`1`), &pawl.Reply{Parts: []pawl.Part{pawl.Text{Text: "no"}}}
	for _, tt := range []struct {
		kind  string
		edit  engine.Edit
		input string
		want  string
	}{
		{"run.started", engine.Edit{Result: result}, "", "entry 1 is run.started; only a model.replied of a turn and a tool.finished can be edited"},
		{"tool.started", engine.Edit{Result: result}, "", "is tool.started; only"},
		{"tool.finished", engine.Edit{}, "", "set one of them"},
		{"tool.finished", engine.Edit{Result: result, Error: "x"}, "", "set one of them"},
		{"tool.finished", engine.Edit{Reply: reply}, "", "edit it with a result or an error"},
		{"tool.finished", engine.Edit{Result: json.RawMessage(`{`)}, "", "is not JSON"},
		{"model.replied", engine.Edit{Result: result}, "", "edit it with a reply"},
		{"model.replied", engine.Edit{Reply: &pawl.Reply{}}, "", "neither text nor calls"},
		{"model.replied", engine.Edit{Reply: reply}, "and more", "an edited reply cannot have another input"},
	} {
		at := find(t, j, first.Run, tt.kind, "")
		if _, err := eng.Fork(ctx, agent, first.Run, at, &engine.ForkOptions{Edit: &tt.edit, Input: tt.input}); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s %+v: %v, want %q", tt.kind, tt.edit, err, tt.want)
		}
	}
	for head, err := range j.List(ctx, pawl.Query{}) {
		if err != nil || head.Run != first.Run {
			t.Errorf("there is a run %s, %v", head.Run, errors.Join(err))
		}
	}
}
