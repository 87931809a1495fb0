package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// node runs a program of testdata/a2a, which has the official SDK.
func node(t *testing.T, args ...string) []byte {
	t.Helper()
	dir := filepath.Join("..", "testdata", "a2a")
	needsNode(t, dir)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", append([]string{filepath.Join(dir, args[0])}, args[1:]...)...)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s%s", err, said.Bytes(), out)
	}
	return out
}

// needsNode skips a test without Node.js and the SDK; under CI it fails.
func needsNode(t *testing.T, dir string) {
	t.Helper()
	missing := t.Skipf
	if os.Getenv("CI") != "" {
		missing = t.Fatalf
	}
	if _, err := os.Stat(filepath.Join(dir, "node_modules", "@a2a-js", "sdk")); err != nil {
		missing("the SDK is not installed: npm ci --prefix testdata/a2a")
	}
	if _, err := exec.LookPath("node"); err != nil {
		missing("there is no node: %v", err)
	}
}

// TestA2AOfficialClient calls the server with the official client.
func TestA2AOfficialClient(t *testing.T) {
	w := newA2AWorld(t, nil)
	w.hearing()
	release := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { w.release <- struct{}{} }))
	defer release.Close()
	var got struct {
		Name string
		Out  map[string]any
	}
	if out := node(t, "client.js", w.web.URL, admin, release.URL); json.Unmarshal(out, &got) != nil {
		t.Fatalf("%s", out)
	}
	want := map[string]any{
		"send": []any{"TASK_STATE_COMPLETED", "Hello from TCK"}, "get": "TASK_STATE_COMPLETED",
		"stream": []any{"task TASK_STATE_WORKING", "artifact Stream hello from TCK", "status TASK_STATE_COMPLETED"},
		"asks":   []any{"TASK_STATE_INPUT_REQUIRED", "Please provide input"}, "list": []any{true},
		"subscribed": "TASK_STATE_INPUT_REQUIRED", "answered": []any{"TASK_STATE_COMPLETED", "Echo: go"},
		"rest": []any{"status TASK_STATE_WORKING", "artifact Echo: go", "status TASK_STATE_COMPLETED"},
		"said": []any{"TASK_STATE_WORKING", true, "TASK_STATE_WORKING"}, "heard": []any{"artifact go hurry", "status TASK_STATE_COMPLETED"}, "stopped": "TASK_STATE_CANCELED",
		"cancelled": "TASK_STATE_CANCELED", "card": []any{"scenarios", "scenarios/ask_human"},
	}
	for key, name := range map[string]string{"twice": "TaskNotCancelableError", "unknown": "TaskNotFoundError", "ended": "UnsupportedOperationError"} {
		want[key] = fmt.Sprintf("JsonRpc%s %s", name, name)
	}
	if got.Name != "scenarios" {
		t.Errorf("the card is of %q", got.Name)
	}
	if diff := cmp.Diff(want, got.Out); diff != "" {
		t.Error(diff)
	}
}
