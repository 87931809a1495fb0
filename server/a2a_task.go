package server

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/a2a"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/redact"
	"github.com/pawl-run/pawl/runs"
	"github.com/pawl-run/pawl/server/client"
	"github.com/pawl-run/pawl/team"
)

// a2aTask is a task as far as its log was read. A task that was handed over goes on with the
// log of the next leg.
type a2aTask struct {
	id      string // of the first leg
	context string
	state   *pawl.State // of the leg
	history []a2a.Message
	said    string // in the latest reply that also made calls
}

// add takes in an entry, and reports whether a client of a stream is to hear of it.
func (t *a2aTask) add(e pawl.Entry, key *Key) (news bool) {
	if e.Seq == 0 {
		return false
	}
	before := stateOf(t.state.Status())
	t.said = ""
	t.state.Fold(e)
	id := fmt.Sprintf("%s:%d", e.Run, e.Seq)
	switch ev := e.Event.(type) {
	case pawl.RunStarted:
		if t.id == "" {
			t.id, t.context = e.Run, contextOf(ev.Thread, e.Run, key)
			if sent := messageOf(key.disown(ev.Key)); sent != "" {
				id = sent
			}
			t.say(a2a.User, id, ev.Input)
		}
	case pawl.InputRequested:
		t.say(a2a.Model, id, ev.Question)
	case pawl.ApprovalRequested:
		t.say(a2a.Model, id, approvalText(ev.Tool, ev.Reason))
	case pawl.InputGiven:
		if !ev.After { // else it is said again in its turn
			t.say(a2a.User, id, ev.Text)
		}
	case pawl.ModelReplied:
		if (ev.Purpose == pawl.PurposeTurn || ev.Purpose == pawl.PurposeFinal) && slices.ContainsFunc(ev.Reply.Parts, func(p pawl.Part) bool { _, is := p.(pawl.Call); return is }) {
			t.said = ev.Reply.Text()
		}
	}
	if _, handed := t.next(); handed {
		return false
	}
	return t.said != "" || stateOf(t.state.Status()) != before
}

func (t *a2aTask) say(by a2a.Role, id, text string) {
	if text != "" {
		t.history = append(t.history, a2a.Message{MessageID: id, ContextID: t.context, TaskID: t.id, Role: by, Parts: []a2a.Part{a2a.Text(text)}})
	}
}

// next is the run that the task goes on with, if it was handed over.
func (t *a2aTask) next() (string, bool) {
	if !t.state.Status().Ended() {
		return "", false
	}
	if _, handed := team.Handed(t.state.Verdict()); !handed {
		return "", false
	}
	return engine.NextLeg(t.state.Head().Thread, t.state.Run()), true
}

// contextOf is the context of a run: its thread, or the run itself.
func contextOf(thread, run string, key *Key) string { return cmp.Or(key.disown(thread), run) }

// disown undoes own.
func (k *Key) disown(name string) string {
	return strings.TrimPrefix(name, k.own("/")[:len(k.own("/"))-1])
}

func approvalText(tool, reason string) string {
	text := "A person must approve a call of " + tool + "."
	if reason != "" {
		text += " " + reason
	}
	return text
}

// stateOf is a run's status in the terms of the protocol. Terminal states are final there:
// a run that is resumed after its end is no longer what its task reported.
func stateOf(s pawl.Status) a2a.State {
	switch s {
	case pawl.StatusQueued:
		return a2a.Submitted
	case pawl.StatusSuccess:
		return a2a.Completed
	case pawl.StatusCancelled:
		return a2a.Canceled
	case pawl.StatusDenied:
		return a2a.Rejected
	case pawl.StatusWaitingInput, pawl.StatusWaitingClientTool:
		return a2a.InputRequired
	case pawl.StatusWaitingApproval, pawl.StatusWaitingDoubt:
		return a2a.AuthRequired
	}
	if s.Ended() {
		return a2a.Failed
	}
	return a2a.Working
}

// a2aFacts are what a task says of its run, as metadata under the key pawl.
type a2aFacts struct {
	Run     string         `json:"run"`
	Status  pawl.Status    `json:"status"`
	WakeAt  *time.Time     `json:"wake_at,omitempty"`
	Pending []pawl.Pending `json:"pending,omitempty"`
}

