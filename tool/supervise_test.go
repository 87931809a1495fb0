//go:build linux || darwin

package tool_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/process"
	"github.com/pawl-run/pawl/tool"
)

// newCalls gives each command a directory of its own, because tests without a
// wrapper make the same attempt repeatedly.
var newCalls = func() {}

func attempt(call string) pawl.Invocation {
	return pawl.Invocation{Run: "r", Call: call, Key: "r/" + call, Attempt: 1}
}

func recorded(inv pawl.Invocation) process.Attempt {
	return process.Attempt{Run: inv.Run, Call: inv.Call, Key: inv.Key, Number: inv.Attempt}
}

// supervised runs commands in wrappers for the length of a test.
func supervised(t *testing.T, secrets map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "calls")
	tool.Supervise()
	tool.RecordIn(dir, secrets)
	t.Cleanup(tool.Unsupervise)
	return dir
}

// Whatever holds of a command holds in a wrapper.
func TestSupervisedAsPlain(t *testing.T) {
	supervised(t, nil)
	newCalls = func() { tool.RecordIn(filepath.Join(t.TempDir(), "calls"), nil) }
	defer func() { newCalls = func() {} }()
	for name, test := range map[string]func(*testing.T){
		"golden": TestCommands, "environment": TestCommandEnvironment, "large": TestCommandLargeArguments,
		"not started": TestCommandNotStarted, "leaves": TestCommandLeaves,
		"files": TestCommandReturnsFiles, "secrets": TestCommandGetsItsSecretsBack, "cut": TestCommandSecretsAreOutBeforeTheCut,
	} {
		t.Run(name, test)
	}
	t.Run("stops", TestCommandStops)
}

// promised is an attempt of which the log says where it is recorded.
func promised(t *testing.T, cmd pawl.Tool, call string) pawl.Invocation {
	t.Helper()
	inv := attempt(call)
	inv.Supervised = cmd.(interface {
		Supervised(inv pawl.Invocation) string
	}).Supervised(inv)
	if inv.Supervised == "" {
		t.Fatal("it is not recorded")
	}
	return inv
}

// callDir is the directory that the log names for an attempt.
func callDir(t *testing.T, inv pawl.Invocation) process.CallDir {
	t.Helper()
	dir, ok := process.ParseCallDir(inv.Supervised)
	if !ok {
		t.Fatalf("no directory in %q", inv.Supervised)
	}
	return dir
}

func reconciled(t *testing.T, cmd pawl.Tool, inv pawl.Invocation) string {
	t.Helper()
	out, happened, err := cmd.(pawl.Reconciler).Reconcile(t.Context(), inv)
	return text(happened, out, err)
}

const (
	notMade = "false  <nil>"
	unknown = "false  the outcome of the command is unknown: "
)

func TestReconcile(t *testing.T) {
	supervised(t, nil)
	hang := part(t, "hang", filepath.Join(t.TempDir(), "ready"))
	for _, c := range []struct {
		name   string
		argv   []string
		effect pawl.Effect
		why    error // to end it with; nil: it ends by itself
		want   string
		said   string // what the call itself returned, where that differs
	}{
		{name: "ended", argv: part(t, "say", `{"a":1}`), want: `true {"a":1} <nil>`},
		{name: "failed", argv: part(t, "say", "out", "no such ticket", "3"), want: "true  exit status 3: no such ticket"},
		{name: "died", argv: part(t, "die", "9"), want: unknown + "it was cut short, killed by SIGKILL", said: "killed by SIGKILL: half a res"},
		{name: "died reading", argv: part(t, "die", "9"), effect: pawl.Read, want: "true  killed by SIGKILL: half a res"},
		{name: "missing", argv: []string{"/nowhere/at/all"}, want: `true  cannot start "/nowhere/at/all": there is no file /nowhere/at/all; create it or name another program`},
		{name: "stopped", argv: hang, why: errors.New("enough"), want: unknown + "it was cut short, killed by SIGTERM", said: "stopped: enough"},
		{name: "stopped read", argv: hang, effect: pawl.Read, why: errors.New("enough"), want: notMade, said: "stopped: enough"},
		{name: "late", argv: hang, why: context.DeadlineExceeded, want: "true  no result within 1m0s; killed by SIGTERM", said: "stopped: context deadline exceeded"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := command(c.argv, &tool.CommandOptions{Effect: c.effect})
			inv := promised(t, cmd, c.name)
			ctx, cancel := context.WithCancelCause(t.Context())
			if c.why != nil {
				go func() {
					running(t, inv)
					cancel(c.why)
				}()
			}
			out, err := cmd.Run(ctx, inv)
			cancel(nil)
			if got := text(true, out, err); c.said == "" && got != c.want || !strings.Contains(got, c.said) {
				t.Errorf("the call itself returned %s", got)
			}
			if died := strings.HasPrefix(c.name, "died"); died != isUnknown(err) {
				t.Errorf("unknown %v: %v", !died, err)
			}
			for range 2 { // asking changes nothing
				if got := reconciled(t, cmd, inv); !strings.HasPrefix(got, c.want) {
					t.Errorf("got %s, want %s", got, c.want)
				}
			}
		})
	}
}

