package server

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/pawl-run/pawl/a2a"
	"github.com/pawl-run/pawl/explain"
	"github.com/pawl-run/pawl/server/client"
)

// A route is one operation of the API. The multiplexer and the OpenAPI document are both
// made from the routes.
type route struct {
	method  string
	path    string // in the syntax of http.ServeMux, such as /v1/runs/{run}
	name    string // of the operation
	summary string
	scope   Scope // zero: needs no token
	near    bool  // needs no token from this machine
	query   []parameter
	body    any    // a pointer to a zero value of the body; nil: no body
	reply   any    // a zero value of the reply
	media   string // another form of the reply, written by the handler
	status  int    // of success; zero: 200
	refuses []int  // in addition to those of every request
	do      func(*Server, *exchange) (any, error)
}

// A parameter is one of a route's query.
type parameter struct{ name, what string }

// Parameters that several routes take.
var (
	waiting = parameter{"wait", "true: answer when the run has ended or is suspended"}
	cursor  = parameter{"cursor", "next, from the previous page"}
	most    = parameter{"max", "the maximum number of items"}
)

// routes are the operations of the API.
func routes() []route {
	onCall := func(what, summary string, body any) route {
		return route{
			method: http.MethodPost, path: "/v1/runs/{run}/calls/{call}/" + what, name: what, summary: summary, scope: Decide,
			query: []parameter{waiting}, body: body, reply: explain.Result{}, refuses: []int{404, 409}, do: (*Server).signal,
		}
	}
	cancelCall := onCall("cancel", "Cancel one call of a run", &client.CancelCall{})
	cancelCall.name, cancelCall.scope = "cancel_call", Run
	return slices.Concat([]route{
		statsRoute, budgetsRoute, triggerRoute, aguiRoute,
		{
			method: http.MethodPost, path: "/v1/runs", name: "start", summary: "Start a run of an agent", scope: Run,
			query: []parameter{waiting}, body: &client.StartRun{}, reply: explain.Result{}, status: http.StatusCreated, refuses: []int{409, 429}, do: (*Server).start,
		},
		{
			method: http.MethodGet, path: "/v1/runs", name: "list", summary: "List runs, newest first", scope: Read,
			query: []parameter{
				{"status", "only runs with this status; waiting: those that wait for anything"},
				{"agent", "only runs of this agent"},
				{"loop", "only runs of this loop"},
				{"label", "only runs with this label, as KEY=VALUE; may be repeated"},
				{"thread", "only runs of this conversation"},
				{"run", "only runs whose id begins so"},
				{"q", "only runs with words that begin so in id, agent, input or answer"},
				{"since", "only runs created at this time or later"},
				{"until", "only runs created before this time"},
				{"min_cost", "only runs that cost at least so many dollars"},
				{"children", "true: include child runs"},
				{"brief", "true: include the beginnings of input and answer, and what the run waits for"},
				most, cursor,
			},
			reply: client.Runs{}, refuses: []int{409, 422}, do: (*Server).list,
		},
		{
			method: http.MethodGet, path: "/v1/runs/{run}", name: "show", summary: "Show a run's result so far", scope: Read,
			reply: explain.Result{}, refuses: []int{404}, do: (*Server).show,
		},
		{
			method: http.MethodGet, path: "/v1/runs/{run}/events", name: "events", summary: "Read a run's log in pages, or follow it as it goes", scope: Read,
			query: []parameter{most, cursor, {"children", "true: a stream also has what child runs stream, as model.delta and tool.progressed with their run and agent"}}, reply: client.Entries{}, media: "text/event-stream", refuses: []int{404, 422}, do: (*Server).events,
		},
		{
			method: http.MethodGet, path: "/v1/runs/{run}/explain", name: "explain", summary: "Explain why a run stopped, what it did, what it cost and what to do next", scope: Read,
			reply: explain.Report{}, media: "text/markdown", refuses: []int{404}, do: (*Server).explain,
		},
		{
			method: http.MethodPost, path: "/v1/runs/{run}/resume", name: "resume", summary: "Resume a run", scope: Run,
			query: []parameter{waiting}, body: &client.ResumeRun{}, reply: explain.Result{}, refuses: []int{404, 409, 429}, do: (*Server).resume,
		},
		{
			method: http.MethodPost, path: "/v1/runs/{run}/messages", name: "say", summary: "Send a message to a run, which its model reads before its next call", scope: Run,
			query: []parameter{waiting}, body: &client.SayRun{}, reply: explain.Result{}, refuses: []int{404, 409, 422}, do: (*Server).say,
		},
		{
			method: http.MethodPost, path: "/v1/runs/{run}/cancel", name: "cancel", summary: "Cancel a run in any process", scope: Run,
			query: []parameter{waiting}, body: &client.CancelRun{}, reply: explain.Result{}, refuses: []int{404, 409}, do: (*Server).cancel,
		},
		{
			method: http.MethodPost, path: "/v1/runs/{run}/fork", name: "fork", summary: "Start a new run that shares a run's log up to an entry", scope: Run,
			query: []parameter{waiting}, body: &client.ForkRun{}, reply: explain.Result{}, status: http.StatusCreated, refuses: []int{404, 409, 429}, do: (*Server).fork,
		},
		onCall("approve", "Approve a call that waits for approval", &client.Approve{}),
		onCall("deny", "Refuse a held call", &client.Deny{}),
		onCall("answer", "Answer a question", &client.Answer{}),
		onCall("submit", "Hand in the result of a call that the client runs", &client.Submit{}),
		cancelCall,
		onCall("settle", "Resolve a call with an unknown outcome", &client.Settle{}),
		{
			method: http.MethodGet, path: "/v1/agents", name: "agents", summary: "List the agents that can be started", scope: Read,
			reply: client.Agents{}, do: (*Server).agents,
		},
		{
			method: http.MethodGet, path: "/openapi.json", name: "openapi", summary: "This document", scope: Read,
			media: "application/json", do: (*Server).document,
		},
		{
			method: http.MethodGet, path: "/healthz", name: "health", summary: "Check that the server is up",
			media: "text/plain", do: (*Server).health,
		},
		{
			method: http.MethodGet, path: "/readyz", name: "ready", summary: "Check that the server takes runs: its journal answers, and it is not stopping", scope: Read, near: true,
			media: "text/plain", do: (*Server).ready,
		},
		{
			method: http.MethodGet, path: "/metrics", name: "metrics", summary: "Show the server's metrics in Prometheus format", scope: Read, near: true,
			media: "text/plain", refuses: []int{404}, do: (*Server).metrics,
		},
		{
			method: http.MethodGet, path: "/{page...}", name: "page", summary: "Show runs in a browser",
			media: "text/html", refuses: []int{404}, do: (*Server).page,
		},
	}, decisionRoutes(), permissionRoutes(), inspections(), fileRoutes(), sessions(), approvalRoutes(), chatRoutes())
}

