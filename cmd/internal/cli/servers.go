package cli

import (
	"context"
	"net/http"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/mcp"
	"github.com/pawl-run/pawl/spec"
)

// agentOf makes the agent of a spec to run. Its MCP servers stay connected until the
// command is over.
func (a *app) agentOf(ctx context.Context, s *spec.Spec, registry *spec.Registry) (pawl.Agent, error) {
	if err := uncopied(s); err != nil {
		return pawl.Agent{}, err
	}
	agent, end, err := s.Open(ctx, registry)
	if err != nil {
		return agent, err
	}
	a.ends = append(a.ends, end)
	return agent, nil
}

// disconnect closes the connections of agentOf. It ignores what servers print while
// they exit.
func (a *app) disconnect() {
	for _, end := range a.ends {
		_ = end()
	}
	a.ends = nil
}

// connect connects to an MCP server. It prints the command before it starts it, since
// the user may not have written the spec.
func (a *app) connect(ctx context.Context, s spec.MCPServer) ([]pawl.Tool, func() error, error) {
	transport, what := mcp.HTTP(s.URL, a.credentials(s)), s.URL
	if s.Command != nil {
		transport = mcp.Command(s.Command, &mcp.CommandOptions{Dir: s.Dir, Secrets: s.Env, Cage: s.Cage})
		what = strings.Join(s.Command, " ")
		if s.Cage != nil {
			what = "caged, " + what
		}
	}
	if !a.quiet {
		a.sayf("mcp server %s: %s", s.Name, what)
	}
	server, err := mcp.Connect(ctx, s.Name, transport, &mcp.Options{
		Trusted: s.Trusted, Allow: s.Allow, Timeout: s.Timeout, MaxOutput: s.MaxOutput, MaxParallel: s.MaxParallel, Identity: s.Identity,
	})
	if err != nil {
		return nil, nil, err
	}
	return server.Tools(), server.Close, nil
}

func (env *environment) credentials(s spec.MCPServer) *mcp.HTTPOptions {
	if token := env.getenv(s.Token); s.Token != "" && token != "" {
		return &mcp.HTTPOptions{Header: http.Header{"Authorization": {"Bearer " + token}}}
	}
	return nil
}
