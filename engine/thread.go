package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/team"
)

// A ThreadError says that a thread cannot continue yet, because its last run has not ended.
type ThreadError struct {
	Thread string
	Run    string // the thread's last run
	Status pawl.Status
}

// Error names the run and the remedy.
func (e *ThreadError) Error() string {
	todo := "answer what it asks, or cancel it"
	switch e.Status {
	case pawl.StatusRunning, pawl.StatusQueued:
		todo = "wait until it has ended, or cancel it"
	case pawl.StatusPaused, pawl.StatusInterrupted:
		todo = "resume it, or cancel it"
	}
	return fmt.Sprintf("thread %q cannot go on: its last run, %s, is %v; %s", e.Thread, e.Run, e.Status, todo)
}

// A ContinuedError says that a run cannot be resumed because its thread has continued
// without it.
type ContinuedError struct {
	Run  string
	Next string // the run that continues it
}

// Error names both runs and the remedies.
func (e *ContinuedError) Error() string {
	return fmt.Sprintf("run %s was continued by run %s of its thread; go on with the thread, or fork the run", e.Run, e.Next)
}

// ThreadRun returns the id of the run that continues another in a thread, or that begins
// the thread if after is empty. The id is derived from both, so claiming it claims the place
// in the thread: only one of several programs gets it. In another journal a thread of that
// name has the same ids.
func ThreadRun(thread, after string) string { return derivedID("thread", thread, after) }

// place returns where the next run of a thread begins: its id, and the run that it
// continues, empty for the first. found is the run that was started under the key, if any.
// p is the cached end of the thread.
func (b *beginning) place(ctx context.Context, p *past) (id, after, found string, err error) {
	if b.Thread == "" {
		id = derivedID("key", b.Key)
		if _, err := firstOf(ctx, b.engine.journal, id); !errors.Is(err, pawl.ErrUnknownRun) {
			return id, "", id, err
		}
		return id, "", "", nil
	}
	if p.transcript != nil {
		after = p.state.Run()
		for s, ok := p.state, b.Key != ""; ok; s, ok = s.Earlier() {
			if start, _ := s.Start(); start.Key == b.Key {
				return s.Run(), "", s.Run(), nil
			}
		}
	}
	for {
		id = ThreadRun(b.Thread, after)
		start, err := firstOf(ctx, b.engine.journal, id)
		switch {
		case errors.Is(err, pawl.ErrUnknownRun):
			return id, after, "", nil
		case err != nil:
			return id, after, "", err
		case b.Key != "" && start.Key == b.Key:
			return id, after, id, nil
		}
		after = id
	}
}

// KeyRun returns the id of the run that is started under an idempotency key, in no thread.
func KeyRun(key string) string { return derivedID("key", key) }

// derived begins, or finds, a run whose id is derived from its thread or key.
func (b *beginning) derived(ctx context.Context) (*Handle, error) {
	if b.ID != "" {
		return nil, fmt.Errorf("start run %s: a run of a thread, or under a key, gets its id from that; leave the id out", b.ID)
	}
	for {
		p := b.engine.opt.Threads.take(ctx, b)
		id, after, found, err := b.place(ctx, &p)
		if err != nil {
			return nil, fmt.Errorf("start a run: %w", err)
		}
		if found != "" {
			return b.find(ctx, found)
		}
		if err := b.engine.room(); err != nil && !b.queued {
			return nil, err
		}
		if p.transcript == nil || p.state.Run() != after {
			if p, err = b.past(ctx, id, after); err != nil {
				return nil, err
			}
		}
		lease, err := b.engine.begin(ctx, id)
		switch held := (*pawl.HeldError)(nil); {
		case err == nil:
			rests, err := b.engine.rests(ctx, after, p.state.Seq())
			if err == nil && rests {
				err = b.follow(&p)
			}
			if err == nil && rests {
				return b.begin(ctx, lease, &p)
			}
			b.engine.release(lease)
			if err != nil {
				return nil, fmt.Errorf("start run %s: %w", id, err)
			}
		case errors.As(err, &held) && b.Key == "":
			return nil, &ThreadError{b.Thread, id, pawl.StatusRunning}
		case errors.As(err, &held): // another process is about to write its first entry; the run may be the wanted one
			if err := b.engine.pause(ctx, 10*time.Millisecond); err != nil {
				return nil, err
			}
		case !errors.Is(err, pawl.ErrRunExists):
			return nil, fmt.Errorf("start run %s: %w", id, err)
		}
	}
}

// past returns what the next run of the thread continues. That run must have ended.
func (b *beginning) past(ctx context.Context, id, after string) (past, error) {
	if after = cmp.Or(after, b.After); after == "" {
		return past{state: new(pawl.State)}, nil
	}
	p, err := b.engine.past(ctx, id, &pawl.Continues{Run: after}, b.engine.cleaner(b.machine))
	if err != nil {
		return p, err
	}
	status := p.state.Status()
	if status == pawl.StatusRunning {
		if h, err := b.engine.head(ctx, after); err == nil && !owned(h) {
			status = pawl.StatusInterrupted
		}
	}
	if !status.Ended() {
		return p, &ThreadError{b.Thread, after, status}
	}
	return p, nil
}