func isUnknown(err error) bool {
	var u interface{ Unknown() bool }
	return errors.As(err, &u) && u.Unknown()
}

func text(happened bool, out pawl.Output, err error) string {
	said := "<nil>"
	if err != nil {
		said = err.Error()
	}
	return map[bool]string{true: "true ", false: "false "}[happened] + string(out.JSON) + " " + said
}

// running waits until the file says that a command runs, and returns the command's process.
func running(t *testing.T, inv pawl.Invocation) process.Identity {
	t.Helper()
	dir := callDir(t, inv)
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if f, err := dir.Look(recorded(inv)); err == nil && f.Process != "" {
			id, err := process.ParseIdentity(f.Process)
			must(t, err)
			return id
		}
	}
	t.Error("the command is not running after a minute")
	return process.Identity{}
}

// wrapper returns the wrapper of a running command, its parent.
func wrapper(t *testing.T, inv pawl.Invocation) int {
	t.Helper()
	out, err := exec.Command("ps", "-o", "ppid=", "-p", strconv.Itoa(running(t, inv).PID)).Output()
	pid, wrong := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil || wrong != nil {
		t.Errorf("no parent: %v, %v", err, wrong)
	}
	return pid
}

// If there is no file, Reconcile keeps the command from ever starting, whatever its effect.
func TestReconcileNotStarted(t *testing.T) {
	supervised(t, nil)
	file := filepath.Join(t.TempDir(), "leader")
	for _, effect := range []pawl.Effect{pawl.Write, pawl.Read, pawl.Idempotent} {
		cmd := command(part(t, "hang", file), &tool.CommandOptions{Effect: effect})
		inv := promised(t, cmd, effect.String())
		for range 2 {
			if got := reconciled(t, cmd, inv); got != notMade {
				t.Errorf("%v: got %s", effect, got)
			}
		}
		if _, err := cmd.Run(t.Context(), inv); !isNotRun(err) || !strings.Contains(err.Error(), "another process") {
			t.Errorf("%v: it starts after all: %v", effect, err)
		}
	}
	if exists(file) {
		t.Error("it was started after all")
	}
}

// Where the log names no directory, or one that proves nothing, the outcome is unknown, and a
// command that would not be recorded where the log says is not started.
func TestReconcileElsewhere(t *testing.T) {
	ran := filepath.Join(t.TempDir(), "ran")
	for name, change := range map[string]func(t *testing.T, inv *pawl.Invocation){
		"removed": func(t *testing.T, inv *pawl.Invocation) {
			must(t, callDir(t, *inv).Remove())
		},
		"made again": func(t *testing.T, inv *pawl.Invocation) {
			dir := callDir(t, *inv)
			must(t, dir.Remove())
			if again, err := process.OpenCallDir(filepath.Dir(dir.Path), inv.Run); err != nil || again.Path == dir.Path {
				t.Fatal(again, err)
			}
		},
		"another boot": func(t *testing.T, inv *pawl.Invocation) {
			dir := callDir(t, *inv)
			dir.Boot = "another"
			inv.Supervised = dir.String()
		},
	} {
		t.Run(name, func(t *testing.T) {
			supervised(t, nil)
			cmd := command(part(t, "read", ran), nil)
			inv := promised(t, cmd, "c_1")
			change(t, &inv)
			if got := reconciled(t, cmd, inv); !strings.HasPrefix(got, unknown) {
				t.Errorf("got %s", got)
			}
			if _, err := cmd.Run(t.Context(), inv); err == nil || exists(ran) {
				t.Errorf("it is made: %v", err)
			}
		})
	}
	// The log names the directory, so a process with another directory finds it.
	for name, change := range map[string]func(t *testing.T){
		"another directory": func(t *testing.T) { tool.RecordIn(filepath.Join(t.TempDir(), "calls"), nil) },
		"no wrappers":       func(*testing.T) { tool.Unsupervise() },
	} {
		t.Run(name, func(t *testing.T) {
			supervised(t, nil)
			cmd := command(part(t, "read", ran), nil)
			inv := promised(t, cmd, "c_1")
			change(t)
			if got := reconciled(t, cmd, inv); got != notMade {
				t.Errorf("got %s", got)
			}
			if _, err := cmd.Run(t.Context(), inv); !isNotRun(err) || exists(ran) {
				t.Errorf("it is made: %v", err)
			}
			tool.Supervise()
			if _, err := cmd.Run(t.Context(), inv); !isNotRun(err) || !strings.Contains(err.Error(), "another process") || exists(ran) {
				t.Errorf("it is made: %v", err)
			}
		})
	}
	t.Run("unsupervised", func(t *testing.T) {
		cmd := command(part(t, "read", ran), nil)
		if got := cmd.(interface {
			Supervised(inv pawl.Invocation) string
		}).Supervised(attempt("c_1")); got != "" {
			t.Errorf("nothing is recorded, and it says %q", got)
		}
		for _, text := range []string{"", "somebody"} {
			inv := attempt("c_1")
			inv.Supervised = text
			if got := reconciled(t, cmd, inv); !strings.HasPrefix(got, unknown) {
				t.Errorf("got %s", got)
			}
		}
	})
	t.Run("the user's directory", func(t *testing.T) {
		supervised(t, nil)
		state := t.TempDir()
		t.Setenv("XDG_STATE_HOME", state)
		tool.RecordIn("", nil)
		cmd := command(part(t, "say", `"on"`), nil)
		inv := promised(t, cmd, "c_1")
		if out, err := cmd.Run(t.Context(), inv); err != nil || string(out.JSON) != `"on"` || !strings.HasPrefix(callDir(t, inv).Path, filepath.Join(state, "pawl", "calls")) {
			t.Errorf("%s, %v, in %s", out.JSON, err, inv.Supervised)
		}
	})
}

