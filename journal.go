package pawl

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/naming"
)

// A Journal stores logs. It stores bytes and knows nothing of events.
//
// All methods may be called from many goroutines and, for a journal on disk, from many
// processes. An error other than those named here means that the journal is broken: the engine
// stops before the next effect, and the run can be resumed. An error with a method
// Unavailable() bool that returns true is temporary; a server then asks its clients to retry. A
// journal does not keep the slices it gets; slices it returns belong to the caller.
type Journal interface {
	// Claim takes, renews or gives up the right to append to a run; see [Claim].
	Claim(ctx context.Context, c Claim) (Lease, error)

	// Append adds a batch to a run's log, all of it or nothing, and returns when it is durable.
	// It fails with ErrFenced when the batch's epoch is not the lease's, and with ErrConflict
	// when the log does not end at After. The lease's expiry is not looked at: an owner that
	// was slow but not replaced may go on.
	Append(ctx context.Context, b Batch) error

	// Read yields the rows of a run from seq on, in order, as far as they go now. A run that
	// does not exist yields ErrUnknownRun.
	Read(ctx context.Context, run string, from uint64) iter.Seq2[Row, error]

	// List yields the heads of runs, newest first.
	List(ctx context.Context, q Query) iter.Seq2[Head, error]
}

// An Inbox is a [Journal] that takes signals for runs with another owner. With a journal that
// is not an Inbox, only the process that owns a run can decide anything about it.
type Inbox interface {
	// Send makes a signal durable and returns it with its ID. Sending the same signal again
	// (equal run, kind, request and body) returns the first; another body for the same run,
	// kind and request is a *SignalConflictError that names the first. ErrUnknownRun if there
	// is no such run.
	Send(ctx context.Context, l Signal) (Signal, error)

	// Signals yields the signals with an ID greater than after, in order of ID, for one run or,
	// when run is empty, for all. A signal becomes visible only after every signal with a lower
	// ID, so that a reader that continues from the last ID misses none, even when sends
	// overlap.
	Signals(ctx context.Context, run string, after int64) iter.Seq2[Signal, error]
}

// Blobs is a [Journal] that keeps large bytes apart from the log, by digest. Without it, tool
// output beyond its cap is lost.
type Blobs interface {
	// PutBlob stores data under its lower-case hex SHA-256; storing it again is harmless.
	PutBlob(ctx context.Context, digest string, data []byte) error
	// Blob returns what PutBlob stored, or ErrUnknownBlob.
	Blob(ctx context.Context, digest string) ([]byte, error)
}

// A Remover is a [Journal] that can delete. Without it, everything is kept.
type Remover interface {
	// Remove deletes a run: log, head, lease and signals. Only the owner may do so: ErrFenced
	// if epoch is not the lease's, ErrUnknownRun if there is no such run. The ids of its
	// signals are never used again.
	Remove(ctx context.Context, run string, epoch uint64) error
	// RemoveBlobs deletes the blobs that were last stored before a time and that keep does not
	// want, and returns how many. A blob that is stored again in between stays.
	RemoveBlobs(ctx context.Context, before time.Time, keep func(digest string) bool) (int, error)
}

// A Claim asks for a lease.
//
// With Epoch zero it takes a lease: a new one if the run is unknown (New must be set; a known
// run is ErrRunExists), has no owner, or has one whose lease has lapsed; else it fails with a
// [*HeldError]. Over names the epoch of a live lease whose owner the caller knows to be gone,
// and takes that over. Each time a lease is taken, its epoch rises by one.
//
// With Epoch set it renews that lease or, with a TTL of zero or less, releases it. It fails
// with ErrFenced if another owner has taken the run over.
type Claim struct {
	Run         string
	Owner       string // opaque text that others see
	TTL         time.Duration
	Epoch, Over uint64
	New         bool
}

// A Lease is the right to append to a run until another owner takes it.
type Lease struct {
	Run, Owner string
	Epoch      uint64
	Until      time.Time // by the journal's clock, which may differ from this process's; zero: the run has no owner
}

// A Take asks for the leases of queued runs; see runs.Queue.
type Take struct {
	Owner    string
	TTL      time.Duration
	Max      int               // the most runs to take
	Agents   []string          // only of these agents; among equal runs, those of agents named first
	Labels   map[string]string // that the runs must have; nil: any
	Except   []string          // ids of runs not to take
	AgentMax map[string]int    // the most runs of an agent that may have an owner
	LaneMax  int               // the most runs of a lane that may have an owner; zero: any number
}

// A Batch is what one Append writes. Records are whole entries, encoded; without any, Append
// fails. The first has seq After+1. Head replaces the run's head.
type Batch struct {
	Run          string
	Epoch, After uint64
	Records      [][]byte
	Head         Head
	Text         string // unless empty, replaces what a search finds the run by; see [State.Text]
}

// A Row is one encoded entry, as a journal keeps it.
type Row struct {
	Seq  uint64
	Data []byte
}

// A Head is the summary of a run, which a list shows without folding its log. The journal
// stores it with every append and fills Lease when it lists.
type Head struct {
	Run, Agent, Loop string
	Status           Status
	Seq              uint64
	Iterations       int
	Cost             float64
	Priced           bool // whether Cost means anything
	Labels           map[string]string
	Thread           string
	Parent           string // the run this one is a child of
	Origin           string // which process started it, as opaque text
	Created, Updated time.Time
	WakeAt           time.Time // when a suspended run is due; zero: never

	Lease Lease
}

