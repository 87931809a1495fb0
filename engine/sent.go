package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/window"
)

// ErrNoRequest says that an entry is not the intent to call a model.
var ErrNoRequest = errors.New("the entry is not a model call")

// Sent is a request to a model, rebuilt from the log.
type Sent struct {
	pawl.Request
	Entry    pawl.Entry       // the entry of the call
	Called   pawl.ModelCalled // its event
	Model    pawl.ModelInfo   // the model that got the request
	State    *pawl.State      // after the entry
	Masked   []string         // calls whose results were omitted
	Previous uint64           // the entry of the previous request with the same purpose; zero: none
}

// RequestAt rebuilds the request that the entry seq of a run announces: the conversation as
// the model saw it then, with its omissions and summaries, and prompt, tools and parameters
// as the run recorded them. A run that continues another needs the log of that one too.
// Changes by an engine's filters to the messages of earlier runs are in no log and are
// missing. It folds the log up to that entry. If the entry is not a model call, RequestAt
// fails with ErrNoRequest.
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
		r.Request, r.Model = state.Internals().Request(called, entry.Iteration, transcript)
		return r, nil
	}
	return Sent{}, fmt.Errorf("run %s has entries 1 to %d, none of them is %d: %w", run, state.Seq(), seq, ErrNoRequest)
}

// StateAt folds a run's log up to the entry seq, including what the run continues.
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

// before returns what a run continues, from the logs alone.
func before(ctx context.Context, j pawl.Journal, run string) (past, error) {
	start, err := firstOf(ctx, j, run)
	if err != nil {
		return past{}, err
	}
	return newHost(j, nil).past(ctx, run, start.Continues, cleaner{})
}
