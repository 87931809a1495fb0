package server

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/a2a"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/runs"
)

// a2aSend is SendMessage.
func (s *Server) a2aSend(x *exchange, agent string, in *a2a.Send) (any, error) {
	run, after, err := s.a2aTake(x, agent, in)
	if err != nil {
		return nil, err
	}
	o := in.Configuration
	if !o.ReturnImmediately {
		err := s.a2aFollow(x, run, nil, a2aWatch{snapshot: after, until: func(s *pawl.State, seq uint64) bool {
			return stateOf(s.Status()).Terminal() || suspended(s) && seq > after
		}})
		if err != nil && x.Context().Err() != nil {
			return nil, err
		} // otherwise the server is closing, and the run is paused
	}
	t, err := s.a2aRead(x.Context(), x.key, run)
	if err != nil {
		return nil, err
	}
	task, err := t.task(x.Context(), s, o.HistoryLength)
	return a2a.Update{Task: &task}, err
}

// a2aTake takes a message in. It returns the task, and the entry after which the task's state
// is an answer to the message.
func (s *Server) a2aTake(x *exchange, agent string, in *a2a.Send) (run string, after uint64, err error) {
	if in.Configuration == nil {
		in.Configuration = &a2a.SendOptions{}
	}
	m := &in.Message
	content, err := contentOf(m)
	if err == nil {
		err = a2aHistory(in.Configuration.HistoryLength)
	}
	if err == nil && len(in.Configuration.Push) > 0 && string(in.Configuration.Push) != "null" {
		err = &a2a.Error{Kind: a2a.PushNotSupported, Message: "this server sends no push notifications; subscribe to the task instead"}
	}
	switch {
	case err != nil:
	case m.TaskID != "":
		run, after, err = s.a2aReply(x, agent, m, content)
	default:
		run, err = s.a2aStart(x, agent, m, content)
	}
	return run, after, err
}

// said is the content of a message.
type said struct {
	text     string
	data     []json.RawMessage
	files    []pawl.File
	decision *a2aDecision
}

// An a2aDecision is a data part that decides a call that waits for approval. Only a part of
// this form decides: no text can be taken for an approval.
type a2aDecision struct {
	Decision string          `json:"decision"` // approve or deny
	Call     string          `json:"call"`     // empty: the only one that waits
	Reason   string          `json:"reason"`
	Args     json.RawMessage `json:"args"`
}

// contentOf checks a message and returns what it says.
func contentOf(m *a2a.Message) (c said, err error) {
	switch {
	case strings.TrimSpace(m.MessageID) == "":
		return c, a2aInvalid("message.messageId", "messageId is missing")
	case m.Role != a2a.User:
		return c, a2aInvalid("message.role", "role is %q; a client sends %s", m.Role, a2a.User)
	case len(m.Parts) == 0:
		return c, a2aInvalid("message.parts", "parts are missing")
	case len(m.MessageID) > mostID || len(m.ContextID) > mostID || len(m.TaskID) > mostID:
		return c, a2aInvalid("message", "messageId, contextId and taskId have at most %d bytes", mostID)
	}
	var texts []string
	for i := range m.Parts {
		text, err := c.part(fmt.Sprintf("message.parts[%d]", i), &m.Parts[i])
		if err != nil {
			return c, err
		}
		if text != "" {
			texts = append(texts, text)
		}
	}
	c.text = strings.Join(texts, "\n\n")
	if c.text == "" { // an input says something
		for _, f := range c.files {
			c.text = strings.TrimPrefix(c.text+"\n"+cmp.Or(f.Name, f.Type, "a file"), "\n")
		}
	}
	if strings.TrimSpace(c.text) == "" {
		return c, a2aInvalid("message.parts", "the parts say nothing")
	}
	return c, nil
}

// part adds a part, and returns it as text; a file has none.
func (c *said) part(field string, p *a2a.Part) (string, error) {
	kinds := 0
	for _, has := range []bool{p.Text != nil, p.Raw != nil, p.URL != nil, p.Data != nil} {
		if has {
			kinds++
		}
	}
	if kinds != 1 {
		return "", a2aInvalid(field, "a part has exactly one of text, raw, url and data")
	}
	media := strings.ToLower(strings.TrimSpace(strings.SplitN(p.MediaType, ";", 2)[0]))
	textual := strings.HasPrefix(media, "text/") || media == "application/json"
	switch {
	case p.URL != nil:
		return "", &a2a.Error{Kind: a2a.ContentTypeNotSupported, Message: "files by URL are not fetched; send the content"}
	case p.Raw != nil && !textual:
		c.files = append(c.files, pawl.File{Name: p.Filename, Type: p.MediaType, Data: p.Raw})
		return "", nil
	case media != "" && !textual:
		return "", &a2a.Error{Kind: a2a.ContentTypeNotSupported, Message: fmt.Sprintf("the media type %q is not supported; send text or JSON", p.MediaType)}
	case p.Text != nil:
		return *p.Text, nil
	case p.Raw != nil:
		return strings.TrimPrefix(p.Filename+":\n", ":\n") + string(p.Raw), nil
	}
	c.data = append(c.data, p.Data)
	var d a2aDecision
	if json.Unmarshal(p.Data, &d) == nil && d.Decision != "" {
		c.decision = &d
	}
	return string(p.Data), nil
}

