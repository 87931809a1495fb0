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
	"github.com/pawl-run/pawl/internal/redact"
	"github.com/pawl-run/pawl/server/client"
)

// asked begins something at a server, or goes on with it, and gives the run that
// is to be watched.
type asked func(ctx context.Context) (pawl.Result, error)

// driveRemote has a server drive a run and watches it until nobody does. Entries
// up to after are history.
func (a *app) driveRemote(ctx context.Context, r *remote, d *driving, after uint64, ask asked) (int, error) {
	events, err := a.openEvents(d.events)
	if err != nil {
		return 0, err
	}
	if events != nil {
		defer func() { _ = events.close() }() // each line was written when it happened
	}
	began := time.Now()
	result, err := ask(ctx)
	if err != nil {
		return 0, err
	}
	if !a.quiet {
		a.sayf("run %s", result.Run)
	}
	w := &watch{app: a, remote: r, run: result.Run, last: after, events: events, announce: after == 0}
	for looks := 0; ; {
		if result, err = w.until(ctx, result); err != nil {
			if ctx.Err() != nil && !a.quiet {
				a.sayf("run %s goes on at the server (began %s ago here); watch it: %s; end it: %s", w.run, lasting(time.Since(began)),
					a.typed("pawl", "events", w.run, "--follow"), a.typed("pawl", "cancel", w.run))
			}
			return 0, err
		}
		answered := func(p pawl.Pending) bool { return p.AnsweredAt != nil }
		parking := w.halted.Waiting() && slices.ContainsFunc(result.Pending, answered) // the server resumes it for the answer
		outdated := result.Status.Waiting() && w.halted != 0 && !w.halted.Waiting()    // the run has ended since the server said so
		if (parking || outdated) && looks < lookForAnswer {
			looks++
			select {
			case <-time.After(lookAtServer / 100):
			case <-ctx.Done():
				return 0, context.Cause(ctx)
			}
			if result, err = r.Run(ctx, w.run); err != nil {
				return 0, err
			}
			continue
		}
		said, err := a.askHere(ctx, r, d.approvals, result)
		if err != nil {
			return 0, err
		}
		if said == nil {
			return a.conclude(ctx, result)
		}
		result = *said
	}
}

// lookForAnswer is how often a run is looked at that waits for what is answered.
const lookForAnswer = 40

// watch shows a run at a server, and streams it.
type watch struct {
	*app
	*remote

	run      string
	last     uint64 // the entry shown last
	events   *sink
	announce bool
	halted   pawl.Status // where the log says it came to a halt; zero: nowhere
}

// until watches until nobody drives the run, and returns what it has come to.
func (w *watch) until(ctx context.Context, now pawl.Result) (pawl.Result, error) {
	if !driven(now.Status) {
		for e, err := range w.Entries(ctx, w.run, w.last) {
			if err != nil {
				return now, err
			}
			w.show(e)
		}
		return now, nil
	}
	type heard struct {
		e   pawl.Entry
		err error
	}
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	word := make(chan heard)
	go func() {
		defer close(word)
		for e, err := range w.Follow(within, w.run, w.last) {
			select {
			case word <- heard{e, err}:
			case <-within.Done():
				return
			}
		}
	}()
	for {
		var look, over bool
		select {
		case h, more := <-word:
			switch {
			case ctx.Err() != nil:
				return now, context.Cause(ctx)
			case !more:
				look, over = true, true
			case h.err != nil:
				return now, h.err
			default:
				look = w.show(h.e)
			}
		case <-time.After(lookAtServer):
			look = true
		case <-ctx.Done():
			return now, context.Cause(ctx)
		}
		if !look {
			continue
		}
		result, err := w.Run(ctx, w.run)
		if _, refused := errors.AsType[*client.Problem](err); err != nil && !refused && w.halted != 0 && ctx.Err() == nil {
			return result, &fault{exitCode(w.halted), fmt.Errorf("run %s is %v; the server says no more: %w", w.run, w.halted, err)}
		}
		if err != nil || over || !driven(result.Status) {
			return result, err
		}
	}
}

func driven(s pawl.Status) bool { return s == pawl.Running || s == pawl.Queued }

// show shows an entry, and reports whether the run may have come to a halt by it.
func (w *watch) show(e pawl.Entry) bool {
	if e.Seq <= w.last { // pieces of replies have none and are not shown
		return false
	}
	w.last = e.Seq
	if w.events != nil {
		line, err := e.AppendJSON(nil)
		if err == nil {
			_, err = w.events.w.Write(append(redact.JSON(line), '\n'))
		}
		if err != nil {
			w.sayf("pawl: --events: %v; the run goes on without", err)
			w.events = nil
		}
	}
	switch begun := e.Event.(type) {
	case pawl.RunStarted:
		if w.announce && !w.quiet {
			w.sayf("%s: model %s, driven by %s; at most %v", begun.Declaration.Agent, begun.Declaration.Model.Name, w.server, begun.Declaration.Limits)
		}
	case pawl.RunPaused:
		w.halted = begun.Status
		return true
	case pawl.RunStopped:
		w.halted = begun.Status
		return true
	}
	w.halted = 0
	if !w.quiet {
		w.progress(e)
	}
	return false
}

// sentLimits are ceilings as a server takes them; they have been checked.
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

// resumeRemote has a server go on with a run.
func (a *app) resumeRemote(ctx context.Context, r *remote, h pawl.Head, d *driving) (int, error) {
	limits, err := sentLimits(d.limit, true)
	if err != nil {
		return 0, err
	}
	return a.driveRemote(ctx, r, d, h.Seq, func(ctx context.Context) (pawl.Result, error) {
		return r.Resume(ctx, h.Run, client.ResumeRun{Limits: limits})
	})
}

// forkRemote has a server fork a run.
func (a *app) forkRemote(ctx context.Context, r *remote, h pawl.Head, ask client.ForkRun, d *driving) (int, error) {
	var err error
	if ask.Limits, err = sentLimits(d.limit, true); err != nil {
		return 0, err
	}
	return a.driveRemote(ctx, r, d, 0, func(ctx context.Context) (pawl.Result, error) {
		return r.Fork(ctx, h.Run, ask)
	})
}
