package server

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/client"
	"github.com/pawl-run/pawl/engine/desk"
)

// wakeEvery is how often a server looks for runs that others parked until a time.
// It is no more than a glance at an index; who parks one himself says so at once.
const wakeEvery = 30 * time.Second

// Of runs that are due together so many are woken at once, and then one at a time:
// a limit that has reset is used up again by all at once. That they are woken
// apart, and not so many at a time, keeps a long run from holding others up.
const (
	wakeAtOnce = 4
	wakeApart  = 500 * time.Millisecond
)

// Wake goes on with runs that are paused until a time, as when a provider's limit
// resets, once it has come: those of the host's agents, whoever parked them and in
// whatever process, and where they are many one after the other. Of several servers
// on one journal one does. It returns when ctx has ended or the server is closed.
// [Server.Serve] does it besides; it is for a server that is the handler of another
// http.Server.
func (s *Server) Wake(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	unhook := context.AfterFunc(s.life, cancel)
	defer unhook()
	w := waking{refused: map[string]uint64{}}
	for {
		timer := time.NewTimer(time.Until(s.wake(ctx, &w)))
		select {
		case <-timer.C:
		case <-s.parked:
		case <-ctx.Done():
		}
		timer.Stop()
		if ctx.Err() != nil {
			return
		}
	}
}

// waking is what is remembered between two looks.
type waking struct {
	// refused are the logs that could not be gone on with, by where they ended: what
	// was wrong with them is so until somebody does something about it.
	refused map[string]uint64
	even    time.Time // when as many have been woken as may have been by then
}

// pause waits after a run was woken until the next one may be, and reports
// whether it was let. It is the generic cell rate algorithm of ITU-T I.371.
func (w *waking) pause(ctx context.Context, now time.Time) bool {
	if w.even.Before(now) {
		w.even = now
	}
	w.even = w.even.Add(wakeApart)
	select {
	case <-time.After(w.even.Sub(now) - (wakeAtOnce-1)*wakeApart):
		return true
	case <-ctx.Done():
		return false
	}
}

// wake goes on with the runs whose time has come, and says when to look again.
func (s *Server) wake(ctx context.Context, w *waking) (next time.Time) {
	now := time.Now()
	next = now.Add(wakeEvery)
	var due []pawl.Head
	for h, err := range s.journal.List(ctx, pawl.Query{Due: next}) {
		if err != nil {
			s.sleepless(ctx, "", err)
			return next
		}
		due = append(due, h)
	}
	if len(due) == 0 {
		return next
	}
	agents, err := s.host.Agents(ctx)
	if err != nil {
		s.sleepless(ctx, "", err)
		return next
	}
	slices.SortFunc(due, func(a, b pawl.Head) int { return a.WakeAt.Compare(b.WakeAt) })
	for _, h := range due {
		if h.WakeAt.After(now) {
			return h.WakeAt // the earliest; when it is not ours to wake, that is found out then
		}
		root, ok, err := s.sleeps(ctx, h.Run, now)
		switch {
		case err != nil:
			s.sleepless(ctx, h.Run, err)
			continue
		case !ok, !slices.ContainsFunc(agents, func(a client.Agent) bool { return a.Name == root.Agent }), w.refused[root.Run] == root.Seq:
			continue
		}
		switch _, err := s.goOn(ctx, root, desk.Limits{}, root.Seq); {
		case ctx.Err() != nil:
			return next
		case err == nil:
			s.log.Info("run goes on, its time has come", "run", root.Run)
			if !w.pause(ctx, time.Now()) {
				return next
			}
		case errors.As(err, new(*pawl.HeldError)), errors.Is(err, pawl.ErrConflict), errors.Is(err, pawl.ErrFenced):
			// Somebody was quicker.
		case errors.As(problemOf(err), new(*client.Problem)):
			w.refused[root.Run] = root.Seq
			s.log.Warn("run does not go on, though its time has come", "run", root.Run, "why", err)
		default:
			s.sleepless(ctx, root.Run, err)
		}
	}
	return next
}

func (s *Server) sleepless(ctx context.Context, run string, err error) {
	if ctx.Err() == nil {
		s.log.Error("runs that are due cannot be looked after", "run", run, "error", err)
	}
}

// sleeps reports whether a run still waits for a time that has come, and nobody
// drives it. It gives the run that it descends from as it was before that was seen,
// so that whoever goes on with it after its last entry is the first to.
func (s *Server) sleeps(ctx context.Context, run string, now time.Time) (root pawl.Head, ok bool, err error) {
	h, err := desk.Head(ctx, s.journal, run)
	if err != nil {
		return h, false, err
	}
	if root, err = desk.Root(ctx, s.journal, h); err != nil {
		return root, false, err
	}
	if root.Run != h.Run {
		if h, err = desk.Head(ctx, s.journal, run); err != nil {
			return root, false, err
		}
	}
	parked := root.Status == pawl.Paused || root.Status.Waiting()
	return root, parked && !desk.Owned(root.Lease) && h.Status == pawl.Paused && !h.WakeAt.IsZero() && !h.WakeAt.After(now), nil
}
