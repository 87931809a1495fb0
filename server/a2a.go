package server

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/a2a"
	"github.com/pawl-run/pawl/internal/redact"
	"github.com/pawl-run/pawl/internal/wire"
	"github.com/pawl-run/pawl/runs"
	"github.com/pawl-run/pawl/server/client"
)

// The paths of the protocol.
const (
	a2aPath   = "/a2a"
	a2aAgents = "/a2a/agents/"
)

// An a2aOp is an operation of the protocol.
type a2aOp struct {
	scope  Scope
	do     func(s *Server, x *exchange, agent string, params json.RawMessage) (any, error)
	stream bool // do writes the answer
}

// a2aOps are the operations by their method of JSON-RPC.
func a2aOps() map[string]a2aOp {
	return map[string]a2aOp{
		a2a.MethodSend:      {scope: Run, do: a2aDo((*Server).a2aSend)},
		a2a.MethodStream:    {scope: Run, do: a2aDo((*Server).a2aStream), stream: true},
		a2a.MethodGet:       {scope: Read, do: a2aDo((*Server).a2aGet)},
		a2a.MethodList:      {scope: Read, do: a2aDo((*Server).a2aList)},
		a2a.MethodCancel:    {scope: Run, do: a2aDo((*Server).a2aCancel)},
		a2a.MethodSubscribe: {scope: Read, do: a2aDo((*Server).a2aSubscribe), stream: true},
		a2a.MethodCard:      {scope: Read, do: a2aDo((*Server).a2aExtended)},
	}
}

// a2aDo reads the request of an operation.
func a2aDo[In any](do func(*Server, *exchange, string, *In) (any, error)) func(*Server, *exchange, string, json.RawMessage) (any, error) {
	return func(s *Server, x *exchange, agent string, params json.RawMessage) (any, error) {
		in := new(In)
		if err := a2aDecode(params, in); err != nil {
			return nil, err
		}
		return do(s, x, agent, in)
	}
}

// a2aNothing is a request that says no more than its tenant.
type a2aNothing struct{}

// routeA2A adds the protocol to the multiplexer, or what says that it is not served.
func (s *Server) routeA2A() {
	if s.options.A2A == "" {
		for _, path := range []string{a2a.CardPath, a2aPath, a2aPath + "/"} {
			s.mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
				s.refuse(w, r, refusal(http.StatusNotFound, "this server does not speak A2A; start it with --a2a"))
			})
		}
		return
	}
	s.mux.HandleFunc(a2a.CardPath, s.a2aCard)
	s.mux.HandleFunc(a2aAgents+"{agent}"+a2a.CardPath, s.a2aCard)
	s.mux.HandleFunc(a2aPath, s.a2aRPC)
	s.mux.HandleFunc(a2aPath+"/{$}", s.a2aRPC) // some clients append the slash
}

// a2aRPC answers a request.
func (s *Server) a2aRPC(w http.ResponseWriter, r *http.Request) {
	x := &exchange{ResponseWriter: w, Request: r}
	id := json.RawMessage("null")
	x.refuse = func(e *a2a.Error) {
		status := http.StatusOK
		if e.Kind.Reason == "" && e.Kind.Code == a2a.Unavailable.Code || e.Kind.Status == http.StatusRequestEntityTooLarge {
			status = e.Kind.Status // errors of HTTP
		}
		s.write(w, status, "application/json", a2a.Response{JSONRPC: "2.0", ID: id, Error: e.RPC()})
	}
	x.frame = func(v any) any { return a2a.Response{JSONRPC: "2.0", ID: id, Result: v} }
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		s.refuse(w, r, refusal(http.StatusMethodNotAllowed, a2aPath+" takes POST"))
		return
	}
	if err := s.identify(x); err != nil { // before anything is said of the body
		s.a2aRefuse(x, err)
		return
	}
	in, err := s.a2aRequest(x, &id)
	if err != nil {
		s.a2aRefuse(x, err)
		return
	}
	op, known := a2aOps()[in.Method]
	if !known {
		text := fmt.Sprintf("there is no method %q", in.Method)
		if strings.Contains(in.Method, "/") { // as message/send
			text += "; it looks like A2A 0.3, and this server speaks 1.0, where methods are named as SendMessage"
		}
		s.a2aRefuse(x, &a2a.Error{Kind: a2a.UnknownMethod, Message: text})
		return
	}
	tenant := struct{ Tenant string }{}
	if err := a2aDecode(in.Params, &tenant); err != nil {
		s.a2aRefuse(x, err)
		return
	}
	s.a2aAnswer(x, in, op, tenant.Tenant)
}

// a2aRequest reads a request of JSON-RPC and its id.
func (s *Server) a2aRequest(x *exchange, id *json.RawMessage) (in a2a.Request, err error) {
	data, err := s.receive(x, "application/json")
	if err != nil {
		return in, err
	}
	if _, err := wire.Decode(data); err != nil {
		return in, &a2a.Error{Kind: a2a.ParseError, Message: "the body is not JSON: " + err.Error()}
	}
	if err := json.Unmarshal(data, &in); err == nil && a2aID(in.ID) {
		*id = in.ID
	}
	switch {
	case json.Unmarshal(data, &in) != nil:
		err = errors.New("the request is not an object of JSON-RPC 2.0")
	case in.JSONRPC != "2.0":
		err = fmt.Errorf("jsonrpc is %q; send \"2.0\"", in.JSONRPC)
	case !a2aID(in.ID):
		err = errors.New("id is missing, or neither a text nor a number")
	case in.Method == "":
		err = errors.New("method is missing")
	}
	if err != nil {
		err = &a2a.Error{Kind: a2a.InvalidRequest, Message: err.Error()}
	}
	return in, err
}

