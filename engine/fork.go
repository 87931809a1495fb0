package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine/replay"
	"github.com/pawl-run/pawl/stop"
	"github.com/pawl-run/pawl/team"
)

// ForkOptions are the settings of a fork.
type ForkOptions struct {
	ID    string // the new run's id; empty: a generated one
	Input string // an additional message
	// Labels replace those of the other run; nil: the other run's labels at the entry.
	Labels map[string]string
	Stop   pawl.Condition
	// AllowChange lets the fork continue with another agent.
	AllowChange bool
	// Limits raises or lowers limits; zero fields stay. If the run has used them up
	// at the entry, Fork fails with a *SpentError.
	Limits pawl.Limits
	// AllowSpent forks the run even if it has used up Limits already.
	AllowSpent bool
	// Watch is StartOptions.Watch.
	Watch bool
	// By is who forks the run; empty: the log does not say.
	By string
	// Edit puts something else in place of entry seq, which is then not shared; nil: nothing.
	Edit *Edit
}

// Fork starts a new run that shares the log of another up to entry seq, where no effect may
// be in progress. With an Edit it shares the entries before seq, and entry seq must be one
// that can be edited. The other run is only read.
func (e *Engine) Fork(ctx context.Context, agent pawl.Agent, run string, seq uint64, o *ForkOptions) (*Handle, error) {
	if o == nil {
		o = &ForkOptions{}
	}
	if o.ID != "" {
		if err := checkID(o.ID); err != nil {
			return nil, err
		}
	}
	if err := e.room(); err != nil {
		return nil, err
	}
	d, err := e.fork(ctx, agent, run, seq, o)
	if err != nil {
		return nil, err
	}
	return e.launch(ctx, d)
}

func (e *Engine) fork(ctx context.Context, agent pawl.Agent, run string, seq uint64, o *ForkOptions) (*driver, error) {
	if err := nested(ctx); err != nil {
		return nil, err
	}
	began := agent
	if o.Stop != nil {
		agent.Stop = o.Stop
	}
	m, err := e.machine(agent)
	if err != nil {
		return nil, err
	}
	at, err := e.cut(ctx, run, seq, o.Edit != nil)
	if err != nil {
		return nil, err
	}
	if o.Edit != nil {
		if err := o.Edit.check(at.rest[0], o.Input); err != nil {
			return nil, fmt.Errorf("run %s cannot be edited at %d: %w", run, seq, err)
		}
	}
	id := o.ID
	if id == "" {
		id = newID(time.Now())
	}
	lease, err := e.begin(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("fork run %s: %w", run, err)
	}
	d := e.newDriver(m, lease)
	r := &d.rec
	err = r.lease.caught(func() error { // a filter may panic
		if start, ok := at.shared[0].Event.(pawl.RunStarted); ok {
			p, err := e.past(ctx, run, start.Continues, r.clean)
			if err != nil {
				return err
			}
			r.continues(&p)
		}
		for _, entry := range at.shared {
			entry.Run = id
			r.fold(entry)
			r.pending = append(r.pending, entry)
		}
		r.copied = len(at.shared)
		at.running = running(r.state)
		r.appendNow(pawl.RunForked{From: at.from, Seq: uint64(len(at.shared)), Input: r.clean.text(o.Input), Labels: e.names(o.Labels), Owner: lease.Owner, Epoch: lease.Epoch, By: by(o), Edited: o.Edit != nil})
		if o.Edit != nil {
			if err := o.Edit.apply(r, at, by(o)); err != nil {
				return fmt.Errorf("run %s cannot be edited at %d: %w", run, seq, err)
			}
		}
		return resume(ctx, d, began, &ResumeOptions{Limits: o.Limits, Stop: o.Stop, AllowChange: o.AllowChange, AllowSpent: o.AllowSpent, of: run})
	})
	if err != nil {
		r.lease.release()
		return nil, err
	}
	d.early = o.Watch
	return d, nil
}

