package engine

import (
	"context"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/process"
	"github.com/pawl-run/pawl/internal/usercode"
)

// instructTime bounds the time that computing instructions may take.
const instructTime = 30 * time.Second

// instruct computes the agent's instructions of the moment, once before each new turn of the model. It reports whether that changed the log, or was stopped: the turn is
// decided again then.
func (s *effects) instruct(at uint64, t *pawl.Think) (again bool, err error) {
	r := s.rec
	agent := r.machine.Agent()
	if agent.Instruct == nil || t.Purpose != pawl.PurposeTurn || t.Attempt > 1 || t.View.Alone || s.instructed == t.Iteration {
		return false, nil
	}
	if err := r.flush(); err != nil {
		return false, err
	}
	now := time.Now()
	i := &instructing{agent: agent, state: r.state.Clone(), at: at}
	i.effect = effect{work: i, limit: instructTime, grace: process.DefaultGrace + process.Settling, began: now}
	i.fit(timeLeft(r.state, now))
	if err := s.perform(&i.effect); err != nil {
		return false, err
	}
	if i.cut == nil || i.cut == errTimeout {
		s.instructed = t.Iteration
	}
	return i.cut != nil || r.state.Seq() != at, r.failed
}

// instructing is a computation of instructions in progress.
type instructing struct {
	effect
	agent pawl.Agent
	state *pawl.State
	at    uint64
	text  string
}

func (i *instructing) perform(ctx context.Context) (err error) {
	defer usercode.Blame("instructions of", i.agent.Name)
	i.text, err = i.agent.Instruct(ctx, i.state)
	return err
}

// record appends the instructions if they are not what the model has read last. If they cannot be
// computed, those hold, and a notice says why.
func (i *instructing) record(r *recorder, cut error, abandoned bool) {
	if !abandoned && i.panic != nil {
		panic(i.panic) // on the goroutine that drives the run; see driver.run
	}
	var why string
	switch {
	case cut == errTimeout:
		why = "nothing was returned within " + i.limit.String()
	case cut != nil:
		return
	case i.err != nil:
		why = i.err.Error()
	default:
		if text := r.clean.text(i.text); text != r.state.Instructions() {
			r.append(i.at, pawl.InstructionsGiven{Text: text})
		}
		return
	}
	failed := pawl.NoticeGiven{About: "instructions", Text: r.clean.text("The instructions of the moment could not be computed: " + why + ". The earlier ones hold.")}
	if old, _ := r.state.Notice(failed.About); old != failed {
		r.append(i.at, failed)
	}
}
