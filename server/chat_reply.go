package server

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/explain"
	"github.com/pawl-run/pawl/internal/redact"
	"github.com/pawl-run/pawl/internal/wire"
	"github.com/pawl-run/pawl/runs"
	"github.com/pawl-run/pawl/server/client"
)

// chatReply is the reply to a request of a chat: the text of the run's turns as it is made, if
// the client streams, and the answer.
type chatReply struct {
	server   *Server
	exchange *exchange
	out      *stream // nil: the client does not stream
	model    string
	run      string
	usage    bool   // the client wants it in a chunk of its own
	open     string // the message of the model that is being streamed
	said     string
}

// follow waits until the run has ended or waits for somebody, and replies.
func (c *chatReply) follow(after uint64) (any, error) {
	ctx := c.exchange.Request.Context()
	if c.out != nil {
		if err := c.chunk(&client.ChatReply{Role: "assistant"}, ""); err != nil {
			return nil, nil //nolint:nilerr // the client is gone
		}
	}
	for run := c.run; ; after = 0 {
		if err := c.server.aguiEvents(ctx, &aguiRun{}, run, after, c.out, c.add); err != nil {
			return c.fail(http.StatusServiceUnavailable, err.Error())
		}
		h, err := runs.Head(ctx, c.server.journal, run)
		if err == nil {
			h, err = runs.Leg(ctx, c.server.journal, h)
		}
		if err != nil {
			return c.fail(http.StatusInternalServerError, "internal error; see the server's log")
		}
		if h.Run != run {
			run = h.Run
			continue
		}
		r, err := c.server.result(ctx, run)
		if err != nil {
			return c.fail(http.StatusInternalServerError, "internal error; see the server's log")
		}
		return c.end(r)
	}
}

// add sends the text in events. Between two turns there is an empty line.
func (c *chatReply) add(events []aguiEvent) error {
	for _, e := range events {
		text := ""
		switch {
		case e.Type == "TEXT_MESSAGE_START" && e.Role == "assistant":
			c.open = e.MessageID
			if c.said != "" {
				text = "\n\n"
			}
		case e.Type == "TEXT_MESSAGE_CONTENT" && e.MessageID == c.open:
			text = e.Delta
		}
		if err := c.say(text); err != nil {
			return err
		}
	}
	return nil
}

func (c *chatReply) say(text string) error {
	if c.out == nil || text == "" {
		return nil
	}
	c.said += text
	return c.chunk(&client.ChatReply{Content: text}, "")
}

// end replies with what the run has come to.
func (c *chatReply) end(r explain.Result) (any, error) {
	finish, text := chatFinish(r), c.server.chatText(c.exchange, r)
	if finish == "" {
		return c.fail(http.StatusUnprocessableEntity, fmt.Sprintf("run %s ended as %s: %s", r.Run, r.Status, text))
	}
	usage := &client.ChatUsage{PromptTokens: r.Usage.Input, CompletionTokens: r.Usage.Output, TotalTokens: r.Usage.Input + r.Usage.Output}
	if c.out == nil {
		reply := c.completion("chat.completion", client.ChatChoice{Message: &client.ChatReply{Role: "assistant", Content: text}, FinishReason: &finish})
		reply.Usage = usage
		return reply, nil
	}
	if !strings.HasSuffix(c.said, text) {
		if c.said != "" {
			text = "\n\n" + text
		}
		_ = c.say(text) // an error means that the client is gone, here and below
	}
	_ = c.chunk(&client.ChatReply{}, finish)
	if c.usage {
		last := c.completion("chat.completion.chunk")
		last.Usage = usage
		_ = c.send(last)
	}
	_ = c.out.add([]byte("data: [DONE]\n\n"))
	_ = c.out.flush()
	return nil, nil
}

// fail replies that the run came to nothing: as a problem or, in a stream, as an error that clients know.
func (c *chatReply) fail(status int, detail string) (any, error) {
	if c.out == nil {
		return nil, refusal(status, detail)
	}
	_ = c.send(map[string]any{"error": map[string]any{"message": detail, "type": "run_failed", "code": status}})
	_ = c.out.flush()
	return nil, nil
}

func (c *chatReply) chunk(delta *client.ChatReply, finish string) error {
	choice := client.ChatChoice{Delta: delta}
	if finish != "" {
		choice.FinishReason = &finish
	}
	return c.send(c.completion("chat.completion.chunk", choice))
}

func (c *chatReply) completion(object string, choices ...client.ChatChoice) client.ChatCompletion {
	return client.ChatCompletion{ID: "chatcmpl-" + c.run, Object: object, Created: time.Now().Unix(), Model: c.model, Choices: append([]client.ChatChoice{}, choices...)}
}

func (c *chatReply) send(v any) error {
	data, err := wire.Marshal(v)
	if err != nil {
		return err
	}
	if err := c.out.add(fmt.Appendf(nil, "data: %s\n\n", data)); err != nil {
		return err
	}
	return c.out.flush()
}

// chatFinish is why a reply ends; empty: the run came to no reply.
func chatFinish(r explain.Result) string {
	switch {
	case r.Status == pawl.StatusSuccess, r.Status.Waiting(), r.Status == pawl.StatusPaused:
		return "stop"
	case r.Status == pawl.StatusExhausted:
		return "length"
	}
	return ""
}

// chatText is the reply of a run: its answer, what it waits for, or why it stopped.
func (s *Server) chatText(x *exchange, r explain.Result) string {
	if r.Status.Ended() || len(r.Pending) == 0 {
		return cmp.Or(r.Answer, string(r.Output), r.Reason.Detail, r.Reason.Leaf)
	}
	var texts []string
	for _, p := range r.Pending {
		text, do := pendingText(p), "Decide it"
		if p.Kind == "client_tool" { // a client of a model cannot run it
			text, do = "The run waits for the result of a call.", "Give it"
		}
		if p.Kind != "input" {
			text = fmt.Sprintf("%s\n\n%s %s\n\n%s at %s/#/runs/%s, then send any message to go on.", text, p.Tool, redact.JSON(p.Args), do, s.base(x.Request), url.PathEscape(p.Run))
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "\n\n")
}
