package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
)

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
