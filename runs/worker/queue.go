package worker

import (
	"context"
	"errors"
	"iter"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/runs"
)

// How often the queue is looked at: once a second in any case, and when a run was queued or
// a slot became free, but not more often than lookApart.
const (
	lookAtQueue = time.Second
	lookApart   = 20 * time.Millisecond
)

// mostExcept is the most runs that a look at the queue leaves out because they could not
// be resumed.
const mostExcept = 1000

// rings tells when a run may have been queued. It holds one token.
func rings(ctx context.Context, j pawl.Journal) <-chan struct{} {
	ring := make(chan struct{}, 1)
	q, ok := j.(interface {
		WatchQueue(ctx context.Context) iter.Seq2[string, error]
	})
	if !ok {
		return nil
	}
	go func() {
		for _, err := range q.WatchQueue(ctx) {
			if err != nil {
				return
			}
			select {
			case ring <- struct{}{}:
			default:
			}
		}
	}()
	return ring
}

// take takes as many queued runs as there are free slots, and drives them.
func (s *sweeper) take(ctx context.Context) {
	most := s.worker.free()
	if s.queue == nil || most == 0 || len(s.agents) == 0 {
		return
	}
	if s.width > 0 {
		most = min(most, s.width)
	}
	agents := slices.DeleteFunc(slices.Clone(s.agents), s.isDry)
	if len(agents) == 0 {
		s.again = false
		return
	}
	rand.Shuffle(len(agents), func(a, b int) { agents[a], agents[b] = agents[b], agents[a] }) //nolint:gosec // keeps workers apart, protects nothing
	o := &s.worker.options
	t := pawl.Take{Owner: engine.Self().String(), TTL: o.Lease, Max: most, Agents: agents, Labels: o.Labels, Except: s.except(), LaneMax: o.MaxPerTenant}
	if o.MaxPerAgent > 0 {
		t.AgentMax = map[string]int{}
		for _, agent := range agents {
			t.AgentMax[agent] = o.MaxPerAgent
		}
	}
	heads, err := s.queue.Take(ctx, t)
	s.say(ctx, err)
	if err != nil {
		return
	}
	s.worker.counts.takes.Add(1)
	s.worker.counts.claims.Add(int64(len(heads)))
	begun, dry := map[string]int{}, false
	for _, h := range heads {
		if s.drive(ctx, h, begun[h.Agent]) {
			begun[h.Agent]++
		}
		dry = dry || s.isDry(h.Agent)
	}
	if s.width *= 2; dry {
		s.width = 1 // what is taken in vain must be given back
	} else if s.width >= s.worker.slots() {
		s.width = 0
	}
	s.again = len(heads) == most // there may be more
	s.capped = !s.again && (o.MaxPerAgent > 0 || o.MaxPerTenant > 0)
}

// drive drives a run whose lease was taken, and reports whether it does. ahead is how many of
// its agent were begun just before.
func (s *sweeper) drive(ctx context.Context, h pawl.Head, ahead int) bool {
	if s.isDry(h.Agent) {
		engine.Release(s.journal, h.Lease)
		return false
	}
	_, err := s.worker.resume(ctx, h, ahead, runs.Limits{}, &engine.ResumeOptions{After: h.Seq, Lease: h.Lease})
	if err == nil {
		delete(s.failed, h.Run)
		s.log.Debug("queued run taken", "run", h.Run)
		return true
	}
	engine.Release(s.journal, h.Lease)
	busy, full := errors.AsType[*engine.BusyError](err)
	if s.dries(h.Agent, busy); full || ctx.Err() != nil || errors.Is(err, ErrClosed) || errors.Is(err, pawl.ErrFenced) || errors.Is(err, pawl.ErrConflict) || errors.Is(err, pawl.ErrUnknownRun) {
		return false
	}
	s.fail(h, isQueued, err)
	return false
}

// free gives up the leases of queued runs that a process took which has ended since, so that
// the next look at the queue finds them.
func (s *sweeper) free(ctx context.Context) error {
	if s.queue == nil {
		return nil
	}
	for h, err := range s.queue.Taken(ctx) {
		if err != nil {
			return err
		}
		if !engine.ParseOwner(h.Lease.Owner).Gone() {
			continue
		}
		l, err := s.journal.Claim(ctx, pawl.Claim{Run: h.Run, Owner: engine.Self().String(), TTL: s.worker.options.Lease, Over: h.Lease.Epoch})
		if err == nil {
			engine.Release(s.journal, l)
			s.log.Info("queued run freed", "run", h.Run, "why", string(ownerDied))
		} else if !errors.As(err, new(*pawl.HeldError)) && !errors.Is(err, pawl.ErrUnknownRun) {
			return err
		}
	}
	return nil
}

// isDry reports whether calls of an agent are known to wait for the rate of its provider.
func (s *sweeper) isDry(agent string) bool { return time.Now().Before(s.dry[agent]) }

// dries notes that calls of an agent wait. Others may use the rate by then, or give some back, so
// the next look is soon.
func (s *sweeper) dries(agent string, busy *engine.BusyError) {
	if busy != nil && busy.Wait > 0 {
		s.dry[agent] = time.Now().Add(min(busy.Wait, s.every))
	}
}

// except are the runs that could not be resumed, and are not to be tried again yet.
func (s *sweeper) except() (runs []string) {
	now := time.Now()
	for run, f := range s.failed {
		if now.Before(f.until) && len(runs) < mostExcept {
			runs = append(runs, run)
		}
	}
	return runs
}
