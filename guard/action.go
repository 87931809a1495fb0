package guard

import (
	"github.com/pawl-run/pawl/internal/naming"
)

// Action is what a rule does about a finding.
type Action int

// The actions.
const (
	Redact Action = 1 + iota // replace the finding before it becomes part of the run
	Block                    // stop the text
	Warn                     // note the finding in the log
	// Retry rejects a reply of the model and gives the reason, so that the
	// model replies differently: see [pawl.State.Reject]. Elsewhere it is
	// Block.
	Retry
)

var actionNames = naming.NewEnum[Action]("action", []string{"redact", "block", "warn", "retry"})

// String returns the action's name in specs.
func (a Action) String() string { return actionNames.String(a) }
