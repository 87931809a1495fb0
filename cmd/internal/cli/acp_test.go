package cli_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	protocol "github.com/coder/acp-go-sdk"

	"github.com/pawl-run/pawl/cmd/internal/cli"
)

// editor is an editor that notes what it is sent, and answers requests for permission with choice.
type editor struct {
	protocol.Client // the rest is never asked for
	mu              sync.Mutex
	seen            []string
	asks            string
	path            string // of the latest difference
	choice          protocol.PermissionOptionId
	asked           chan struct{} // set: an answer never comes, until the prompt is cancelled
}

func (e *editor) note(text string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.seen = append(e.seen, text)
}

// take returns what was noted since the last time.
func (e *editor) take() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	text := strings.Join(e.seen, "\n")
	e.seen = nil
	return text
}

func (e *editor) SessionUpdate(_ context.Context, n protocol.SessionNotification) error {
	switch u := n.Update; {
	case u.UserMessageChunk != nil:
		e.note("user: " + u.UserMessageChunk.Content.Text.Text)
	case u.AgentMessageChunk != nil:
		e.note("agent: " + u.AgentMessageChunk.Content.Text.Text)
	case u.ToolCall != nil:
		e.note("call: " + u.ToolCall.Title + " " + string(u.ToolCall.Kind))
		for _, c := range u.ToolCall.Content {
			e.path = c.Diff.Path
		}
	case u.ToolCallUpdate != nil && u.ToolCallUpdate.RawOutput == nil && u.ToolCallUpdate.Content != nil:
		e.note("call says " + u.ToolCallUpdate.Content[0].Content.Content.Text.Text)
	case u.ToolCallUpdate != nil:
		e.note("call is " + string(*u.ToolCallUpdate.Status))
	}
	return nil
}

func (e *editor) RequestPermission(ctx context.Context, r protocol.RequestPermissionRequest) (protocol.RequestPermissionResponse, error) {
	e.mu.Lock()
	e.asks += *r.ToolCall.Title + "\n" // the SDK keeps no order between requests and updates
	e.mu.Unlock()
	if e.asked != nil {
		close(e.asked)
		<-ctx.Done()
		return protocol.RequestPermissionResponse{Outcome: protocol.NewRequestPermissionOutcomeCancelled()}, nil
	}
	return protocol.RequestPermissionResponse{Outcome: protocol.NewRequestPermissionOutcomeSelected(e.choice)}, nil
}

// edits starts pawl acp with a spec and connects the editor to it.
func (e *editor) connect(t *testing.T, args ...string) *protocol.ClientSideConnection {
	t.Helper()
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	done := make(chan int, 1)
	go func() {
		done <- cli.Main(t.Context(), append([]string{"acp", "--quiet"}, args...), in, out, t.Output(), os.Environ())
		_ = out.Close()
	}()
	t.Cleanup(func() {
		_ = toServer.Close()
		if code := <-done; code != 0 {
			t.Errorf("pawl acp exits %d", code)
		}
	})
	c := protocol.NewClientSideConnection(e, toServer, fromServer)
	r, err := c.Initialize(t.Context(), protocol.InitializeRequest{ProtocolVersion: protocol.ProtocolVersionNumber})
	if err != nil || r.ProtocolVersion != 1 || !r.AgentCapabilities.LoadSession {
		t.Fatalf("%+v %v", r, err)
	}
	return c
}