// a2aStart starts the run of a message. A message that is sent again finds its run.
func (s *Server) a2aStart(x *exchange, agent string, m *a2a.Message, content said) (string, error) {
	w, err := s.host.Start(x.Context(), agent, nil)
	if err != nil {
		return "", err
	}
	o := &engine.StartOptions{Labels: runs.Labels(w.Agent.Labels, x.key.Labels), Key: x.key.own(keyOf(agent, m)), Thread: m.ContextID, Files: content.files}
	if o.Thread == "" { // the same for the same message
		sum := sha256.Sum256([]byte(o.Key))
		o.Thread = "ctx-" + hex.EncodeToString(sum[:16])
	} else if h, err := s.a2aFind(x, agent, m.ContextID); err == nil && h.Thread == "" {
		o.After = h.Run // the context of a run without a thread
	}
	o.Thread = x.key.own(o.Thread)
	w.Input = content.text
	h, err := s.worker.Drive(w, asked(x, func(ctx context.Context) (*engine.Handle, error) { return w.Engine.Start(ctx, w.Agent, w.Input, o) }))
	if e, ok := errors.AsType[*engine.ThreadError](err); ok {
		return "", &a2a.Error{Kind: a2a.UnsupportedOperation, Message: fmt.Sprintf("task %s of this context has not ended; answer or cancel it first, or leave contextId out", e.Run), Facts: map[string]string{"taskId": e.Run}}
	}
	if errors.As(err, new(*engine.KeyError)) {
		return "", a2aInvalid("message.messageId", "messageId %q belongs to another message; give each message an id of its own", m.MessageID)
	}
	if errors.As(err, new(*engine.FileError)) {
		return "", &a2a.Error{Kind: a2a.ContentTypeNotSupported, Message: err.Error()}
	}
	if err != nil {
		return "", err
	}
	return h.ID(), nil
}

// keyOf is the idempotency key of a message that starts a run. Another message under the same
// messageId starts nothing.
func keyOf(agent string, m *a2a.Message) string {
	sum := sha256.Sum256([]byte(agent))
	return m.MessageID + keySum + hex.EncodeToString(sum[:8])
}

const keySum = "#"

// messageOf is the messageId in a key; empty: the run was started otherwise.
func messageOf(key string) string {
	if i := strings.LastIndex(key, keySum); i >= 0 {
		return key[:i]
	}
	return ""
}

// a2aReply gives a message to the task that it names.
func (s *Server) a2aReply(x *exchange, agent string, m *a2a.Message, content said) (run string, after uint64, err error) {
	if len(content.files) > 0 {
		return "", 0, &a2a.Error{Kind: a2a.ContentTypeNotSupported, Message: "files begin a task; a message to one is text or JSON. Leave taskId out, in the same context, once the task has ended"}
	}
	h, err := s.a2aFind(x, agent, m.TaskID)
	if err != nil {
		return "", 0, err
	}
	if !x.key.allows(Decide) {
		return "", 0, x.lacks(Decide, "a message to a task")
	}
	ctx := x.Context()
	t, err := s.a2aRead(ctx, x.key, h.Run)
	switch {
	case err != nil:
		return "", 0, err
	case m.ContextID != "" && m.ContextID != t.context:
		return "", 0, a2aInvalid("message.contextId", "task %s is not of this context", m.TaskID)
	}
	leg := t.state.Run()
	at, err := s.desk(ctx, leg)
	if err != nil {
		return "", 0, err
	}
	to, err := runs.Address(ctx, s.journal, leg, func(*pawl.State) runs.Sender { return at })
	if err != nil {
		return "", 0, err
	}
	p, choosing := addressed(to.Pending, content, t.state)
	says := errors.Is(choosing, errAtWork)
	claim, again, err := s.a2aClaim(ctx, leg, m.MessageID, p, says)
	switch {
	case err != nil:
		return "", 0, err
	case says && !again, again && claim.Call == "" && !t.state.Status().Ended(): // also if it was cut short before
		return h.Run, t.state.Seq(), s.a2aSay(x, at, leg, m, content)
	case again && claim.Call == "":
		return h.Run, 0, nil
	case again && (claim.Run != p.Run || claim.Call != p.Call || p.AnsweredAt != nil || choosing != nil):
		return h.Run, 0, nil // the message was taken before
	case choosing != nil:
		return "", 0, choosing
	}
	signal, err := signalFor(x, p, content)
	if err != nil {
		return "", 0, err
	}
	if err := to.Send(ctx, p, signal); err != nil {
		return "", 0, err
	}
	after = t.state.Seq()
	_, _, err = s.forward(ctx, leg, to.Fresh)
	return h.Run, after, err
}