// cut is a log with the place where a fork leaves it.
type cut struct {
	shared, rest []pawl.Entry // rest is for an edit, whose entry is its first
	from         string       // the run that wrote the last shared entry, whose id is part of the calls' keys
	running      []string     // the calls that are in progress after the shared entries
}

// cut reads entries 1 to seq of a run and checks that a fork may leave its log there. With
// edit it shares those before seq only. It reads on to the end, where the log may say that
// it was redacted. If the run is itself a fork and the last shared entry is in its shared
// part, that entry is another run's.
func (e *Engine) cut(ctx context.Context, run string, seq uint64, edit bool) (*cut, error) {
	s, at, last := new(pawl.State), &cut{from: run}, seq
	if edit && seq > 0 {
		last--
	}
	var before, after uint64
	for entry, err := range entriesFor(ctx, e.journal, run, s) {
		if err != nil {
			return nil, err
		}
		s.Fold(entry)
		if fork, ok := entry.Event.(pawl.RunForked); ok && last <= fork.Seq && at.from == run {
			at.from = fork.From
		}
		switch {
		case entry.Seq <= last:
			at.shared = append(at.shared, entry)
		case edit:
			at.rest = append(at.rest, entry)
		}
		switch {
		case s.InFlight():
		case entry.Seq <= seq:
			before = entry.Seq
		case after == 0:
			after = entry.Seq
		}
	}
	if err := s.Internals().CheckMachine(); err != nil {
		return nil, err
	}
	if s.Internals().Redacted() {
		return nil, fmt.Errorf("run %s: %w", run, ErrRedacted)
	}
	switch {
	case seq == 0 || s.Seq() < seq:
		return nil, fmt.Errorf("run %s has entries 1 to %d; it cannot be forked at %d", run, s.Seq(), seq)
	case edit || before == seq:
		return at, nil
	case after != 0:
		return nil, fmt.Errorf("run %s cannot be forked at %d: something is in flight there; the nearest places are %d and %d", run, seq, before, after)
	}
	return nil, fmt.Errorf("run %s cannot be forked at %d: something is in flight there; the nearest place is %d", run, seq, before)
}

// Replay folds a run's log and decides every recorded step again; see [replay.Run]. It
// makes no calls and writes nothing.
func (e *Engine) Replay(ctx context.Context, agent pawl.Agent, run string) (steps int, err error) {
	start, err := firstOf(ctx, e.journal, run)
	if err != nil {
		return 0, err
	}
	m, err := e.machine(team.Member(agent, start.Declaration))
	if err != nil {
		return 0, err
	}
	p, err := e.past(ctx, run, start.Continues, cleaner{})
	if err != nil {
		return 0, err
	}
	return replay.Run(m, p.before(), run, Entries(ctx, e.journal, run, 1), &stop.Options{When: e.opt.When})
}

// An Edit is what a person puts in place of one entry of a log: the reply to a turn, or the
// result of a call. Exactly one field is set. The fork records it under the name of that
// person: a reply as a model.replied that used nothing, a result as a tool.settled.
type Edit struct {
	Reply  *pawl.Reply     // in place of a model.replied; its texts and calls count
	Result json.RawMessage // in place of a tool.finished: the call succeeded with this
	Error  string          // in place of a tool.finished: the call failed with this
}

// by is who forks a run. An edit has somebody's name in any case.
func by(o *ForkOptions) string {
	if o.By == "" && o.Edit != nil {
		return Self().User
	}
	return o.By
}

// uneditable says what can be edited instead of an entry.
func uneditable(e pawl.Entry) error {
	return fmt.Errorf("entry %d is %s; only a model.replied of a turn and a tool.finished can be edited", e.Seq, e.Type())
}

