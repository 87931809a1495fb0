package engine

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/team"
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
	m := b.machine
	if start.Declaration.Agent != b.agent.Name { // it may be one of the agent's team
		if m, err = e.machine(team.Member(*b.agent, start.Declaration)); err != nil {
			return nil, err
		}
	}
	parts := start.Declaration.Differences(m.Declaration())
	clean := e.cleaner(b.machine)
	if start.Input != clean.text(b.input) {
		parts = append(parts, "input")
	}
	same := func(a, b pawl.File) bool { return a.Name == b.Name && a.Blob == b.Blob }
	if !slices.EqualFunc(start.Files, b.Files, same) {
		parts = append(parts, "files")
	}
	if len(parts) > 0 {
		return nil, &KeyError{b.Key, run, parts}
	}
	if b.queued {
		return e.attach(ctx, *b.agent, run, nil)
	}
	return e.attach(ctx, *b.agent, run, &ResumeOptions{})
}

// watch polls a run of another owner until it is released.
func (l *life) watch(ctx context.Context, h pawl.Head) {
	defer l.engine.calls.Done()
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
