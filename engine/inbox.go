package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/approval"
)

// An inbox holds the signals that have reached a run and that its driver has not
// read, and wakes the driver. Any goroutine may put signals in.
type inbox struct {
	wake    chan struct{}            // holds one token if there is something to read
	life    context.Context          // the run's context: when it ends, the run is suspended
	effects interface{ interrupt() } // what stops the effects that yield to what is wanted
	timer   *time.Timer              // the driver's own
	wants   atomic.Uint32            // what the signals ask for: want bits, read without the lock

	mu      sync.Mutex
	signals []pawl.Signal
	last    int64 // the ID of the last signal received
}

// What the inbox asks of the driver.
const (
	wantRead    = 1 << iota // there are signals to read
	wantCancel              // one of them cancels the run
	wantSuspend             // the driver must release the run
	wantNote                // there are notes to record, which can wait for the next step
	wantCall                // one of the signals cancels a call
)

// deliver adds signals, which must come in the order of their IDs: a signal whose ID is not
// above the last received one counts as read. A delivery receipt means nothing to a run and
// does not wake the driver.
func (b *inbox) deliver(signals ...pawl.Signal) {
	b.mu.Lock()
	want := uint32(0)
	idle := len(signals) > 0
	for _, l := range signals {
		receipt := l.Kind == pawl.SignalDelivery
		idle = idle && receipt
		if l.ID <= b.last {
			continue
		}
		if b.last = l.ID; !receipt {
			b.signals = append(b.signals, l)
		}
		switch {
		case receipt:
		case l.Kind == pawl.SignalNote || isSaid(&l):
			want |= wantNote
		case l.Kind == pawl.SignalCancel:
			want |= wantRead | wantCancel
		case l.Kind == pawl.SignalCancelCall:
			want |= wantRead | wantCall
		default:
			want |= wantRead
		}
	}
	b.wants.Or(want)
	b.mu.Unlock()
	if !idle {
		b.notify()
	}
}

// received is the ID of the last signal received.
func (b *inbox) received() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.last
}

// take empties the inbox and returns what was in it, by ID.
func (b *inbox) take() []pawl.Signal {
	if b.wants.Load()&(wantRead|wantNote) == 0 {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	signals := b.signals
	b.signals = nil
	b.wants.And(^uint32(wantRead | wantCancel | wantNote | wantCall))
	slices.SortFunc(signals, func(x, y pawl.Signal) int { return cmp.Compare(x.ID, y.ID) })
	return signals
}

// waiting returns the unread signals without removing them.
func (b *inbox) waiting() []pawl.Signal {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.signals)
}

// suspend asks the driver to release the run at the next opportunity.
func (b *inbox) suspend() {
	b.wants.Or(wantSuspend)
	b.notify()
}

// notify wakes the driver, and stops the effects that yield to what is wanted.
func (b *inbox) notify() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
	b.effects.interrupt()
}

// wanted returns what the inbox asks for: to cancel the run, to suspend it, or to read signals.
func (b *inbox) wanted() (cancel, suspend, read bool) {
	w := b.wants.Load()
	return w&wantCancel != 0, w&wantSuspend != 0 || b.life.Err() != nil, w&wantRead != 0
}

// cancels returns the unread signal that cancels a call; nil: there is none. An empty id is any call.
func (b *inbox) cancels(call string) *callCancelledError {
	if b.wants.Load()&wantCall == 0 {
		return nil
	}
	for _, l := range b.waiting() {
		if l.Kind == pawl.SignalCancelCall && (call == "" || callOf(l.Request) == call) {
			return &callCancelledError{l}
		}
	}
	return nil
}

// alarm arms the driver's timer.
func (b *inbox) alarm(after time.Duration) <-chan time.Time {
	after = max(after, 0)
	if b.timer == nil {
		b.timer = time.NewTimer(after)
	} else {
		b.timer.Reset(after)
	}
	return b.timer.C
}

// wait waits for a time, or until the inbox asks for something.
func (b *inbox) wait(d time.Duration) {
	select {
	case <-b.alarm(d):
	case <-b.wake:
	case <-b.life.Done():
	}
}

// A signalBody is the body of a signal. Each kind has some of the fields.
type signalBody struct {
	Text     string          `json:"text,omitempty"`     // of an answer or a message
	After    bool            `json:"after,omitempty"`    // as in SayOptions
	Signal   string          `json:"signal,omitempty"`   // as in SayOptions
	Result   json.RawMessage `json:"result,omitempty"`   // of a client tool, or of a call that took place
	Happened *bool           `json:"happened,omitempty"` // of a resolution: the call took place
	Approve  *bool           `json:"approve,omitempty"`  // of a decision
	approval.Reach
	Args   json.RawMessage `json:"args,omitempty"`
	Reason string          `json:"reason,omitempty"` // of a denial or a cancellation
	Name   string          `json:"name,omitempty"`   // of a note
	Value  json.RawMessage `json:"value,omitempty"`  // of a note
}

// bodyOf reads the body of a signal.
func bodyOf(l *pawl.Signal) (b signalBody, err error) {
	err = json.Unmarshal(l.Body, &b)
	return b, err
}

// sayRequest begins the request of a message's signal: it answers no call.
const sayRequest = "say."

// cancellable reports whether a call can still be cancelled.
func cancellable(c *pawl.CallState) bool {
	return c.Phase != pawl.PhaseAnswered && c.Phase != pawl.PhaseInDoubt && c.Phase != 0
}

// requestOf names what a signal answers: the call, and the entry that asked. What
// is asked again is thereby another request, and the answer to the old one void.
func requestOf(call string, c *pawl.CallState) string {
	return fmt.Sprintf("%s.%d", call, c.Requested)
}

// answers reports whether a signal answers what a call waits for now, and was
// written in time.
func answers(l *pawl.Signal, c *pawl.CallState) bool {
	return l.Request == requestOf(c.ID, c) && (c.Expires.IsZero() || !l.Time.After(c.Expires))
}

// callOf is the call a signal is about.
func callOf(request string) string {
	call, _, _ := strings.Cut(request, ".")
	return call
}

// cancelRequest names a request to cancel a run that is in the epoch it is in now.
func cancelRequest(s *pawl.State) string { return fmt.Sprintf("cancel.%d", s.Internals().Epoch()) }

// decision is the decision of a user.
func (b *signalBody) decision(by string) Decision {
	return Decision{Approve: b.Approve != nil && *b.Approve, Reach: b.Reach, Args: b.Args, Reason: b.Reason, By: by}
}

// awaiting is the first call that waits for the signal which a message names; empty: there is none.
func awaiting(s *pawl.State, l *pawl.Signal) string {
	b, err := bodyOf(l)
	if !isSaid(l) || err != nil || b.Signal == "" {
		return ""
	}
	for c := range s.Open() {
		if c.Phase == pawl.PhaseAwaitingInput && c.Awaits == b.Signal {
			return c.ID
		}
	}
	return ""
}

// resumes reports whether a suspended run is to be resumed for an entry that a signal became.
func resumes(e pawl.Event) bool {
	switch e := e.(type) {
	case nil, pawl.Noted:
		return false
	case pawl.InputGiven:
		return e.Call != "" // else it is a message
	}
	return true
}

// isSaid reports whether a signal is a message.
func isSaid(l *pawl.Signal) bool {
	return l.Kind == pawl.SignalAnswer && strings.HasPrefix(l.Request, sayRequest)
}
