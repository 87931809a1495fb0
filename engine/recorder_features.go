package engine

import (
	"time"

	"github.com/pawl-run/pawl"
)

// A feature is what an engine does for a run besides driving it, such as holding budgets or passing
// on files. It has one or more of the interfaces of this file. The driver and the effects of the
// run call them at the moments that they name, and know nothing else of features.
type feature any

// An intent is a model call that the machine has decided on and that is not announced yet.
type intent struct {
	at     uint64
	think  pawl.Think // a gate may lower it
	model  pawl.Model
	info   pawl.ModelInfo
	called pawl.ModelCalled
	booked bool            // a gate has appended it, with what it reserves
	later  *pawl.RunPaused // how to suspend the run until the call can be made; nil: it need not be suspended
}

// A gate stands before the model calls of a run.
type gate interface {
	// admit returns how long a call must wait before the machine decides on it again. Zero:
	// the next gate is asked and, after the last, the call is made. If a gate appends anything
	// but the intent, the machine decides again at once.
	admit(c *intent, now time.Time) (wait time.Duration, err error)
	// settle is told how many tokens a call has used, once its result is appended, and its failure; nil: it replied.
	settle(endpoint string, used int, failed *pawl.ModelFailed)
}

// A filler completes the messages of a model call before they are sent. A *pawl.ModelError is the
// failure of the call; any other error breaks the run.
type filler interface {
	fill(messages []pawl.Message) ([]pawl.Message, error)
}

// An outfitter may wrap the tool of a call before it runs.
type outfitter interface {
	outfit(t pawl.Tool) pawl.Tool
}

// An attendant does what calls in progress ask of the goroutine that drives their run.
type attendant interface {
	attends(t pawl.Tool) bool // calls of the tool ask something
	serve(at uint64) error
}

// An ending is told of the end of a run.
type ending interface {
	ends(v pawl.Verdict) error // before the run says that it has ended
	ended()                    // after it has said so, and was released
}

// A leaver is told that this process no longer drives the run.
type leaver interface {
	leave()
}
