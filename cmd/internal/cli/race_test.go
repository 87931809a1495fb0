package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/testkit/check"
)

// deciders run commands about the last run at once, each in a process of its
// own, and return their exit codes and what they said.
func deciders(t *testing.T, commands [][]string) (codes []int, said []string) {
	t.Helper()
	codes, said = make([]int, len(commands)), make([]string, len(commands))
	var all sync.WaitGroup
	for i, args := range commands {
		var out bytes.Buffer
		c := exec.CommandContext(t.Context(), "pawl", args...)
		c.Env = append(os.Environ(), "PAWL_DATABASE=sqlite:runs.db")
		c.Stdout, c.Stderr = &out, &out
		must(t, c.Start())
		all.Go(func() {
			_ = c.Wait() // its exit code says it
			codes[i], said[i] = c.ProcessState.ExitCode(), out.String()
		})
	}
	all.Wait()
	return codes, said
}

const paying = `
name: paying
model: script:paying.script.yaml
tools:
  - {name: pay, description: Pay., command: [stub, count, paid.txt], approval: required}
`

// Many processes decide about one call at once, with PAWL_PROOF 64 of them: there is
// one effect, and each learns which decision holds.
func TestManyApprove(t *testing.T) { // Promises: N5.
	check.SkipShort(t, "many processes, and each of them does one thing: -short")
	files(t, map[string]string{"paying.yaml": paying, "paying.script.yaml": "replies: [{calls: [{tool: pay}]}, {text: paid}]\n"})
	many := 16
	if os.Getenv("PAWL_PROOF") != "" {
		many = 64
	}
	for name, deny := range map[string]bool{"all approve": false, "half deny": true} {
		t.Run(name, func(t *testing.T) {
			for _, file := range []string{"paid.txt", "runs.db", "runs.db-wal", "runs.db-shm"} {
				must(t, os.RemoveAll(file))
			}
			begin := exec.CommandContext(t.Context(), "pawl", "run", "paying.yaml", "go", "--json") // from where the others are
			begin.Env = append(os.Environ(), "PAWL_DATABASE=sqlite:runs.db")
			stdout, _ := begin.Output() // it exits with 5
			var r pawl.Result
			if err := json.Unmarshal(stdout, &r); err != nil || len(r.Pending) != 1 {
				t.Fatalf("%v: %s", err, stdout)
			}
			var commands [][]string
			for i := range many {
				args := []string{"approve", r.Run, "c_1", "--token", r.Pending[0].Token, "--by", fmt.Sprint("approver ", i)}
				if i%2 == 1 && deny {
					args = []string{"deny", r.Run, "c_1", "--by", fmt.Sprint("denier ", i), "--reason", "no"}
				}
				commands = append(commands, args)
			}
			codes, said := deciders(t, commands)
			_, events, _ := invoke(t, t.Context(), nil, "events", r.Run)
			decisions := strings.Count(events, `"type":"approval.decided"`)
			denied := strings.Contains(events, `"decision":"deny"`)
			want := 1
			if denied {
				want = 0
			}
			if n := effects(t, "paid.txt"); n != want || decisions != 1 || denied && !deny {
				t.Errorf("%d effects of %d decisions, denied: %v\n%s", n, decisions, denied, events)
			}
			for i, code := range codes {
				lost := (commands[i][0] == "deny") != denied
				if code != 0 && !(code == 2 && lost) || lost && !strings.Contains(said[i], "already given by") {
					t.Errorf("%s: exit %d\n%s", commands[i][0], code, said[i])
				}
			}
			if !slices.Contains(codes, 0) {
				t.Error("nobody succeeded")
			}
			if code, out, _ := invoke(t, t.Context(), nil, "show", r.Run, "--json"); code != 0 || !strings.Contains(out, `"status":"success"`) {
				t.Errorf("in the end it is %s", out)
			}
			if code, _, stderr := invoke(t, t.Context(), nil, "replay", r.Run); code != 0 {
				t.Error(stderr)
			}
		})
	}
}
