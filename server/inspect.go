package server

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/redact"
	"github.com/pawl-run/pawl/runs"
	"github.com/pawl-run/pawl/server/client"
	"github.com/pawl-run/pawl/stop"
)

// A Replayer is a [Host] that replays runs itself, for runs that have had several agents.
type Replayer interface {
	// Replay recomputes every recorded step of a run, as [engine.Engine.Replay] does.
	// Differences are part of the outcome; the error says that the run cannot be
	// replayed.
	Replay(ctx context.Context, run string) (client.Replayed, error)
}

// inspections are the operations that look into a run.
func inspections() []route {
	return []route{
		{
			method: http.MethodGet, path: "/v1/runs/{run}/requests/{seq}", name: "request", summary: "Rebuild a request to a model from the log", scope: Read,
			reply: client.Request{}, refuses: []int{404, 409, 422}, do: (*Server).request,
		},
		{
			method: http.MethodGet, path: "/v1/runs/{run}/stop", name: "stop", summary: "Show what can end a run, and what of it holds", scope: Read,
			query: []parameter{{"at", "the entry after which to evaluate; default: the last"}}, reply: client.Stop{}, refuses: []int{404, 409, 422}, do: (*Server).stop,
		},
		{
			method: http.MethodGet, path: "/v1/runs/{run}/replay", name: "replay", summary: "Recompute every recorded step of a run and compare; nothing is called", scope: Read,
			reply: client.Replayed{}, refuses: []int{404, 409}, do: (*Server).replay,
		},
		{
			method: http.MethodGet, path: "/v1/runs/{run}/children", name: "children", summary: "List the child runs of a run, in order of their calls", scope: Read,
			reply: client.Runs{}, refuses: []int{404}, do: (*Server).children,
		},
		{
			method: http.MethodGet, path: "/v1/runs/{run}/ag-ui", name: "agui", summary: "Follow a run as events of the Agent User Interaction Protocol", scope: Read,
			query: []parameter{{"cursor", "the entry to start with: a snapshot's seq plus one"}}, media: "text/event-stream", refuses: []int{404, 422}, do: (*Server).followed,
		},
	}
}

func (s *Server) request(x *exchange) (any, error) {
	h, err := s.find(x)
	if err != nil {
		return nil, err
	}
	seq, err := strconv.ParseUint(x.PathValue("seq"), 10, 63)
	if err != nil {
		return nil, refusal(http.StatusNotFound, "no entry "+strconv.Quote(x.PathValue("seq")))
	}
	sent, err := engine.RequestAt(x.Context(), s.journal, h.Run, seq)
	if errors.Is(err, engine.ErrNoRequest) {
		return nil, refusal(http.StatusNotFound, err.Error())
	}
	if err != nil {
		return nil, err
	}
	return requestOf(sent), nil
}

func (s *Server) stop(x *exchange) (any, error) {
	h, err := s.find(x)
	if err != nil {
		return nil, err
	}
	at := h.Seq
	if text := x.URL.Query().Get("at"); text != "" {
		if at, err = strconv.ParseUint(text, 10, 63); err != nil || at == 0 || at > h.Seq {
			return nil, invalid("at is " + strconv.Quote(text) + "; the run has entries 1 to " + strconv.FormatUint(h.Seq, 10))
		}
	}
	state, err := engine.StateAt(x.Context(), s.journal, h.Run, at)
	if err != nil {
		return nil, err
	}
	node := stop.Whole(state)
	redactNode(&node)
	return client.Stop{Run: h.Run, At: at, Stop: node}, nil
}

// redactNode removes secrets: a condition may quote anything.
func redactNode(n *stop.Node) {
	n.Source, n.Detail = redact.Text(n.Source), redact.Text(n.Detail)
	for i := range n.Children {
		redactNode(&n.Children[i])
	}
}

func (s *Server) replay(x *exchange) (any, error) {
	h, err := s.find(x)
	if err != nil {
		return nil, err
	}
	if r, ok := s.host.(Replayer); ok {
		out, err := r.Replay(x.Context(), h.Run)
		out.Problem = redact.Text(out.Problem)
		return out, err
	}
	state, err := engine.Load(x.Context(), s.journal, h.Run)
	if err != nil {
		return nil, err
	}
	w, err := s.host.Again(x.Context(), state, &Change{})
	if err != nil {
		return nil, err
	}
	defer w.Drop()
	agent, err := w.Engine.AgentOf(x.Context(), w.Agent, h.Run)
	if err != nil {
		return nil, err
	}
	out := client.Replayed{Run: h.Run, Agrees: true}
	if out.Steps, err = w.Engine.Replay(x.Context(), agent, h.Run); err != nil {
		out.Agrees, out.Problem = false, redact.Text(err.Error())
	}
	return out, x.Context().Err()
}

// children lists child runs in the order of the run's own log.
func (s *Server) children(x *exchange) (any, error) {
	h, err := s.find(x)
	if err != nil {
		return nil, err
	}
	out := client.Runs{Runs: []client.RunLine{}}
	seen := map[string]bool{}
	for e, err := range engine.Entries(x.Context(), s.journal, h.Run, 1) {
		if err != nil {
			return nil, err
		}
		began, ok := e.Event.(pawl.ChildStarted)
		if !ok || seen[began.Child] {
			continue
		}
		seen[began.Child] = true
		child, err := runs.Head(x.Context(), s.journal, began.Child)
		switch {
		case errors.Is(err, pawl.ErrUnknownRun): // the child was removed, or has not begun
			continue
		case err != nil:
			return nil, err
		}
		out.Runs = append(out.Runs, client.LineOf(child))
	}
	return out, nil
}
