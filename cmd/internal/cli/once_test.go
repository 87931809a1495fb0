package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
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

// Sixteen processes say something in one thread at once: whoever gets a place in it
// has read all before it, whoever does not is told why, and nothing is said twice.
func TestManyContinue(t *testing.T) {
	if testing.Short() {
		t.Skip("many processes, and each of them does one thing: -short")
	}
	script := "replies:\n"
	for i := range 40 {
		script += fmt.Sprintf("  - {text: answer %d}\n", i)
	}
	files(t, map[string]string{"talk.yaml": "name: talk\nmodel: script:talk.script.yaml\nthread: talk\n", "talk.script.yaml": script})
	begun := 0
	for round := range 2 {
		var commands [][]string
		for i := range 16 {
			commands = append(commands, []string{"run", "talk.yaml", fmt.Sprintf("I am %d.", i), "--json"})
		}
		codes, said := deciders(t, commands)
		for i, code := range codes {
			refused := strings.Contains(said[i], `thread "talk" cannot go on`) || strings.Contains(said[i], "is being driven by")
			if code == 0 {
				begun++
			}
			if code != 0 && !(code == 2 && refused) {
				t.Errorf("exit %d\n%s", code, said[i])
			}
		}
		if begun <= round {
			t.Fatalf("%d of them got a place in round %d", begun, round)
		}
	}
	_, out, _ := invoke(t, t.Context(), nil, "runs", "--thread", "talk", "--json")
	answers := map[string]bool{}
	for line := range strings.Lines(out) {
		var head struct{ Run string }
		if err := json.Unmarshal([]byte(line), &head); err != nil {
			t.Fatal(err)
		}
		_, shown, _ := invoke(t, t.Context(), nil, "show", head.Run, "--json")
		var r pawl.Result
		if err := json.Unmarshal([]byte(shown), &r); err != nil || r.Status != pawl.Success {
			t.Errorf("%v: %s", err, shown)
		}
		answers[r.Answer] = true // the script answers by what was answered before
		if code, _, stderr := invoke(t, t.Context(), nil, "replay", head.Run); code != 0 {
			t.Error(stderr)
		}
	}
	for i := range begun {
		if !answers[fmt.Sprint("answer ", i)] {
			t.Errorf("nobody was given answer %d of %d: %v", i, begun, answers)
		}
	}
	if len(answers) != begun {
		t.Errorf("%d runs began, there are answers %v", begun, answers)
	}
}
