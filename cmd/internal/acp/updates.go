package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	protocol "github.com/coder/acp-go-sdk"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/approval"
	"github.com/pawl-run/pawl/internal/display"
)

// updates turns the entries of runs, and the pieces of replies between them, into updates of a session.
type updates struct {
	server  *server
	ctx     context.Context //nolint:containedctx // that of the prompt
	session *session
	past    bool // the entries are old: the editor has not seen the user's messages

	said    string // the texts of the model
	thought string // what has come of the thinking in progress
	text    string // what has come of the text in progress
	turn    bool   // the model call in progress is a turn of the loop, not a judgement
}

func (u *updates) send(update protocol.SessionUpdate) error {
	return u.server.conn.SessionUpdate(u.ctx, protocol.SessionNotification{SessionId: u.session.id, Update: update})
}

// say sends a text of the agent.
func (u *updates) say(text string) error {
	u.said += text
	return u.send(protocol.UpdateAgentMessageText(text))
}

// add sends what an entry, or a piece of a reply, says.
func (u *updates) add(e pawl.Entry) error {
	switch ev := e.Event.(type) {
	case pawl.RunStarted:
		if u.past && ev.Input != "" {
			return u.send(protocol.UpdateUserMessageText(ev.Input))
		}
	case pawl.ModelCalled:
		u.turn = ev.Purpose == pawl.PurposeTurn || ev.Purpose == pawl.PurposeFinal
		u.text, u.thought = "", ""
	case pawl.ModelDelta:
		if u.turn && ev.Agent == "" {
			return u.pieces(ev.Text, ev.Thinking)
		}
	case pawl.ModelReplied:
		if u.turn {
			return u.replied(e.Run, ev.Reply)
		}
	case pawl.ToolStarted:
		if err := u.call(e.Run, ev.Call, ev.Tool, ev.Args); err != nil {
			return err
		}
		return u.send(protocol.UpdateToolCall(callID(e.Run, ev.Call), protocol.WithUpdateStatus(protocol.ToolCallStatusInProgress), protocol.WithUpdateRawInput(ev.Args)))
	case pawl.ToolProgressed:
		if ev.Agent == "" && !u.session.shown[callID(e.Run, ev.Call)] { // else a difference stays in its place
			text := protocol.ToolContent(protocol.TextBlock(display.Progress(ev.Fraction, ev.Text)))
			return u.send(protocol.UpdateToolCall(callID(e.Run, ev.Call), protocol.WithUpdateStatus(protocol.ToolCallStatusInProgress), protocol.WithUpdateContent([]protocol.ToolCallContent{text})))
		}
	case pawl.ToolFinished:
		status := protocol.ToolCallStatusCompleted
		text := pawl.ToolResult{Content: ev.Result}.Text()
		if ev.Status != pawl.ToolOK {
			status, text = protocol.ToolCallStatusFailed, strings.TrimSuffix(ev.Status.String()+": "+ev.Error, ": ")
		}
		return u.finished(callID(e.Run, ev.Call), status, text)
	case pawl.InputGiven:
		return u.finished(callID(e.Run, ev.Call), protocol.ToolCallStatusCompleted, ev.Text)
	case pawl.ClientToolReturned:
		return u.finished(callID(e.Run, ev.Call), protocol.ToolCallStatusCompleted, string(ev.Result))
	case pawl.ToolRefused:
		return u.finished(callID(e.Run, ev.Call), protocol.ToolCallStatusFailed, ev.Why)
	}
	return nil
}

// pieces sends pieces of a reply.
func (u *updates) pieces(text, thinking string) error {
	if thinking != "" {
		u.thought += thinking
		if err := u.send(protocol.UpdateAgentThoughtText(thinking)); err != nil {
			return err
		}
	}
	if text == "" {
		return nil
	}
	u.text += text
	return u.say(text)
}

// replied sends what of a reply has not been streamed, and its calls.
func (u *updates) replied(run string, r pawl.Reply) error {
	var thinking strings.Builder
	for _, p := range r.Parts {
		if t, ok := p.(pawl.Thinking); ok {
			thinking.WriteString(t.Text)
		}
	}
	if err := u.pieces(strings.TrimPrefix(r.Text(), u.text), strings.TrimPrefix(thinking.String(), u.thought)); err != nil {
		return err
	}
	for _, p := range r.Parts {
		c, ok := p.(pawl.Call)
		if !ok {
			continue
		}
		if err := u.call(run, c.ID, c.Tool, c.Args); err != nil {
			return err
		}
		if steps := planned(c); steps != nil {
			if err := u.send(protocol.UpdatePlan(steps...)); err != nil {
				return err
			}
		}
	}
	return nil
}

