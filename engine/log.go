package engine

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/pawl-run/pawl"
)

// Entries yields the entries that a run has now, from seq on. It checks that every entry is
// in its place.
func Entries(ctx context.Context, j pawl.Journal, run string, from uint64) iter.Seq2[pawl.Entry, error] {
	return func(yield func(pawl.Entry, error) bool) {
		for row, err := range j.Read(ctx, run, from) {
			if err != nil {
				yield(pawl.Entry{}, fmt.Errorf("read run %s: %w", run, err))
				return
			}
			entry, err := pawl.DecodeEntry(row.Data)
			if err == nil && (entry.Seq != row.Seq || entry.Run != run) {
				err = fmt.Errorf("the journal has entry %d of run %s in its place", entry.Seq, entry.Run)
			}
			if err != nil {
				yield(pawl.Entry{}, fmt.Errorf("run %s, entry %d: %w", run, row.Seq, err))
				return
			}
			if !yield(entry, nil) {
				return
			}
		}
	}
}

// Load folds a run's log up to its current end.
func Load(ctx context.Context, j pawl.Journal, run string) (*pawl.State, error) {
	s := new(pawl.State)
	for entry, err := range entriesFor(ctx, j, run, s) {
		if err != nil {
			return s, err
		}
		s.Fold(entry)
	}
	return s, nil
}

// entriesFor yields the entries of a run from the first one. Each is checked against the
// state, into which the caller folds it.
func entriesFor(ctx context.Context, j pawl.Journal, run string, s *pawl.State) iter.Seq2[pawl.Entry, error] {
	return func(yield func(pawl.Entry, error) bool) {
		for entry, err := range Entries(ctx, j, run, 1) {
			if err == nil {
				err = s.Internals().CheckNext(entry)
			}
			if !yield(entry, err) {
				return
			}
		}
	}
}

// firstOf returns the first event of a run.
func firstOf(ctx context.Context, j pawl.Journal, run string) (pawl.RunStarted, error) {
	for entry, err := range Entries(ctx, j, run, 1) {
		if err != nil {
			return pawl.RunStarted{}, err
		}
		start, _ := entry.Event.(pawl.RunStarted)
		return start, new(pawl.State).Internals().CheckNext(entry)
	}
	return pawl.RunStarted{}, fmt.Errorf("run %s: %w", run, pawl.ErrUnknownRun)
}

// ParentOf returns the parent of a child run; "": the run is not a child. A fork of a child
// is a run of its own.
func ParentOf(s *pawl.State) string {
	return parentOf(s.Run(), s.Parent())
}

func parentOf(run, parent string) string {
	if strings.HasPrefix(run, parent+".") {
		return parent
	}
	return ""
}

// overForGood reports whether a run is a child that has ended with a result for its parent.
// One that its parent cancelled goes on with the parent.
func overForGood(s *pawl.State) bool {
	parent := ParentOf(s)
	return parent != "" && s.Status().Ended() && (s.Status() != pawl.StatusCancelled || s.Internals().CancelledBy() != byParent(parent))
}

func byParent(run string) string { return "run " + run }
