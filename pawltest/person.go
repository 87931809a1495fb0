package pawltest

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
)

// A Person takes the place of the people and clients that an agent waits for. Give it as the
// Approver of the options of [Transcript] and [KillEverywhere]. It must say the same about
// the same call each time. What has no function is left, and ends the test with a run that
// waits.
type Person struct {
	Approves engine.ApproverFunc         // decides about held calls
	Answers  func(p pawl.Pending) string // answers the question that is the Reason of p
	Returns  func(p pawl.Pending) any    // gives the result of the client tool of p, to be encoded as JSON
}

// Approve decides about a held call.
func (p Person) Approve(ctx context.Context, r engine.Request) (engine.Decision, error) {
	if p.Approves == nil {
		return engine.Decision{}, engine.ErrLater
	}
	return p.Approves(ctx, r)
}

// kept is a journal in memory whose runs may wait: somebody in this process answers.
type kept struct{ *memory.Journal }

// journalFor returns the journal as the engine is to see it.
func journalFor(j pawl.Journal, o *engine.Options) pawl.Journal {
	m, volatile := j.(*memory.Journal)
	if _, ok := o.Approver.(Person); ok && volatile {
		return kept{m}
	}
	return j
}

// drive runs an agent until it ends or waits for somebody else. It resumes the run when it is
// paused so many times, until a time that need not be waited for.
func drive(ctx context.Context, e *engine.Engine, agent pawl.Agent, input string, o *engine.Options, pauses int) (r pawl.Result, err error) {
	h, err := e.Start(ctx, agent, input, &engine.StartOptions{ID: killedRun})
	for err == nil {
		if r, err = h.Wait(ctx); err != nil {
			break
		}
		given, bad := respond(ctx, e, o, r)
		switch {
		case bad != nil:
			return r, bad
		case given:
		case r.Status == pawl.StatusPaused && pauses > 0:
			pauses--
		default:
			return r, nil
		}
		h, err = e.Resume(ctx, agent, r.Run, nil)
	}
	return r, err
}

// respond gives what a run waits for, and reports whether it gave anything.
func respond(ctx context.Context, e *engine.Engine, o *engine.Options, r pawl.Result) (given bool, err error) {
	p, _ := o.Approver.(Person)
	for _, w := range r.Pending {
		switch {
		case w.Kind == "input" && p.Answers != nil:
			err = e.Answer(ctx, w.Run, w.Call, person, p.Answers(w))
		case w.Kind == "client_tool" && p.Returns != nil:
			var raw json.RawMessage
			if raw, err = json.Marshal(p.Returns(w)); err == nil {
				err = e.Submit(ctx, w.Run, w.Call, person, raw)
			}
		default:
			continue
		}
		if given = true; err != nil {
			return given, fmt.Errorf("%s of %s: %w", w.Call, w.Tool, err)
		}
	}
	return given, nil
}

const person = "pawltest"