// call shows a call, once.
func (u *updates) call(run, call, tool string, args json.RawMessage) error {
	id := callID(run, call)
	u.session.open[id] = true
	if _, seen := u.session.shown[id]; seen {
		return nil
	}
	before := content(u.server.tools, tool, args, "")
	err := u.send(protocol.StartToolCall(id, title(tool, args), protocol.WithStartKind(u.server.kind(tool)),
		protocol.WithStartStatus(protocol.ToolCallStatusPending), protocol.WithStartRawInput(args), protocol.WithStartContent(before)))
	u.server.mu.Lock()
	defer u.server.mu.Unlock()
	u.session.shown[id] = before != nil
	u.server.changed.Broadcast()
	return err
}

// finished sends the outcome of a call that the editor has seen. A difference stays in its place.
func (u *updates) finished(id protocol.ToolCallId, status protocol.ToolCallStatus, text string) error {
	if !u.session.open[id] {
		return nil
	}
	delete(u.session.open, id)
	options := []protocol.ToolCallUpdateOpt{protocol.WithUpdateStatus(status), protocol.WithUpdateRawOutput(text)}
	if !u.session.shown[id] || status != protocol.ToolCallStatusCompleted {
		options = append(options, protocol.WithUpdateContent([]protocol.ToolCallContent{protocol.ToolContent(protocol.TextBlock(text))}))
	}
	return u.send(protocol.UpdateToolCall(id, options...))
}

func callID(run, call string) protocol.ToolCallId { return protocol.ToolCallId(run + ":" + call) }

// title is a call in one line.
func title(tool string, args json.RawMessage) string {
	var named struct{ Path, Command, URL, Query, Pattern string }
	_ = json.Unmarshal(args, &named) // others have no such argument
	return strings.TrimSpace(tool + " " + cmp.Or(named.Path, named.Command, named.URL, named.Query, named.Pattern))
}

// kind is what a tool does, as far as its name and effect say.
func (s *server) kind(tool string) protocol.ToolKind {
	switch {
	case tool == "write_file" || tool == "edit_file":
		return protocol.ToolKindEdit
	case tool == "fetch":
		return protocol.ToolKindFetch
	case strings.HasPrefix(tool, "search"):
		return protocol.ToolKindSearch
	}
	if slices.ContainsFunc(s.agent.Tools, func(t pawl.Tool) bool { return t.Info().Name == tool && t.Info().Effect == pawl.Read }) {
		return protocol.ToolKindRead
	}
	return protocol.ToolKindExecute
}

// content is what a person sees of a call before it runs: the difference that it makes, and why it is held.
func content(dir, tool string, args json.RawMessage, reason string) (shown []protocol.ToolCallContent) {
	var edit struct{ Path, Old, New, Content string }
	known := json.Unmarshal(args, &edit) == nil && edit.Path != ""
	path := filepath.Join(dir, edit.Path)
	switch {
	case known && tool == "edit_file":
		shown = append(shown, protocol.ToolDiffContent(path, edit.New, edit.Old))
	case known && tool == "write_file":
		shown = append(shown, protocol.ToolDiffContent(path, edit.Content))
	}
	if reason != "" {
		shown = append(shown, protocol.ToolContent(protocol.TextBlock(reason)))
	}
	return shown
}

// planned are the steps of a plan that the agent presents; nil: the call presents none.
func planned(c pawl.Call) (steps []protocol.PlanEntry) {
	var in struct{ Plan string }
	if c.Tool != approval.PlanTool || json.Unmarshal(c.Args, &in) != nil {
		return nil
	}
	for line := range strings.Lines(in.Plan) {
		if line = strings.TrimSpace(line); line != "" {
			steps = append(steps, protocol.PlanEntry{Content: line, Priority: protocol.PlanEntryPriorityMedium, Status: protocol.PlanEntryStatusPending})
		}
	}
	return steps
}