// A Query selects heads. Zero fields select everything.
type Query struct {
	Run, Before         string // the beginning of an id; the run that the list begins behind, which must exist
	Status              Status
	Agent, Loop, Thread string
	Labels              map[string]string // all of them must match
	Since, Until        time.Time         // only runs whose Created is not before Since, and before Until
	Max                 int               // zero: no limit
	Due                 time.Time         // only runs whose WakeAt is set and not after Due, and running ones whose lease has lapsed by the journal's clock; zero: all
}

// A Signal is a message to a run from outside. It is durable before it is acknowledged, and
// unique by run, kind and request.
type Signal struct {
	ID      int64 // given by the inbox, rising
	Run     string
	Kind    SignalKind
	Request string // the call it answers; for cancel and extension the sender's own fresh id
	By      string
	Body    json.RawMessage
	Time    time.Time
}

// SignalKind is what a signal says.
type SignalKind int

// The kinds of signals.
const (
	SignalDecision   SignalKind = 1 + iota // approves or denies a call
	SignalAnswer                           // answers a question
	SignalResult                           // hands in a client tool's result
	SignalResolution                       // resolves an unknown outcome
	SignalCancel                           // asks the run to end
	SignalNote                             // adds a note to the log; it resumes no run
	SignalChild                            // a child run with another driver has ended
	SignalDelivery                         // records who was notified of a run; the run ignores it
	SignalCancelCall                       // asks a call to end
)

var signalKinds = naming.NewEnum[SignalKind]("signal", []string{"decision", "answer", "result", "settlement", "cancel", "note", "child", "delivery", "cancellation"})

// String returns the kind's name.
func (k SignalKind) String() string                { return signalKinds.String(k) }
func (k SignalKind) MarshalText() ([]byte, error)  { return signalKinds.Marshal(k) }
func (k *SignalKind) UnmarshalText(b []byte) error { return signalKinds.Unmarshal(k, b) }

// Errors that journals return, for errors.Is.
var (
	ErrUnknownRun  = errors.New("unknown run")
	ErrUnknownBlob = errors.New("unknown blob")
	ErrRunExists   = errors.New("run exists already")
	ErrFenced      = errors.New("another owner has taken the run over")
	ErrConflict    = errors.New("the log does not end where the append expected")
)

// A HeldError says that a run has a live owner.
type HeldError struct{ Lease Lease }

// Error names the run, its owner and the remedy.
func (e *HeldError) Error() string {
	return fmt.Sprintf("run %s is being driven by %s; wait for it, or stop that process: unless renewed, its lease ends at %s", e.Lease.Run, display.Holder(e.Lease.Owner), e.Lease.Until.UTC().Format(time.RFC3339))
}

// A SignalConflictError says that another signal came first.
type SignalConflictError struct{ First Signal }

// Error names the first signal.
func (e *SignalConflictError) Error() string {
	about, _, _ := strings.Cut(e.First.Request, ".") // the call, apart from which of its requests
	return fmt.Sprintf("run %s: %s for %s was already given by %s at %s: %s",
		e.First.Run, e.First.Kind, about, cmp.Or(e.First.By, "somebody"), e.First.Time.UTC().Format(time.RFC3339), e.First.Body)
}

// importer is who notes that a log came from an export; see [Internals.Import].
const importer, importNote = "__import__", "imported"

// imported is what is noted of an import.
type imported struct {
	By       string `json:"by,omitempty"`
	Redacted bool   `json:"redacted,omitempty"`
	Torn     bool   `json:"torn,omitempty"`
}

// Import makes the event that follows a log imported from another journal: who imported it,
// whether secrets were removed from it, and whether its end is missing. The signals of the
// other journal are not in this one, so their numbering starts again.
func (s Internals) Import(by string, redacted, torn bool) Noted {
	value, _ := json.Marshal(imported{by, redacted, torn}) // flags and a text always marshal
	return Noted{By: importer, Name: importNote, Value: value}
}

// imported is what the latest note of an import says; what is no such note says nothing.
func (s *State) imported() imported {
	note := s.notes[importer+"\x00"+importNote]
	if note == nil {
		return imported{}
	}
	var from imported
	_ = json.Unmarshal(note, &from)
	return from
}

// Redacted reports whether secrets were removed from the log before its import.
// Such a run can be read but not resumed: its log is no longer what was said.
func (s Internals) Redacted() bool { return s.imported().Redacted }

// Torn reports whether the end of the log was lost before its import. Effects
// in the lost part may have happened, so the run must not repeat them and
// cannot be resumed. A fork is another run and may go on.
func (s Internals) Torn() bool { return s.imported().Torn }

// impeded is what to do in place of resuming a run that came from elsewhere and not
// whole; empty: it came from nowhere, or whole.
func (s *State) impeded() string {
	switch {
	case s.Internals().Redacted():
		return display.RedactedAdvice
	case s.Internals().Torn():
		return display.TornAdvice
	}
	return ""
}

// Imported reports whether the note is one that [Internals.Import] makes.
func (n Noted) Imported() bool { return n.By == importer }
