package lessons

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/sqlite"
)

// holder is a spec whose tool holds until it is let go of, and notes it when it is told to stop.
func holder(t testing.TB, effect string) *user {
	t.Helper()
	needShell(t)
	child := program(t, "child").Path
	return newUser(t, map[string]string{
		"agent.yaml": fmt.Sprintf(`
name: holder
model: script:script.yaml
tools:
  - {name: hold, description: Hold., command: [%q, hold, held.txt], effect: %s}`, child, effect),
		"script.yaml": "replies: [{calls: [{tool: hold}]}, {text: done}]",
	})
}

// hold is that tool's program.
func hold(args []string) error {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	note := func(line string) error {
		f, err := os.OpenFile(args[0], os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(f, line)
		return errors.Join(err, f.Close())
	}
	if err := note("begin"); err != nil {
		return err
	}
	for {
		select {
		case <-stop:
			return errors.Join(note("told"), errors.New("told to stop"))
		case <-time.After(5 * time.Millisecond):
			if _, err := os.Stat(args[0] + ".go"); err == nil {
				return note("end")
			}
		}
	}
}

// started runs the holder in a process of its own until its tool holds.
// stopped waits for it and returns its exit code.
func started(t *testing.T, u *user) (process *os.Process, stopped func() int) {
	t.Helper()
	cmd := u.pawl("run", "agent.yaml", "go")
	complaint, err := os.Create(filepath.Join(u.dir, "stderr.txt"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { complaint.Close() })
	cmd.Stderr = complaint
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	soon(t, "the tool holds", func() bool { return strings.Contains(u.read("held.txt"), "begin") })
	return cmd.Process, func() int {
		late := time.AfterFunc(15*time.Second, func() { _ = cmd.Process.Kill() })
		defer late.Stop()
		_ = cmd.Wait() // its exit code says it all
		return cmd.ProcessState.ExitCode()
	}
}

// TestCancelProcess ends a run from another process while its tool runs: within
// a second the tool is told, the log says what is true of it, and the process ends.
func TestCancelProcess(t *testing.T) {
	for _, effect := range []string{"read", "idempotent", "write"} {
		t.Run(effect, func(t *testing.T) {
			t.Parallel()
			u := holder(t, effect)
			_, stopped := started(t, u)
			u.must(0, "cancel", "last", "--reason", "no need any more")
			asked := time.Now()
			if code := stopped(); code != 130 {
				t.Errorf("exit code %d", code)
			}
			if got := u.read("held.txt"); got != "begin\ntold\n" {
				t.Errorf("the tool says %q", got)
			}
			if r := u.shows(); r.Status != pawl.Cancelled || !strings.HasSuffix(r.Reason.Detail, "no need any more") || !r.Resumable {
				t.Errorf("%v: %v", r.Status, r.Reason)
			}
			doubts, stops := 0, 0
			for _, e := range u.entries() {
				switch ev := e.Event.(type) {
				case pawl.CancelRequested:
					if late := e.Time.Sub(asked); late > 5*time.Second { // of which four are for a slow machine
						t.Errorf("it was read %v late", late)
					}
				case pawl.ToolFinished:
					if ev.Status != pawl.ToolCancelled {
						t.Errorf("the call is %v", ev.Status)
					}
				case pawl.ToolDoubted:
					doubts++
				case pawl.RunStopped:
					stops++
				}
			}
			if want := map[string]int{"write": 1}[effect]; doubts != want || stops != 1 {
				t.Errorf("the log has %d doubts and %d ends", doubts, stops)
			}
			u.write("held.txt.go", "")
			if effect != "write" {
				u.write("script.yaml", "replies: [{calls: [{tool: hold}]}, {expect: the run was cancelled, text: done}]")
				u.must(0, "resume", "last") // the model is told, and may call it again
				return
			}
			u.must(5, "resume", "last")
			if r := u.shows(); r.Status != pawl.WaitingDoubt {
				t.Errorf("going on it is %v", r.Status)
			}
			u.must(0, "settle", "last", "c_1", "--happened", `"held"`)
			if got := u.read("held.txt"); got != "begin\ntold\n" {
				t.Errorf("a write that happened was made again: %q", got)
			}
		})
	}
}

// TestInterrupt presses Ctrl-C while a tool runs: once, a read is told to stop
// and a write is let finish, and the run is parked; twice, all is told to stop at
// once, and what the write has come to is open.
func TestInterrupt(t *testing.T) {
	for _, c := range []struct {
		name, effect string
		presses      int
		want         pawl.Status
		held         string
	}{
		{"once_read", "read", 1, pawl.Paused, "begin\ntold\n"},
		{"once_write", "write", 1, pawl.Paused, "begin\nend\n"},
		{"twice_write", "write", 2, pawl.Interrupted, "begin\ntold\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			u := holder(t, c.effect)
			p, stopped := started(t, u)
			interrupt := func() {
				if err := p.Signal(os.Interrupt); err != nil {
					t.Fatal(err)
				}
			}
			interrupt()
			soon(t, "it has heard", func() bool { return strings.Contains(u.read("stderr.txt"), "parking run") })
			switch {
			case c.presses == 2:
				interrupt()
			case c.effect == "write":
				u.write("held.txt.go", "")
			}
			if code := stopped(); code != 130 {
				t.Errorf("exit code %d", code)
			}
			if r := u.shows(); r.Status != c.want || !r.Resumable {
				t.Errorf("it is %v, %v", r.Status, r.Reason)
			}
			soon(t, "the tool has said "+c.held, func() bool { return u.read("held.txt") == c.held })
			u.write("held.txt.go", "")
			if c.presses == 2 {
				u.must(5, "resume", "last") // did it take place?
				return
			}
			u.must(0, "resume", "last")
			if want := map[string]string{"read": "begin\ntold\nbegin\nend\n", "write": "begin\nend\n"}[c.effect]; u.read("held.txt") != want {
				t.Errorf("after going on the tool says %q", u.read("held.txt"))
			}
		})
	}
}

// TestContextDuringWrite ends the context of a run in the midst of a write,
// which is let finish, written down, and not made again.
func TestContextDuringWrite(t *testing.T) {
	j, count := disk(t), new(tally)
	in, out := make(chan struct{}, 2), make(chan struct{})
	agent := pawl.Agent{Name: "payer", Model: says(t, do("pay", 1), pawl.Say("done")), Tools: []pawl.Tool{
		does("pay", pawl.Write, func(ctx context.Context, _ int) (string, error) {
			in <- struct{}{}
			<-out
			count.add("pay")
			return "paid", ctx.Err()
		}),
	}}
	ctx, end := context.WithCancel(t.Context())
	h, err := engine.New(j, nil).Start(ctx, agent, "go", &engine.StartOptions{ID: run})
	if err != nil {
		t.Fatal(err)
	}
	<-in
	end()
	close(out)
	ends(t, h, pawl.Paused)
	ends(t, resume(t, engine.New(j, nil), agent, nil), pawl.Success)
	if f := events[pawl.ToolFinished](t, j); count.of("pay") != 1 || len(f) != 1 || f[0].Status != pawl.ToolOK {
		t.Errorf("paid %d times; the log says %+v", count.of("pay"), f)
	}
}

// raced is how many runs race.
const raced = 45

func racer(n int) string { return fmt.Sprintf("race-%02d", n) }

// race is a process that drives runs which come to their end, or to a question,
// while others cancel them, and says what each has come to.
func race(args []string) error {
	j, err := sqlite.Open(context.Background(), filepath.Join(args[0], "pawl.db"), &sqlite.Options{Normal: true})
	if err != nil {
		return err
	}
	e := engine.New(j, nil)
	var handles []*engine.Handle
	for n := range raced {
		agent := pawl.Agent{Name: "racer", Tools: []pawl.Tool{
			does("work", pawl.Read, func(ctx context.Context, _ int) (string, error) {
				select {
				case <-time.After(time.Duration(300+rand.IntN(1200)) * time.Millisecond):
				case <-ctx.Done():
				}
				return "worked", nil
			}), client("ask"),
		}}
		agent.Model = pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
			switch {
			case len(r.Messages) == 1:
				return do("work", 1), nil
			case n%3 == 0:
				return do("ask", 1), nil
			}
			return pawl.Say("done"), nil
		})
		h, err := e.Start(context.Background(), agent, "go", &engine.StartOptions{ID: racer(n)})
		if err != nil {
			return err
		}
		handles = append(handles, h)
	}
	for _, h := range handles {
		res, err := h.Wait(context.Background())
		if err != nil {
			return err
		}
		fmt.Println(h.ID(), res.Status)
	}
	return nil
}

