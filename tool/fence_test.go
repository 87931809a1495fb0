//go:build linux || darwin

package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/tool"
)

// stalled lets no wrapper of this test begin, as on a busy machine, until the test goes on.
func stalled(t *testing.T) (goOn func()) {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	must(t, os.WriteFile(stalling(), nil, 0o600))
	file := stalling()
	goOn = func() { _ = os.Remove(file) }
	t.Cleanup(goOn)
	return goOn
}

// A command whose deadline passes while its wrapper does not even read the request is
// not run: not now, not later, and nobody waits for the wrapper.
func TestLateBeforeItStarts(t *testing.T) {
	for name, args := range map[string]string{
		"small": `{}`,
		"large": `{"text":"` + strings.Repeat("x", 4<<20) + `"}`, // more than a pipe holds
	} {
		t.Run(name, func(t *testing.T) {
			supervised(t, nil)
			ran := filepath.Join(t.TempDir(), "ran")
			cmd := command(part(t, "read", ran), &tool.CommandOptions{Input: json.RawMessage(`{"type":"object"}`)})
			goOn := stalled(t)
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
			if _, err := command(part(t, "say", "on"), nil).Run(t.Context(), attempt("second")); err != nil { // wrappers begin again
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

// A wrapper refuses what comes so long after its announcement that others may take it
// for lost.
func TestWrapperRefuses(t *testing.T) {
	supervised(t, nil)
	ran := filepath.Join(t.TempDir(), "ran")
	cmd := command(part(t, "read", ran), nil)
	inv := promised(t, cmd, "c_1")
	dir := callDir(t, inv)
	dir.At = dir.At.Add(-11 * time.Second)
	inv.Supervised = dir.String()
	if _, err := cmd.Run(t.Context(), inv); !isNotRun(err) || !strings.Contains(err.Error(), "after the call was announced") || exists(ran) {
		t.Errorf("got %v, ran %v", err, exists(ran))
	}
	if got := reconciled(t, cmd, inv); got != notMade {
		t.Errorf("got %s", got)
	}
}

// A process that waits for a command of an earlier process ends it at the command's
// deadline, or at the run's if that is earlier.
func TestReconcileOverdue(t *testing.T) {
	supervised(t, nil)
	file := filepath.Join(t.TempDir(), "leader")
	cmd := command(part(t, "hang", file), nil)
	inv := promised(t, cmd, "c_1")
	ended := make(chan error, 1)
	go func() {
		_, err := cmd.Run(context.WithoutCancel(t.Context()), inv)
		ended <- err
	}()
	id := running(t, inv)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, happened, err := cmd.(pawl.Reconciler).Reconcile(ctx, inv)
	if !happened || !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "killed by SIGTERM") {
		t.Errorf("%v, %v", happened, err)
	}
	if !id.Gone() {
		t.Error("it runs on")
	}
	<-ended

	// Cancelled otherwise, as by letting go of the run, it lets the command run.
	inv = promised(t, cmd, "c_2")
	stop, end := context.WithCancel(context.WithoutCancel(t.Context()))
	go func() {
		_, err := cmd.Run(stop, inv)
		ended <- err
	}()
	id = running(t, inv)
	ctx, cancel = context.WithCancel(t.Context())
	cancel()
	if _, happened, err := cmd.(pawl.Reconciler).Reconcile(ctx, inv); happened || err == nil || !strings.Contains(err.Error(), "still runs") {
		t.Errorf("%v, %v", happened, err)
	}
	if !id.Alive() {
		t.Error("it was ended")
	}
	end()
	<-ended
}
