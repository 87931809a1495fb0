package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/server/client"
	"github.com/pawl-run/pawl/team"
)

// asked starts or resumes something at a server, and returns the run to watch.
type asked func(ctx context.Context) (pawl.Result, error)

// driveRemote asks a server to drive a run and watches the run until it has no owner.
// Entries up to after are history.
func driveRemote(ctx context.Context, a *app, r *remote, d *driving, after uint64, ask asked) (int, error) {
	events, err := a.openEvents(d.events)
	if err != nil {
		return 0, err
	}
	defer events.end()
	began := time.Now()
	result, err := ask(ctx)
	if err != nil {
		return 0, err
	}
	if !a.quiet {
		a.sayf("run %s", result.Run)
	}
	if after > 0 && !a.quiet { // the entry that says so is not shown
		if s, err := engine.Load(ctx, r, result.Run); err == nil {
			a.announceAt(a.server, s.Declaration(), s.Limits())
		}
	}
	w := &watch{app: a, remote: r, run: result.Run, after: after, last: after, events: events, announce: after == 0}
	w.view = a.liveView(a.progress)
	if _, live := w.view.(*liveView); live {
		w.last = 0 // it counts what was used before
	}
	for looks := 0; ; {
		if result, err = w.until(ctx); err != nil {
			if ctx.Err() != nil && !a.quiet {
				a.sayf("run %s continues at the server (started here %s ago); watch it: %s; cancel it: %s", w.run, display.Lasting(time.Since(began)),
					a.typed("pawl", "events", w.run, "--follow"), a.typed("pawl", "cancel", w.run))
			}
			return 0, err
		}
		if _, handed := team.HandedIn(result); handed {
			thread := ""
			if result.Thread != nil {
				thread = *result.Thread
			}
			next, err := r.Run(ctx, engine.NextLeg(thread, result.Run))
			if err == nil {
				w.run, w.after, w.last, w.halted, w.announce = next.Run, 0, 0, 0, false
				continue
			}
			if !errors.Is(err, pawl.ErrUnknownRun) { // else it was removed
				return 0, err
			}
		}
		answered := func(p pawl.Pending) bool { return p.AnsweredAt != nil }
		parking := w.halted.Waiting() && slices.ContainsFunc(result.Pending, answered) // the server resumes it with the answer
		outdated := result.Status.Waiting() && w.last > after && !w.halted.Waiting()   // the run has gone on since the server's reply
		if (parking || outdated) && looks < mostLooks {
			looks++
			select {
			case <-time.After(lookForAnswer):
			case <-ctx.Done():
				return 0, context.Cause(ctx)
			}
			continue
		}
		said, err := askHere(ctx, a, r, d.approvals, result)
		if err != nil {
			return 0, err
		}
		if said == nil {
			return a.conclude(ctx, result)
		}
	}
}

// How often, and how many times, a waiting run is polled after its answer was sent.
const (
	lookForAnswer = 50 * time.Millisecond
	mostLooks     = 40
)

// watch shows a run at a server, and streams it.
type watch struct {
	*app
	*remote

	run      string
	view     view
	after    uint64 // entries up to it are history
	last     uint64 // the entry shown last
	events   *sink
	announce bool
	halted   pawl.Status // the status at which the log halted; zero: it has not
}

// until watches until the run has no owner, and returns its result.
func (w *watch) until(ctx context.Context) (pawl.Result, error) {
	w.view.begin()
	defer w.view.end()
	result, err := w.Watch(ctx, w.run, w.last, w.show)
	if _, refused := errors.AsType[*client.Problem](err); err != nil && !refused && w.halted != 0 && ctx.Err() == nil {
		err = &fault{exitCode(w.halted), fmt.Errorf("run %s is %v; the connection to the server failed: %w", w.run, w.halted, err)}
	}
	return result, err
}

// announceAt says which model a server asks, and how much it may use.
func (con *console) announceAt(server string, d pawl.Declaration, l pawl.Limits) {
	con.sayf("%s: model %s, driven by %s; at most %s", d.Agent, d.Model.Name, server, limitsText(l))
}

func driven(s pawl.Status) bool { return s == pawl.StatusRunning || s == pawl.StatusQueued }

// show shows an entry, and notes the status at which the log halts.
func (w *watch) show(e pawl.Entry) {
	if e.Seq == 0 { // a piece of a reply
		w.view.add(e, false)
	}
	if e.Seq <= w.last {
		return
	}
	w.last = e.Seq
	w.view.add(e, e.Seq <= w.after)
	if e.Seq <= w.after {
		return
	}
	w.events.add(e)
	w.halted = 0
	switch event := e.Event.(type) {
	case pawl.RunStarted:
		if w.announce && !w.quiet {
			w.announceAt(w.server, event.Declaration, event.Declaration.Limits)
		}
	case pawl.RunPaused:
		w.halted = event.Status
	case pawl.RunStopped:
		w.halted = event.Status
	}
}

// sentLimits converts checked limits to the server's form.
func sentLimits(texts []string, relative bool) (client.Limits, error) {
	if _, err := parseLimits(texts, relative); err != nil || len(texts) == 0 {
		return nil, err
	}
	limits := client.Limits{}
	for _, text := range texts {
		for part := range strings.SplitSeq(text, ",") {
			name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
			limits[name], _ = json.Marshal(value) // a string always marshals
		}
	}
	return limits, nil
}
