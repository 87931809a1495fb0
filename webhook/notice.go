package webhook

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/redact"
)

// A due is an entry of a log that needs a notice.
type due struct {
	seq    uint64
	event  Event
	notice *pawl.NoticeGiven
}

// dues reads the entries of a log that need notices, and the agent's current declaration. A
// pause that its owner ended at once, after a question at the terminal, needs none; a fork's
// shared entries were delivered for the original run.
func (o *Outbox) dues(ctx context.Context, run string) (list []due, is pawl.Declaration, err error) {
	epoch := uint64(0)
	for e, err := range entries(ctx, o.journal, run) {
		if err != nil {
			return nil, is, err
		}
		switch event := e.Event.(type) {
		case pawl.RunStarted:
			is, epoch = event.Declaration, event.Epoch
		case pawl.RunForked:
			list, epoch = nil, event.Epoch
		case pawl.RunResumed:
			if n := len(list); n > 0 && event.Epoch == epoch && (list[n-1].event == Waiting || list[n-1].event == Paused) {
				list = list[:n-1]
			}
			if epoch = event.Epoch; event.Changed != nil {
				is = *event.Changed
			}
		}
		if what := eventOf(e.Event); what != 0 {
			one := due{seq: e.Seq, event: what}
			if notice, is := e.Event.(pawl.NoticeGiven); is {
				one.notice = &notice
			}
			list = append(list, one)
		}
	}
	return list, is, nil
}

// entries reads a log from its beginning.
func entries(ctx context.Context, j pawl.Journal, run string) iter.Seq2[pawl.Entry, error] {
	return func(yield func(pawl.Entry, error) bool) {
		for row, err := range j.Read(ctx, run, 1) {
			var e pawl.Entry
			if err == nil {
				e, err = pawl.DecodeEntry(row.Data)
			}
			if err != nil {
				err = fmt.Errorf("read run %s: %w", run, err)
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// stateAt folds a log up to an entry; zero: to its end.
func stateAt(ctx context.Context, j pawl.Journal, run string, seq uint64) (s *pawl.State, err error) {
	s = new(pawl.State)
	for e, err := range entries(ctx, j, run) {
		if err == nil {
			err = s.Internals().CheckNext(e)
		}
		if err != nil {
			return s, err
		}
		if s.Fold(e); e.Seq == seq {
			break
		}
	}
	return s, nil
}

// notice makes the body of a request.
func (o *Outbox) notice(ctx context.Context, run string, d due) ([]byte, string, error) {
	s, err := stateAt(ctx, o.journal, run, d.seq)
	if err != nil {
		return nil, "", err
	}
	result := s.Result()
	waits, err := pending(ctx, o.journal, s)
	if err != nil {
		return nil, "", err
	}
	result.Pending = result.Pending[:0:0]
	for _, w := range waits {
		w.Token = ""
		result.Pending = append(result.Pending, w.Pending)
	}
	raw, err := json.Marshal(result)
	if err != nil {
		return nil, "", fmt.Errorf("notice of run %s: %w", run, err)
	}
	n := Notice{ID: idOf(run, d.seq), Type: d.event, Run: run, Seq: d.seq, Time: s.Time(), Result: redact.JSON(raw), Notice: d.notice, Links: o.links(run, waits)}
	body, err := json.Marshal(n)
	if err != nil {
		return nil, "", fmt.Errorf("notice of run %s: %w", run, err)
	}
	return body, n.ID, nil
}

// waiting is something that is waited for, and the hash of the request's token.
type waiting struct {
	pawl.Pending
	hash string
}

// pending is what a run and its children wait for now.
func pending(ctx context.Context, j pawl.Journal, s *pawl.State) (list []waiting, err error) {
	for _, p := range s.Result().Pending {
		c, _ := s.Call(p.Call)
		list = append(list, waiting{p, c.TokenHash})
	}
	for c := range s.Open() {
		if c.Phase != pawl.PhaseAwaitingChild {
			continue
		}
		child, err := stateAt(ctx, j, c.Child, 0)
		if err != nil {
			return nil, err
		}
		more, err := pending(ctx, j, child)
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	return list, nil
}

// idOf is the id of an entry's notice. It must not contain a full stop, which separates the
// signed parts.
func idOf(run string, seq uint64) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d", run, seq))
	return "msg_" + hex.EncodeToString(sum[:16])
}

// isChild reports whether a run is the child of another, whose notices cover it.
func isChild(h pawl.Head) bool { return h.Parent != "" && strings.HasPrefix(h.Run, h.Parent+".") }
