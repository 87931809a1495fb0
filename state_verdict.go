package pawl

import (
	"cmp"
	"fmt"

	"github.com/pawl-run/pawl/internal/naming"
)

// Status is where a run stands or how it ended.
type Status int

// The statuses. From Success to Paused a run does not run; of these, only Success
// cannot be resumed.
const (
	StatusSuccess Status = 1 + iota
	StatusExhausted
	StatusNoProgress
	StatusWaitingApproval
	StatusWaitingInput
	StatusWaitingClientTool
	StatusWaitingDoubt
	StatusExpired
	StatusDenied
	StatusPlanFailed
	StatusFailed
	StatusCancelled
	StatusPaused
	StatusInterrupted // derived: running, but its owner is gone
	StatusRunning
	StatusQueued
)

var statuses = naming.NewEnum[Status]("status", []string{
	"success", "exhausted", "no_progress", "waiting_approval", "waiting_input", "waiting_client_tool", "waiting_doubt",
	"expired", "denied", "plan_failed", "failed", "cancelled", "paused", "interrupted", "running", "queued",
})

// String returns the status's name, as in the result and the log.
func (s Status) String() string { return statuses.String(s) }

func (s Status) MarshalText() ([]byte, error)  { return statuses.Marshal(s) }
func (s *Status) UnmarshalText(b []byte) error { return statuses.Unmarshal(s, b) }

// Waiting reports whether the run is suspended until someone outside answers.
func (s Status) Waiting() bool { return s >= StatusWaitingApproval && s <= StatusExpired }

// Ended reports whether the run is over: it neither runs nor waits for an
// answer.
func (s Status) Ended() bool { return s > 0 && s < StatusPaused && !s.Waiting() }

// Resumable reports whether resuming can go on from here.
func (s Status) Resumable() bool { return s != 0 && s < StatusRunning && s != StatusSuccess }

// A Verdict says whether a condition holds, what that makes of the run, and
// which part of the condition decided. The zero Verdict does not hold.
type Verdict struct { //nolint:errname // it is the end of a run first, and an error where a caller wants one
	Holds     bool
	Status    Status // zero: it holds but has no outcome of its own
	Condition string // the satisfied branch of the outermost ||, as source
	Leaf      string // the leaf that decided, as source
	Detail    string // for people, such as "20 of 20 iterations are used"

	// Explicit says that the condition names the outcome, as failed(…) does. A
	// complete answer goes before an end that is neither explicit nor a success.
	Explicit bool
}

// verdict is one that a single leaf decided.
func verdict(status Status, leaf, detail string) Verdict {
	return Verdict{Holds: true, Status: status, Condition: leaf, Leaf: leaf, Detail: detail}
}

// String reads like "success: tool_called("submit_po") && confidence >= 0.9".
func (v Verdict) String() string {
	switch {
	case v.Status == 0 && !v.Holds:
		return "undecided"
	case (v.Status == StatusFailed || v.Status == StatusPlanFailed) && v.Detail != "":
		return v.Status.String() + ": " + v.Detail // the condition of a failure is only its kind
	case v.Condition+v.Detail != "":
		return fmt.Sprintf("%v: %s", v.Status, cmp.Or(v.Condition, v.Detail))
	}
	return v.Status.String()
}

// Error is String: the verdict is what [Result.Err] wraps.
func (v Verdict) Error() string { return v.String() }

// A Condition decides whether a run should end. Eval is pure: no clock, no
// randomness, no I/O, and the same State always gives the same Verdict. The
// machine calls it before every step, so it must be cheap. The State belongs to
// the caller, as in [Loop]. String returns source that stop.Parse reads back.
type Condition interface {
	Eval(*State) Verdict
	String() string
}
