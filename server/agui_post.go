package server

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/runs"
	"github.com/pawl-run/pawl/server/client"
)

var aguiRoute = route{
	method: http.MethodPost, path: "/v1/ag-ui/{agent}", name: "aguiRun", summary: "Start or continue a conversation in the Agent User Interaction Protocol", scope: Run,
	body: &client.AGUIInput{}, media: "text/event-stream", refuses: []int{404, 409, 422, 429}, do: (*Server).aguiPost,
}

// aguiPost continues the thread of a request: it resolves what the thread's last run waits for, or
// starts the next run. It streams that run and, if the request says nothing new, the thread's messages.
func (s *Server) aguiPost(x *exchange) (any, error) {
	in := x.body.(*client.AGUIInput)
	if in.ThreadID == "" || len(in.ThreadID) > mostID || len(in.RunID) > mostID {
		return nil, invalid(fmt.Sprintf("threadId is missing, or it or runId has more than %d bytes", mostID))
	}
	last, found, err := s.aguiLast(x, in.ThreadID)
	if err != nil {
		return nil, err
	}
	if found && !last.Status.Ended() {
		if err := s.aguiResolve(x, last.Run, in); err != nil {
			return nil, err
		}
		return nil, s.agui(x, &aguiRun{}, last.Run, last.Seq)
	}
	said := client.AGUIMessage{}
	if n := len(in.Messages); n > 0 {
		said = in.Messages[n-1]
	}
	switch {
	case said.Role == "user":
		run, err := s.aguiStart(x, in, said)
		if err != nil {
			return nil, err
		}
		return nil, s.agui(x, &aguiRun{asked: true}, run, 0)
	case !found:
		return nil, invalid("messages has no message of the user to begin the thread with")
	}
	messages, err := s.aguiThread(x.Context(), last.Thread)
	if err != nil {
		return nil, err
	}
	return nil, s.agui(x, &aguiRun{earlier: messages}, last.Run, last.Seq)
}

// aguiLast returns the last run of a thread.
func (s *Server) aguiLast(x *exchange, name string) (pawl.Head, bool, error) {
	thread, err := s.thread(x, name)
	if err != nil {
		return pawl.Head{}, false, err
	}
	for h, err := range s.journal.List(x.Context(), pawl.Query{Thread: thread, Max: 1}) {
		visible := false
		if err == nil {
			visible, err = s.visible(x.Context(), x.key, h)
		}
		return h, visible, err
	}
	return pawl.Head{}, false, nil
}

// aguiStart starts the run of what the user says.
func (s *Server) aguiStart(x *exchange, in *client.AGUIInput, said client.AGUIMessage) (string, error) {
	t, err := turnOf(client.ChatMessage{Role: "user", Content: said.Content})
	if err != nil {
		return "", invalid("messages: " + err.Error())
	}
	for _, c := range in.Context {
		t.text += fmt.Sprintf("\n\n%s:\n%s", c.Description, c.Value)
	}
	w, err := s.host.Start(x.Context(), x.PathValue("agent"), nil)
	if err != nil {
		return "", err
	}
	w.Input, w.Thread = t.text, in.ThreadID
	h, err := s.launch(x, w, runs.Limits{}, engine.StartOptions{Key: in.RunID, Files: t.files}, false)
	if err != nil {
		return "", err
	}
	return h.ID(), nil
}

// aguiResolve sends what a request has for the calls that a run waits for.
func (s *Server) aguiResolve(x *exchange, run string, in *client.AGUIInput) error {
	r, err := s.result(x.Context(), run)
	if err != nil {
		return err
	}
	for _, p := range r.Pending {
		if x.body, err = aguiSignal(p, in); err != nil {
			return err
		}
		if x.body == nil {
			continue
		}
		if !x.key.allows(Decide) {
			return x.lacks(Decide, "an answer to a run")
		}
		signal, err := signalOf(x)
		if err != nil {
			return err
		}
		if _, _, err := s.send(x.Context(), p.Run, p.Call, signal); err != nil {
			return err
		}
	}
	return nil
}