// check reports why an entry cannot be edited so.
func (e *Edit) check(old pawl.Entry, input string) error {
	set := 0
	for _, is := range []bool{e.Reply != nil, e.Result != nil, e.Error != ""} {
		if is {
			set++
		}
	}
	if set != 1 {
		return errors.New("an edit is a reply, a result or an error; set one of them")
	}
	switch ev := old.Event.(type) {
	case pawl.ModelReplied:
		switch {
		case ev.Purpose != pawl.PurposeTurn:
			return uneditable(old)
		case e.Reply == nil:
			return fmt.Errorf("entry %d is the reply of a model; edit it with a reply", old.Seq)
		case input != "":
			return errors.New("an edited reply cannot have another input, which the model had not read; fork the fork with that input")
		}
		return e.checkReply()
	case pawl.ToolFinished:
		switch {
		case e.Reply != nil:
			return fmt.Errorf("entry %d is the result of a call; edit it with a result or an error", old.Seq)
		case e.Result != nil && !json.Valid(e.Result):
			return fmt.Errorf("the result for %s is not JSON", ev.Tool)
		}
		return nil
	}
	return uneditable(old)
}

func (e *Edit) checkReply() error {
	empty := true
	for _, p := range e.Reply.Parts {
		switch p := p.(type) {
		case pawl.Text:
			empty = empty && strings.TrimSpace(p.Text) == ""
		case pawl.Call:
			empty = false
			if !json.Valid(p.Args) {
				return fmt.Errorf("the arguments of %s are not JSON", p.Tool)
			}
		}
	}
	if empty {
		return errors.New("the edited reply has neither text nor calls; give it one of them")
	}
	return nil
}

// apply appends what takes the place of the entry. The other calls that were in progress
// there end as they did in the run, so that the fork differs in nothing else.
func (e *Edit) apply(r *recorder, at *cut, by string) error {
	seq, old := r.state.Seq(), at.rest[0]
	if e.Reply != nil {
		replied, err := e.replied(r, at)
		if err == nil {
			r.appendIn(old.Iteration, seq, replied)
		}
		return err
	}
	finished, _ := old.Event.(pawl.ToolFinished)
	if c, ok := r.state.Call(finished.Call); !ok || c.Phase == pawl.PhaseAnswered {
		return fmt.Errorf("call %s was answered before entry %d; edit the entry of that answer", finished.Call, old.Seq)
	}
	q := requests{rec: r}
	settled := pawl.ToolSettled{Call: finished.Call, Happened: true, By: by}
	if e.Error != "" {
		settled.Status, settled.Error = pawl.ToolFailed, r.clean.text(e.Error)
	} else {
		settled.Result = q.handed(finished.Tool, e.Result)
	}
	r.appendIn(old.Iteration, seq, settled)
	for _, entry := range at.rest[1:] {
		switch end := entry.Event.(type) {
		case pawl.RunResumed: // what was in progress was lost
			return nil
		case pawl.ToolFinished:
			if end.Images != nil || !slices.Contains(at.running, end.Call) {
				continue // a tool.settled has no images: the call, which can be repeated, runs again
			}
			kept := pawl.ToolSettled{Call: end.Call, Happened: true, Result: end.Result, Error: end.Error, By: "run " + at.from}
			if end.Status != pawl.ToolOK {
				kept.Status = end.Status
			}
			r.appendIn(entry.Iteration, seq, kept)
		}
	}
	return nil
}

// replied is the entry of the edited reply.
func (e *Edit) replied(r *recorder, at *cut) (pawl.ModelReplied, error) {
	reply := pawl.Reply{Stop: e.Reply.Stop}
	for _, p := range e.Reply.Parts {
		if _, thought := p.(pawl.Thinking); !thought { // nobody but the model can sign that
			reply.Parts = append(reply.Parts, p)
		}
	}
	t := pawl.Think{Purpose: pawl.PurposeTurn}
	for _, entry := range slices.Backward(at.shared) {
		if called, ok := entry.Event.(pawl.ModelCalled); ok {
			t.View = called.View
			break
		}
	}
	made, err := r.machine.Replied(r.state, t, r.clean.reply(reply))
	made.Reply.Usage, made.Cost, made.Estimated = pawl.Usage{}, 0, true
	return made, err
}

// running are the calls in progress.
func running(s *pawl.State) (calls []string) {
	for c := range s.Open() {
		if c.Phase == pawl.PhaseStarted || c.Phase == pawl.PhaseAwaitingChild {
			calls = append(calls, c.ID)
		}
	}
	return calls
}