// a2aID reports whether an id is a text or a number.
func a2aID(raw json.RawMessage) bool {
	return len(raw) > 0 && (raw[0] == '"' || raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9')
}

// a2aDecode reads the parameters of a request. Unknown ones are ignored, since later versions
// of the protocol add some.
func a2aDecode(params json.RawMessage, to any) error {
	if len(params) == 0 || string(params) == "null" {
		params = json.RawMessage("{}")
	}
	err := json.Unmarshal(params, to)
	if err == nil {
		return nil
	}
	e := &a2a.Error{Kind: a2a.InvalidParams, Message: "the parameters do not fit: " + strings.TrimPrefix(err.Error(), "json: ")}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && wrong.Field != "" {
		e.Field, e.Message = wrong.Field, mistypedText(wrong)
	}
	return e
}

// a2aAnswer does an operation.
func (s *Server) a2aAnswer(x *exchange, in a2a.Request, op a2aOp, tenant string) {
	agent, err := s.a2aAgent(x, tenant)
	if err == nil {
		err = a2aVersion(x.Request)
	}
	if err == nil && !x.key.allows(op.scope) {
		err = x.lacks(op.scope, in.Method)
	}
	var out any
	if err == nil {
		out, err = op.do(s, x, agent, in.Params)
	}
	switch {
	case err != nil:
		s.a2aRefuse(x, err)
	case !op.stream:
		s.write(x.ResponseWriter, http.StatusOK, "application/json", x.frame(out))
	}
}

// a2aVersion refuses versions of the protocol that are not spoken here. A request without a
// version means 0.3.
func a2aVersion(r *http.Request) error {
	said := cmp.Or(r.Header.Get(a2a.VersionHeader), r.URL.Query().Get(a2a.VersionHeader), "0.3")
	parts := strings.SplitN(strings.TrimSpace(said), ".", 3)
	if len(parts) > 1 && parts[0]+"."+parts[1] == a2a.Version {
		return nil
	}
	return &a2a.Error{Kind: a2a.VersionNotSupported, Message: fmt.Sprintf("version %s of the protocol is not supported; send the header %s: %s", said, a2a.VersionHeader, a2a.Version),
		Facts: map[string]string{"supportedVersions": a2a.Version}}
}

// a2aAgent is the agent of a tenant. One that is not served is refused like an unknown task.
func (s *Server) a2aAgent(x *exchange, tenant string) (string, error) {
	name := cmp.Or(tenant, s.options.A2A)
	_, err := s.a2aAbout(x.Context(), name)
	return name, err
}

// a2aAbout is what the host says of an agent's newest version.
func (s *Server) a2aAbout(ctx context.Context, name string) (client.Agent, error) {
	agents, err := s.host.Agents(ctx)
	if err != nil {
		return client.Agent{}, err
	}
	at := slices.IndexFunc(agents, func(a client.Agent) bool { return a.Name == name })
	if at < 0 {
		return client.Agent{}, a2aInvalid("tenant", "there is no agent %q here", name)
	}
	return agents[at], nil
}

func a2aInvalid(field, format string, args ...any) error {
	return &a2a.Error{Kind: a2a.InvalidParams, Message: fmt.Sprintf(format, args...), Field: field}
}

// a2aRefuse writes an error.
func (s *Server) a2aRefuse(x *exchange, err error) {
	e := s.a2aError(x, err)
	told := *e
	told.Message = redact.Text(told.Message)
	told.Facts = map[string]string{"timestamp": time.Now().UTC().Format(time.RFC3339)}
	maps.Copy(told.Facts, e.Facts)
	retryAfter(x.ResponseWriter.Header(), told.Kind.Status, err)
	x.refuse(&told)
}

// a2aError is an error in the terms of the protocol.
func (s *Server) a2aError(x *exchange, err error) *a2a.Error {
	if e, ok := errors.AsType[*a2a.Error](err); ok {
		return e
	}
	problem, ok := errors.AsType[*client.Problem](s.told(x.Request, err))
	if !ok {
		return &a2a.Error{Kind: a2a.Internal, Message: "internal error"}
	}
	kinds := map[int]a2a.Kind{
		http.StatusNotFound: a2a.TaskNotFound, http.StatusUnauthorized: a2a.Unauthenticated, http.StatusForbidden: a2a.Forbidden,
		http.StatusTooManyRequests: a2a.Exhausted, http.StatusServiceUnavailable: a2a.Unavailable, http.StatusConflict: a2a.UnsupportedOperation,
		http.StatusUnprocessableEntity: a2a.InvalidParams, http.StatusBadRequest: a2a.InvalidParams, http.StatusUnsupportedMediaType: a2a.ContentTypeNotSupported,
		http.StatusRequestEntityTooLarge: {Code: a2a.InvalidRequest.Code, Status: http.StatusRequestEntityTooLarge},
		http.StatusRequestTimeout:        {Code: a2a.InvalidRequest.Code, Status: http.StatusRequestTimeout},
	}
	kind, known := kinds[problem.Status]
	if !known {
		kind = a2a.Internal
	}
	return &a2a.Error{Kind: kind, Message: problem.Detail}
}

// a2aFind is the task of an id that the request's key may see and that is the agent's. A child
// of a run is no task.
func (s *Server) a2aFind(x *exchange, agent, id string) (pawl.Head, error) {
	x.SetPathValue("run", id)
	h, err := s.find(x)
	if err == nil && (runs.IsChild(h) || h.Agent != agent) {
		err = pawl.ErrUnknownRun
	}
	if errors.Is(err, pawl.ErrUnknownRun) {
		err = &a2a.Error{Kind: a2a.TaskNotFound, Message: "there is no such task", Facts: map[string]string{"taskId": id}}
	}
	return h, err
}