// status is where the task stands, and the facts behind it.
func (t *a2aTask) status(ctx context.Context, s *Server) (a2a.Status, json.RawMessage, error) {
	status := t.state.Status()
	out := a2a.Status{State: stateOf(status), Timestamp: t.state.Time().UTC().Truncate(time.Millisecond)}
	facts := a2aFacts{Run: t.state.Run(), Status: status}
	if at := t.state.WakeAt(); !at.IsZero() && !status.Ended() {
		facts.WakeAt = &at
	}
	text := t.said
	switch {
	case status.Waiting():
		pending, err := engine.Pending(ctx, s.journal, t.state)
		if err != nil && !errors.Is(err, pawl.ErrUnknownRun) { // the log of a child does not exist
			return out, nil, err
		}
		facts.Pending = runs.Redacted(pending)
		var asks []string
		for _, p := range facts.Pending {
			asks = append(asks, pendingText(p))
		}
		text = strings.Join(asks, "\n\n")
	case status == pawl.StatusPaused:
		text = "The task is paused and goes on by itself or when somebody resumes it."
	}
	if v := t.state.Verdict(); out.State == a2a.Failed || out.State == a2a.Rejected || out.State == a2a.Canceled {
		text = fmt.Sprintf("The run ended as %s: %s", status.String(), cmp.Or(v.Detail, v.Leaf))
	}
	if text != "" {
		out.Message = &a2a.Message{MessageID: fmt.Sprintf("%s:%d:status", t.state.Run(), t.state.Seq()), ContextID: t.context, TaskID: t.id, Role: a2a.Model, Parts: []a2a.Part{a2a.Text(redact.Text(display.Visible(text)))}}
	}
	raw, err := json.Marshal(map[string]a2aFacts{"pawl": facts})
	return out, raw, err
}

// pendingText says what a run waits for.
func pendingText(p pawl.Pending) string {
	text := p.Reason
	switch p.Kind {
	case "approval":
		text = approvalText(p.Tool, p.Reason)
	case "client_tool":
		text = fmt.Sprintf("Run the tool %s with the arguments in metadata.pawl.pending and send its result as a data part.", p.Tool)
	case "doubt":
		text = fmt.Sprintf("It is not known whether the call of %s took place; a person must say so.", p.Tool)
	}
	if p.ExpiresAt != nil && time.Now().After(*p.ExpiresAt) {
		text += " The request has expired; it is asked again when the run is resumed."
	}
	return text
}

// artifacts are what the task has come to.
func (t *a2aTask) artifacts() []a2a.Artifact {
	if !t.state.Status().Ended() {
		return nil
	}
	r := t.state.Result()
	part := a2a.Text(redact.Text(r.Answer))
	if r.Output != nil {
		part = a2a.Data(redact.JSON(r.Output))
	} else if r.Answer == "" {
		return nil
	}
	return []a2a.Artifact{{ArtifactID: t.state.Run() + ":answer", Name: "answer", Parts: []a2a.Part{part}}}
}

// task is the whole task. most is how many messages of its history are wanted; nil: all.
func (t *a2aTask) task(ctx context.Context, s *Server, most *int) (a2a.Task, error) {
	status, facts, err := t.status(ctx, s)
	out := a2a.Task{ID: t.id, ContextID: t.context, Status: status, Artifacts: t.artifacts(), History: t.history, Metadata: facts}
	if most != nil {
		out.History = out.History[max(0, len(out.History)-*most):]
	}
	return out, err
}

// a2aOpen finds a task and reads it.
func (s *Server) a2aOpen(x *exchange, agent, id string) (*a2aTask, error) {
	h, err := s.a2aFind(x, agent, id)
	if err != nil {
		return nil, err
	}
	return s.a2aRead(x.Context(), x.key, h.Run)
}

// a2aRead reads a task from the journal, with the legs that it was handed to.
func (s *Server) a2aRead(ctx context.Context, key *Key, run string) (*a2aTask, error) {
	t := &a2aTask{}
	for {
		t.state = new(pawl.State)
		for e, err := range runs.Entries(ctx, s.journal, run) {
			if err != nil {
				return nil, err
			}
			t.add(e, key)
		}
		next, handed := t.next()
		if !handed {
			return t, nil
		}
		if h, err := runs.Head(ctx, s.journal, next); errors.Is(err, pawl.ErrUnknownRun) || err == nil && h.Seq == 0 {
			return t, nil // it was removed, or is about to begin
		} else if err != nil {
			return nil, err
		}
		run = next
	}
}

// a2aGet is GetTask.
func (s *Server) a2aGet(x *exchange, agent string, in *a2a.ID) (any, error) {
	if err := a2aHistory(in.HistoryLength); err != nil {
		return nil, err
	}
	t, err := s.a2aOpen(x, agent, in.ID)
	if err != nil {
		return nil, err
	}
	return t.task(x.Context(), s, in.HistoryLength)
}

func a2aHistory(length *int) error {
	if length != nil && *length < 0 {
		return a2aInvalid("historyLength", "historyLength is %d; it is not negative", *length)
	}
	return nil
}

// a2aCancel is CancelTask.
func (s *Server) a2aCancel(x *exchange, agent string, in *a2a.ID) (any, error) {
	t, err := s.a2aOpen(x, agent, in.ID)
	if err != nil {
		return nil, err
	}
	x.SetPathValue("run", t.state.Run())
	x.body, x.wait = &client.CancelRun{}, true
	_, err = s.cancel(x)
	if over := t.state.Status().Ended(); over || errors.As(err, new(*runs.ConflictError)) {
		return nil, &a2a.Error{Kind: a2a.TaskNotCancelable, Message: "the task has ended", Facts: map[string]string{"taskId": in.ID}}
	}
	if err != nil {
		return nil, err
	}
	if t, err = s.a2aRead(x.Context(), x.key, t.id); err != nil {
		return nil, err
	}
	return t.task(x.Context(), s, nil)
}
