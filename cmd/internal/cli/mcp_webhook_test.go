package cli_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/mcp"
	"github.com/pawl-run/pawl/webhook"
)

// pawl mcp tells those whom its agent names of what is called: of what waits at
// once, and of what is parked because it ends before it does.
func TestMCPTells(t *testing.T) {
	told := newReceiver(t, map[string]string{
		"desk.yaml": `name: desk
description: A desk.
model: script:script.yaml
tools:
  - {name: pay, description: Pay., command: [echo, paid], approval: required}
  - {name: look, description: Look., command: [echo, seen], effect: read}
  - {name: hang, description: Hang., command: [sleep, "60"], effect: read}
webhooks: [{url: "URL", secret: HOOK_SECRET}]
`,
		"script.yaml": "replies: [{text: Done.}]\n",
	})
	next := func(want webhook.Event) {
		t.Helper()
		if n := told.next(want); n.Links != nil {
			t.Errorf("%+v", n.Links)
		}
	}
	desk := serveUntil(t, "mcp", "desk.yaml", "--http", "127.0.0.1:0")
	s, err := mcp.Connect(t.Context(), "desk", mcp.HTTP(desk.at, &mcp.HTTPOptions{Header: http.Header{"Authorization": {"Bearer " + hookToken}}}), nil)
	must(t, err)
	defer s.Close()
	call := func(name, args string) (pawl.Output, error) {
		t.Helper()
		for _, tool := range s.Tools() {
			if tool.Info().Name == "desk__"+name {
				return tool.Run(t.Context(), pawl.Invocation{Args: json.RawMessage(args)})
			}
		}
		t.Fatalf("there is no %s", name)
		return pawl.Output{}, nil
	}
	if _, err := call("pay", `{}`); err == nil {
		t.Error("it was paid unasked")
	}
	next(webhook.Waiting)
	if _, err := call("look", `{}`); err != nil {
		t.Error(err)
	}
	next(webhook.Stopped)
	if _, err := call("desk", `{"input":"go"}`); err != nil {
		t.Error(err)
	}
	next(webhook.Stopped)
	hung := make(chan error, 1)
	go func() { _, err := call("hang", `{}`); hung <- err }()
	if !soon(func() bool {
		_, out, _ := invoke(t, t.Context(), nil, "runs", "--json", "--status", "running", "--database", "sqlite:runs.db")
		return out != ""
	}) {
		t.Fatal("it does not hang")
	}
	code, _ := desk.end()
	next(webhook.Paused)
	if code != 130 {
		t.Errorf("exit %d", code)
	}
	if err := <-hung; err == nil {
		t.Error("the call that was cut off succeeded")
	}
}
