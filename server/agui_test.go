package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/approval"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/sqlite"
	"github.com/pawl-run/pawl/model/script"
	"github.com/pawl-run/pawl/tool"
)

// sound says what is wrong with the order of some events, as the protocol has it.
func sound(events []aguiEvent) error {
	open := map[string]string{} // what was begun, by its id
	ends := map[string]string{"TEXT_MESSAGE_END": "TEXT_MESSAGE_START", "REASONING_MESSAGE_END": "REASONING_MESSAGE_START", "REASONING_END": "REASONING_START",
		"TOOL_CALL_END": "TOOL_CALL_START", "STEP_FINISHED": "STEP_STARTED"}
	within := map[string]string{"TEXT_MESSAGE_CONTENT": "TEXT_MESSAGE_START", "REASONING_MESSAGE_CONTENT": "REASONING_MESSAGE_START", "TOOL_CALL_ARGS": "TOOL_CALL_START"}
	called := map[string]bool{}
	for i, e := range events {
		id := e.MessageID + e.ToolCallID + e.StepName
		last := i == len(events)-1
		switch key := e.Type + id; {
		case (i == 0) != (e.Type == "RUN_STARTED"), last != (e.Type == "RUN_FINISHED" || e.Type == "RUN_ERROR"):
			return fmt.Errorf("event %d of %d is %s", i+1, len(events), e.Type)
		case last && len(open) > 0:
			return fmt.Errorf("it ends with %v open", open)
		case strings.HasSuffix(e.Type, "_START"), e.Type == "STEP_STARTED":
			if open[key] != "" {
				return fmt.Errorf("event %d begins %s again", i+1, key)
			}
			open[key] = e.Type
			called[e.ToolCallID] = true
		case ends[e.Type] != "":
			if open[ends[e.Type]+id] == "" {
				return fmt.Errorf("event %d ends %s, which was not begun", i+1, id)
			}
			delete(open, ends[e.Type]+id)
		case within[e.Type] != "" && (open[within[e.Type]+id] == "" || e.Delta == ""):
			return fmt.Errorf("event %d adds %q to %s, which was not begun", i+1, e.Delta, id)
		case e.Type == "TOOL_CALL_RESULT" && !called[e.ToolCallID]:
			return fmt.Errorf("event %d is the result of %s, which was not called", i+1, e.ToolCallID)
		}
	}
	return nil
}

// translated are the events of a log.
func translated(t testing.TB, log []byte) (events []aguiEvent) {
	t.Helper()
	a := aguiRun{}
	for line := range bytes.Lines(log) {
		line = bytes.TrimSpace(line)
		e, err := pawl.DecodeEntry(line)
		must(t, err)
		events = append(events, a.add(e, line)...)
	}
	return append(events, a.end(a.state.Result().Pending)...)
}

