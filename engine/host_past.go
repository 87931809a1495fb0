package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/window"
)

// A MissingError says that a run cannot continue because the journal lacks the run whose
// conversation it continues, or part of it.
type MissingError struct {
	Run     string // the run that continues the conversation
	Earlier string // the missing run
	Err     error
}

// Error names both runs.
func (e *MissingError) Error() string {
	return fmt.Sprintf("run %s continues run %s, whose messages cannot be had: %v; import that run first", e.Run, e.Earlier, e.Err)
}

// Unwrap returns what is wrong with the earlier run.
func (e *MissingError) Unwrap() error { return e.Err }

// A past is what a run continues: the state at the end of the previous run, and the
// messages of all earlier runs.
type past struct {
	state      *pawl.State
	transcript *window.Transcript
	runs       int // how many runs the messages are from
}

// past reads what a run continues, from the log of every earlier run, oldest first. If Seq
// is zero, the last of them is read to its end. Text that enters the new run's requests is
// cleaned as its own texts are, since the new run may have secrets and filters that the
// earlier one did not have.
func (h *host) past(ctx context.Context, run string, from *pawl.Continues, clean cleaner) (past, error) {
	if from == nil {
		return past{state: new(pawl.State)}, nil
	}
	var chain []*pawl.Continues
	seen := map[string]bool{run: true}
	for of, c := run, from; c != nil; {
		if seen[c.Run] {
			return past{}, &MissingError{of, c.Run, errors.New("it continues itself")}
		}
		seen[c.Run] = true
		start, err := firstOf(ctx, h.journal, c.Run)
		if errors.Is(err, pawl.ErrUnknownRun) {
			return past{}, &MissingError{of, c.Run, pawl.ErrUnknownRun}
		}
		if err != nil {
			return past{}, err
		}
		chain = append(chain, c)
		of, c = c.Run, start.Continues
	}
	slices.Reverse(chain)
	p := past{state: new(pawl.State), transcript: window.NewTranscript(pawl.StrategyNative), runs: len(chain)}
	for i, c := range chain {
		if i > 0 {
			p.state = p.state.Internals().Next()
		}
		whole := p.state // the end of the log says whether it was redacted
		for entry, err := range Entries(ctx, h.journal, c.Run, 1) {
			if err == nil {
				err = whole.Internals().CheckNext(entry)
			}
			if err != nil {
				return past{}, err
			}
			if c.Seq > 0 && entry.Seq == c.Seq+1 {
				whole = p.state.Clone()
			}
			whole.Fold(entry)
			if c.Seq == 0 || entry.Seq <= c.Seq {
				p.transcript.Add(entry, p.state)
			}
		}
		switch {
		case whole.Internals().Redacted():
			return past{}, &MissingError{run, c.Run, ErrRedacted}
		case p.state.Seq() < max(c.Seq, 1):
			return past{}, &MissingError{run, c.Run, fmt.Errorf("its log ends at entry %d, before %d", p.state.Seq(), c.Seq)}
		}
		if err := p.state.Internals().CheckMachine(); err != nil {
			return past{}, err
		}
		p.transcript.Next(p.state, i+1, clean.parts)
		if c.Carry != "" && c.By == "" {
			p.transcript.Carry(c.Carry, p.state, clean.parts)
		}
	}
	return p, nil
}

// before returns the state in which a run with this past begins.
func (p *past) before() *pawl.State {
	if p.transcript == nil {
		return new(pawl.State)
	}
	return p.state.Internals().Next()
}
