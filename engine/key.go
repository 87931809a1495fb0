package engine

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
)

// A KeyError says that the key was used for a run with another agent or input.
type KeyError struct {
	Key   string
	Run   string   // the existing run
	Parts []string // what differs, such as "input" or "prompt"
}

// Error names the run and what differs.
func (e *KeyError) Error() string {
	return fmt.Sprintf("key %q was used for run %s, which was started otherwise: %s differs; use another key for another run",
		e.Key, e.Run, strings.Join(e.Parts, ", "))
}

// find returns a handle on the run that was started under the key.
func (b *beginning) find(ctx context.Context, run string) (*Handle, error) {
	e := b.engine
	start, err := firstOf(ctx, e.journal, run)
	if err != nil {
		return nil, err
	}
	parts := start.Declaration.Differences(b.machine.Declaration())
	clean := e.cleaner(b.machine)
	if start.Input != clean.text(b.input) {
		parts = append(parts, "input")
	}
	if len(parts) > 0 {
		return nil, &KeyError{b.Key, run, parts}
	}
	for {
		e.mu.Lock()
		s := e.live[run]
		if s == nil && !e.closed {
			e.watches.Add(1) // before Close can wait for it
		}
		closed := e.closed
		e.mu.Unlock()
		switch {
		case s != nil:
			return &Handle{life: &s.life, found: true}, nil
		case closed:
			return nil, errClosed
		}
		h, err := e.head(ctx, run)
		if err != nil {
			e.watches.Done()
			return nil, err
		}
		if h.Status != pawl.StatusRunning || owned(h) || b.queued {
			l := &life{id: run, engine: e, done: make(chan struct{})}
			go l.watch(ctx, h)
			return &Handle{life: l, found: true}, nil
		}
		e.watches.Done()
		again, err := e.Resume(ctx, b.agent, run, nil)
		if err == nil {
			again.found = true
			return again, nil
		}
		if !errors.As(err, new(*pawl.HeldError)) { // otherwise another process has resumed it
			if now, bad := e.head(ctx, run); bad != nil || now.Seq == h.Seq {
				return nil, err // and the run has not continued and ended meanwhile
			}
		}
	}
}

// watch polls a run of another owner until it is released.
func (l *life) watch(ctx context.Context, h pawl.Head) {
	defer l.engine.watches.Done()
	defer close(l.done)
	for wait := 10 * time.Millisecond; h.Status == pawl.StatusRunning && owned(h); wait = min(2*wait, time.Second) {
		if l.err = l.engine.pause(ctx, wait); l.err != nil {
			return
		}
		if h, l.err = l.engine.head(ctx, l.id); l.err != nil {
			return
		}
	}
	s, err := Load(ctx, l.engine.journal, l.id)
	if l.err = err; err != nil {
		return
	}
	l.result = s.Result()
	if l.result.Pending, l.err = Pending(ctx, l.engine.journal, s); s.Status() == pawl.StatusRunning {
		l.result.Status, l.result.Resumable = pawl.StatusInterrupted, true
	}
}

// distant yields the entries of a run that another process drives.
func (l *life) distant(ctx context.Context) iter.Seq2[pawl.Entry, error] {
	return func(yield func(pawl.Entry, error) bool) {
		next, over := uint64(1), false
		for {
			for entry, err := range Entries(ctx, l.engine.journal, l.id, next) {
				if !yield(entry, err) || err != nil {
					return
				}
				next = entry.Seq + 1
			}
			if over {
				return
			}
			wait, stop := context.WithTimeout(ctx, 200*time.Millisecond)
			select {
			case <-l.done:
				over = true
			case <-wait.Done():
			}
			stop()
			if err := ctx.Err(); err != nil && !over {
				yield(pawl.Entry{}, err)
				return
			}
		}
	}
}