// TestAgui holds that the histories of runs are told in sound order, and some of
// them word by word.
func TestAgui(t *testing.T) {
	files, err := filepath.Glob("../testdata/histories/*.jsonl")
	if err != nil || len(files) < 50 {
		t.Fatal(len(files), err)
	}
	rewrite := flag.Lookup("rewrite") != nil && flag.Lookup("rewrite").Value.String() == "true"
	golden := map[string]bool{"approval_for_run": true, "question": true, "child_pair": true}
	for _, file := range files {
		log, err := os.ReadFile(file)
		must(t, err)
		events := translated(t, log)
		if err := sound(events); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".jsonl")
		if !golden[name] {
			continue
		}
		var got bytes.Buffer
		for _, e := range events {
			line, err := json.Marshal(e)
			must(t, err)
			got.Write(append(line, '\n'))
		}
		at := filepath.Join("testdata", "agui", name+".jsonl")
		if rewrite {
			must(t, os.WriteFile(at, got.Bytes(), 0o600))
		}
		want, err := os.ReadFile(at)
		must(t, err)
		if diff := cmp.Diff(string(want), got.String()); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

// TestAguiPieces holds that a reply is told as it is made, and what broke off is
// ended and said not to count.
func TestAguiPieces(t *testing.T) {
	const run = "r"
	seq := uint64(0)
	a := aguiRun{}
	var events []aguiEvent
	add := func(event pawl.Event) {
		e := pawl.Entry{Run: run, At: seq, Time: time.Unix(1, 0).UTC(), Iteration: 1, Event: event}
		switch event.(type) {
		case pawl.ModelDelta:
			e.At = a.call
		case pawl.ToolProgressed:
		default:
			seq++
			e.Seq = seq
		}
		line, err := e.AppendJSON(nil)
		must(t, err)
		if e, err = pawl.DecodeEntry(line); err != nil {
			t.Fatal(err)
		}
		if e.Seq == 0 {
			e.At = a.call
		}
		events = append(events, a.add(e, line)...)
	}
	reply := func(parts ...pawl.Part) pawl.ModelReplied {
		return pawl.ModelReplied{Purpose: pawl.PurposeTurn, Reply: pawl.Reply{Parts: parts, Stop: pawl.StopEnd}}
	}
	add(pawl.RunStarted{Declaration: pawl.Declaration{Agent: "a", Loop: "react", Machine: pawl.MachineNumber}, Input: "go"})
	add(pawl.ModelCalled{Purpose: pawl.PurposeTurn, Attempt: 1})
	add(pawl.ModelDelta{Thinking: "hm"})
	add(pawl.ModelDelta{Text: "Wro"})
	add(pawl.ModelFailed{Purpose: pawl.PurposeTurn, Class: pawl.ClassOverloaded, Attempt: 1, Message: "busy"})
	add(pawl.ModelCalled{Purpose: pawl.PurposeTurn, Attempt: 2})
	add(pawl.ModelDelta{Text: "Rig"})
	add(pawl.ModelDelta{Text: "ht "})
	add(reply(pawl.Thinking{Text: "now"}, pawl.Text{Text: "Right so."}))
	add(pawl.ModelCalled{Purpose: pawl.PurposeTurn, Attempt: 1})
	add(pawl.ModelDelta{Text: "shown otherwise"})
	add(reply(pawl.Text{Text: "told"}))
	add(pawl.ModelCalled{Purpose: "judge", Attempt: 1})
	add(pawl.ModelDelta{Text: "not for you"})
	add(pawl.ModelReplied{Purpose: "judge", Reply: pawl.Reply{Parts: []pawl.Part{pawl.Text{Text: "not for you"}}, Stop: pawl.StopEnd}})
	told, _ := new(redactor).piece(pawl.Entry{Event: pawl.ToolProgressed{Call: "c_1", Tool: "count", Fraction: 0.4, Text: "key sk-ant-api03-" + strings.Repeat("x", 80)}})
	add(told.Event)
	if got, _ := json.Marshal(events[len(events)-1]); !strings.Contains(string(got), `"messageId":"r:c_1-progress","content":{"fraction":0.4,"text":"key [`) || strings.Contains(string(got), "sk-ant") {
		t.Errorf("an activity is %s", got)
	}
	add(pawl.RunStopped{Status: pawl.StatusSuccess})
	events = append(events, a.end(nil)...)
	must(t, sound(events))
	said := map[string]string{}
	var order, withdrawn []string
	for _, e := range events {
		switch {
		case strings.HasSuffix(e.Type, "_CONTENT"):
			if said[e.MessageID] == "" {
				order = append(order, e.MessageID)
			}
			said[e.MessageID] += e.Delta
		case e.Name == "message.withdrawn":
			withdrawn = append(withdrawn, e.Value.(map[string]string)["messageId"])
		}
	}
	for i, id := range order {
		order[i] = id + " " + said[id]
	}
	want := []string{"r:input go", "r:2-thinking hm", "r:2 Wro", "r:4 Right so.", "r:4-thinking now", "r:6 shown otherwise", "r:6-whole told"}
	if diff := cmp.Diff(want, order); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"r:2", "r:6"}, withdrawn); diff != "" {
		t.Error("withdrawn:", diff)
	}
}

