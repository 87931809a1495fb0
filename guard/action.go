package guard

import "fmt"

// Action is what is done about what a rule finds.
type Action int

// The actions.
const (
	Redact Action = 1 + iota // it is replaced before it becomes part of the run
	Block                    // it goes no further
	Warn                     // it is noted in the log
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
	}
	return fmt.Sprintf("action(%d)", int(a))
}
