//go:build linux || darwin

package tool_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/model/script"
	"github.com/pawl-run/pawl/tool"
)

func TestExec(t *testing.T) {
	t.Setenv("LEDGER_TOKEN", "x")
	dir := t.TempDir()
	for what, c := range map[string]struct {
		argv []string
		opt  *tool.ExecOptions
		want tool.ExecResult
		err  string
		is   error
	}{
		"output":      {[]string{"sh", "-c", "echo out; echo err >&2"}, nil, tool.ExecResult{Stdout: "out\n", Stderr: "err\n"}, "", nil},
		"stdin":       {[]string{"cat"}, &tool.ExecOptions{Stdin: []byte("in")}, tool.ExecResult{Stdout: "in"}, "", nil},
		"environment": {[]string{"sh", "-c", `echo "$LEDGER_TOKEN$OTHER$A"; pwd`}, &tool.ExecOptions{Dir: dir, Env: []string{"A=b"}}, tool.ExecResult{Stdout: "b\n" + dir + "\n"}, "", nil},
		"failure":     {[]string{"sh", "-c", "echo no >&2; exit 3"}, nil, tool.ExecResult{Stderr: "no\n", Code: 3}, "exit status 3: no", nil},
		"time-out": {[]string{"sh", "-c", "trap '' TERM; echo begun; while :; do sleep 1; done"}, &tool.ExecOptions{Timeout: time.Second, Grace: 50 * time.Millisecond},
			tool.ExecResult{Stdout: "begun\n", Code: -1}, "killed by SIGKILL: begun", context.DeadlineExceeded},
		"no program": {[]string{"no-such-program"}, nil, tool.ExecResult{}, `cannot start "no-such-program"`, nil},
		"nothing":    {nil, nil, tool.ExecResult{}, "its command is empty", nil},
	} {
		t.Run(what, func(t *testing.T) {
			got, err := tool.Exec(t.Context(), c.argv, c.opt)
			if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) || c.is != nil && !errors.Is(err, c.is) {
				t.Errorf("got %+v, %v; want %+v, %q", got, err, c.want, c.err)
			}
		})
	}
	long, err := tool.Exec(t.Context(), []string{"sh", "-c", "yes | head -c 1000000"}, &tool.ExecOptions{MaxOutput: 1000})
	if err != nil || len(long.Stdout) > 2000 {
		t.Errorf("%d bytes of output are kept (%v)", len(long.Stdout), err)
	}
}

// A command within a Go function ends with the run's time, even if it ignores SIGTERM, and so does
// what it has started.
func TestExecInRun(t *testing.T) {
	t.Parallel()
	mark := filepath.Join(t.TempDir(), "mark")
	work := tool.Func("work", "Work.", func(ctx context.Context, _ struct{}) (string, error) {
		r, err := tool.Exec(ctx, []string{"sh", "-c", "trap '' TERM; (trap '' TERM; while :; do date +%N >> " + mark + "; sleep 0.05; done) & wait"}, nil)
		return r.Stdout, err
	}, pawl.Read)
	agent := pawl.Agent{Name: "worker", Tools: []pawl.Tool{work}, Limits: pawl.Limits{Time: 2 * time.Second},
		Model: script.Replies(pawl.Do(pawl.Call{Tool: "work", Args: []byte("{}")}))}
	r, err := engine.Run(t.Context(), agent, "go")
	if err != nil || r.Status != pawl.StatusExhausted {
		t.Fatal(r.Verdict, err)
	}
	time.Sleep(200 * time.Millisecond)
	before, _ := os.ReadFile(mark)
	time.Sleep(300 * time.Millisecond)
	if after, _ := os.ReadFile(mark); len(before) == 0 || string(before) != string(after) {
		t.Errorf("a process of the command is still alive: %q, then %q", before, after)
	}
}
