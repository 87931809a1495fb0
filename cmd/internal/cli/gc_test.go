package cli_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/budget"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/sqlite"
)

// A file that breaks off is imported as far as it goes; one that was changed is not.
func TestImportOfWhatIsLeft(t *testing.T) {
	files(t, map[string]string{"yes.yaml": "name: yes\nmodel: script:yes.script.yaml\n", "yes.script.yaml": "replies: [{text: it is}]\n"})
	if code, _, stderr := invoke(t, t.Context(), nil, "run", "yes.yaml", "is it?"); code != 0 {
		t.Fatal(stderr)
	}
	code, whole, stderr := invoke(t, t.Context(), nil, "export", "last", "--raw")
	if code != 0 {
		t.Fatal(stderr)
	}
	imported := func(name, text string) (code int, stdout, stderr string) {
		t.Helper()
		return invoke(t, t.Context(), strings.NewReader(text), "import", "-", "--database", "sqlite:"+name+".db")
	}
	before, _, _ := strings.Cut(whole, `"type":"model.replied"`)
	code, run, stderr := imported("torn", before)
	if code != 0 || !strings.Contains(stderr, "- is truncated: imported 2 of 4 entries, 2 lost; the run can be read and forked, not resumed") {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	run = strings.TrimSpace(run)
	code, _, stderr = invoke(t, t.Context(), nil, "resume", run, "--database", "sqlite:torn.db")
	if code != 2 || !strings.Contains(stderr, "fork it at an entry before") {
		t.Errorf("resuming exits with %d: %s", code, stderr)
	}
	code, stdout, stderr := invoke(t, t.Context(), nil, "fork", run, "--at", "1", "--database", "sqlite:torn.db")
	if code != 0 || stdout != "it is\n" {
		t.Errorf("forking exits with %d: %s", code, stderr)
	}
	code, _, stderr = imported("changed", strings.Replace(whole, "is it?", "is it!", 1))
	if code != 2 || !strings.Contains(stderr, "line 2 of the export: its digest is wrong") {
		t.Errorf("a changed file: exit %d: %s", code, stderr)
	}
	if _, stdout, _ = invoke(t, t.Context(), nil, "runs", "--json", "--database", "sqlite:changed.db"); stdout != "" {
		t.Errorf("something was imported: %s", stdout)
	}
	code, _, stderr = imported("end", whole[:strings.LastIndex(whole, "{")])
	if code != 0 || !strings.Contains(stderr, "after the last entry: imported all 4 entries") {
		t.Errorf("without its end: exit %d: %s", code, stderr)
	}
}

// Accounts of budgets are removed when their period is over, unless only runs of some statuses are.
func TestClearingUpBudgets(t *testing.T) {
	files(t, nil)
	j, err := sqlite.Open(t.Context(), "runs.db", nil)
	must(t, err)
	l, err := j.Claim(t.Context(), pawl.Claim{Run: "r", Owner: "me", TTL: time.Minute, New: true})
	must(t, err)
	now := budget.Account{Per: budget.Hour, Since: budget.Hour.Start(time.Now())}.Name()
	for i, change := range []budget.Change{
		{Reserve: []budget.Reservation{{Account: "day 2001-01-01", Amount: budget.Amount{Tokens: 1}}, {Account: now, Amount: budget.Amount{Tokens: 1}}}},
		{Settle: budget.SettleReserved},
	} {
		b := pawl.Batch{Run: "r", Epoch: l.Epoch, After: uint64(i), Records: [][]byte{[]byte("{}")}, Head: pawl.Head{Run: "r", Status: pawl.StatusRunning, Seq: uint64(i + 1), Updated: time.Now()}}
		must(t, j.Spend(t.Context(), b, change))
	}
	must(t, j.Close())
	if code, _, stderr := invoke(t, t.Context(), nil, "gc", "--older-than", "0s", "--status", "failed"); code != 0 || strings.Contains(stderr, "account") {
		t.Errorf("with a status: exit %d: %s", code, stderr)
	}
	if code, _, stderr := invoke(t, t.Context(), nil, "gc", "--older-than", "0s"); code != 0 || !strings.Contains(stderr, "1 account of budgets removed") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if _, stdout, _ := invoke(t, t.Context(), nil, "budgets", "--all", "--json"); strings.Contains(stdout, "2001") || strings.Count(stdout, `"per":"hour"`) != 1 {
		t.Errorf("left are %s", stdout)
	}
}

// Runs that ended without success are resumed while others clear up: each is
// either resumed and there, or gone before it was resumed, and no log is cut.
func TestClearingUpBesideResumers(t *testing.T) {
	const runs = 8
	files(t, map[string]string{"no.yaml": "name: no\nmodel: script:no.script.yaml\n", "no.script.yaml": "replies: [{error: {class: refused, message: no}}]\n"})
	var ids []string
	for range runs {
		if code, _, stderr := invoke(t, t.Context(), nil, "run", "no.yaml", "go", "--quiet"); code != 1 {
			t.Fatal(stderr)
		}
	}
	_, list, _ := invoke(t, t.Context(), nil, "runs", "--json")
	for line := range strings.Lines(list) {
		id, _, _ := strings.Cut(strings.TrimPrefix(line, `{"run":"`), `"`)
		ids = append(ids, id)
	}
	type process struct {
		*exec.Cmd
		out bytes.Buffer
	}
	var all []*process
	for i := range 2 * runs {
		args := []string{"resume", ids[i/2], "--quiet"}
		if i%2 == 1 {
			args = []string{"gc", "--older-than", "0s", "--json"}
		}
		p := &process{Cmd: exec.CommandContext(t.Context(), "pawl", args...)}
		p.Env, p.Stdout, p.Stderr = append(os.Environ(), "PAWL_DATABASE=sqlite:runs.db"), &p.out, &p.out
		must(t, p.Start())
		all = append(all, p)
	}
	removed := map[string]int{}
	for i, p := range all {
		_ = p.Wait() // its exit code says it
		code, said := p.ProcessState.ExitCode(), p.out.String()
		switch {
		case i%2 == 1 && code != 0:
			t.Errorf("gc exits with %d: %s", code, said)
		case i%2 == 1:
			for _, id := range ids {
				removed[id] += strings.Count(said, fmt.Sprintf(`{"run":%q`, id))
			}
		// Resumed and refused again, or held or removed by somebody else.
		case code != 1 && code != 2:
			t.Errorf("resume exits with %d: %s", code, said)
		}
	}
	j, err := sqlite.Open(t.Context(), "runs.db", nil)
	must(t, err)
	defer j.Close()
	there := map[string]bool{}
	for h, err := range j.List(t.Context(), pawl.Query{}) {
		must(t, err)
		there[h.Run] = true
		if s, err := engine.Load(t.Context(), j, h.Run); err != nil || s.Status() != pawl.StatusFailed || s.Seq() != h.Seq {
			t.Errorf("run %s is %v at %d of %d, %v", h.Run, s.Status(), s.Seq(), h.Seq, err)
		}
	}
	gone := 0
	for _, id := range ids {
		switch n := removed[id]; {
		case n > 1, n == 1 == there[id]:
			t.Errorf("run %s was removed %d times, and is there: %v", id, n, there[id])
		case n == 1:
			gone++
		}
	}
	if gone == 0 {
		t.Error("nothing was removed")
	}
}
