package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/a2a"
	"github.com/pawl-run/pawl/model/script"
	"github.com/pawl-run/pawl/team"
	"github.com/pawl-run/pawl/tool"
)

// describe is a task in short: its state, the message of it, and its artifacts.
func describe(t *a2a.Task) string {
	text := strings.TrimPrefix(string(t.Status.State), "TASK_STATE_")
	if m := t.Status.Message; m != nil {
		text += ": " + *m.Parts[0].Text
	}
	for _, a := range t.Artifacts {
		if p := a.Parts[0]; p.Data != nil {
			text += " = " + string(p.Data)
		} else {
			text += " = " + *p.Text
		}
	}
	return text
}

// TestA2AStates holds how runs stand in the terms of the protocol.
func TestA2AStates(t *testing.T) {
	w := newA2AWorld(t, nil)
	w.agents["typed"] = pawl.Agent{Name: "typed", Model: script.Replies(pawl.Say(`{"n": 1}`)), Output: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`)}
	w.agents["sleeper"] = pawl.Agent{Name: "sleeper", Model: script.Replies(pawl.Do(pawl.Call{Tool: "wait", Args: []byte(`{"for":"2h"}`)})), Tools: []pawl.Tool{tool.Wait(nil)}}
	w.agents["thinker"] = pawl.Agent{Name: "thinker", Tools: w.agents["holder"].Tools, Model: script.Replies(
		pawl.Reply{Parts: []pawl.Part{pawl.Text{Text: "I hold on."}, pawl.Call{Tool: "hold", Args: json.RawMessage(`{}`)}}}, pawl.Say("held"))}
	close(w.release)
	send := func(agent string, more ...any) *a2a.Task {
		t.Helper()
		return gets[a2a.Update](w, admin, a2a.MethodSend, to(agent, "m", more...)).Task
	}
	for agent, want := range map[string]string{
		"calm": "COMPLETED = hello", "typed": `COMPLETED = {"n":1}`, "asker": "INPUT_REQUIRED: which?", "payer": "AUTH_REQUIRED: A person must approve a call of pay.", "boss": "AUTH_REQUIRED: A person must approve a call of pay.",
		"picker": "INPUT_REQUIRED: Run the tool pick", "looper": "FAILED: The run ended as exhausted", "sleeper": "WORKING: The task is paused",
	} {
		if got := describe(send(agent)); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", agent, got, want)
		}
	}
	task := send("picker")
	if got := send("picker", "taskId", task.ID, "parts", []any{map[string]any{"data": map[string]any{"seat": "1A"}}}); describe(got) != "COMPLETED = picked" {
		t.Errorf("%s", describe(got))
	}
	r := w.world.result(admin, "GET", "/v1/runs/"+task.ID, "", 200)
	if len(r.Steps) != 2 || r.Steps[0].Calls[0].Status != "ok" {
		t.Errorf("%+v", r.Steps)
	}
	task = send("boss") // the call that waits is a child's
	if got := send("boss", "taskId", task.ID, "parts", []any{map[string]any{"data": map[string]any{"decision": "approve"}}}); describe(got) != "COMPLETED = all paid" {
		t.Errorf("%s", describe(got))
	}
	u := w.stream(admin, a2a.MethodStream, to("thinker", "m"))
	var said []string
	for update, ok := u.next(); ok; update, ok = u.next() {
		if s := update.StatusUpdate; s != nil && s.Status.Message != nil {
			said = append(said, *s.Status.Message.Parts[0].Text)
		}
	}
	if !slices.Equal(said, []string{"I hold on."}) {
		t.Errorf("on the way the stream says %q", said)
	}
	// A conversation that began elsewhere is a context, too.
	old := w.begin(admin, "calm")
	if got := send("calm", "contextId", old.Run); got.ContextID != old.Run || got.ID == old.Run {
		t.Errorf("%+v", got)
	}
}

// hearing has the holder answer what it has heard, once it has held.
func (w *a2aWorld) hearing() {
	holder := w.agents["holder"]
	holder.Model = pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
		var heard []string
		held := false
		for _, m := range r.Messages {
			if m.Role == pawl.RoleUser {
				heard = append(heard, m.Text())
			}
			held = held || m.Role == pawl.RoleAssistant
		}
		if !held {
			return pawl.Do(pawl.Call{Tool: "hold", Args: json.RawMessage(`{}`)}), nil
		}
		return pawl.Say(strings.Join(heard, " ")), nil
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.agents["holder"] = holder
}

// TestA2ASay: a message to a task at work is read once before the model's next turn, however often it is
// sent, and answers no question that comes later.
func TestA2ASay(t *testing.T) {
	w := newA2AWorld(t, nil)
	w.hearing()
	say := func(task, text string) map[string]any {
		return atOnce(to("holder", "", "taskId", task, "messageId", "say-"+text, "parts", []any{map[string]any{"text": text}}))
	}
	task := *gets[a2a.Update](w, admin, a2a.MethodSend, atOnce(to("holder", "m"))).Task
	for range 2 {
		if got := gets[a2a.Update](w, admin, a2a.MethodSend, say(task.ID, "hurry")).Task; got.ID != task.ID || got.Status.State != a2a.Working {
			t.Errorf("%+v", got)
		}
	}
	w.wants(a2a.InvalidParams, admin, a2a.MethodSend, to("holder", "x", "taskId", task.ID, "parts", []any{map[string]any{"data": map[string]any{"decision": "approve"}}}))
	w.release <- struct{}{}
	ended := w.lasting("holder", task.ID, a2a.Completed)
	if got := describe(&ended); strings.Count(got, "hurry") != 1 {
		t.Errorf("it ends as %s", got)
	}
	if got := gets[a2a.Update](w, admin, a2a.MethodSend, say(task.ID, "hurry")).Task; got.Status.State != a2a.Completed { // taken before
		t.Errorf("%+v", got)
	}
	w.wants(a2a.UnsupportedOperation, admin, a2a.MethodSend, say(task.ID, "more"))
}

// TestA2AHandoff: a task that is handed over goes on as the run of the next agent, under its id.
func TestA2AHandoff(t *testing.T) {
	w := newA2AWorld(t, nil)
	back := w.agents["holder"]
	back.Name, back.Model = "back", pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
		for _, m := range r.Messages {
			for _, p := range m.Parts {
				if result, ok := p.(pawl.ToolResult); ok && result.Text() == "let go" {
					return pawl.Say("held"), nil
				}
			}
		}
		return pawl.Do(pawl.Call{Tool: "hold", Args: []byte(`{}`)}), nil
	})
	w.agents["front"] = pawl.Agent{Name: "front", Tools: []pawl.Tool{team.Handoff(&back, nil)},
		Model: pawl.ModelFunc(func(context.Context, pawl.Request) (pawl.Reply, error) {
			return pawl.Do(pawl.Call{Tool: "handoff_to_back", Args: []byte(`{"reason":"not mine"}`)}), nil
		})}
	w.teams = map[string][]string{"front": {"back"}}
	params := atOnce(to("front", "m"))
	task := gets[a2a.Update](w, admin, a2a.MethodSend, params).Task
	u := w.stream(admin, a2a.MethodSubscribe, map[string]any{"tenant": "front", "id": task.ID})
	var leg string
	for end := time.Now().Add(time.Minute); leg == "" || leg == task.ID && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		got := gets[a2a.Task](w, admin, a2a.MethodGet, map[string]any{"tenant": "front", "id": task.ID})
		var facts struct{ Pawl struct{ Run string } }
		if err := json.Unmarshal(got.Metadata, &facts); err != nil || got.ID != task.ID || got.Status.State != a2a.Working {
			t.Fatalf("%+v: %v", got, err)
		}
		leg = facts.Pawl.Run
	}
	page := gets[a2a.Page](w, admin, a2a.MethodList, map[string]any{"tenant": "front", "status": a2a.Working})
	if page.Total != 1 || page.Tasks[0].ID != task.ID {
		t.Errorf("%+v", page)
	}
	close(w.release)
	rest := u.rest()
	if n := len(rest); n < 2 || rest[n-1] != "status TASK_STATE_COMPLETED" || rest[n-2] != "artifact held" {
		t.Errorf("%q", rest)
	}
	if got := w.lasting("front", task.ID, a2a.Completed); describe(&got) != "COMPLETED = held" || fmt.Sprint(len(got.History)) != "1" {
		t.Errorf("%+v", got)
	}
}

// picky takes no files.
type picky struct{ pawl.Model }

func (picky) Takes([]pawl.File) error { return errors.New("the model takes no PDF") }

// TestA2AFiles: file parts are files of the run, whose bytes the model gets, and what cannot be one
// is refused before there is a task.
func TestA2AFiles(t *testing.T) {
	w := newA2AWorld(t, nil)
	reads := pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
		text := ""
		for _, p := range r.Messages[0].Parts {
			if f, ok := p.(pawl.File); ok {
				text += f.Name + " " + f.Type + " " + string(f.Data[:4]) + ";"
			}
		}
		return pawl.Say(text + r.Messages[0].Text()), nil
	})
	w.mu.Lock()
	w.agents["reader"], w.agents["picky"] = pawl.Agent{Name: "reader", Model: reads}, pawl.Agent{Name: "picky", Model: picky{reads}}
	w.mu.Unlock()
	pdf := func(name, content string) map[string]any {
		return map[string]any{"raw": []byte("%PDF-1.4\n" + content), "mediaType": "application/pdf", "filename": name}
	}
	with := func(id string, parts ...any) map[string]any {
		return to("reader", "", "messageId", id, "parts", append(parts, map[string]any{"text": "Sum it up."}))
	}
	task := *gets[a2a.Update](w, admin, a2a.MethodSend, with("m", pdf("a.pdf", "one"))).Task
	if got := describe(&task); !strings.Contains(got, "a.pdf application/pdf %PDF;Sum it up.") {
		t.Errorf("%s", got)
	}
	again := gets[a2a.Update](w, admin, a2a.MethodSend, with("m", pdf("a.pdf", "one"))).Task
	if again.ID != task.ID {
		t.Errorf("%s, again %s", task.ID, again.ID)
	}
	for _, other := range []map[string]any{ // under a used messageId, which starts nothing
		with("m", pdf("a.pdf", "two")), with("m"), to("reader", "Something else.", "messageId", "m"),
	} {
		w.wants(a2a.InvalidParams, admin, a2a.MethodSend, other)
	}
	w.wants(a2a.ContentTypeNotSupported, admin, a2a.MethodSend, with("more", pdf("b.pdf", "x"), map[string]any{"raw": []byte("PK\x03\x04\xff"), "mediaType": "application/zip"}))
	w.wants(a2a.ContentTypeNotSupported, admin, a2a.MethodSend, to("reader", "x", "taskId", task.ID, "parts", []any{pdf("a.pdf", "x"), map[string]any{"text": "and this"}}))
	alone := gets[a2a.Update](w, admin, a2a.MethodSend, to("reader", "alone", "parts", []any{pdf("a.pdf", "x")})).Task
	if got := describe(alone); !strings.Contains(got, "%PDF;a.pdf") {
		t.Errorf("a file alone: %s", got)
	}
	_, no := w.call(admin, a2a.MethodSend, to("picky", "x", "parts", []any{pdf("a.pdf", "x"), map[string]any{"text": "and this"}}))
	if no == nil || no.reason != a2a.ContentTypeNotSupported.Reason || !strings.Contains(no.message, "takes no PDF") {
		t.Errorf("%+v", no)
	}
	if page := gets[a2a.Page](w, admin, a2a.MethodList, map[string]any{"tenant": "picky"}); page.Total != 0 {
		t.Errorf("a refused message is a task: %+v", page)
	}
}
