//go:build linux || darwin

package process_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pawl-run/pawl/internal/process"
	"github.com/pawl-run/pawl/internal/testkit/check"
)

func calls(t *testing.T) process.CallDir {
	t.Helper()
	d, err := process.OpenCallDir(filepath.Join(t.TempDir(), "calls of mine"), "r")
	must(t, err)
	return d
}

var first = process.Attempt{Run: "r", Call: "c_1", Key: "r/c_1", Number: 1}

func settle(t *testing.T, d process.CallDir) process.Fate {
	t.Helper()
	fate, err := d.Settle(first)
	must(t, err)
	return fate
}

func TestCallDirText(t *testing.T) {
	d := calls(t)
	got, ok := process.ParseCallDir(d.String())
	if !ok || got.Path != d.Path || got.Boot != d.Boot || got.At.UnixMilli() != d.At.UnixMilli() {
		t.Errorf("%q is read as %v, %v", d, got, ok)
	}
	for _, text := range []string{"", "somebody", "boot 1", "boot x /path", "boot 1 "} {
		if _, ok := process.ParseCallDir(text); ok {
			t.Errorf("%q is a directory", text)
		}
	}
	if again, err := process.OpenCallDir(filepath.Dir(d.Path), "r"); err != nil || again.Path != d.Path {
		t.Errorf("the run has another directory: %v, %v", again, err)
	}
	if other, err := process.OpenCallDir(filepath.Dir(d.Path), "s"); err != nil || other.Path == d.Path {
		t.Errorf("another run has the same directory: %v, %v", other, err)
	}
}

// A file goes from running to its outcome; a wrapper that dies leaves an unknown one.
func TestFate(t *testing.T) {
	d := calls(t)
	if fate, err := d.Look(first); !os.IsNotExist(err) {
		t.Errorf("looking found %+v, %v", fate, err)
	}
	f, err := d.Begin(first, time.Minute)
	must(t, err)
	self, err := process.Self()
	if err == nil {
		err = f.Running(self)
	}
	if fate := settle(t, d); err != nil || !fate.Running || fate.Never || fate.Process != self.String() || fate.Timeout != time.Minute {
		t.Errorf("while it runs: %+v, %v", fate, err)
	}
	if _, err := d.Begin(first, 0); err == nil {
		t.Error("it begins twice")
	}
	must(t, f.End(&process.Outcome{Code: 3}))
	for range 2 { // before and after the lock is released
		if fate := settle(t, d); fate.Running || fate.Outcome == nil || fate.Outcome.Code != 3 || fate.Process != self.String() {
			t.Errorf("at the end: %+v", fate)
		}
		_ = f.Close()
	}
	if _, err := d.Begin(first, 0); err == nil {
		t.Error("it begins again after its end")
	}

	d = calls(t)
	if f, err = d.Begin(first, 0); err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	if fate := settle(t, d); fate.Running || fate.Never || fate.Outcome != nil {
		t.Errorf("without its wrapper: %+v", fate)
	}
}

// A wrapper that died between creating and locking its file has started nothing, and one
// that was stopped there starts nothing later.
func TestEmptyCallFile(t *testing.T) {
	d := calls(t)
	settle(t, d)
	files, _ := filepath.Glob(filepath.Join(d.Path, "*"))
	if err := os.Truncate(files[0], 0); err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	if fate, err := d.Look(first); err != nil || fate.Never {
		t.Errorf("looking settles it: %+v, %v", fate, err)
	}
	if fate := settle(t, d); !fate.Never {
		t.Errorf("got %+v", fate)
	}
}

// Either the command starts, or everybody finds that it never does.
func TestSettleRace(t *testing.T) {
	for range 200 {
		d := calls(t)
		var never atomic.Int32
		var began error
		var all sync.WaitGroup
		all.Go(func() {
			var f *process.CallFile
			if f, began = d.Begin(first, 0); began == nil {
				defer f.Close()
				_ = f.End(&process.Outcome{})
			}
		})
		for range 2 {
			all.Go(func() {
				if fate, err := d.Settle(first); err != nil || fate.Never {
					never.Add(1)
				}
			})
		}
		all.Wait()
		if began == nil && never.Load() > 0 || began != nil && !settle(t, d).Never {
			t.Fatalf("begun: %v, and %d say never", began, never.Load())
		}
	}
}

// A missing file proves nothing about another boot, and nothing begins in a removed
// directory, nor long after the announcement.
func TestCallDirElsewhere(t *testing.T) {
	d := calls(t)
	there := d
	there.Boot = "another"
	if fate := settle(t, there); fate.Never {
		t.Errorf("got %+v", fate)
	}
	if _, err := d.Begin(first, 0); err == nil {
		t.Error("it begins after that")
	}
	d = calls(t)
	d.At = d.At.Add(-11 * time.Second)
	if _, err := d.Begin(first, 0); err == nil || !strings.Contains(err.Error(), "11s after the call was announced") {
		t.Errorf("it begins late: %v", err)
	}
	if fate := settle(t, d); !fate.Never {
		t.Errorf("a late one is settled as %+v", fate)
	}
	d = calls(t)
	if err := d.Remove(); err != nil || d.Reachable() {
		t.Errorf("it is not removed: %v", err)
	}
	if _, err := d.Begin(first, 0); err == nil {
		t.Error("it begins in a removed directory")
	}
	if left, _ := os.ReadDir(filepath.Dir(d.Path)); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

func TestInterrupted(t *testing.T) {
	for o, want := range map[*process.Outcome][2]bool{ // interrupted, not started
		{}:                                      {false, false},
		{Code: 1}:                               {false, false},
		{Signal: "SIGKILL"}:                     {true, false},
		{Signal: "SIGTERM", Cut: process.Late}:  {false, false},
		{Cut: process.Stopped}:                  {true, false},
		{Refused: "over", Cut: process.Stopped}: {false, true},
		{Refused: "no such file"}:               {false, false},
	} {
		if got := [2]bool{o.Interrupted(), o.NotStarted()}; got != want {
			t.Errorf("%+v: %v, want %v", o, got, want)
		}
	}
}

var must = check.Must
