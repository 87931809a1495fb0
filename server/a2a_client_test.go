package server_test

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/a2a"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/sqlite"
	"github.com/pawl-run/pawl/model/script"
	"github.com/pawl-run/pawl/tool"
)

// A caller runs agents that call remote ones.
type caller struct {
	t       *testing.T
	journal *sqlite.Journal
	engine  *engine.Engine
	agent   pawl.Agent
}

// callerOf is a caller of the agent at a URL.
func callerOf(t *testing.T, at, token, input string) *caller {
	t.Helper()
	j, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "caller.db"), nil)
	must(t, err)
	t.Cleanup(func() { _ = j.Close() })
	args, err := json.Marshal(map[string]string{"input": input})
	must(t, err)
	remote := a2a.Agent("remote", "A remote agent.", at, &a2a.Options{Token: token})
	return &caller{t, j, engine.New(j, nil), pawl.Agent{
		Name: "caller", Model: script.Replies(pawl.Do(pawl.Call{Tool: "remote", Args: args}), pawl.Say("done")), Tools: []pawl.Tool{tool.Agent(remote, nil)},
	}}
}

// run runs the agent until it rests.
func (c *caller) run() pawl.Result {
	c.t.Helper()
	h, err := c.engine.Start(c.t.Context(), c.agent, "go", nil)
	return c.wait(h, err)
}

func (c *caller) wait(h *engine.Handle, err error) (r pawl.Result) {
	c.t.Helper()
	if err == nil {
		r, err = h.Wait(c.t.Context())
	}
	must(c.t, err)
	return r
}

// answer answers what the run waits for, and goes on.
func (c *caller) answer(r pawl.Result, text string) pawl.Result {
	c.t.Helper()
	if len(r.Pending) != 1 || r.Pending[0].Kind != "input" {
		c.t.Fatalf("%v waits for %+v", r.Status, r.Pending)
	}
	must(c.t, c.engine.Answer(c.t.Context(), r.Pending[0].Run, r.Pending[0].Call, "me", text))
	h, err := c.engine.Resume(c.t.Context(), c.agent, r.Run, nil)
	return c.wait(h, err)
}

// heard is what the model read of the remote agent.
func (c *caller) heard(r pawl.Result) string {
	c.t.Helper()
	s, err := engine.Load(c.t.Context(), c.journal, r.Run)
	must(c.t, err)
	call, _ := s.Call("c_1")
	return pawl.ToolResult{Content: call.Result}.Text() + call.Error
}

// An agent here calls one there, and each is a run of Pawl.
func TestA2ABothSides(t *testing.T) { // Promises: L17.
	w := newA2AWorld(t, nil)
	at := func(agent string) string { return w.web.URL + "/a2a/agents/" + agent }

	c := callerOf(t, w.web.URL, admin, "hello")
	if r := c.run(); r.Answer != "done" || c.heard(r) != "Echo: hello" {
		t.Errorf("%+v: %s", r.Reason, c.heard(r))
	}
	c = callerOf(t, at("asker"), admin, "ask")
	r := c.answer(c.run(), "that one")
	if r.Answer != "done" || c.heard(r) != "thanks" {
		t.Errorf("%+v: %s", r.Reason, c.heard(r))
	}
	for word, want := range map[string]string{"Approve.": "paid", "deny": "paid"} { // the model there says so in any case
		c = callerOf(t, at("payer"), admin, "pay")
		r = c.run()
		if len(r.Pending) != 1 || !strings.Contains(r.Pending[0].Reason, "approval") {
			t.Fatalf("%+v", r.Pending)
		}
		if r = c.answer(r, word); r.Answer != "done" || c.heard(r) != want {
			t.Errorf("%s: %+v: %s", word, r.Reason, c.heard(r))
		}
	}
	c = callerOf(t, at("payer"), admin, "pay")
	r = c.run()
	theirs := gets[a2a.Page](w, admin, a2a.MethodList, map[string]any{"tenant": "payer", "status": a2a.AuthRequired}).Tasks[0].ID
	waits := w.world.result(admin, "GET", "/v1/runs/"+theirs, "", 200)
	w.ask(admin, "POST", "/v1/runs/"+theirs+"/calls/"+waits.Pending[0].Call+"/approve", `{}`, 200)
	if r = c.answer(r, "it is done there"); r.Answer != "done" || c.heard(r) != "paid" {
		t.Errorf("decided elsewhere: %+v: %s", r.Reason, c.heard(r))
	}
	c = callerOf(t, w.web.URL, "wrong", "hello")
	if r := c.run(); !strings.Contains(c.heard(r), "unknown token") {
		t.Errorf("a wrong token: %s", c.heard(r))
	}
	c = callerOf(t, at("nobody"), admin, "hello")
	if r := c.run(); !strings.Contains(c.heard(r), "no agent card") {
		t.Errorf("an unknown agent: %s", c.heard(r))
	}
}

// TestA2AOfficialServer calls an agent served with the official SDK.
func TestA2AOfficialServer(t *testing.T) {
	at := officialServer(t)
	c := callerOf(t, at, "", "hello")
	if r := c.run(); r.Answer != "done" || c.heard(r) != "Echo: hello" {
		t.Errorf("%+v: %s", r.Reason, c.heard(r))
	}
	c = callerOf(t, at, "", "ask me")
	if r := c.answer(c.run(), "the left one"); c.heard(r) != "Echo: the left one" {
		t.Errorf("%+v: %s", r.Reason, c.heard(r))
	}
	cancelThere(t, at)
}

// cancelThere holds that a cancelled run cancels its task.
func cancelThere(t *testing.T, at string) {
	t.Helper()
	c := callerOf(t, at, "", "never")
	h, err := c.engine.Start(t.Context(), c.agent, "go", nil)
	must(t, err)
	task := ""
	for end := time.Now().Add(30 * time.Second); task == ""; time.Sleep(10 * time.Millisecond) {
		child, err := engine.Load(t.Context(), c.journal, h.ID()+".c_1")
		if err == nil {
			sent, _ := child.Step("send")
			var value struct{ Task string }
			_ = json.Unmarshal(sent.Value, &value)
			task = value.Task
		}
		if time.Now().After(end) {
			t.Fatal("there is no task", err)
		}
	}
	must(t, c.engine.Cancel(t.Context(), h.ID(), "me", "no need"))
	c.wait(h, nil)
	client, err := a2a.NewClient(at, "")
	must(t, err)
	if got, err := client.Task(t.Context(), task, 0); err != nil || got.Status.State != a2a.Canceled {
		t.Errorf("the task is %+v: %v", got.Status, err)
	}
}

// officialServer serves an agent with the official SDK and returns its URL.
func officialServer(t *testing.T) string {
	t.Helper()
	dir := filepath.Join("..", "testdata", "a2a")
	needsNode(t, dir)
	cmd := exec.CommandContext(t.Context(), "node", filepath.Join(dir, "server.js"))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	at, err := bufio.NewReader(out).ReadString('\n')
	must(t, err)
	return strings.TrimSpace(at)
}
