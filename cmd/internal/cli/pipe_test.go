package cli_test

import (
	"os"
	"os/exec"
	"strings"
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
		must(t, os.RemoveAll("ran.txt"))
		r, w, err := os.Pipe()
		must(t, err)
		must(t, r.Close())
		run := exec.CommandContext(t.Context(), "pawl", "run", "count.yaml", "go")
		run.Env = append(os.Environ(), "PAWL_DATABASE=sqlite:runs.db")
		if c.stdout {
			run.Stdout = w
		}
		if c.stderr {
			run.Stderr = w
		}
		_ = run.Run() // its exit code says it
		must(t, w.Close())
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

// Who has read enough of what is only shown has got what he wanted. What was
// asked for besides is not hidden by it.
func TestReaderHasEnough(t *testing.T) {
	files(t, map[string]string{"say.yaml": "name: say\nmodel: script:say.script.yaml\n", "say.script.yaml": "replies: [{text: said}]\n"})
	if code, _, errs := invoke(t, t.Context(), nil, "run", "say.yaml", "go"); code != 0 {
		t.Fatal(errs)
	}
	for _, c := range []struct {
		args []string
		code int
	}{
		{[]string{"runs"}, 0},
		{[]string{"events", "last", "--follow"}, 0},
		{[]string{"explain", "last", "--json"}, 0},
		{[]string{"show", "nobody"}, 2},
		{[]string{"export", "last"}, 1}, // nobody has it
	} {
		r, w, err := os.Pipe()
		must(t, err)
		must(t, r.Close())
		var said strings.Builder
		shown := exec.CommandContext(t.Context(), "pawl", append(c.args, "--quiet")...)
		shown.Env = append(os.Environ(), "PAWL_DATABASE=sqlite:runs.db")
		shown.Stdout, shown.Stderr = w, &said
		_ = shown.Run() // its exit code says it
		must(t, w.Close())
		if got := shown.ProcessState.ExitCode(); got != c.code || strings.Contains(said.String(), "pipe") {
			t.Errorf("%v: exit %d, and it says %q", c.args, got, said.String())
		}
	}
}
