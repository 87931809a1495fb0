package webhook

import (
	"encoding/json"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/naming"
)

// An Event is a kind of notice about a run.
type Event int

// The events.
const (
	Waiting Event = 1 + iota // the run waits for an approval, an answer, a result, or the resolution of an unknown outcome
	Paused                   // the run was suspended: by a signal, a shutdown, or until a provider's limit resets
	Stopped                  // the run has ended
	Noticed                  // most of a limit or budget is used
)

// EventNames are the names of the events, in their order.
var EventNames = []string{"run.waiting", "run.paused", "run.stopped", "run.notice"}

var eventNames = naming.NewEnum[Event]("event", EventNames)

// String returns the event's name.
func (e Event) String() string { return eventNames.String(e) }

// MarshalText writes the event's name.
func (e Event) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// UnmarshalText reads the event's name.
func (e *Event) UnmarshalText(b []byte) error { return eventNames.Unmarshal(e, b) }

// A Notice is the body of a request: the state of a run at an entry. For run.notice, Notice is what
// the entry says.
type Notice struct {
	ID     string            `json:"id"` // the same whenever this notice is sent
	Type   Event             `json:"type"`
	Run    string            `json:"run"`
	Seq    uint64            `json:"seq"` // of the entry that it is about
	Time   time.Time         `json:"time"`
	Result json.RawMessage   `json:"result"` // a pawl.Result, redacted and without tokens
	Notice *pawl.NoticeGiven `json:"notice,omitempty"`
	Links  *Links            `json:"links,omitempty"`
}

// Links are URLs for a browser. Anyone who has the link of an approval can decide it.
type Links struct {
	Run       string         `json:"run"`
	Approvals []ApprovalLink `json:"approvals,omitempty"`
}

// An ApprovalLink leads to a page that asks about one call.
type ApprovalLink struct {
	Run  string `json:"run"`
	Call string `json:"call"`
	URL  string `json:"url"`
}

// eventOf is the kind of notice for an entry; zero: none.
func eventOf(event pawl.Event) Event {
	switch e := event.(type) {
	case pawl.RunPaused:
		if e.Status.Waiting() {
			return Waiting
		}
		return Paused
	case pawl.RunStopped:
		return Stopped
	case pawl.NoticeGiven:
		return Noticed
	}
	return 0
}
