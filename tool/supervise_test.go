//go:build linux || darwin

package tool_test

import (
	"context"
	"errors"
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

// newSpool gives each command a spool of its own, because tests without a
// supervisor make the same attempt repeatedly.
var newSpool = func() {}

func attempt(call string) pawl.Invocation {
	return pawl.Invocation{Run: "r", Call: call, Key: "r/" + call, Attempt: 1}
}

func recorded(inv pawl.Invocation) spool.Attempt {
	return spool.Attempt{Run: inv.Run, Call: inv.Call, Key: inv.Key, Number: inv.Attempt}
}

// supervised has commands supervised for the length of a test.
func supervised(t *testing.T, secrets map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "spool")
	tool.Supervise()
	tool.Spool(dir, secrets)
	t.Cleanup(tool.Unsupervise)
	return dir
}

// Whatever holds of a command holds under a supervisor.
func TestSupervisedAsPlain(t *testing.T) {
	supervised(t, nil)
	newSpool = func() { tool.Spool(filepath.Join(t.TempDir(), "spool"), nil) }
	defer func() { newSpool = func() {} }()
	for name, test := range map[string]func(*testing.T){
		"golden": TestCommands, "environment": TestCommandEnvironment, "large": TestCommandLargeArguments,
		"not started": TestCommandNotStarted, "leaves": TestCommandLeaves,
		"secrets": TestCommandGetsItsSecretsBack, "cut": TestCommandSecretsAreOutBeforeTheCut,
	} {
		t.Run(name, test)
	}
	t.Run("stops", TestCommandStops)
}

func TestReconcile(t *testing.T) {
	dir := supervised(t, nil)
	hang := part(t, "hang", filepath.Join(t.TempDir(), "ready"))
	for _, c := range []struct {
		name   string
		argv   []string
		effect pawl.Effect
		why    error // to end it with; nil: it ends by itself
		want   string
		told   string // what the supervised call itself came to, where that differs
	}{
		{name: "ended", argv: part(t, "say", `{"a":1}`), want: `true {"a":1} <nil>`},
		{name: "failed", argv: part(t, "say", "out", "no such ticket", "3"), want: "true  exit status 3: no such ticket"},
		{name: "died", argv: part(t, "die", "9"), want: "true  killed by SIGKILL: half a res"},
		{name: "missing", argv: []string{"/nowhere/at/all"}, want: `true  cannot start "/nowhere/at/all": there is no file /nowhere/at/all; create it or name another program`},
		{name: "stopped", argv: hang, why: errors.New("enough"), want: "false  the outcome of the command is unknown: it was cut short", told: "stopped: enough"},
		{name: "stopped read", argv: hang, effect: pawl.Read, why: errors.New("enough"), want: "false  <nil>", told: "stopped: enough"},
		{name: "late", argv: hang, why: context.DeadlineExceeded, want: "true  no result within 1m0s; killed by SIGTERM", told: "stopped: context deadline exceeded"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := command(c.argv, &tool.CommandOptions{Effect: c.effect})
			inv := attempt(c.name)
			ctx, cancel := context.WithCancelCause(t.Context())
			if c.why != nil {
				go func() {
					running(t, dir, inv)
					cancel(c.why)
				}()
			}
			out, err := cmd.Run(ctx, inv)
			cancel(nil)
			if got := text(true, out, err); c.told == "" && got != c.want || !strings.Contains(got, c.told) {
				t.Errorf("the call itself came to %s", got)
			}
			for range 2 { // asking changes nothing
				out, happened, err := cmd.(pawl.Reconciler).Reconcile(t.Context(), inv)
				if got := text(happened, out, err); !strings.HasPrefix(got, c.want) {
					t.Errorf("got %s, want %s", got, c.want)
				}
			}
		})
	}
}

func text(happened bool, out pawl.Output, err error) string {
	said := "<nil>"
	if err != nil {
		said = err.Error()
	}
	return map[bool]string{true: "true ", false: "false "}[happened] + string(out.JSON) + " " + said
}

// running waits until the record says that a command runs, and returns it.
func running(t *testing.T, dir string, inv pawl.Invocation) spool.Fate {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if f, err := spool.At(dir).Read(recorded(inv)); err == nil && f.Process != "" {
			return f
		}
	}
	t.Error("the command is not running after a minute")
	return spool.Fate{}
}

// If there is no record, Reconcile prevents the command from ever starting. Without a
// promise it does not claim that a Write never ran: a program without a supervisor
// leaves no record. Any other effect may be repeated.
func TestReconcileNotStarted(t *testing.T) {
	supervised(t, nil)
	file := filepath.Join(t.TempDir(), "leader")
	for effect, want := range map[pawl.Effect]string{pawl.Write: noWord, pawl.Read: notMade, pawl.Idempotent: notMade} {
		cmd := command(part(t, "hang", file), &tool.CommandOptions{Effect: effect})
		inv := attempt(effect.String())
		for range 2 {
			if got := reconciled(t, cmd, inv); !strings.HasPrefix(got, want) {
				t.Errorf("%v: got %s", effect, got)
			}
		}
		if _, err := cmd.Run(t.Context(), inv); err == nil || !strings.Contains(err.Error(), "another process") {
			t.Errorf("%v: it starts after all: %v", effect, err)
		}
	}
	if exists(file) {
		t.Error("it was started after all")
	}
	tool.Unsupervise()
	if got := reconciled(t, command(part(t, "hang", file), nil), attempt("c_1")); !strings.Contains(got, "not supervised") {
		t.Errorf("nothing is supervised: %s", got)
	}
	tool.Supervise()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	tool.Spool("", nil)
	if out, err := command(part(t, "say", "on"), nil).Run(t.Context(), attempt("c_4")); err != nil || string(out.JSON) != `"on"` {
		t.Errorf("%s, %v", out.JSON, err)
	}
}

