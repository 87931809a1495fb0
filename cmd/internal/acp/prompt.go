package acp

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"strings"

	protocol "github.com/coder/acp-go-sdk"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/approval"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/runs"
)

// Prompt runs the agent for a message: the next run of the thread or, if the last one has asked
// something, that run with the answer.
func (s *server) Prompt(_ context.Context, r protocol.PromptRequest) (protocol.PromptResponse, error) {
	at, err := s.session(r.SessionId)
	if err != nil {
		return protocol.PromptResponse{}, err
	}
	text, files, err := contentOf(r.Prompt)
	switch {
	case err != nil:
		return protocol.PromptResponse{}, protocol.NewInvalidParams(err.Error())
	case text == "" && len(files) == 0:
		return protocol.PromptResponse{}, protocol.NewInvalidParams("the prompt is empty")
	case !at.prompt.TryLock():
		return protocol.PromptResponse{}, inProgress()
	}
	defer at.prompt.Unlock()
	at.ended.Store(false)
	s.prompts.Add(1)
	defer s.prompts.Done()
	ctx := s.life // the run belongs to the connection: Cancel ends it, not the request
	h, from, err := s.drive(ctx, at, text, files)
	if err != nil {
		return protocol.PromptResponse{}, protocol.NewInternalError(err.Error())
	}
	defer s.running(at, "")
	s.running(at, h.ID())
	u := &updates{server: s, ctx: ctx, session: at}
	for e, err := range h.Entries(ctx) {
		if _, begins := e.Event.(pawl.RunStarted); begins { // the next leg
			s.running(at, e.Run)
		}
		if err == nil && (e.Run != h.ID() || e.Seq == 0 || e.Seq >= from) {
			err = u.add(e)
		}
		if err != nil {
			s.o.Log.Warn("the editor does not see all of a run", "run", h.ID(), "error", err)
			break
		}
	}
	result, err := h.Wait(context.WithoutCancel(ctx))
	if err != nil {
		return protocol.PromptResponse{}, protocol.NewInternalError(err.Error())
	}
	return end(u, result)
}

func inProgress() error {
	return protocol.NewInvalidRequest("a prompt of this session is in progress: wait for its end, or cancel it")
}

// running notes the run of a prompt. If the prompt was cancelled before, the run is now.
func (s *server) running(at *session, run string) {
	s.mu.Lock()
	at.run = run
	s.mu.Unlock()
	if at.ended.Load() {
		if err := s.Cancel(s.life, protocol.CancelNotification{SessionId: at.id}); err != nil {
			s.o.Log.Warn("a run is not cancelled", "run", run, "error", err)
		}
	}
}

// drive starts or resumes the run of a prompt. from is the first entry that the editor has not seen.
func (s *server) drive(ctx context.Context, at *session, text string, files []pawl.File) (h *engine.Handle, from uint64, err error) {
	for head, err := range s.o.Journal.List(ctx, pawl.Query{Thread: string(at.id), Max: 1}) {
		if err != nil || head.Status.Ended() {
			break
		}
		state, err := engine.Load(ctx, s.o.Journal, head.Run)
		if err != nil {
			return nil, 0, err
		}
		for _, p := range runs.Waiting(state.Result().Pending, "input") {
			if err := s.engine.Answer(ctx, p.Run, p.Call, editor, text); err != nil {
				return nil, 0, err
			}
		}
		h, err = s.engine.Resume(ctx, s.agent, head.Run, nil)
		return h, head.Seq + 1, err
	}
	h, err = s.engine.Start(ctx, s.agent, text, &engine.StartOptions{Thread: string(at.id), Files: files, Watch: true})
	return h, 1, err
}

