package project

import (
	"fmt"
	"strings"
)

// Checked is what the tests said before the first edit.
type Checked struct {
	Passed int
	Open   []string // the tests that fail, sorted
	Says   []string // about the tests, for people, a line each
}

// An Outcome is what a run in a copy came to.
type Outcome struct {
	Diff      Diff     // what is to be kept
	Facts     any      // of the kind of agent, a struct with a member at least, for JSON
	Says      []string // about it, for people, a line each
	Unchanged string   // why there is no difference; empty: the agent changed nothing
}

// Checking runs the tests before the first edit. While they run, seen is called with the number of packages
// that have ended, and of those that failed; nil: it is not called.
func (w *Work[M]) Checking(seen func(packages, failed int), check func() error) error {
	w.Running.Lock()
	defer w.Running.Unlock()
	w.Suite.Seen = seen
	defer func() { w.Suite.Seen = nil }()
	return check()
}

// SaysFlaky says which tests fail by chance.
func (w *Work[M]) SaysFlaky() []string {
	flaky := w.Flaky()
	if len(flaky) == 0 {
		return nil
	}
	return []string{"flaky and ignored (they passed and failed without a change): " + strings.Join(flaky, ", ")}
}

// Passing says how many tests pass.
func Passing(n int) string {
	if n == 1 {
		return "1 test passes"
	}
	return fmt.Sprintf("%d tests pass", n)
}