// TestACP has the SDK of the Agent Client Protocol drive an agent: a file is written when the
// editor allows it, the thread goes on, and another process opens it again.
func TestACP(t *testing.T) { // Promises: N13.
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		must(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	must(t, os.Mkdir(filepath.Join(dir, "work"), 0o700))
	write("s.yaml", `
replies:
  - {text: "I write it.", calls: [{tool: write_file, args: {path: a.txt, content: "new\n"}}]}
  - {text: It is written.}
repeat: all
`)
	spec := write("a.yaml", `
name: a
model: script:s.yaml
dir: work
approvals: {gates: [write_file]}
tools: [{builtin: [write_file]}]
`)
	database := "--database=sqlite:" + filepath.Join(dir, "pawl.db")
	e := &editor{choice: "once"}
	c := e.connect(t, spec, database)
	session, err := c.NewSession(t.Context(), protocol.NewSessionRequest{Cwd: dir, McpServers: []protocol.McpServer{}})
	must(t, err)
	send := func(text string) (protocol.PromptResponse, error) {
		return c.Prompt(t.Context(), protocol.PromptRequest{SessionId: session.SessionId, Prompt: []protocol.ContentBlock{protocol.TextBlock(text)}})
	}
	prompt := func(text string) protocol.StopReason {
		t.Helper()
		r, err := send(text)
		must(t, err)
		return r.StopReason
	}
	const called = "agent: I write it.\ncall: write_file a.txt edit\ncall is "
	if got := prompt("Write."); got != protocol.StopReasonEndTurn {
		t.Errorf("it stops: %s", got)
	}
	if got, want := e.take(), called+"in_progress\ncall is completed\nagent: It is written."; got != want {
		t.Errorf("the editor sees\n%s", got)
	}
	if text, err := os.ReadFile(e.path); err != nil || string(text) != "new\n" || e.path != filepath.Join(dir, "work", "a.txt") {
		t.Errorf("the editor is shown %s: %q, %v", e.path, text, err)
	}

	e.choice = "maybe" // which is not offered
	prompt("Once more.")
	if got, want := e.take(), called+"failed\nagent: It is written."; got != want {
		t.Errorf("the editor sees\n%s", got)
	}
	if want := strings.Repeat("write_file a.txt\n", 2); e.asks != want {
		t.Errorf("it asks for %q", e.asks)
	}
	e.asked = make(chan struct{})
	load := protocol.LoadSessionRequest{SessionId: session.SessionId, Cwd: dir, McpServers: []protocol.McpServer{}}
	go func() {
		<-e.asked
		for text, want := range map[string]string{"": "the prompt is empty", "And?": "a prompt of this session is in progress"} {
			if _, err := send(text); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v", text, err)
			}
		}
		if _, err := c.LoadSession(t.Context(), load); err == nil || !strings.Contains(err.Error(), "in progress") {
			t.Errorf("it is loaded while its prompt runs: %v", err)
		}
		if err := c.Cancel(t.Context(), protocol.CancelNotification{SessionId: session.SessionId}); err != nil {
			t.Error(err)
		}
	}()
	if stop, got := prompt("A last time."), e.take(); stop != protocol.StopReasonCancelled || got != called+"failed" {
		t.Errorf("it stops: %s; the editor sees\n%s", stop, got)
	}

	again := &editor{}
	_, err = again.connect(t, spec, database).LoadSession(t.Context(), load)
	must(t, err)
	if got := again.take(); !strings.HasPrefix(got, "user: Write.\nagent: I write it.\n") || !strings.Contains(got, "user: A last time.") {
		t.Errorf("the thread is\n%s", got)
	}
}

// The editor sees how far a command is, its result, and what the run waits for.
func TestACPProgress(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "s.yaml"), []byte("replies: [{calls: [{tool: count}]}, {calls: [{tool: ask_human, args: {question: Which?}}, {tool: pick}]}]"), 0o600))
	spec := filepath.Join(dir, "a.yaml")
	must(t, os.WriteFile(spec, []byte(`
name: a
model: script:s.yaml
tools:
  - {builtin: [ask_human]}
  - {name: pick, client: true, description: Pick., input: {type: object}}
  - {name: count, description: Count., effect: read, command: [sh, -c, "echo '##progress 0.4 12 of 30' >&2; echo 30"]}
`), 0o600))
	e := &editor{}
	editing := e.connect(t, spec, "--database=sqlite:"+filepath.Join(dir, "pawl.db"))
	session, err := editing.NewSession(t.Context(), protocol.NewSessionRequest{Cwd: dir, McpServers: []protocol.McpServer{}})
	must(t, err)
	for _, c := range [][2]string{
		{"Count.", "call: count read\ncall is in_progress\ncall says 40 %: 12 of 30\ncall is completed\ncall: ask_human read\ncall: pick execute\ncall is in_progress\nagent: Which?\npick waits"},
		{"This.", "call is completed\nagent: pick waits for its result: pawl submit "},
	} {
		_, err = editing.Prompt(t.Context(), protocol.PromptRequest{SessionId: session.SessionId, Prompt: []protocol.ContentBlock{protocol.TextBlock(c[0])}})
		must(t, err)
		if got := e.take(); !strings.HasPrefix(got, c[1]) {
			t.Errorf("the editor sees\n%s", got)
		}
	}
}
