package cli_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

const buying = `
name: buying
model: script:buying.script.yaml
tools:
  - {name: buy, description: Buy., command: [stub, count, bought.txt]}
`

// Sixteen processes start a run under one key at once, one of them killed: there
// is one run, bought for once, and everybody who lives is told its result.
func TestManyStartOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("many processes, and each of them does one thing: -short")
	}
	files(t, map[string]string{"buying.yaml": buying, "buying.script.yaml": "replies: [{calls: [{tool: buy}]}, {text: bought}]\n"})
	var commands [][]string
	for range 16 {
		commands = append(commands, []string{"run", "buying.yaml", "Buy one.", "--key", "order-17", "--json"})
	}
	doomed := exec.CommandContext(t.Context(), "pawl", commands[0]...)
	doomed.Env = append(os.Environ(), "PAWL_DATABASE=sqlite:runs.db")
	if err := doomed.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		soon(func() bool { _, err := os.Stat("runs.db"); return err == nil })
		_ = doomed.Process.Kill() // wherever it is
	}()
	codes, said := deciders(t, commands)
	_ = doomed.Wait() // it was killed
	for i, code := range codes {
		if interrupted := strings.Contains(said[i], `"status":"interrupted"`); code != 0 && !interrupted || !strings.Contains(said[i], `"run":"`) {
			t.Errorf("exit %d\n%s", code, said[i])
		}
	}
	code, out, stderr := invoke(t, t.Context(), nil, "run", "buying.yaml", "Buy one.", "--key", "order-17", "--json")
	if code != 0 || !strings.Contains(out, `"answer":"bought"`) {
		t.Errorf("in the end: exit %d, %s%s", code, out, stderr)
	}
	if _, out, _ := invoke(t, t.Context(), nil, "runs", "--json"); strings.Count(out, `"run"`) != 1 {
		t.Errorf("the runs are\n%s", out)
	}
	if n := effects(t, "bought.txt"); n != 1 {
		t.Errorf("%d were bought", n)
	}
	if code, _, stderr := invoke(t, t.Context(), nil, "replay", "last"); code != 0 {
		t.Error(stderr)
	}
}
