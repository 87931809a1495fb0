//go:build unix

package postgres_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/server/client"
)

// TestRollingUpgrade replaces a server by one of another build and with a newer version of
// the agent, on one database, and back by the older build: runs go on with their version,
// whichever build drives them, and no payment is made twice or lost.
func TestRollingUpgrade(t *testing.T) {
	if testing.Short() {
		t.Skip("processes of two builds, in which the race detector sees nothing")
	}
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	older := program(t)
	newer := filepath.Join(t.TempDir(), "pawl")
	build := exec.Command("go", "build", "-ldflags=-s -w -X github.com/pawl-run/pawl/cmd/internal/cli.version=v9.9.9", "-o", newer, "./pawl")
	build.Dir = filepath.Join(here, "..", "..", "cmd")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	raw(t, `DROP SCHEMA IF EXISTS pawl CASCADE`)
	databases := map[string]string{"postgres": started(t).url(), "sqlite": "sqlite:" + filepath.Join(t.TempDir(), "runs.db")}
	for name, database := range databases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rolls(t, database, older, newer)
		})
	}
}

func rolls(t *testing.T, database, older, newer string) {
	const pays = 4
	dir, ctx := t.TempDir(), t.Context()
	paid := filepath.Join(dir, "paid.txt")
	for _, version := range []string{"1", "2"} {
		var script strings.Builder
		script.WriteString("replies:\n  - {calls: [{tool: ask_human, args: {question: Go on?}}]}\n")
		for n := range pays {
			fmt.Fprintf(&script, "  - {calls: [{tool: pay, args: {n: %d}}]}\n", n)
		}
		script.WriteString("  - {text: Paid on version " + version + ".}\n")
		for file, text := range map[string]string{
			"buyer" + version + ".yaml": "name: buyer\nversion: \"" + version + "\"\nmodel: script:script" + version + ".yaml\nprompt: Buy by rule " + version + ".\n" + `tools:
  - builtin: [ask_human]
  - {name: pay, description: Pay., command: [sh, -c, "echo $PAWL_RUN $PAWL_CALL >> ` + paid + `; sleep 0.2"], input: {type: object, properties: {n: {type: integer}}}}
`,
			"script" + version + ".yaml": script.String(),
		} {
			must(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600))
		}
	}
	one, two := filepath.Join(dir, "buyer1.yaml"), filepath.Join(dir, "buyer2.yaml")
	begin := func(s *site, agent string) string {
		t.Helper()
		r, err := s.StartAndWait(ctx, client.StartRun{Agent: agent, Input: "Buy."})
		if err != nil || r.Status != pawl.StatusWaitingInput {
			t.Fatalf("%v, %v; it said %s", r.Status, err, s.text())
		}
		return r.Run
	}
	answer := func(s *site, run string) {
		t.Helper()
		if _, err := s.Answer(ctx, run, "c_1", client.Answer{Text: "yes"}); err != nil {
			t.Fatal(err)
		}
	}
	ends := func(s *site, run, version string) {
		t.Helper()
		r, err := s.Wait(ctx, run)
		if err != nil || r.Status != pawl.StatusSuccess || r.Answer != "Paid on version "+version+"." {
			t.Errorf("run %s: %v %q, %v", run, r.Status, r.Answer, err)
		}
	}
	stop := func(s *site) {
		t.Helper()
		must(t, s.cmd.Process.Signal(syscall.SIGTERM))
		_, _ = s.cmd.Process.Wait() // it exits with 130, for its runs are paused
	}
	inMiddle := func(run string) {
		t.Helper()
		soon(t, "payment", func() bool { data, _ := os.ReadFile(paid); return strings.Contains(string(data), run+" c_3") })
	}

	was := servingBy(t, older, database, one)
	waits, works := begin(was, "buyer"), begin(was, "buyer")
	answer(was, works)
	inMiddle(works)
	is := servingBy(t, newer, database, one, two)
	fresh, again := begin(is, "buyer"), begin(is, "buyer@1")
	stop(was)
	if r, err := is.Run(ctx, works); err != nil || r.Status != pawl.StatusPaused {
		t.Errorf("after its server was stopped a run is %v, %v", r.Status, err)
	}
	if _, err := is.Resume(ctx, works, client.ResumeRun{}); err != nil {
		t.Error(err)
	}
	answer(is, waits)
	ends(is, works, "1")
	ends(is, waits, "1")

	answer(is, fresh)
	inMiddle(fresh)
	stop(is) // and back
	was = servingBy(t, older, database, one, two, "--resume")
	answer(was, again)
	ends(was, fresh, "2")
	ends(was, again, "1")

	data, err := os.ReadFile(paid)
	must(t, err)
	times := map[string]int{}
	for line := range strings.Lines(string(data)) {
		times[line]++
	}
	for line, n := range times {
		if n != 1 {
			t.Errorf("%d times: %s", n, line)
		}
	}
	if len(times) != 4*pays {
		t.Errorf("%d payments, want %d", len(times), 4*pays)
	}
}
