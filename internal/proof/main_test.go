//go:build linux || darwin

// Package proof_test kills processes from outside, at every named point and at
// any time, and holds what the next process makes of it against the run that
// nobody disturbed.
package proof_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/sqlite"
)

// The environment of a process that plays a part.
const (
	envPart     = "PAWL_PROOF_PART"     // which
	envDir      = "PAWL_PROOF_DIR"      // the world: database, ledger, bill
	envStop     = "PAWL_PROOF_STOP"     // where it is to stop and wait for its end
	envRecord   = "PAWL_PROOF_RECORD"   // tell every point it passes
	envSabotage = "PAWL_PROOF_SABOTAGE" // what is to be broken in it
	envLease    = "PAWL_PROOF_LEASE"    // how long a run stays its own without a sign of life
)

// TestMain lets this binary be the processes that are killed.
func TestMain(m *testing.M) {
	part := os.Getenv(envPart)
	if part == "" {
		code := m.Run()
		tidy()
		os.Exit(code)
	}
	parts := map[string]func(*world) error{"run": work, "decide": decide, "cancel": cancelIt, "resume": takeOver, "stuck": hang}
	w := &world{dir: os.Getenv(envDir), gate: newGate(os.Getenv(envStop), os.Getenv(envRecord) != ""), sabotage: os.Getenv(envSabotage)}
	if err := parts[part](w); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// runID is the run of every world.
const runID = "r"

// A report is what a process says when it ends by itself.
type report struct {
	Result *pawl.Result `json:",omitempty"`
	Held   string       // why it did not get the run
}

func say(r report) error { return json.NewEncoder(os.Stdout).Encode(r) }

func open(dir string) (*sqlite.Journal, error) {
	// A process that is killed loses nothing that the kernel was given; the power
	// cuts, which FULL is for, are journal/sqlite's to prove.
	return sqlite.Open(context.Background(), filepath.Join(dir, "pawl.db"), &sqlite.Options{Normal: true})
}

// newEngine differs from what users have in its patience only.
func newEngine(j pawl.Journal) *engine.Engine {
	lease, _ := time.ParseDuration(os.Getenv(envLease)) // zero: what users have
	return engine.New(j, &engine.Options{Lease: lease, Backoff: func(int) time.Duration { return 30 * time.Millisecond }})
}

// drive begins the run or goes on with it, as who repeats a request under the
// same key does, until it ends or waits.
func drive(w *world, j pawl.Journal) (report, error) {
	ctx := context.Background()
	e := newEngine(j)
	h, err := e.Start(ctx, w.agent(), input, &engine.StartOptions{ID: runID})
	if errors.Is(err, pawl.ErrRunExists) {
		h, err = e.Resume(ctx, w.agent(), runID, nil)
	}
	if held := (*pawl.HeldError)(nil); errors.As(err, &held) {
		return report{Held: err.Error()}, nil
	}
	if err != nil {
		if s, unread := engine.Load(ctx, j, runID); unread == nil && s.Status() == pawl.StatusSuccess && !errors.Is(err, pawl.ErrFenced) {
			res := s.Result()
			return report{Result: &res}, nil
		}
		return report{}, err
	}
	w.gate.pass("told", func() {}) // the caller learns of the run
	res, err := h.Wait(ctx)
	if err != nil {
		return report{}, err
	}
	return report{Result: &res}, e.Close()
}

// work drives the run in a process of its own.
func work(w *world) error {
	j, err := open(w.dir)
	if err != nil {
		return err
	}
	r, err := drive(w, w.tap(j))
	if err != nil {
		return err
	}
	if err := j.Close(); err != nil {
		return err
	}
	w.gate.pass("end", func() {})
	return say(r)
}

// takeOver waits for the word, and tries to have the run that others want, too.
func takeOver(w *world) error {
	j, err := open(w.dir)
	if err != nil {
		return err
	}
	fmt.Fprintln(w.gate.out, "ready")
	var word [1]byte
	if _, err := os.Stdin.Read(word[:]); err != nil {
		return err
	}
	r, err := drive(w, w.tap(j))
	if err != nil {
		return err
	}
	return errors.Join(say(r), j.Close())
}

// decide approves whatever waits, as a person does in another process.
func decide(w *world) error {
	j, err := open(w.dir)
	if err != nil {
		return err
	}
	tapped := w.tap(j)
	s, err := engine.Load(context.Background(), tapped, runID)
	if err != nil {
		return err
	}
	pending, err := engine.Pending(context.Background(), tapped, s)
	if err != nil {
		return err
	}
	for _, p := range pending {
		if err := w.give(newEngine(tapped), p); err != nil {
			return err
		}
		w.gate.pass("acknowledge", func() {})
	}
	return errors.Join(say(report{}), j.Close())
}

// cancelIt cancels the run, as a person does in another process.
func cancelIt(w *world) error {
	j, err := open(w.dir)
	if err != nil {
		return err
	}
	err = newEngine(w.tap(j)).Cancel(context.Background(), runID, "boss", "enough")
	if err != nil {
		return err
	}
	w.gate.pass("acknowledge", func() {})
	return errors.Join(say(report{}), j.Close())
}

// hang never ends.
func hang(w *world) error {
	fmt.Fprintln(w.gate.out, "ready")
	for {
		time.Sleep(time.Hour)
	}
}
