package server

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/explain"
	"github.com/pawl-run/pawl/internal/jsonschema"
	"github.com/pawl-run/pawl/runs"
	"github.com/pawl-run/pawl/server/client"
)

// toolRoutes are the operations on the tools of the agents.
func toolRoutes() []route {
	const path = "/v1/agents/{agent}/tools"
	return []route{
		{
			method: http.MethodGet, path: path, name: "tools", summary: "List an agent's tools, with the schemas of their arguments", scope: Read,
			reply: client.Tools{}, refuses: []int{409, 422}, do: (*Server).tools,
		},
		{
			method: http.MethodPost, path: path + "/{tool}", name: "call", summary: "Start a run that is one call of an agent's tool", scope: Run,
			query: []parameter{waiting}, body: &client.CallTool{}, reply: explain.Result{}, status: http.StatusCreated, refuses: []int{404, 409, 429}, do: (*Server).call,
		},
	}
}

func (s *Server) tools(x *exchange) (any, error) {
	w, err := s.host.Start(x.Context(), x.PathValue("agent"), nil)
	if err != nil {
		return nil, err
	}
	defer w.Drop()
	out := client.Tools{Tools: []client.Tool{}}
	for _, t := range w.Agent.Tools {
		info := t.Info()
		one := client.Tool{Name: info.Name, Description: info.Description, Effect: info.Effect, Input: info.Input}
		one.Effect = cmp.Or(one.Effect, pawl.Write)
		if one.Input == nil {
			one.Input = json.RawMessage(`{"type":"object"}`)
		}
		out.Tools = append(out.Tools, one)
	}
	return out, nil
}

// call starts the run of a call by a person. The run has the policies, approvals and limits
// of the agent, and a log like any other.
func (s *Server) call(x *exchange) (any, error) {
	in := x.body.(*client.CallTool)
	agent, tool := x.PathValue("agent"), x.PathValue("tool")
	if !x.key.allows(Decide) { // a person takes the place of the model
		return nil, x.lacks(Decide, "a call by hand")
	}
	limits, err := limitsOf(in.Limits, false)
	if err != nil {
		return nil, err
	}
	if len(in.IdempotencyKey) > mostID {
		return nil, invalid(fmt.Sprintf("idempotency_key has at most %d bytes", mostID))
	}
	if err := x.key.grants(in.Labels); err != nil {
		return nil, err
	}
	w, err := s.host.Start(x.Context(), agent, nil)
	if err != nil {
		return nil, err
	}
	if err := fits(w.Agent, tool, in.Args); err != nil {
		w.Drop()
		return nil, err
	}
	if w.Agent, err = runs.Calling(w.Agent, tool, runs.Person); err != nil {
		w.Drop()
		return nil, err
	}
	w.Input, w.Thread = string(in.Args), ""
	labels := map[string]string{runs.ToolLabel: tool, runs.CallerLabel: x.by(in.By)}
	for name, value := range in.Labels {
		if labels[name] == "" { // who called what is not the caller's to say
			labels[name] = value
		}
	}
	return s.begin(x, w, limits, engine.StartOptions{Labels: labels, Key: in.IdempotencyKey}, false)
}

// fits reports what is wrong with the arguments of a call.
func fits(agent pawl.Agent, tool string, args json.RawMessage) error {
	for _, t := range agent.Tools {
		info := t.Info()
		if info.Name != tool {
			continue
		}
		if len(args) == 0 {
			return invalid("args are missing; send an object")
		}
		schema, err := jsonschema.Compile(info.Input, &jsonschema.Options{Closed: true})
		if err != nil {
			return fmt.Errorf("tool %s: input: %w", tool, err)
		}
		if problems := schema.Validate(args); len(problems) > 0 {
			p := problems[0]
			if p.Path != "" {
				p.Message = p.Path + ": " + p.Message
			}
			return invalid(fmt.Sprintf("the arguments for %s do not fit: %s", tool, p.Message))
		}
		return nil
	}
	return refusal(http.StatusNotFound, fmt.Sprintf("agent %s has no tool %s; GET /v1/agents/%[1]s/tools lists them", agent.Name, tool))
}
