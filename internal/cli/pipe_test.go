package cli_test

import (
	"os"
	"os/exec"
	"testing"
)

// A reader that goes away does not take the run with it.
func TestClosedPipes(t *testing.T) {
	files(t, map[string]string{
		"count.yaml": "name: count\nmodel: script:count.script.yaml\ntools:\n" +
			"  - {name: count, description: Count., command: [stub, count, ran.txt], effect: write}\n",
		"count.script.yaml": "replies: [{calls: [{tool: count}]}, {calls: [{tool: count}]}, {text: counted}]\n",
	})
	for _, c := range []struct {
		stdout, stderr bool // closed
		code           int
	}{{stderr: true}, {stdout: true, code: 1}, {true, true, 1}} {
		if err := os.RemoveAll("ran.txt"); err != nil {
			t.Fatal(err)
		}
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		run := exec.CommandContext(t.Context(), "pawl", "run", "count.yaml", "go")
		run.Env = append(os.Environ(), "PAWL_DATABASE=sqlite:runs.db")
		if c.stdout {
			run.Stdout = w
		}
		if c.stderr {
			run.Stderr = w
		}
		_ = run.Run() // its exit code says it
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if got := run.ProcessState.ExitCode(); got != c.code {
			t.Errorf("%+v: exit %d", c, got)
		}
		if ran, err := os.ReadFile("ran.txt"); err != nil || string(ran) != "ran\nran\n" {
			t.Errorf("%+v: it ran %q, %v", c, ran, err)
		}
		code, out, _ := invoke(t, t.Context(), nil, "runs", "--status", "success", "--max", "1", "--json")
		if code != 0 || out == "" {
			t.Errorf("%+v: the run did not succeed", c)
		}
	}
}
