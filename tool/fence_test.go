//go:build linux || darwin

package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/process"
	"github.com/pawl-run/pawl/internal/spool"
	"github.com/pawl-run/pawl/tool"
)

// stalled stops the supervisor, as a busy machine does, until the test goes on
// with it.
func stalled(t *testing.T, dir string) (goOn func()) {
	t.Helper()
	inv := attempt("first")
	if _, err := command(part(t, "say", "on"), nil).Run(t.Context(), inv); err != nil {
		t.Fatal(err)
	}
	fate, err := spool.At(dir).Read(recorded(inv))
	if err != nil {
		t.Fatal(err)
	}
	id, err := process.ParseIdentity(fate.Begin.Supervisor)
	if err == nil {
		err = syscall.Kill(id.PID, syscall.SIGSTOP)
	}
	if err != nil {
		t.Fatal(err)
	}
	for range 1000 { // until it does not move any more, where that can be seen
		time.Sleep(10 * time.Millisecond)
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", id.PID))
		if err != nil || strings.Contains(string(stat), ") T ") {
			break
		}
	}
	goOn = func() { _ = syscall.Kill(id.PID, syscall.SIGCONT) }
	t.Cleanup(goOn)
	return goOn
}

// A command whose deadline passes while its supervisor does not even read the
// request is not run: not now, not later, and nobody waits for the supervisor.
func TestLateBeforeItStarts(t *testing.T) {
	for name, args := range map[string]string{
		"small": `{}`,
		"large": `{"text":"` + strings.Repeat("x", 4<<20) + `"}`, // more than a socket holds
	} {
		t.Run(name, func(t *testing.T) {
			dir := supervised(t, nil)
			ran := filepath.Join(t.TempDir(), "ran")
			cmd := command(part(t, "read", ran), &tool.CommandOptions{Input: json.RawMessage(`{"type":"object"}`)})
			goOn := stalled(t, dir)
			inv := promised(t, cmd, "c_1")
			inv.Args = json.RawMessage(args)
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			defer cancel()
			since := time.Now()
			_, err := cmd.Run(ctx, inv)
			if took := time.Since(since); took > 3*time.Second {
				t.Errorf("it took %v", took)
			}
			if !isNotRun(err) || !errors.Is(err, context.DeadlineExceeded) || err.Error() != "not run: its time was over before it was started" {
				t.Errorf("got %v", err)
			}
			goOn()
			if _, err := command(part(t, "say", "on"), nil).Run(t.Context(), attempt("second")); err != nil { // it is at work again
				t.Error(err)
			}
			if exists(ran) {
				t.Error("it was run after all")
			}
			if got := reconciled(t, cmd, inv); got != notMade {
				t.Errorf("got %s", got)
			}
		})
	}
	t.Run("over before", func(t *testing.T) {
		supervised(t, nil)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := command(part(t, "say", "on"), nil).Run(ctx, attempt("c_1")); !isNotRun(err) {
			t.Errorf("got %v", err)
		}
	})
}

func isNotRun(err error) bool {
	var n interface{ NotRun() bool }
	return errors.As(err, &n) && n.NotRun()
}

// A supervisor refuses what comes so long after its announcement that others may
// take it for lost, and what it would record in another directory than was said.
func TestSupervisorRefuses(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, dir string, inv *pawl.Invocation){
		"late": func(t *testing.T, dir string, inv *pawl.Invocation) {
			p, err := spool.At(dir).Promise(process.Boot(), time.Now().Add(-21*time.Second))
			if err != nil {
				t.Fatal(err)
			}
			inv.Supervised = p.String()
		},
		"replaced": func(t *testing.T, dir string, inv *pawl.Invocation) {
			goOn := stalled(t, dir)
			time.AfterFunc(300*time.Millisecond, func() {
				err := errors.Join(os.Rename(dir, dir+".old"), os.CopyFS(dir, os.DirFS(dir+".old")), os.Chmod(dir, 0o700))
				if err != nil {
					t.Error(err)
				}
				goOn()
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := supervised(t, nil)
			ran := filepath.Join(t.TempDir(), "ran")
			cmd := command(part(t, "read", ran), nil)
			inv := promised(t, cmd, "c_1")
			change(t, dir, &inv)
			if _, err := cmd.Run(t.Context(), inv); !isNotRun(err) || exists(ran) {
				t.Errorf("got %v, ran %v", err, exists(ran))
			}
			if name == "late" {
				if got := reconciled(t, cmd, inv); got != notMade {
					t.Errorf("got %s", got)
				}
			}
		})
	}
}

// A process that waits for a command of an earlier process ends it at the command's
// deadline, or at the run's if that is earlier.
func TestReconcileOverdue(t *testing.T) {
	dir := supervised(t, nil)
	file := filepath.Join(t.TempDir(), "leader")
	cmd := command(part(t, "hang", file), nil)
	inv := promised(t, cmd, "c_1")
	ended := make(chan error, 1)
	go func() {
		_, err := cmd.Run(context.WithoutCancel(t.Context()), inv)
		ended <- err
	}()
	fate := running(t, dir, inv)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, happened, err := cmd.(pawl.Reconciler).Reconcile(ctx, inv)
	if !happened || !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "killed by SIGTERM") {
		t.Errorf("%v, %v", happened, err)
	}
	if id, err := process.ParseIdentity(fate.Process); err != nil || !id.Gone() {
		t.Errorf("it runs on: %v", err)
	}
	<-ended

	// Cancelled otherwise, as by letting go of the run, it lets the command run.
	inv = promised(t, cmd, "c_2")
	stop, end := context.WithCancel(context.WithoutCancel(t.Context()))
	go func() {
		_, err := cmd.Run(stop, inv)
		ended <- err
	}()
	fate = running(t, dir, inv)
	ctx, cancel = context.WithCancel(t.Context())
	cancel()
	if _, happened, err := cmd.(pawl.Reconciler).Reconcile(ctx, inv); happened || err == nil || !strings.Contains(err.Error(), "still runs") {
		t.Errorf("%v, %v", happened, err)
	}
	if id, err := process.ParseIdentity(fate.Process); err != nil || !id.Alive() {
		t.Errorf("it was ended: %v", err)
	}
	end()
	<-ended
}