// rests reports whether a run still ends at seq and has no owner. The caller has claimed the
// next place of the thread. A process that resumes or removes the run claims the run first
// and then checks that place, so one of the two sees the other.
func (e *Engine) rests(ctx context.Context, run string, seq uint64) (bool, error) {
	if run == "" {
		return true, nil
	}
	for n := 0; ; n++ {
		h, err := e.head(ctx, run)
		switch {
		case err != nil:
			return false, err
		case h.Seq != seq:
			return false, nil
		case !owned(h):
			return true, nil
		case n == 100: // its owner had enough time to release the ended run
			return false, &pawl.HeldError{Lease: h.Lease}
		}
		if err := e.pause(ctx, 10*time.Millisecond); err != nil {
			return false, err
		}
	}
}

// last fails if a claimed run is not, or soon will not be, the last of its thread. A run that
// hands over may resume to say so.
func (e *Engine) last(ctx context.Context, r *recorder) error {
	start, _ := r.state.Start()
	if start.Thread == "" {
		return nil
	}
	next := ThreadRun(start.Thread, r.lease.Run)
	h, err := e.head(ctx, next)
	if errors.Is(err, pawl.ErrUnknownRun) || err == nil && h.Seq == 0 && !owned(h) {
		return nil
	}
	if err != nil {
		return err
	}
	if leg, err := firstOf(ctx, e.journal, next); err == nil && leg.Continues != nil && leg.Continues.By != "" && !r.state.Status().Ended() {
		return nil
	}
	return &ContinuedError{r.lease.Run, next}
}

// Threads caches the ends of the latest runs of threads, so that the next run of a thread
// begins without reading the logs of earlier runs. It holds as much as a live run of the
// thread, for at most 4,096 runs, and always for the latest thread. What is not cached, or
// has changed in the journal, is read. The zero value is ready to use; engines on one
// journal can share it, and it is safe for concurrent use.
type Threads struct {
	mu    sync.Mutex
	ended []ended // least recently ended first
}

// mostRemembered bounds the cached runs, including those that a run continues.
const mostRemembered = 4096

// ended is a run of a thread that has ended, and what changed its texts.
type ended struct {
	past
	thread  string
	secrets map[string]string
	learned int64 // how many secrets were learned
}

// keep caches a run that was driven to its end.
func (t *Threads) keep(r *recorder) {
	if r.state.Head().Thread == "" { // not of Start, which copies the whole declaration
		return
	}
	if _, handed := team.Handed(r.state.Verdict()); handed { // the next leg has the conversation
		return
	}
	start, _ := r.state.Start()
	after := ""
	if start.Continues != nil {
		after = start.Continues.Run
	}
	if !r.state.Status().Ended() || r.durable != r.state.Seq() ||
		ThreadRun(start.Thread, after) != r.lease.Run || len(r.clean.filters) > 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.drop(start.Thread)
	t.ended = append(t.ended, ended{past{r.state, r.transcript, r.runs + 1}, start.Thread, r.host.opt.Secrets, r.host.learned()})
	held := 0
	for i, e := range slices.Backward(t.ended) {
		if held += e.runs; held > mostRemembered && i < len(t.ended)-1 {
			t.ended = slices.Delete(t.ended, 0, i+1)
			break
		}
	}
}

func (t *Threads) drop(thread string) (e ended, ok bool) {
	i := slices.IndexFunc(t.ended, func(e ended) bool { return e.thread == thread })
	if i < 0 {
		return e, false
	}
	e = t.ended[i]
	t.ended = slices.Delete(t.ended, i, i+1)
	return e, true
}

// take removes and returns the cached end of a thread, because continuing a conversation
// changes it. The run must still be in the journal. That it still ends there is checked when
// the next run is claimed; see [Engine.rests].
func (t *Threads) take(ctx context.Context, b *beginning) past {
	t.mu.Lock()
	e, ok := t.drop(b.Thread)
	t.mu.Unlock()
	clean := b.engine.cleaner(b.machine)
	if !ok || len(clean.filters) > 0 || !maps.Equal(e.secrets, b.engine.opt.Secrets) || e.learned != b.engine.learned() {
		return past{}
	}
	was, _ := e.state.Start()
	is, err := firstOf(ctx, b.engine.journal, e.state.Run())
	if err != nil || is.Nonce != was.Nonce {
		return past{}
	}
	e.transcript.Next(e.state, e.runs, clean.parts)
	return e.past
}

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

// distant yields the entries of a run that another process drives, from seq on.
func (l *life) distant(ctx context.Context, from uint64) iter.Seq2[pawl.Entry, error] {
	return func(yield func(pawl.Entry, error) bool) {
		next, over := max(from, 1), false
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