// aguiSignal is what a request says to a pending call, as the body of the API's own operation; nil: nothing.
func aguiSignal(p pawl.Pending, in *client.AGUIInput) (any, error) {
	id := aguiID(p.Run, p.Call)
	for _, r := range in.Resume {
		if r.InterruptID == id {
			return aguiResume(p, r)
		}
	}
	for i, m := range in.Messages {
		text := textOf(m.Content)
		switch {
		case p.Kind == "client_tool" && m.ToolCallID == id:
			return &client.Submit{Result: jsonOf(text)}, nil
		case p.Kind == "input" && i == len(in.Messages)-1 && m.Role == "user":
			return &client.Answer{Text: text}, nil
		}
	}
	return nil, nil
}

func aguiResume(p pawl.Pending, r client.AGUIResume) (any, error) {
	var said struct {
		client.Settle
		Approved *bool
		Args     json.RawMessage
		Reason   string
	}
	object := json.Unmarshal(r.Payload, &said) == nil
	switch p.Kind {
	case "input":
		return &client.Answer{Text: textOf(r.Payload)}, nil
	case "client_tool":
		return &client.Submit{Result: r.Payload}, nil
	case "doubt":
		return &said.Settle, nil
	}
	switch {
	case r.Status == "cancelled" || object && said.Approved != nil && !*said.Approved:
		return &client.Deny{Reason: cmp.Or(said.Reason, "denied")}, nil
	case object && said.Approved != nil:
		return &client.Approve{Args: said.Args}, nil
	}
	return nil, invalid(fmt.Sprintf(`resume: the payload for %s has no "approved": true or false`, r.InterruptID))
}

// textOf is a JSON text, or the JSON of another value.
func textOf(raw json.RawMessage) (text string) {
	if json.Unmarshal(raw, &text) != nil {
		return string(raw)
	}
	return text
}

// jsonOf is a text that is JSON, or the JSON of another text.
func jsonOf(text string) json.RawMessage {
	if json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	quoted, err := json.Marshal(text)
	if err != nil {
		return nil // texts always marshal
	}
	return quoted
}

// aguiSaid is a message in a snapshot of a thread.
type aguiSaid struct {
	ID      string         `json:"id"`
	Role    string         `json:"role"`
	Content string         `json:"content,omitempty"`
	Call    string         `json:"toolCallId,omitempty"`
	Calls   []aguiToolCall `json:"toolCalls,omitempty"`
}

type aguiToolCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// aguiThread returns the messages of a thread, oldest first.
func (s *Server) aguiThread(ctx context.Context, thread string) (said []aguiSaid, err error) {
	var heads []pawl.Head
	for h, err := range s.journal.List(ctx, pawl.Query{Thread: thread}) {
		if err != nil {
			return nil, err
		}
		heads = append(heads, h)
	}
	for _, h := range slices.Backward(heads) {
		a := &aguiRun{}
		for row, err := range s.journal.Read(ctx, h.Run, 1) {
			if err != nil {
				return nil, err
			}
			f := s.frame(ctx, h.Run, row)
			e, err := pawl.DecodeEntry(f.line)
			if err != nil {
				return nil, err
			}
			said = collect(said, a.add(e, f.line))
		}
	}
	return said, nil
}

// collect adds the messages in events.
func collect(said []aguiSaid, events []aguiEvent) []aguiSaid {
	message := func(id, role string) *aguiSaid {
		for i := range said {
			if said[i].ID == id {
				return &said[i]
			}
		}
		said = append(said, aguiSaid{ID: id, Role: role})
		return &said[len(said)-1]
	}
	for _, e := range events {
		switch e.Type {
		case "TEXT_MESSAGE_START":
			message(e.MessageID, e.Role)
		case "TEXT_MESSAGE_CONTENT":
			message(e.MessageID, "assistant").Content += e.Delta
		case "TOOL_CALL_START":
			call := aguiToolCall{ID: e.ToolCallID, Type: "function"}
			call.Function.Name = e.ToolName
			m := message(cmp.Or(e.ParentID, e.ToolCallID), "assistant")
			m.Calls = append(m.Calls, call)
		case "TOOL_CALL_ARGS":
			for i := range said {
				for k := range said[i].Calls {
					if said[i].Calls[k].ID == e.ToolCallID {
						said[i].Calls[k].Function.Arguments += e.Delta
					}
				}
			}
		case "TOOL_CALL_RESULT":
			m := message(e.MessageID, "tool")
			text, _ := e.Content.(string)
			m.Call, m.Content = e.ToolCallID, strings.TrimSpace(text)
		}
	}
	return said
}
