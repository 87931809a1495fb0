//go:build unix

package postgres_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
)

// A note is a tool that writes down what it was asked to do, and may hold the
// run up while something happens.
type note struct {
	mu    sync.Mutex
	done  []int
	at    int
	event func()
}

func (n *note) Info() pawl.ToolInfo {
	return pawl.ToolInfo{Name: "note", Description: "Note a number.", Effect: pawl.Write,
		Input: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)}
}

func (n *note) Run(_ context.Context, inv pawl.Invocation) (pawl.Output, error) {
	var in struct{ N int }
	err := json.Unmarshal(inv.Args, &in)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.done = append(n.done, in.N); in.N == n.at && n.event != nil {
		n.event()
	}
	return pawl.Output{JSON: []byte(`"noted"`)}, err
}

// noting is an agent that notes the numbers below most.
func noting(tool pawl.Tool, most int) pawl.Agent {
	return pawl.Agent{
		Name: "noting", Tools: []pawl.Tool{tool},
		Model: pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
			turn := len(r.Messages) / 2
			if turn == most {
				return pawl.Reply{Parts: []pawl.Part{pawl.Text{Text: "done"}}, Usage: pawl.Usage{Input: 10, Output: 2}}, nil
			}
			return pawl.Reply{Parts: []pawl.Part{pawl.Call{Tool: "note", Args: fmt.Appendf(nil, `{"n":%d}`, turn)}}, Usage: pawl.Usage{Input: 10, Output: 2}}, nil
		}),
	}
}

// TestRunGoesOn kills the server while a run of the engine is in a tool. The
// run goes on when the server is back, and no tool ran twice.
func TestRunGoesOn(t *testing.T) {
	s := started(t)
	j := fresh(t)
	begun, killed := make(chan struct{}), make(chan struct{})
	tool := &note{at: 4, event: func() { close(begun); <-killed }}
	run, err := engine.New(j, nil).Start(t.Context(), noting(tool, 8), "go", nil)
	if err != nil {
		t.Fatal(err)
	}
	<-begun
	s.kill(t)
	close(killed)
	s.restart(t)
	result, err := run.Wait(t.Context())
	if err != nil || result.Status != pawl.StatusSuccess || result.ToolCalls != 8 {
		t.Fatal(result.Verdict, result.ToolCalls, err)
	}
	if got := fmt.Sprint(tool.done); got != "[0 1 2 3 4 5 6 7]" {
		t.Errorf("the tool noted %s", got)
	}
	for h, err := range j.List(t.Context(), pawl.Query{}) {
		if err != nil || h.Status != pawl.StatusSuccess || !h.Lease.Until.IsZero() {
			t.Errorf("the head is %+v, %v", h, err)
		}
	}
}

// TestCommand uses one database from several commands, as several machines
// would: one parks a run, one watches it, one approves, and others look.
func TestCommand(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"shop.yaml": `name: shop
model: script:shop.script.yaml
tools:
  - name: pay
    description: Pay.
    command: [sh, -c, "echo paid >> paid.txt; echo paid"]
    approval: required
`,
		"shop.script.yaml": "replies: [{calls: [{tool: pay}]}, {expect: paid, text: all is paid}]\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	raw(t, `DROP SCHEMA IF EXISTS pawl CASCADE`)
	environ := []string{"PAWL_DATABASE=" + started(t).url(), "PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
	pawlRun := func(args ...string) (code int, out, errs string) {
		cmd := exec.Command(program(t), args...)
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr, cmd.Env = &stdout, &stderr, environ
		_ = cmd.Run() // the code says whether it failed
		return cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()
	}
	pawlDo := func(want int, args ...string) string {
		t.Helper()
		code, out, errs := pawlRun(args...)
		if code != want {
			t.Fatalf("%q exits with %d, not %d: %s%s", args, code, want, out, errs)
		}
		return out
	}
	pawlDo(5, "run", "shop.yaml", "buy")
	followed := make(chan string)
	go func() {
		code, out, errs := pawlRun("events", "last", "--follow")
		followed <- fmt.Sprint(code, errs, out)
	}()
	time.Sleep(200 * time.Millisecond) // for the follower's start
	if got := pawlDo(0, "approve", "last"); got != "all is paid\n" {
		t.Errorf("approved, it says %q", got)
	}
	events := pawlDo(0, "events", "last")
	if got := <-followed; got != "0"+events {
		t.Errorf("who followed has seen %s\nbut there is %s", got, events)
	}
	if text, err := os.ReadFile("paid.txt"); err != nil || string(text) != "paid\n" {
		t.Errorf("paid.txt is %q, %v", text, err)
	}
	if got := pawlDo(0, "runs", "--json"); strings.Count(got, `"status":"success"`) != 1 {
		t.Errorf("the list is %s", got)
	}
	for _, args := range [][]string{{"replay", "last"}, {"explain", "last"}, {"show", "last"}, {"wait", "last"}} {
		pawlDo(0, args...)
	}
	if err := os.WriteFile("run.jsonl", []byte(pawlDo(0, "export", "last", "--raw")), 0o600); err != nil {
		t.Fatal(err)
	}
	pawlDo(0, "gc", "--older-than", "0h")
	if got := pawlDo(0, "runs", "--json"); got != "" {
		t.Errorf("after a sweep the list is %s", got)
	}
	pawlDo(0, "import", "run.jsonl")
	if got := pawlDo(0, "events", "last"); !strings.HasPrefix(got, events) { // which is noted behind it
		t.Errorf("imported, the log is %s\nand does not begin with %s", got, events)
	}
}