// end says how a prompt ended.
func end(u *updates, r pawl.Result) (protocol.PromptResponse, error) {
	stop, text := protocol.StopReasonEndTurn, r.Verdict.String()
	switch {
	case u.session.ended.Load(): // even if the run was over before
		stop, text = protocol.StopReasonCancelled, ""
	case r.Status == pawl.StatusSuccess:
		if text = r.Answer; text == "" {
			text = string(r.Output)
		}
		if strings.HasSuffix(u.said, text) {
			text = ""
		}
	case r.Status.Waiting(), r.Status == pawl.StatusPaused && len(r.Pending) > 0:
		text = ""
		for _, p := range r.Pending {
			text += cmp.Or(p.Reason, fmt.Sprintf("%s waits for its result: pawl submit %s %s JSON", p.Tool, p.Run, p.Call)) + "\n"
		}
	case r.Status == pawl.StatusCancelled, r.Status == pawl.StatusPaused:
		stop, text = protocol.StopReasonCancelled, ""
	case r.Status == pawl.StatusExhausted && strings.Contains(r.Reason.Leaf, "token"):
		stop = protocol.StopReasonMaxTokens
	case r.Status == pawl.StatusExhausted:
		stop = protocol.StopReasonMaxTurnRequests
	}
	for id := range u.session.open {
		if r.Status.Ended() { // a denial can end a run, as a limit can
			if err := u.finished(id, protocol.ToolCallStatusFailed, "not run"); err != nil {
				return protocol.PromptResponse{}, err
			}
		}
	}
	if text != "" {
		if err := u.say(text); err != nil {
			return protocol.PromptResponse{}, err
		}
	}
	return protocol.PromptResponse{StopReason: stop}, nil
}

// contentOf is a prompt as the input of a run, with its files.
func contentOf(blocks []protocol.ContentBlock) (_ string, files []pawl.File, _ error) {
	var texts []string
	file := func(name, kind, data string) error {
		content, err := base64.StdEncoding.DecodeString(data)
		files = append(files, pawl.File{Name: name, Type: kind, Data: content})
		return err
	}
	for i, b := range blocks {
		var err error
		switch {
		case b.Text != nil:
			texts = append(texts, b.Text.Text)
		case b.Image != nil:
			err = file("", b.Image.MimeType, b.Image.Data)
		case b.Audio != nil:
			err = file("", b.Audio.MimeType, b.Audio.Data)
		case b.ResourceLink != nil:
			texts = append(texts, b.ResourceLink.Name+": "+b.ResourceLink.Uri)
		case b.Resource != nil && b.Resource.Resource.TextResourceContents != nil:
			r := b.Resource.Resource.TextResourceContents
			texts = append(texts, fmt.Sprintf("%s:\n%s", r.Uri, r.Text))
		default:
			err = fmt.Errorf("its kind is not known")
		}
		if err != nil {
			return "", nil, fmt.Errorf("block %d of the prompt: %w", i, err)
		}
	}
	return strings.Join(texts, "\n\n"), files, nil
}

// approve asks the editor for permission. If the editor has gone or cancels, others decide.
func (s *server) approve(ctx context.Context, r engine.Request) (engine.Decision, error) {
	at := s.asks(ctx, r.Run, callID(r.Run, r.Call))
	if at == nil {
		return engine.Decision{}, engine.ErrLater
	}
	reply, err := s.conn.RequestPermission(ctx, protocol.RequestPermissionRequest{
		SessionId: at.id,
		ToolCall: protocol.ToolCallUpdate{
			ToolCallId: callID(r.Run, r.Call), Title: new(title(r.Tool, r.Args)), Kind: new(s.kind(r.Tool)), Status: new(protocol.ToolCallStatusPending),
			RawInput: r.Args, Content: content(s.tools, r.Tool, r.Args, r.Reason),
		},
		Options: []protocol.PermissionOption{
			{OptionId: "once", Name: "Allow", Kind: protocol.PermissionOptionKindAllowOnce},
			{OptionId: "run", Name: "Allow equal calls of this prompt", Kind: protocol.PermissionOptionKindAllowAlways},
			{OptionId: "no", Name: "Reject", Kind: protocol.PermissionOptionKindRejectOnce},
		},
	})
	if err != nil || reply.Outcome.Selected == nil {
		return engine.Decision{}, engine.ErrLater
	}
	chosen := reply.Outcome.Selected.OptionId
	d := engine.Decision{Approve: chosen == "once" || chosen == approval.ForRun, By: editor, Reason: "rejected in the editor"}
	if chosen == approval.ForRun {
		d.Scope = approval.ForRun
	}
	return d, nil
}

// asks returns the session of a run that asks about a call, once the editor has seen the call. Those
// of child runs it does not see before. Nil: the prompt is over.
func (s *server) asks(ctx context.Context, run string, call protocol.ToolCallId) *session {
	stop := context.AfterFunc(ctx, s.changed.Broadcast)
	defer stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	for ctx.Err() == nil {
		for _, at := range s.sessions {
			if _, seen := at.shown[call]; seen && at.run == run || at.run != "" && strings.HasPrefix(run, at.run+".") {
				return at
			}
		}
		s.changed.Wait()
	}
	return nil
}
