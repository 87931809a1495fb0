package mcpserver

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/redact"
)

// failed returns an error result for the client's model.
func failed(run, text string) *sdk.CallToolResult {
	r := &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: text}}}
	if run != "" {
		r.Meta = sdk.Meta{runMeta: run}
	}
	return r
}

// done returns the result of a successful call: a text as it is, anything else as JSON, an
// object also as structured content, and the files.
func (s *Server) done(ctx context.Context, d driven, c *pawl.CallState) *sdk.CallToolResult {
	r, result := &sdk.CallToolResult{Meta: sdk.Meta{runMeta: d.ID}}, c.Result
	var text string
	if json.Unmarshal(result, &text) != nil {
		text = string(result)
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(result, &object) == nil && object != nil {
		r.StructuredContent = result
	}
	for _, f := range c.Files {
		data, err := engine.Contents(ctx, s.journal, f)
		switch {
		case err != nil:
			r.Content = append(r.Content, &sdk.TextContent{Text: err.Error()})
		case display.Picture(f.Type):
			r.Content = append(r.Content, &sdk.ImageContent{MIMEType: f.Type, Data: data})
		case strings.HasPrefix(f.Type, "audio/"):
			r.Content = append(r.Content, &sdk.AudioContent{MIMEType: f.Type, Data: data})
		default:
			uri := url.URL{Scheme: "pawl", Host: d.ID, Path: "/" + f.Name}
			r.Content = append(r.Content, &sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: uri.String(), MIMEType: f.Type, Blob: data}})
		}
	}
	if len(r.Content) == 0 || string(result) != "null" { // the result may consist of files only
		r.Content = append([]sdk.Content{&sdk.TextContent{Text: text}}, r.Content...)
	}
	return r
}

// untold is the client's message for a failed call.
func untold(c pawl.CallState) string {
	switch c.Status {
	case pawl.ToolTimeout, pawl.ToolUnknown:
		text := fmt.Sprintf("%v: %s", c.Status, c.Error)
		if c.Effect == pawl.Write {
			text += ". Nobody knows whether it took effect: find out before doing it again"
		}
		return text
	}
	return c.Error
}

// report sends progress notifications for a call to a client that asked for them, one for
// each step of the run and for the progress of its calls. The channel is closed when no more follow.
func (s *Server) report(ctx context.Context, r *sdk.CallToolRequest, h *engine.Handle) <-chan struct{} {
	told := make(chan struct{})
	token := r.Params.GetProgressToken()
	if token == nil {
		close(told)
		return told
	}
	go func() {
		defer close(told)
		step := 0.0
		for entry, err := range h.Entries(ctx) {
			if err != nil {
				return
			}
			var message string
			switch e := entry.Event.(type) {
			case pawl.ModelCalled:
				message = fmt.Sprintf("iteration %d: asking the model", entry.Iteration)
			case pawl.ToolStarted:
				message = fmt.Sprintf("iteration %d: %s", entry.Iteration, e.Tool)
			case pawl.ToolProgressed:
				message = fmt.Sprintf("iteration %d: %s: %s", entry.Iteration, e.Tool, redact.Text(display.Progress(e.Fraction, e.Text)))
			default:
				continue
			}
			// A client that does not get notifications has gone, and its call is cancelled.
			step++
			_ = r.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Progress: step, Message: message})
		}
	}()
	return told
}

// callLabel is the label of a run with the key of its call, by which a restarted server
// finds the runs of its predecessor.
const callLabel = "mcp.call"

// shown is the length of a call's key in a label.
const shown = 16

// earlier finds the run of the same call from an earlier server: one that waits, is still
// running, or whose client was told to call again. A run that began with another agent does
// not count.
func (s *Server) earlier(ctx context.Context, agent pawl.Agent, same string, d *driven) (found bool, err error) {
	m, err := pawl.NewMachine(agent)
	if err != nil {
		return false, err
	}
	for head, err := range s.journal.List(ctx, pawl.Query{Agent: agent.Name, Labels: map[string]string{callLabel: same[:shown]}, Max: 1}) {
		if err != nil {
			return false, err
		}
		state, err := engine.Load(ctx, s.journal, head.Run)
		if err != nil {
			return false, err
		}
		// The engine compares policies, since it adds some of its own.
		changed := state.Declaration().Differences(m.Declaration())
		if slices.ContainsFunc(changed, func(part string) bool { return part != "policies" }) {
			return false, nil
		}
		if state.Status().Ended() {
			if owed, err := s.owed(ctx, head.Run); err != nil || !owed {
				return false, err
			}
		}
		*d = driven{ID: head.Run, state: state, again: true}
		return true, nil
	}
	return false, nil
}

// owed reports whether the client of an ended run was told to call again and has not
// received the result.
func (s *Server) owed(ctx context.Context, run string) (bool, error) {
	for entry, err := range engine.Entries(ctx, s.journal, run, 1) {
		if err != nil {
			return false, err
		}
		if _, ok := entry.Event.(pawl.RunPaused); ok {
			return s.collect(ctx, run)
		}
	}
	return false, nil
}

// collect records that the client receives the result of a run, and reports whether this is
// the first time. The record is a signal, which can be sent only once, of a kind that means
// nothing to a run without that child. With a journal without an inbox, the record ends
// with the server.
func (s *Server) collect(ctx context.Context, run string) (first bool, err error) {
	mail, ok := s.journal.(pawl.Inbox)
	if !ok {
		return false, nil
	}
	body, err := json.Marshal(map[string]string{"collected": rand.Text()}) // unique, so that a second signal is a conflict
	if err != nil {
		return false, err
	}
	_, err = mail.Send(ctx, pawl.Signal{Run: run, Kind: pawl.SignalChild, Request: "mcp.collected", By: "mcp client", Body: body})
	if taken := (*pawl.SignalConflictError)(nil); errors.As(err, &taken) {
		return false, nil
	}
	return err == nil, err
}

// An elsewhereError says that a run has another owner.
type elsewhereError struct{ run string }

func (e *elsewhereError) Error() string {
	return "run " + e.run + " goes on elsewhere; make the same call again in a while to get its result"
}
