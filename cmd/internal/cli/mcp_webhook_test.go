package cli_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/cmd/internal/cli"
	"github.com/pawl-run/pawl/mcp"
	"github.com/pawl-run/pawl/webhook"
)

// pawl mcp tells those whom its agent names of what is called: of what waits at
// once, and of what is parked because it ends before it does.
func TestMCPTells(t *testing.T) {
	notices := make(chan webhook.Notice, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var n webhook.Notice
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = webhook.Verify("a-secret-of-the-test", r.Header, body, time.Now())
		}
		if err == nil {
			err = json.Unmarshal(body, &n)
		}
		if err != nil {
			t.Error(err)
		}
		notices <- n
	}))
	defer receiver.Close()
	next := func(want webhook.Event) {
		t.Helper()
		select {
		case n := <-notices:
			if n.Type != want || n.Links != nil {
				t.Errorf("%v is told, not %v: %s", n.Type, want, n.Result)
			}
		case <-time.After(time.Minute):
			t.Fatalf("nothing is told, but %v is due", want)
		}
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"desk.yaml": `name: desk
description: A desk.
model: script:script.yaml
tools:
  - {name: pay, description: Pay., command: [echo, paid], approval: required}
  - {name: look, description: Look., command: [echo, seen], effect: read}
  - {name: hang, description: Hang., command: [sleep, "60"], effect: read}
webhooks: [{url: "` + receiver.URL + `", secret: HOOK_SECRET}]
`,
		"script.yaml": "replies: [{text: Done.}]\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("HOOK_SECRET", "a-secret-of-the-test")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	said, writer := io.Pipe()
	code := make(chan int, 1)
	go func() {
		environ := append(os.Environ(), "PAWL_TOKEN=the-token-of-the-test")
		args := []string{"mcp", filepath.Join(dir, "desk.yaml"), "--http", "127.0.0.1:0", "--database=sqlite:" + filepath.Join(dir, "runs.db")}
		code <- cli.Main(ctx, args, strings.NewReader(""), io.Discard, writer, environ)
		writer.Close()
	}()
	at := ""
	for lines := bufio.NewScanner(said); at == "" && lines.Scan(); {
		if m := regexp.MustCompile(`^serving MCP at (http://\S+)$`).FindStringSubmatch(lines.Text()); m != nil {
			at = m[1]
		}
	}
	go func() { _, _ = io.Copy(io.Discard, said) }()
	s, err := mcp.Connect(t.Context(), "desk", mcp.HTTP(at, &mcp.HTTPOptions{Header: http.Header{"Authorization": {"Bearer the-token-of-the-test"}}}), nil)
	if err != nil {
		t.Fatal(err)
	}
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
	database := "sqlite:" + filepath.Join(dir, "runs.db")
	if !soon(func() bool {
		_, out, _ := invoke(t, t.Context(), nil, "runs", "--json", "--status", "running", "--database", database)
		return out != ""
	}) {
		t.Fatal("it does not hang")
	}
	stop()
	next(webhook.Paused)
	if got := <-code; got != 130 {
		t.Errorf("exit %d", got)
	}
	if err := <-hung; err == nil {
		t.Error("the call that was cut off succeeded")
	}
}
