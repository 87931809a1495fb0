//go:build unix

package postgres_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/server/client"
)

// lease is how long a server's lease lasts without a heartbeat.
const lease = 15 * time.Second

// TestServersRecover runs three servers on one database and kills them at random:
// the others recover the runs that lost their process. Every run ends, and no call
// runs twice. The SQLite case stands here since it differs in nothing but the
// database.
func TestServersRecover(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	raw(t, `DROP SCHEMA IF EXISTS pawl CASCADE`)
	databases := map[string]string{"postgres": started(t).url(), "sqlite": "sqlite:" + filepath.Join(t.TempDir(), "runs.db")}
	for name, database := range databases { // beside each other, since both wait for leases to lapse
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			recovers(t, database)
		})
	}
}

func recovers(t *testing.T, database string) {
	runs, kills, stops, pays := 6, 3, 0, 3
	if os.Getenv("PAWL_PROOF") != "" {
		runs, kills, stops, pays = 30, 60, 3, 25
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	chance := rand.New(rand.NewPCG(seed, 0))
	upTo := func(d time.Duration) time.Duration { return time.Duration(chance.Int64N(int64(d))) }

	dir := t.TempDir()
	paid, agent := filepath.Join(dir, "paid.txt"), filepath.Join(dir, "buyer.yaml")
	var script strings.Builder
	script.WriteString("replies:\n")
	for n := range pays {
		fmt.Fprintf(&script, "  - {calls: [{tool: pay, args: {n: %d}}], delay: 200ms}\n  - {calls: [{tool: look, args: {n: %d}}, {tool: pay, args: {n: %d}}]}\n", 2*n, n, 2*n+1)
	}
	script.WriteString("  - {text: paid}\n")
	for name, text := range map[string]string{
		"buyer.yaml": `name: buyer
model: script:buyer.script.yaml
limits: {iterations: 100, tokens: 100000000}
tools:
  - {name: look, description: Look., command: [sh, -c, "sleep 0.1; echo seen"], effect: read, input: {type: object, properties: {n: {type: integer}}}}
  - {name: pay, description: Pay., command: [sh, -c, "echo $PAWL_RUN $PAWL_CALL >> ` + paid + `; sleep 0.2"], input: {type: object, properties: {n: {type: integer}}}}
`,
		"buyer.script.yaml": script.String(),
	} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	ctx := t.Context()
	var sites [3]*site
	for i := range sites {
		sites[i] = serving(t, database, agent)
	}
	ids := make([]string, runs)
	for i := range ids {
		r, err := sites[i%len(sites)].Start(ctx, client.StartRun{Agent: "buyer", Input: fmt.Sprint("Buy ", i)})
		must(t, err)
		ids[i] = r.Run
	}
	ended := func() bool {
		for _, id := range ids {
			r, err := sites[0].Run(ctx, id)
			must(t, err)
			if !r.Status.Ended() {
				return false
			}
		}
		return true
	}
	for n := range kills {
		time.Sleep(upTo(1200 * time.Millisecond))
		i := chance.IntN(len(sites))
		sites[i].kill()
		time.Sleep(upTo(1500 * time.Millisecond))
		sites[i] = serving(t, database, agent)
		if n > 3 && ended() {
			t.Logf("all runs ended after %d kills", n+1)
			break
		}
	}
	for range stops { // its lease runs out, and it wakes up as an owner who was replaced
		s := sites[chance.IntN(len(sites))]
		must(t, s.cmd.Process.Signal(syscall.SIGSTOP))
		time.Sleep(2*lease + upTo(time.Second))
		must(t, s.cmd.Process.Signal(syscall.SIGCONT))
	}
	for end := time.Now().Add(4 * lease); !ended(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			break // what did not end is reported below
		}
	}
	data, err := os.ReadFile(paid)
	must(t, err)
	times := map[string]int{}
	for line := range strings.Lines(string(data)) {
		times[strings.TrimSpace(line)]++
	}
	recovered, called := 0, 0
	for _, id := range ids {
		r, err := sites[0].Run(ctx, id)
		if err != nil || r.Status != pawl.StatusSuccess || r.Answer != "paid" {
			t.Errorf("run %s is %v: %s (%v)", id, r.Status, r.Reason.Detail, err)
			continue
		}
		var last time.Time
		for e, err := range sites[0].Entries(ctx, id, 0) {
			must(t, err)
			if _, ok := e.Event.(pawl.RunResumed); ok {
				recovered++
				if took := e.Time.Sub(last); took > 2*lease {
					t.Errorf("run %s was recovered after %v", id, took)
				}
			}
			if c, ok := e.Event.(pawl.ToolStarted); ok && c.Tool == "pay" && c.Attempt == 1 {
				called++
				if n := times[id+" "+c.Call]; n != 1 {
					t.Errorf("call %s of run %s ran %d times", c.Call, id, n)
				}
			}
			last = e.Time
		}
		if r, err := sites[0].Replay(ctx, id); err != nil || !r.Agrees {
			t.Errorf("run %s is replayed otherwise: %+v, %v", id, r, err)
		}
	}
	if len(times) != called || called != 2*pays*runs {
		t.Errorf("%d calls have run, and the logs have %d of %d", len(times), called, 2*pays*runs)
	}
	if recovered == 0 {
		t.Error("no run was recovered: the kills hit nothing")
	}
	t.Logf("%d runs were recovered %d times", runs, recovered)
}