// peer runs the protocol's own client, which testdata/agui has at its recorded
// version.
func peer(t testing.TB, args ...string) []byte {
	t.Helper()
	missing := t.Skipf
	if os.Getenv("CI") != "" {
		missing = t.Fatalf
	}
	dir, err := filepath.Abs("../testdata/agui")
	must(t, err)
	if _, err := os.Stat(filepath.Join(dir, "node_modules", "@ag-ui", "client")); err != nil {
		missing("the protocol's client is missing (npm ci in testdata/agui installs it): %v", err)
	}
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	cmd := exec.CommandContext(ctx, "node", append([]string{filepath.Join(dir, "follow.js")}, args...)...)
	var failures bytes.Buffer
	cmd.Stderr = &failures
	out, err := cmd.Output()
	if errors.Is(err, exec.ErrNotFound) {
		missing("there is no node: %v", err)
	}
	if err != nil {
		t.Fatalf("%v: %s", err, failures.Bytes())
	}
	return out
}

// TestAguiClient has the protocol's own client follow runs of many kinds.
func TestAguiClient(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts programs")
	}
	j, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "j.db"), nil)
	must(t, err)
	t.Cleanup(func() { _ = j.Close() })
	call := func(tool, args string) pawl.Reply { return pawl.Do(pawl.Call{Tool: tool, Args: json.RawMessage(args)}) }
	look := tool.Func("look", "Look.", func(_ context.Context, in struct {
		Fail bool `json:"fail"`
	},
	) (string, error) {
		if in.Fail {
			return "", errors.New("nothing to see")
		}
		return "seen", nil
	}, pawl.Read)
	pay := tool.Func("pay", "Pay.", func(context.Context, struct{}) (string, error) { return "paid", nil }, pawl.Write)
	child := pawl.Agent{Name: "child", Description: "Helps.", Model: script.Replies(pawl.Say("helped"))}
	flaky := slow{make(chan string, 100)}
	for _, w := range []string{"Wrong ", "words ", "!", "The right ", "words.", "."} {
		flaky.words <- w
	}
	cases := []struct {
		agent   pawl.Agent
		outcome string
		has     []string // types, in order, among others
		said    string   // by the assistant, last
	}{
		{pawl.Agent{Name: "plain", Model: script.Replies(call("look", `{"fail":false}`), call("look", `{"fail":true}`), pawl.Say("done")), Tools: []pawl.Tool{look}},
			"success", []string{"RUN_STARTED", "STEP_STARTED", "TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END", "TOOL_CALL_RESULT", "STEP_FINISHED", "TOOL_CALL_RESULT", "RUN_FINISHED"}, "done"},
		{pawl.Agent{Name: "flaky", Model: flaky}, "success", []string{"TEXT_MESSAGE_END", "CUSTOM", "TEXT_MESSAGE_START", "RUN_FINISHED"}, "The right words."},
		{pawl.Agent{Name: "gated", Model: script.Replies(call("pay", `{}`), pawl.Say("done")), Tools: []pawl.Tool{pay}, Policies: []pawl.Policy{approval.For("pay")}},
			"interrupt", []string{"TOOL_CALL_END", "CUSTOM", "RUN_FINISHED"}, ""},
		{pawl.Agent{Name: "asker", Model: script.Replies(call("ask_human", `{"question":"which?"}`), pawl.Say("done")), Tools: []pawl.Tool{tool.AskHuman()}},
			"interrupt", []string{"TOOL_CALL_END", "RUN_FINISHED"}, ""},
		{pawl.Agent{Name: "boss", Model: script.Replies(call("child", `{"input":"help"}`), pawl.Say("done")), Tools: []pawl.Tool{tool.Agent(child, nil)}},
			"success", []string{"TOOL_CALL_START", "CUSTOM", "TOOL_CALL_RESULT", "RUN_FINISHED"}, "done"},
		{pawl.Agent{Name: "broken", Model: pawl.ModelFunc(func(context.Context, pawl.Request) (pawl.Reply, error) {
			return pawl.Reply{}, &pawl.ModelError{Class: pawl.ClassAuth, Message: "the key is refused"}
		})}, "", []string{"RUN_STARTED", "RUN_ERROR"}, ""},
	}
	for _, c := range cases {
		t.Run(c.agent.Name, func(t *testing.T) {
			web, e := hosted(t, j, c.agent)
			h, err := e.Start(t.Context(), c.agent, "go", &engine.StartOptions{ID: c.agent.Name})
			must(t, err)
			var got struct {
				Types    []string
				Failed   string
				Outcome  json.RawMessage
				Messages []struct {
					Role    string
					Content json.RawMessage
				}
				State  struct{ Status string }
				Events []struct{ Outcome json.RawMessage }
			}
			out := peer(t, web.URL+"/v1/runs/"+c.agent.Name+"/ag-ui", "t")
			if err := json.Unmarshal(out, &got); err != nil {
				t.Fatal(err, string(out))
			}
			if got.Failed != "" && c.outcome != "" {
				t.Errorf("it failed: %s", got.Failed)
			}
			left := c.has
			for _, typ := range got.Types {
				if len(left) > 0 && typ == left[0] {
					left = left[1:]
				}
			}
			if len(left) > 0 {
				t.Errorf("there is no %s at its place among %q", left[0], got.Types)
			}
			if n := len(got.Events); c.outcome != "" && (n == 0 || !strings.Contains(string(got.Events[n-1].Outcome), `"`+c.outcome+`"`)) {
				t.Errorf("its outcome is none of %s: %s", c.outcome, out)
			}
			if n := len(got.Messages); c.said != "" && (n == 0 || got.Messages[n-1].Role != "assistant" || string(got.Messages[n-1].Content) != `"`+c.said+`"`) {
				t.Errorf("last is said: %+v", got.Messages)
			}
			result, err := h.Wait(t.Context())
			if err != nil || got.State.Status != result.Status.String() {
				t.Errorf("the client thinks that it is %s, it is %v (%v)", got.State.Status, result.Status, err)
			}
		})
	}
}

