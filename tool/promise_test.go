//go:build linux || darwin

package tool_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/spool"
	"github.com/pawl-run/pawl/tool"
)

// promised is an attempt of which the log says who supervises it.
func promised(t *testing.T, cmd pawl.Tool, call string) pawl.Invocation {
	t.Helper()
	inv := attempt(call)
	if inv.Supervised = cmd.(interface{ Supervised() string }).Supervised(); inv.Supervised == "" {
		t.Fatal("nobody supervises it")
	}
	return inv
}

func reconciled(t *testing.T, cmd pawl.Tool, inv pawl.Invocation) string {
	t.Helper()
	out, happened, err := cmd.(pawl.Reconciler).Reconcile(t.Context(), inv)
	return text(happened, out, err)
}

const (
	notMade = "false  <nil>"
	noWord  = "false  the outcome of the command is unknown: there is no record of it in "
)

// A Write that was to be recorded, and is not, was not made, and will not be.
func TestPromise(t *testing.T) {
	for name, dir := range map[string]string{"beside the journal": filepath.Join(t.TempDir(), "spool"), "the user's": ""} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("XDG_STATE_HOME", t.TempDir())
			tool.Supervise()
			tool.Spool(dir, nil)
			t.Cleanup(tool.Unsupervise)
			cmd := command(part(t, "say", `"on"`), nil)
			inv := promised(t, cmd, "c_1")
			for range 2 {
				if got := reconciled(t, cmd, inv); got != notMade {
					t.Errorf("got %s", got)
				}
			}
			if _, err := cmd.Run(t.Context(), inv); err == nil || !strings.Contains(err.Error(), "another process") {
				t.Errorf("it is made after all: %v", err)
			}
			made := promised(t, cmd, "c_2")
			if out, err := cmd.Run(t.Context(), made); err != nil || string(out.JSON) != `"on"` {
				t.Errorf("%s, %v", out.JSON, err)
			}
			if got := reconciled(t, cmd, made); got != `true "on" <nil>` {
				t.Errorf("got %s", got)
			}
			// Somebody to whom nothing was promised has kept it from being made.
			later := promised(t, cmd, "c_3")
			without := later
			without.Supervised = ""
			if got := reconciled(t, cmd, without); !strings.HasPrefix(got, noWord) {
				t.Errorf("got %s", got)
			}
			if got := reconciled(t, cmd, later); got != notMade {
				t.Errorf("got %s", got)
			}
		})
	}
}

// A promise that was given elsewhere, or before records were lost, proves nothing;
// and a command that would not be recorded where the log says is not started.
func TestPromiseElsewhere(t *testing.T) {
	ran := filepath.Join(t.TempDir(), "ran")
	for name, change := range map[string]func(t *testing.T, dir string, inv *pawl.Invocation){
		"made again": func(t *testing.T, dir string, _ *pawl.Invocation) {
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
			tool.Spool(dir, nil)
		},
		"a copy": func(t *testing.T, dir string, _ *pawl.Invocation) {
			if err := os.Rename(dir, dir+".old"); err != nil {
				t.Fatal(err)
			}
			if err := os.CopyFS(dir, os.DirFS(dir+".old")); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			tool.Spool(dir, nil)
		},
		"swept": func(t *testing.T, dir string, inv *pawl.Invocation) {
			old := *inv
			old.Call = "c_0"
			d := spool.At(dir)
			if _, err := d.Fence(recorded(old)); err != nil {
				t.Fatal(err)
			}
			if err := d.Sweep(time.Now().Add(time.Minute)); err != nil {
				t.Fatal(err)
			}
		},
		"no time": func(_ *testing.T, _ string, inv *pawl.Invocation) {
			inv.Supervised, _, _ = strings.Cut(inv.Supervised, " ")
		},
		"another's": func(_ *testing.T, _ string, inv *pawl.Invocation) { inv.Supervised = "somebody" },
	} {
		t.Run(name, func(t *testing.T) {
			dir := supervised(t, nil)
			cmd := command(part(t, "read", ran), nil)
			inv := promised(t, cmd, "c_1")
			change(t, dir, &inv)
			if got := reconciled(t, cmd, inv); !strings.HasPrefix(got, noWord) {
				t.Errorf("got %s", got)
			}
			if _, err := cmd.Run(t.Context(), inv); err == nil || exists(ran) {
				t.Errorf("it is made: %v", err)
			}
		})
	}
	// The promise names the directory, so a process with another directory finds it.
	for name, change := range map[string]func(t *testing.T, inv *pawl.Invocation){
		"another directory": func(t *testing.T, _ *pawl.Invocation) { tool.Spool(filepath.Join(t.TempDir(), "spool"), nil) },
		"no supervisor":     func(*testing.T, *pawl.Invocation) { tool.Unsupervise() },
		"a key's run":       func(_ *testing.T, inv *pawl.Invocation) { inv.Key = inv.Run + "-ABCDEFGH/" + inv.Call },
		"a child run":       func(_ *testing.T, inv *pawl.Invocation) { inv.Run += ".c_1"; inv.Key = inv.Run + "/" + inv.Call },
	} {
		t.Run(name, func(t *testing.T) {
			dir := supervised(t, nil)
			cmd := command(part(t, "read", ran), nil)
			inv := promised(t, cmd, "c_1")
			change(t, &inv)
			if got := reconciled(t, cmd, inv); got != notMade {
				t.Errorf("got %s", got)
			}
			tool.Supervise()
			tool.Spool(dir, nil)
			if _, err := cmd.Run(t.Context(), inv); err == nil || !strings.Contains(err.Error(), "another process") || exists(ran) {
				t.Errorf("it is made: %v", err)
			}
		})
	}
	t.Run("nobody", func(t *testing.T) {
		supervised(t, nil)
		cmd := command(part(t, "read", ran), nil)
		inv := promised(t, cmd, "c_1")
		tool.Unsupervise()
		if got := cmd.(interface{ Supervised() string }).Supervised(); got != "" {
			t.Errorf("nothing is supervised, and it says %q", got)
		}
		if _, err := cmd.Run(t.Context(), inv); err == nil || !strings.Contains(err.Error(), "not run") || exists(ran) {
			t.Errorf("it is made: %v", err)
		}
	})
}
