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

// The books stand in the mailbox of the run, as letters of the kind delivery.
// Their requests are
//
//	HOOK.SEQ.N    try number N of the notice about entry SEQ is somebody's; see claim
//	HOOK.SEQ.end  the notice is told, or given up; see ending
//	imported      what the log has up to an entry was told elsewhere; see imported
//
// where HOOK is the name of a hook. A letter is unique, so that of two processes
// that want the same try one gets it; and it is durable, so that the times of
// tries outlive whoever set them.

// A claim is the body of a letter about one try. It is his who wrote it until
// its time is over, and then anybody's to take with the next number.
type claim struct {
	By    string    `json:"by"`
	At    time.Time `json:"at"` // when it is made
	Until time.Time `json:"until"`
	Last  string    `json:"last,omitempty"` // what came of the try before
}

// An ending is the body of the letter that ends a notice.
type ending struct {
	Outcome outcome `json:"outcome"`
	Status  string  `json:"status"`
	Tries   int     `json:"tries"`
}

// An outcome is what has become of a notice.
type outcome string

const (
	delivered outcome = "delivered"
	givenUp   outcome = "given up"
	gone      outcome = "gone" // the place says that it is no more: the hook is told nothing further of this run
)

// imported is the body of the letter that an import leaves.
type imported struct {
	Seq uint64 `json:"seq"`
}

const (
	requestImported = "imported"
	requestEnd      = "end"
)

// An account is what the books say of one hook.
type account struct {
	gone  bool
	after uint64 // what is to be told comes after this entry
	tries map[uint64]*tries
}

// tries are those of one notice.
type tries struct {
	first time.Time // when the first one was claimed
	n     int       // of the last
	last  claim
	ended bool
}

// account reads what the books of a run say of a hook.
func (o *Outbox) account(ctx context.Context, run, hook string) (account, error) {
	a := account{tries: map[uint64]*tries{}}
	for l, err := range o.journal.Letters(ctx, run, 0) {
		if err != nil {
			return a, fmt.Errorf("read the mail of run %s: %w", run, err)
		}
		if l.Kind != pawl.LetterDelivery {
			continue
		}
		if l.Request == requestImported {
			var b imported
			_ = json.Unmarshal(l.Body, &b) // a letter of ours
			a.after = max(a.after, b.Seq)
			continue
		}
		if rest, ok := strings.CutPrefix(l.Request, hook+"."); ok {
			a.enter(rest, &l)
		}
	}
	return a, nil
}

func (a *account) enter(rest string, l *pawl.Letter) {
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

// claim writes that a try is ours. It reports whether it is: somebody may have
// been quicker.
func (o *Outbox) claim(ctx context.Context, run, hook string, seq uint64, n int, at time.Time, last string) (bool, error) {
	body, err := json.Marshal(claim{o.owner, at.UTC(), at.Add(o.opt.Timeout + grace).UTC(), last})
	if err != nil {
		return false, err
	}
	return o.post(ctx, run, fmt.Sprintf("%s.%d.%d", hook, seq, n), body)
}

// end writes what has become of a notice.
func (o *Outbox) end(ctx context.Context, run, hook string, seq uint64, e ending) error {
	body, err := json.Marshal(e)
	if err == nil {
		// Whoever was quicker has ended it, too, if perhaps in another way.
		_, err = o.post(ctx, run, fmt.Sprintf("%s.%d.%s", hook, seq, requestEnd), body)
	}
	return err
}

func (o *Outbox) post(ctx context.Context, run, request string, body []byte) (bool, error) {
	_, err := o.journal.Post(ctx, pawl.Letter{Run: run, Kind: pawl.LetterDelivery, Request: request, By: "webhook", Body: body, Time: o.now().UTC()})
	if _, ok := errors.AsType[*pawl.LetterConflictError](err); ok {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("keep the books of run %s: %w", run, err)
	}
	return true, nil
}