// a2aSay tells a task at work something. The messageId makes a repeat the same message.
func (s *Server) a2aSay(x *exchange, at *engine.Engine, run string, m *a2a.Message, content said) error {
	err := at.Say(x.Context(), run, x.by(""), content.text, &engine.SayOptions{Key: x.key.own(m.MessageID)})
	if err == nil {
		return nil
	}
	if h, broken := runs.Head(x.Context(), s.journal, run); broken == nil && h.Status.Ended() {
		return errEnded
	}
	return err
}

var errEnded = &a2a.Error{Kind: a2a.UnsupportedOperation, Message: "the task has ended; send a message without taskId, in the same context, to go on"}

// addressed is what a message to a task answers.
func addressed(pending []pawl.Pending, content said, state *pawl.State) (pawl.Pending, error) {
	status := state.Status()
	if status.Ended() {
		return pawl.Pending{}, errEnded
	}
	var held *pawl.Pending
	for i := range pending {
		p := &pending[i]
		switch {
		case p.AnsweredAt != nil:
		case content.decision != nil && p.Kind == "approval" && (content.decision.Call == "" || content.decision.Call == p.Call):
			if held != nil {
				return *p, a2aInvalid("message.parts", "several calls wait for approval; name one as call")
			}
			held = p
		case content.decision == nil && (p.Kind == "input" || p.Kind == "client_tool"):
			return *p, nil
		}
	}
	switch {
	case held != nil:
		return *held, nil
	case stateOf(status) == a2a.AuthRequired && content.decision == nil:
		return pawl.Pending{}, a2aInvalid("message.parts", `the task waits for an approval, which a text cannot give; send a data part {"decision": "approve"} or {"decision": "deny", "reason": "…"}, or decide by the approval link`)
	case status.Waiting():
		return pawl.Pending{}, a2aInvalid("message.parts", "the task does not wait for this")
	}
	if content.decision != nil {
		return pawl.Pending{}, a2aInvalid("message.parts", "the task is at work, and waits for no decision")
	}
	return pawl.Pending{}, errAtWork
}

// errAtWork says that a task waits for nothing: the model reads the message before its next turn.
var errAtWork = errors.New("the task is at work")

// signalFor makes a signal of a message.
func signalFor(x *exchange, p pawl.Pending, content said) (runs.Signal, error) {
	by := x.by("")
	switch d := content.decision; {
	case d == nil && p.Kind == "client_tool":
		result, _ := json.Marshal(content.text) // a text always marshals
		if len(content.data) == 1 {
			result = content.data[0]
		}
		return runs.Result(by, result), nil
	case d == nil:
		return runs.Answer(by, content.text), nil
	case d.Decision == "approve":
		return runs.Approval(by, &engine.ApproveOptions{Args: d.Args}), nil
	case d.Decision == "deny":
		return runs.Denial(by, d.Reason, nil), nil
	default:
		return runs.Signal{}, a2aInvalid("message.parts", "decision is %q; write approve or deny", d.Decision)
	}
}

// An a2aClaimed is a call that a message was given to.
type a2aClaimed struct {
	Run  string `json:"run"`
	Call string `json:"call"`
	Once string `json:"once"`
}

// a2aClaim records which call a message answers, so that the same message does not answer the
// next question, too. A message that says something to a task at work answers no call. again says that
// the message was taken before, for claim.
func (s *Server) a2aClaim(ctx context.Context, run, message string, p pawl.Pending, says bool) (claim a2aClaimed, again bool, err error) {
	sum := sha256.Sum256([]byte(message))
	request := a2aSignals + "message." + hex.EncodeToString(sum[:16])
	if p.Call == "" && !says { // it is for nothing: look only
		for l, err := range s.journal.Signals(ctx, run, 0) {
			if err != nil {
				return claim, false, err
			}
			if l.Kind == pawl.SignalDelivery && l.Request == request {
				err := json.Unmarshal(l.Body, &claim)
				return claim, true, err
			}
		}
		return claim, false, nil
	}
	claim = a2aClaimed{p.Run, p.Call, rand.Text()}
	body, err := json.Marshal(claim)
	if err != nil {
		return claim, false, err
	}
	_, err = s.journal.Send(ctx, pawl.Signal{Run: run, Kind: pawl.SignalDelivery, Request: request, By: "a2a", Body: body, Time: time.Now().UTC()})
	if e, ok := errors.AsType[*pawl.SignalConflictError](err); ok {
		err := json.Unmarshal(e.First.Body, &claim)
		return claim, true, err
	}
	return claim, false, err
}

// a2aSignals is how the requests of this protocol's signals begin.
const a2aSignals = "a2a."
