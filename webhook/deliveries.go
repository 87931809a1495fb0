package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
)

// The state of deliveries is stored in the run's inbox, as signals of kind delivery. Their
// requests are
//
//	HOOK.SEQ.N    a process has claimed try N of the notice about entry SEQ; see claim
//	HOOK.SEQ.end  the notice is delivered, or given up; see ending
//	imported      entries up to one were delivered elsewhere; see imported
//
// where HOOK is the name of a hook. Signals are unique, so that only one of two processes gets a
// try; and they are durable, so that the times of tries survive their process.

// A claim is the body of a signal about one try. The try belongs to its writer until Until;
// then any process may claim the next number.
type claim struct {
	By    string    `json:"by"`
	At    time.Time `json:"at"` // when it is made
	Until time.Time `json:"until"`
	Last  string    `json:"last,omitempty"` // the result of the previous try
}

// An ending is the body of the signal that ends a notice.
type ending struct {
	Outcome outcome `json:"outcome"`
	Status  string  `json:"status"`
	Tries   int     `json:"tries"`
}

// An outcome is the result of a notice.
type outcome string

const (
	delivered outcome = "delivered"
	givenUp   outcome = "given up"
	gone      outcome = "gone" // the receiver answered 410 Gone: it gets no more notices about this run
)

// imported is the body of the signal that an import leaves.
type imported struct {
	Seq uint64 `json:"seq"`
}

const (
	requestImported = "imported"
	requestEnd      = "end"
)

// deliveries is the delivery state of one hook.
type deliveries struct {
	gone  bool
	after uint64 // entries up to this one need no notice
	tries map[uint64]*tries
}

// tries are those of one notice.
type tries struct {
	first time.Time // when the first one was claimed
	n     int       // of the last
	last  claim
	ended bool
}

// readDeliveries reads the delivery state of a hook for a run.
func (o *Outbox) readDeliveries(ctx context.Context, run, hook string) (deliveries, error) {
	a := deliveries{tries: map[uint64]*tries{}}
	for l, err := range o.journal.Signals(ctx, run, 0) {
		if err != nil {
			return a, fmt.Errorf("read the signals of run %s: %w", run, err)
		}
		if l.Kind != pawl.SignalDelivery {
			continue
		}
		if l.Request == requestImported {
			var b imported
			_ = json.Unmarshal(l.Body, &b) // written by this package
			a.after = max(a.after, b.Seq)
			continue
		}
		if rest, ok := strings.CutPrefix(l.Request, hook+"."); ok {
			a.add(rest, &l)
		}
	}
	return a, nil
}

func (a *deliveries) add(rest string, l *pawl.Signal) {
	number, which, _ := strings.Cut(rest, ".")
	seq, err := strconv.ParseUint(number, 10, 64)
	if err != nil {
		return
	}
	t := a.tries[seq]
	if t == nil {
		t = &tries{first: l.Time}
		a.tries[seq] = t
	}
	if which == requestEnd {
		var b ending
		_ = json.Unmarshal(l.Body, &b) // as above
		t.ended, a.gone = true, a.gone || b.Outcome == gone
		return
	}
	if n, err := strconv.Atoi(which); err == nil && n > t.n && json.Unmarshal(l.Body, &t.last) == nil {
		t.n = n
	}
}

// claim records that this process makes a try. It reports false if another process was faster.
func (o *Outbox) claim(ctx context.Context, run, hook string, seq uint64, n int, at time.Time, last string) (bool, error) {
	body, err := json.Marshal(claim{o.owner, at.UTC(), at.Add(o.opt.Timeout + grace).UTC(), last})
	if err != nil {
		return false, err
	}
	return o.post(ctx, run, fmt.Sprintf("%s.%d.%d", hook, seq, n), body)
}

// end records the outcome of a notice.
func (o *Outbox) end(ctx context.Context, run, hook string, seq uint64, e ending) error {
	body, err := json.Marshal(e)
	if err == nil {
		// A faster process has ended it, perhaps with another outcome.
		_, err = o.post(ctx, run, fmt.Sprintf("%s.%d.%s", hook, seq, requestEnd), body)
	}
	return err
}

func (o *Outbox) post(ctx context.Context, run, request string, body []byte) (bool, error) {
	_, err := o.journal.Send(ctx, pawl.Signal{Run: run, Kind: pawl.SignalDelivery, Request: request, By: "webhook", Body: body, Time: o.now().UTC()})
	if _, ok := errors.AsType[*pawl.SignalConflictError](err); ok {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("keep the books of run %s: %w", run, err)
	}
	return true, nil
}