// A command that has lost its supervisor is ended by the process that notices.
func TestSupervisorDies(t *testing.T) {
	dir := supervised(t, nil)
	file := filepath.Join(t.TempDir(), "leader")
	cmd := command(part(t, "stubborn", file), &tool.CommandOptions{Grace: 50 * time.Millisecond})
	inv := attempt("c_1")
	ids := make(chan []process.Identity, 1)
	go func() {
		ids <- identities(t.Context(), []string{file})
		fate := running(t, dir, inv)
		if id, err := process.ParseIdentity(fate.Begin.Supervisor); err == nil {
			_ = syscall.Kill(id.PID, syscall.SIGKILL)
		}
	}()
	var unknown interface{ Unknown() bool }
	_, err := cmd.Run(t.Context(), inv)
	if err == nil || !strings.Contains(err.Error(), "whether it took effect is unknown") || !errors.As(err, &unknown) || !unknown.Unknown() {
		t.Errorf("got %v", err)
	}
	gone(t, <-ids, 1)
	if out, happened, err := cmd.(pawl.Reconciler).Reconcile(t.Context(), inv); text(happened, out, err) != "false  the outcome of the command is unknown: its supervisor has died" {
		t.Errorf("got %s", text(happened, out, err))
	}
	out, err := command(part(t, "say", "on"), nil).Run(t.Context(), attempt("c_2"))
	if err != nil || string(out.JSON) != `"on"` {
		t.Errorf("there is no other supervisor: %s, %v", out.JSON, err)
	}
}

// A supervisor that is told to end ends its commands at once, and the next one
// has another.
func TestSupervisorEnds(t *testing.T) {
	dir := supervised(t, nil)
	file := filepath.Join(t.TempDir(), "leader")
	cmd := command(part(t, "stubborn", file), nil)
	inv := attempt("c_1")
	ids := make(chan []process.Identity, 1)
	go func() {
		ids <- identities(t.Context(), []string{file})
		if id, err := process.ParseIdentity(running(t, dir, inv).Begin.Supervisor); err == nil {
			_ = syscall.Kill(id.PID, syscall.SIGTERM)
		}
	}()
	if _, err := cmd.Run(t.Context(), inv); err == nil || err.Error() != "stopped from outside: killed by SIGKILL, and it printed nothing" {
		t.Errorf("got %v", err)
	}
	gone(t, <-ids, 1)
	for _, call := range []string{"c_2", "c_3"} {
		out, err := command(part(t, "say", "on"), nil).Run(t.Context(), attempt(call))
		if err != nil || string(out.JSON) != `"on"` {
			t.Errorf("there is no other supervisor: %s, %v", out.JSON, err)
		}
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
	if files, _ := filepath.Glob(filepath.Join(dir, "*.spool")); len(files) != 0 {
		t.Errorf("recorded: %q", files)
	}
}

// Neither a command's secrets nor those of others come to the disk, and what is
// known in the log is forgotten.
func TestSpoolHasNoSecrets(t *testing.T) {
	dir := supervised(t, map[string]string{"OTHER_KEY": "0123456789another"})
	c := secret(t, part(t, "say", "the token is "+ledgerToken+" or 0123456789another", ledgerToken, "1"), 0)
	if _, err := c.Run(t.Context(), attempt("c_1")); err == nil {
		t.Fatal("it did not fail")
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*.spool"))
	if len(files) != 1 {
		t.Fatalf("%d files", len(files))
	}
	data, err := os.ReadFile(files[0])
	if err != nil || !strings.Contains(string(data), "{{secret:LEDGER_TOKEN}} or {{secret:OTHER_KEY}}") {
		t.Errorf("the record is %s, %v", data, err)
	}
	for _, canary := range []string{"zebra", "another\"", "0123456789"} {
		if strings.Contains(string(data), canary) {
			t.Errorf("the record has %s: %s", canary, data)
		}
	}
}

// Commands fail before they start when they cannot be recorded.
func TestSpoolUnusable(t *testing.T) {
	supervised(t, nil)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	tool.Spool(filepath.Join(file, "spool"), nil)
	if err := tool.Forget(new(pawl.State)); err == nil {
		t.Error("nothing can be forgotten there")
	}
	ran := filepath.Join(t.TempDir(), "ran")
	if _, err := command(part(t, "read", ran), nil).Run(t.Context(), attempt("c_1")); err == nil || !strings.Contains(err.Error(), "could not be recorded") || exists(ran) {
		t.Errorf("got %v", err)
	}
}
