//go:build linux || darwin

package tool_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/tool"
)

func argv(t testing.TB, words ...string) pawl.Invocation {
	t.Helper()
	args, err := json.Marshal(map[string]any{"argv": words})
	must(t, err)
	return pawl.Invocation{Tool: "run_command", Args: args, Attempt: 1}
}

// What a shell would take for its own is handed over as it is.
func TestRunCommand(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("SHOWN", "shown")
	t.Setenv("HIDDEN", "hidden")
	t.Setenv("LEDGER_TOKEN", "token-of-the-ledger")
	run := tool.RunCommand(&tool.CommandOptions{Dir: dir, Env: []string{"SHOWN"}, Secrets: []string{"LEDGER_TOKEN"}})
	for _, c := range []struct {
		argv       []string
		want, fail string
	}{
		{argv: []string{"echo", "a  b", "$HOME", "`id`", "; id", "*", "$(id)", "|", ">", "&& id", "a\nb"}, want: "a  b $HOME `id` ; id * $(id) | > && id a\nb"},
		{argv: []string{"pwd"}, want: dir},
		{argv: []string{"cat"}, want: ""}, // there is nothing on stdin
		{argv: []string{"sh", "-c", "echo $SHOWN$HIDDEN $LEDGER_TOKEN"}, want: "shown {{secret:LEDGER_TOKEN}}"},
		{argv: []string{"sh", "-c", "echo no >&2; exit 3"}, fail: "exit status 3: no"},
		{argv: []string{"no-such-program"}, fail: `cannot start "no-such-program": not found in PATH`},
		{argv: []string{"echo; id"}, fail: `cannot start "echo; id"`},
		{argv: []string{"../../bin/sh", "-c", "id"}, fail: "cannot start"},
		{argv: []string{""}, fail: "its command is empty"},
		{argv: nil, fail: "its command is empty"},
		{argv: []string{"echo", "a\x00b"}, fail: "its command has a NUL byte"},
	} {
		out, err := run.Run(t.Context(), argv(t, c.argv...))
		var got string
		_ = json.Unmarshal(out.JSON, &got)
		if c.fail == "" && (err != nil || got != c.want) || c.fail != "" && (err == nil || !strings.HasPrefix(err.Error(), c.fail)) {
			t.Errorf("%q: %q, %v", c.argv, got, err)
		}
	}
	if info := run.Info(); info.Effect != 0 && info.Effect != pawl.Write || info.Name != "run_command" || !json.Valid(info.Input) {
		t.Errorf("%+v", info)
	}
	wrong := tool.RunCommand(&tool.CommandOptions{Env: []string{"A=B"}})
	if err := wrong.(pawl.Checker).Check(pawl.Agent{}); err == nil || !strings.HasPrefix(err.Error(), `tool "run_command": env has "A=B"`) {
		t.Error(err)
	}
}

// An approval of a program rests on what the program is.
func TestRunCommandWitness(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "x.sh")
	ask := func(words ...string) map[string]string {
		w := tool.RunCommand(&tool.CommandOptions{Dir: dir}).(witnesser)
		found, err := w.Witness(t.Context(), argv(t, words...).Args)
		must(t, err)
		return found
	}
	write(t, script, "#!/bin/sh\necho one\n", 0o700)
	one, other := ask("./x.sh", "a"), ask("./x.sh", "b")
	if one["program"] == "" || one["program"] != other["program"] || one["command line"] == other["command line"] || one["working directory"] == "" {
		t.Error(one, other)
	}
	must(t, os.WriteFile(script, []byte("#!/bin/sh\nrm -r .\n"), 0o700))
	if ask("./x.sh", "a")["program"] == one["program"] || ask("sh", "x.sh")["x.sh"] == "" {
		t.Error("a change of the program goes unnoticed")
	}
}