// A command that has lost its wrapper is ended by the process that notices.
func TestWrapperDies(t *testing.T) {
	supervised(t, nil)
	file := filepath.Join(t.TempDir(), "leader")
	cmd := command(part(t, "stubborn", file), &tool.CommandOptions{Grace: 50 * time.Millisecond})
	inv := promised(t, cmd, "c_1")
	ids := make(chan []process.Identity, 1)
	go func() {
		ids <- identities(t.Context(), []string{file})
		_ = syscall.Kill(wrapper(t, inv), syscall.SIGKILL)
	}()
	_, err := cmd.Run(t.Context(), inv)
	if err == nil || err.Error() != "the outcome of the command is unknown: its wrapper has died" || !isUnknown(err) {
		t.Errorf("got %v", err)
	}
	gone(t, <-ids, 1)
	if got := reconciled(t, cmd, inv); got != unknown+"its wrapper has died" {
		t.Errorf("got %s", got)
	}
}

// A wrapper that is told to end ends its command at once.
func TestWrapperEnds(t *testing.T) {
	supervised(t, nil)
	file := filepath.Join(t.TempDir(), "leader")
	cmd := command(part(t, "stubborn", file), nil)
	inv := promised(t, cmd, "c_1")
	ids := make(chan []process.Identity, 1)
	go func() {
		ids <- identities(t.Context(), []string{file})
		_ = syscall.Kill(wrapper(t, inv), syscall.SIGTERM)
	}()
	if _, err := cmd.Run(t.Context(), inv); err == nil || err.Error() != "stopped from outside: killed by SIGKILL, and it printed nothing" || !isUnknown(err) {
		t.Errorf("got %v", err)
	}
	gone(t, <-ids, 1)
}

// A command has no more time because the process that asked for it does not move.
func TestWrapperKeepsTheDeadline(t *testing.T) {
	supervised(t, nil)
	cmd := command(part(t, "hang", filepath.Join(t.TempDir(), "leader")), &tool.CommandOptions{Timeout: 20 * time.Millisecond})
	if _, err := cmd.Run(t.Context(), promised(t, cmd, "c_1")); !errors.Is(err, context.DeadlineExceeded) || !strings.HasPrefix(err.Error(), "no result within 20ms") {
		t.Errorf("got %v", err)
	}
}

// What belongs to no run is run as often as anybody likes.
func TestSupervisedWithoutRun(t *testing.T) {
	dir := supervised(t, nil)
	for range 2 {
		if out, err := command(part(t, "say", "on"), nil).Run(t.Context(), pawl.Invocation{}); err != nil || string(out.JSON) != `"on"` {
			t.Errorf("%s, %v", out.JSON, err)
		}
	}
	if exists(dir) {
		t.Error("it is recorded")
	}
}

// Neither a command's secrets nor those of others come to the disk.
func TestCallFileHasNoSecrets(t *testing.T) {
	dir := supervised(t, map[string]string{"OTHER_KEY": "0123456789another"})
	c := secret(t, part(t, "say", "the token is "+ledgerToken+" or 0123456789another", ledgerToken, "1"), 0)
	if _, err := c.Run(t.Context(), attempt("c_1")); err == nil {
		t.Fatal("it did not fail")
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*", "*"))
	if len(files) != 1 {
		t.Fatalf("files: %q", files)
	}
	data, err := os.ReadFile(files[0])
	if err != nil || !strings.Contains(string(data), "{{secret:LEDGER_TOKEN}} or {{secret:OTHER_KEY}}") {
		t.Errorf("the file has %s, %v", data, err)
	}
	for _, canary := range []string{"zebra", "another\"", "0123456789"} {
		if strings.Contains(string(data), canary) {
			t.Errorf("the file has %s: %s", canary, data)
		}
	}
}

// Commands fail before they start when they cannot be recorded.
func TestCallsUnusable(t *testing.T) {
	supervised(t, nil)
	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, nil, 0o600))
	tool.RecordIn(filepath.Join(file, "calls"), nil)
	ran := filepath.Join(t.TempDir(), "ran")
	if _, err := command(part(t, "read", ran), nil).Run(t.Context(), attempt("c_1")); !isNotRun(err) || !strings.Contains(err.Error(), "could not be recorded") || exists(ran) {
		t.Errorf("got %v", err)
	}
}
