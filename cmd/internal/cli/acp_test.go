package cli_test

import (
	"context"
	"errors"
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
	mu     sync.Mutex
	seen   []string
	asks   string
	choice protocol.PermissionOptionId
	asked  chan struct{} // set: an answer never comes, until the prompt is cancelled
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

var errNotAsked = errors.New("nothing asks for it")

func (e *editor) ReadTextFile(context.Context, protocol.ReadTextFileRequest) (r protocol.ReadTextFileResponse, err error) {
	return r, errNotAsked
}

func (e *editor) WriteTextFile(context.Context, protocol.WriteTextFileRequest) (r protocol.WriteTextFileResponse, err error) {
	return r, errNotAsked
}

func (e *editor) CreateTerminal(context.Context, protocol.CreateTerminalRequest) (r protocol.CreateTerminalResponse, err error) {
	return r, errNotAsked
}

func (e *editor) KillTerminal(context.Context, protocol.KillTerminalRequest) (r protocol.KillTerminalResponse, err error) {
	return r, errNotAsked
}

func (e *editor) TerminalOutput(context.Context, protocol.TerminalOutputRequest) (r protocol.TerminalOutputResponse, err error) {
	return r, errNotAsked
}

func (e *editor) ReleaseTerminal(context.Context, protocol.ReleaseTerminalRequest) (r protocol.ReleaseTerminalResponse, err error) {
	return r, errNotAsked
}

func (e *editor) WaitForTerminalExit(context.Context, protocol.WaitForTerminalExitRequest) (r protocol.WaitForTerminalExitResponse, err error) {
	return r, errNotAsked
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
	write("s.yaml", `
replies:
  - {text: "I write it.", calls: [{tool: write_file, args: {path: a.txt, content: "new\n"}}]}
  - {text: It is written.}
repeat: all
`)
	spec := write("a.yaml", `
name: a
model: script:s.yaml
approvals: {gates: [write_file]}
tools: [{builtin: [write_file]}]
`)
	database := "--database=sqlite:" + filepath.Join(dir, "pawl.db")
	e := &editor{choice: "once"}
	c := e.connect(t, spec, database)
	session, err := c.NewSession(t.Context(), protocol.NewSessionRequest{Cwd: dir, McpServers: []protocol.McpServer{}})
	must(t, err)
	prompt := func(text string) protocol.StopReason {
		t.Helper()
		r, err := c.Prompt(t.Context(), protocol.PromptRequest{SessionId: session.SessionId, Prompt: []protocol.ContentBlock{protocol.TextBlock(text)}})
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
	if text, err := os.ReadFile(filepath.Join(dir, "a.txt")); err != nil || string(text) != "new\n" {
		t.Errorf("the file is %q, %v", text, err)
	}

	e.choice = "no"
	prompt("Once more.")
	if got, want := e.take(), called+"failed\nagent: It is written."; got != want {
		t.Errorf("the editor sees\n%s", got)
	}
	if want := strings.Repeat("write_file a.txt\n", 2); e.asks != want {
		t.Errorf("it asks for %q", e.asks)
	}
	e.asked = make(chan struct{})
	go func() {
		<-e.asked
		if err := c.Cancel(t.Context(), protocol.CancelNotification{SessionId: session.SessionId}); err != nil {
			t.Error(err)
		}
	}()
	if got := prompt("A last time."); got != protocol.StopReasonCancelled {
		t.Errorf("it stops: %s", got)
	}

	again := &editor{}
	_, err = again.connect(t, spec, database).LoadSession(t.Context(), protocol.LoadSessionRequest{SessionId: session.SessionId, Cwd: dir, McpServers: []protocol.McpServer{}})
	must(t, err)
	if got := again.take(); !strings.HasPrefix(got, "user: Write.\nagent: I write it.\n") || !strings.Contains(got, "user: A last time.") {
		t.Errorf("the thread is\n%s", got)
	}
}

// The editor sees how far a command is, and then its result.
func TestACPProgress(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "s.yaml"), []byte("replies: [{calls: [{tool: count}]}, {text: Done.}]"), 0o600))
	spec := filepath.Join(dir, "a.yaml")
	must(t, os.WriteFile(spec, []byte(`
name: a
model: script:s.yaml
tools:
  - {name: count, description: Count., effect: read, command: [sh, -c, "echo '##progress 0.4 12 of 30' >&2; echo 30"]}
`), 0o600))
	e := &editor{}
	c := e.connect(t, spec, "--database=sqlite:"+filepath.Join(dir, "pawl.db"))
	session, err := c.NewSession(t.Context(), protocol.NewSessionRequest{Cwd: dir, McpServers: []protocol.McpServer{}})
	must(t, err)
	_, err = c.Prompt(t.Context(), protocol.PromptRequest{SessionId: session.SessionId, Prompt: []protocol.ContentBlock{protocol.TextBlock("Count.")}})
	must(t, err)
	if got := e.take(); got != "call: count read\ncall is in_progress\ncall says 40 %: 12 of 30\ncall is completed\nagent: Done." {
		t.Errorf("the editor sees\n%s", got)
	}
}
