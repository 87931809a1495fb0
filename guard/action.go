package guard

import "fmt"

// Action is what is done about what a rule finds.
type Action int

// The actions.
const (
	Redact Action = 1 + iota // it is replaced before it becomes part of the run
	Block                    // it goes no further
	Warn                     // it is noted in the log
	// Retry rejects a reply of the model with it, and tells the model why, so that
	// it replies in another way: see [pawl.State.Reject]. Elsewhere it is Block.
	Retry
)

// String returns the action's name in specs.
func (a Action) String() string {
	switch a {
	case Redact:
		return "redact"
	case Block:
		return "block"
	case Warn:
		return "warn"
	case Retry:
		return "retry"
	}
	return fmt.Sprintf("action(%d)", int(a))
}
