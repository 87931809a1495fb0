//go:build linux || darwin

package cli_test

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestKillWhileRemoteWorks kills a process that waits for an agent of another server. The next
// one finds the task there, which goes on meanwhile, and makes no other.
func TestKillWhileRemoteWorks(t *testing.T) {
	if testing.Short() {
		t.Skip("one process after another, in which the race detector sees what it sees elsewhere")
	}
	files(t, map[string]string{
		"works.yaml":         "name: works\nmodel: script:works.script.yaml\ntools:\n  - {name: work, description: Work., command: [stub, hold, held.txt]}\n",
		"works.script.yaml":  "replies: [{calls: [{tool: work}]}, {text: the work is done}]\n",
		"caller.script.yaml": "replies: [{calls: [{tool: works, args: {input: work}}]}, {expect: the work is done, text: all done}]\n",
	})
	there := serveUntil(t, "serve", "works.yaml", "--a2a", "--addr", "127.0.0.1:0")
	caller := "name: caller\nmodel: script:caller.script.yaml\ntools:\n  - {a2a: {url: " + there.at + ", token: THEIRS}, name: works}\n"
	must(t, os.WriteFile("caller.yaml", []byte(caller), 0o600))
	pawl := func(args ...string) *exec.Cmd {
		c := exec.Command("spawl", args...)
		c.Env = append(os.Environ(), "PAWL_DATABASE=sqlite:mine.db", "THEIRS="+hookToken)
		return c
	}
	var said bytes.Buffer
	first := pawl("run", "caller.yaml", "go")
	first.Stderr = &said
	must(t, first.Start())
	waiting := false
	for end := time.Now().Add(time.Minute); !waiting && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		runs, _ := pawl("runs", "--children", "--max", "1", "--json").Output() // of which the newest is the child
		id, _, _ := strings.Cut(strings.TrimPrefix(string(runs), `{"run":"`), `"`)
		log, _ := pawl("events", id).Output()
		_, err := os.Stat("held.txt")
		waiting = err == nil && strings.Contains(string(log), `"tool":"wait_for_task"`)
	}
	_ = first.Process.Kill()
	_ = first.Wait() // which is the kill's
	if !waiting {
		t.Fatalf("the run does not wait for the task: %s", &said)
	}
	must(t, os.WriteFile("held.txt.go", nil, 0o600))
	if out, err := pawl("resume", "last").CombinedOutput(); err != nil || !strings.Contains(string(out), "all done\n") {
		t.Errorf("%s%v", out, err)
	}
	if code, stderr := there.end(); code != 130 {
		t.Errorf("the server ends with %d: %s", code, stderr)
	}
	if _, runs, stderr := invoke(t, t.Context(), nil, "runs", "--json"); strings.Count(runs, `"agent":"works"`) != 1 {
		t.Errorf("there are other tasks: %s%s", runs, stderr)
	}
}
