package server

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/explain"
	"github.com/pawl-run/pawl/runs"
	"github.com/pawl-run/pawl/server/client"
)

// chatRoutes are the operations of OpenAI's API that serve an agent as a model.
func chatRoutes() []route {
	return []route{
		{
			method: http.MethodPost, path: "/v1/chat/completions", name: "chat", summary: "Ask an agent as a model, as in OpenAI's Chat Completions API", scope: Run,
			body: &client.ChatRequest{}, reply: client.ChatCompletion{}, media: "text/event-stream", refuses: []int{404, 409, 422, 429}, do: (*Server).chat,
		},
		{
			method: http.MethodGet, path: "/v1/models", name: "models", summary: "List the agents as models, as in OpenAI's API", scope: Read,
			reply: client.ChatModels{}, do: (*Server).chatModels,
		},
	}
}

// chatProblem is a problem with its detail where clients of OpenAI's API look for it, too.
type chatProblem struct {
	client.Problem
	Error map[string]string `json:"error"`
}

func (s *Server) chatModels(x *exchange) (any, error) {
	agents, err := s.host.Agents(x.Context())
	out := client.ChatModels{Object: "list", Data: []client.ChatModel{}}
	for _, a := range agents {
		out.Data = append(out.Data, client.ChatModel{ID: a.Name, Object: "model", OwnedBy: "pawl"})
	}
	return out, err
}

// chatLabel is the label of a run that has the digest of its conversation. Clients of a model
// send the conversation whole with each request and name no thread: the digest finds the run
// that a conversation goes on from.
const chatLabel = "chat"

// mostTurns is how many earlier turns of the user are looked for, newest first.
const mostTurns = 4

// chat runs an agent for the last message of a conversation, and replies with its answer.
func (s *Server) chat(x *exchange) (any, error) {
	in := x.body.(*client.ChatRequest)
	talk, err := conversationOf(in)
	if err != nil {
		return nil, err
	}
	run, after, err := s.chatRun(x, in.Model, talk)
	if err != nil {
		return nil, err
	}
	x.ResponseWriter.Header().Set("Pawl-Run", run)
	reply := chatReply{server: s, exchange: x, model: in.Model, run: run, usage: in.StreamOptions.IncludeUsage}
	if in.Stream {
		reply.out = newStream(x.ResponseWriter)
		reply.out.terse = true
		defer reply.out.close()
	}
	return reply.follow(after)
}

// chatRun returns the run whose answer is the reply, and the entry after which the reply begins.
func (s *Server) chatRun(x *exchange, agent string, talk conversation) (run string, after uint64, err error) {
	whole := talk.digest(agent, len(talk))
	if x.Request.Header.Get("X-Stainless-Retry-Count") > "0" { // the client got no answer, and asks once more
		if h, ok, err := s.chatted(x, whole); err != nil || ok {
			return h.Run, 0, err
		}
	}
	var before pawl.Head
	found := false
	for n, left := len(talk)-1, mostTurns; n > 0 && left > 0 && !found; n-- {
		if talk[n-1].role == "user" {
			left--
			if before, found, err = s.chatted(x, talk.digest(agent, n)); err != nil {
				return "", 0, err
			}
		}
	}
	o := engine.StartOptions{Labels: map[string]string{chatLabel: whole}, Key: x.Request.Header.Get("Idempotency-Key"), Thread: "chat-" + rand.Text()[:12]}
	input := talk.input()
	if found {
		r, err := s.result(x.Context(), before.Run)
		switch {
		case err != nil:
			return "", 0, err
		case r.Status == pawl.StatusWaitingInput, r.Status == pawl.StatusPaused && len(runs.Waiting(r.Pending, "input")) > 0:
			return before.Run, before.Seq, s.chatAnswer(x, r, talk.last().text)
		case !r.Status.Ended(), !talk.tells(s.chatText(x, r)) && chatFinish(r) != "": // its reply was not sent
			return before.Run, before.Seq, nil
		}
		input = talk.last().text
		if o.Thread, o.After, err = s.chatThread(x, before, o.Thread); err != nil {
			return "", 0, err
		}
	}
	w, err := s.host.Start(x.Context(), agent, nil)
	if err != nil {
		return "", 0, err
	}
	w.Input, w.Thread, o.Files = input, o.Thread, talk.last().files
	h, err := s.launch(x, w, runs.Limits{}, o, false)
	if err != nil {
		return "", 0, err
	}
	return h.ID(), 0, nil
}

// chatted returns the run, with its handoffs, of the conversation that has a digest.
func (s *Server) chatted(x *exchange, digest string) (pawl.Head, bool, error) {
	labels := runs.Labels(map[string]string{chatLabel: digest}, x.key.Labels)
	for h, err := range s.journal.List(x.Context(), pawl.Query{Labels: labels, Max: 1}) {
		if err == nil {
			h, err = runs.Leg(x.Context(), s.journal, h)
		}
		return h, err == nil, err
	}
	return pawl.Head{}, false, nil
}

// chatThread returns the thread of the run before and, if the thread has gone on from there
// already, a new one that branches off after that run.
func (s *Server) chatThread(x *exchange, before pawl.Head, fresh string) (thread, after string, err error) {
	for newest, err := range s.journal.List(x.Context(), pawl.Query{Thread: before.Thread, Max: 1}) {
		if err == nil && newest.Run == before.Run {
			return before.Thread, "", nil
		}
		return fresh, before.Run, err
	}
	return fresh, before.Run, nil
}

// chatAnswer answers the question that a run waits for.
func (s *Server) chatAnswer(x *exchange, r explain.Result, text string) error {
	if !x.key.allows(Decide) {
		return x.lacks(Decide, "an answer to a run")
	}
	for _, p := range runs.Waiting(r.Pending, "input") {
		_, _, err := s.send(x.Context(), p.Run, p.Call, runs.Answer(x.by(""), text))
		return err
	}
	return nil
}

// A conversation is what a client sends, oldest turn first. The last is the user's.
type conversation []turn

type turn struct {
	role, text string
	files      []pawl.File
}

func (c conversation) last() turn { return c[len(c)-1] }

// digest is that of the first n turns.
func (c conversation) digest(agent string, n int) string {
	sum := sha256.New()
	fmt.Fprintf(sum, "%q", agent)
	for _, t := range c[:n] {
		fmt.Fprintf(sum, "%q %q", t.role, t.text)
		for _, f := range t.files {
			fmt.Fprintf(sum, "%x", sha256.Sum256(f.Data))
		}
	}
	return hex.EncodeToString(sum.Sum(nil)[:12])
}

// tells reports whether the reply before the user's last turn ends with a text.
func (c conversation) tells(text string) bool {
	return len(c) > 1 && c[len(c)-2].role == "assistant" && strings.HasSuffix(strings.TrimSpace(c[len(c)-2].text), strings.TrimSpace(text))
}

// input is the conversation as the input of a run that continues no other.
func (c conversation) input() string {
	if len(c) == 1 {
		return c[0].text
	}
	var b strings.Builder
	for _, t := range c[:len(c)-1] {
		fmt.Fprintf(&b, "%s: %s\n\n", t.role, t.text)
	}
	return b.String() + "user: " + c.last().text
}