// routing makes the multiplexer. The handler of a path selects the method, so that all
// errors have the same form.
func (s *Server) routing(all []route) (*http.ServeMux, map[string][]*route) {
	paths := map[string][]*route{}
	for i := range all {
		paths[all[i].path] = append(paths[all[i].path], &all[i])
	}
	mux := http.NewServeMux()
	for path, those := range paths {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) { s.choose(w, r, those) })
	}
	mux.HandleFunc("/v1/", s.nowhere)
	mux.HandleFunc("/v1/runs/{run}/", s.nowhere)
	return mux, paths
}

// nowhere refuses a request for a path that has nothing.
func (s *Server) nowhere(w http.ResponseWriter, r *http.Request) {
	s.refuse(w, r, refusal(http.StatusNotFound, "no resource at "+r.URL.Path+"; see GET /openapi.json"))
}

// choose calls the route for the request's method.
func (s *Server) choose(w http.ResponseWriter, r *http.Request, those []*route) {
	methods := map[string]bool{}
	if those[0].name == "page" && r.URL.Path != "/" && r.Method != http.MethodGet && r.Method != http.MethodHead {
		s.nowhere(w, r)
		return
	}
	for _, one := range those {
		if one.method == r.Method || one.method == http.MethodGet && r.Method == http.MethodHead {
			s.answer(w, r, one)
			return
		}
		methods[one.method] = true
		methods[http.MethodHead] = methods[http.MethodHead] || one.method == http.MethodGet
	}
	delete(methods, "")
	var allowed []string
	for _, m := range slices.Sorted(maps.Keys(methods)) {
		if methods[m] {
			allowed = append(allowed, m)
		}
	}
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	s.refuse(w, r, refusal(http.StatusMethodNotAllowed, r.URL.Path+" takes "+strings.Join(allowed, ", ")))
}

// An exchange is one request being answered.
type exchange struct {
	http.ResponseWriter
	*http.Request
	key  *Key // of the token; nil: the route needs none
	body any  // a pointer to the decoded body
	wait bool // answer when the run has ended or is suspended

	// Of a request of the Agent2Agent protocol: how its binding says an error, and a result.
	refuse func(*a2a.Error)
	frame  func(any) any
}

// refusal is an error with a status.
func refusal(status int, detail string) error {
	return &client.Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: detail}
}
