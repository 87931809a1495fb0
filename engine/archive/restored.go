package archive

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
)

// Restored marks a run in a journal that was restored to an earlier state: entries that the
// journal lost may tell of Writes. The run can then be read and forked but not resumed, as
// after the import of a truncated export. A run that has ended is not marked, and a run that
// cannot be resumed anyway is not marked again. Restored reports whether it marked the run.
// A run with a live owner is a *pawl.HeldError: mark runs before anything drives them.
func Restored(ctx context.Context, j pawl.Journal, h pawl.Head) (bool, error) {
	if h.Seq == 0 || h.Status.Ended() {
		return false, nil
	}
	claim := pawl.Claim{Run: h.Run, Owner: engine.Self().String(), TTL: time.Minute}
	if engine.ParseOwner(h.Lease.Owner).Gone() {
		claim.Over = h.Lease.Epoch
	}
	lease, err := j.Claim(ctx, claim)
	if err != nil {
		return false, err
	}
	defer engine.Release(j, lease)
	s, err := engine.Load(ctx, j, h.Run)
	if err != nil || s.Torn() || s.Redacted() || s.Status().Ended() {
		return false, err
	}
	end := s.Seq()
	line, err := mark(s, false, true)
	if err == nil {
		head := s.Head()
		head.WakeAt = time.Time{} // it will not continue
		err = j.Append(ctx, pawl.Batch{Run: h.Run, Epoch: lease.Epoch, After: end, Records: [][]byte{line}, Head: head})
	}
	if errors.Is(err, pawl.ErrFenced) || errors.Is(err, pawl.ErrConflict) {
		err = fmt.Errorf("something drives it: %w", err)
	}
	return err == nil, err
}