// TestAguiPost has the protocol's own client start a run, approve its call, and open the thread
// in another browser.
func TestAguiPost(t *testing.T) { // Promises: N13.
	j, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "j.db"), nil)
	must(t, err)
	t.Cleanup(func() { _ = j.Close() })
	pay := tool.Func("pay", "Pay.", func(_ context.Context, in struct{ EUR int }) (string, error) {
		return fmt.Sprintf("paid %d", in.EUR), nil
	}, pawl.Write)
	ask := pawl.Do(pawl.Call{Tool: "pay", Args: json.RawMessage(`{"EUR":5}`)})
	web, _ := hosted(t, j, pawl.Agent{Name: "gated", Model: script.Replies(ask, pawl.Say("done")), Tools: []pawl.Tool{pay}, Policies: []pawl.Policy{approval.For("pay")}})
	post := func(said string) (outcome aguiOutcome, messages []aguiSaid) {
		t.Helper()
		var r struct {
			Failed   string
			Events   []struct{ Outcome aguiOutcome }
			Messages []aguiSaid
		}
		must(t, json.Unmarshal(peer(t, web.URL+"/v1/ag-ui/gated", "t", said), &r))
		if r.Failed != "" {
			t.Fatal(r.Failed)
		}
		return r.Events[len(r.Events)-1].Outcome, r.Messages
	}
	const user = `{"id":"m1","role":"user","content":"Pay."}`
	waits, messages := post(`{"messages":[` + user + `]}`)
	if waits.Type != "interrupt" || len(waits.Interrupts) != 1 || len(messages) != 2 {
		t.Fatalf("%+v %+v", waits, messages)
	}
	resume := fmt.Sprintf(`{"messages":[%s],"resume":[{"interruptId":%q,"status":"resolved","payload":{"approved":true,"args":{"EUR":4}}}]}`, user, waits.Interrupts[0].ID)
	if end, messages := post(resume); end.Type != "success" || messages[len(messages)-1].Content != "done" {
		t.Errorf("%+v %+v", end, messages)
	}
	var said []string
	_, messages = post(`{"messages":[]}`)
	for _, m := range messages {
		said = append(said, m.Role+" "+m.Content)
	}
	if got, want := strings.Join(said, ", "), "user Pay., assistant , tool paid 4, assistant done"; got != want {
		t.Errorf("the thread is %q, want %q", got, want)
	}
}
