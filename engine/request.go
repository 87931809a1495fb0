package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/window"
)

// ErrNoRequest says that an entry is not the intent to call a model.
var ErrNoRequest = errors.New("no model is called there")

// Sent is a request to a model as it left, rebuilt from the log.
type Sent struct {
	pawl.Request
	Entry    pawl.Entry       // that says so
	Called   pawl.ModelCalled // its event
	Model    pawl.ModelInfo   // that was asked
	State    *pawl.State      // after the entry
	Masked   []string         // calls whose results are left out
	Previous uint64           // the entry of the request of the same purpose before it; zero: there is none
}

// RequestAt rebuilds the request that the entry seq of a run announces: the
// conversation as far as the model saw it then, with what was left out and
// summarised by then, and prompt, tools and knobs as the run recorded them. A run
// that continues another needs the log of that one too. What an engine's filters
// do to the messages of earlier runs is not in any log, and is not done. It costs
// a fold of the log up to there. ErrNoRequest: that entry is another.
func RequestAt(ctx context.Context, j pawl.Journal, run string, seq uint64) (Sent, error) {
	p, err := before(ctx, j, run)
	if err != nil {
		return Sent{}, err
	}
	var r Sent
	state, transcript := p.before(), p.transcript
	if transcript == nil {
		transcript = window.NewTranscript(pawl.StrategyNative)
	}
	latest := map[pawl.Purpose]uint64{}
	for entry, err := range entriesFor(ctx, j, run, state) {
		if err != nil {
			return Sent{}, err
		}
		state.Fold(entry)
		transcript.Add(entry, state)
		called, is := entry.Event.(pawl.ModelCalled)
		switch e := entry.Event.(type) {
		case pawl.ContextCompacted:
			r.Masked = append(r.Masked, e.Masked...)
		case pawl.ModelCalled:
			r.Previous, latest[e.Purpose] = latest[e.Purpose], entry.Seq
		}
		if entry.Seq < seq {
			continue
		}
		if !is {
			return Sent{}, fmt.Errorf("run %s, entry %d is %s: %w", run, seq, entry.Type(), ErrNoRequest)
		}
		r.Entry, r.Called, r.State = entry, called, state
		r.Request, r.Model = state.Request(called, entry.Iteration, transcript)
		return r, nil
	}
	return Sent{}, fmt.Errorf("run %s has entries 1 to %d, none of them is %d: %w", run, state.Seq(), seq, ErrNoRequest)
}

// StateAt folds a run's log up to the entry seq, with what the run continues, if
// it continues one.
func StateAt(ctx context.Context, j pawl.Journal, run string, seq uint64) (*pawl.State, error) {
	p, err := before(ctx, j, run)
	if err != nil {
		return new(pawl.State), err
	}
	state := p.before()
	for entry, err := range entriesFor(ctx, j, run, state) {
		if err != nil {
			return new(pawl.State), err
		}
		if entry.Seq > seq {
			break
		}
		state.Fold(entry)
	}
	return state, nil
}

// before is what a run continues, from the logs alone.
func before(ctx context.Context, j pawl.Journal, run string) (past, error) {
	start, err := firstOf(ctx, j, run)
	if err != nil {
		return past{}, err
	}
	return New(j, nil).past(ctx, run, start.Continues, cleaner{})
}