// TestCancelRace cancels runs of another process at about the time they end by
// themselves. Each has one end, its own process says the same of it as the log,
// and who was told that it is cancelled finds it so, or finds that it had ended.
func TestCancelRace(t *testing.T) {
	t.Parallel()
	rounds := 1
	if os.Getenv("PAWL_PROOF") != "" {
		rounds = 30
	}
	for range rounds {
		cancelRace(t)
	}
}

func cancelRace(t *testing.T) {
	dir := t.TempDir()
	j := open(t, filepath.Join(dir, "pawl.db"))
	cmd := program(t, "child", "race", dir)
	var out, complaint strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(60*time.Second, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	var all sync.WaitGroup
	for n := range raced {
		all.Go(func() {
			e := engine.New(j, nil)
			soon(t, racer(n)+" begins", func() bool {
				s, err := engine.Load(t.Context(), j, racer(n))
				return err == nil && s.Seq() > 0
			})
			time.Sleep(time.Duration(rand.IntN(1300)) * time.Millisecond)
			if err := e.Cancel(t.Context(), racer(n), "ada", "enough"); err != nil && !strings.Contains(err.Error(), "is over") {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, &complaint)
	}
	seen := map[pawl.Status]int{}
	for n := range raced {
		id := racer(n)
		s, err := engine.Load(t.Context(), j, id)
		if err != nil {
			t.Fatal(err)
		}
		seen[s.Status()]++
		stops, cancels := 0, 0
		for e, err := range engine.Entries(t.Context(), j, id, 1) {
			if err != nil {
				t.Fatal(err)
			}
			switch e.Event.(type) {
			case pawl.RunStopped:
				stops++
			case pawl.CancelRequested:
				cancels++
				if stops > 0 {
					t.Errorf("%s: cancelled after its end", id)
				}
			}
		}
		its := fmt.Sprintf("%s %v\n", id, s.Status())
		// The process that drove it may have let go of it before it was cancelled.
		parked := fmt.Sprintf("%s %v\n", id, pawl.WaitingClientTool)
		switch {
		case stops != 1 || s.InFlight():
			t.Errorf("%s has %d ends and is %v", id, stops, s.Status())
		case (cancels > 0) != (s.Status() == pawl.Cancelled) || cancels > 1:
			t.Errorf("%s was cancelled %d times and is %v", id, cancels, s.Status())
		case n%3 == 0 && s.Status() != pawl.Cancelled:
			t.Errorf("%s was cancelled before it could end, and is %v", id, s.Status())
		case !strings.Contains(out.String(), its) && (n%3 != 0 || !strings.Contains(out.String(), parked)):
			t.Errorf("%s is %v, and its process says\n%s", id, s.Status(), out.String())
		}
	}
	t.Log(seen)
	if seen[pawl.Success]+seen[pawl.Cancelled] != raced {
		t.Errorf("the runs have come to %v", seen)
	}
}
