package cli

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/mcp"
	"github.com/pawl-run/pawl/spec"
)

// agentOf makes the agent of a spec to run. Its MCP servers stay connected until the
// command is over.
func (a *app) agentOf(ctx context.Context, s *spec.Spec, registry *spec.Registry) (pawl.Agent, error) {
	agent, end, err := s.Open(ctx, registry)
	if err != nil {
		return agent, err
	}
	a.ends = append(a.ends, end)
	return agent, nil
}

// agentUnder is agentOf under a policy. It prints the warnings of the spec.
func (a *app) agentUnder(ctx context.Context, s *spec.Spec, registry *spec.Registry, policy *spec.Policy) (pawl.Agent, error) {
	agent, err := a.agentOf(ctx, s, registry)
	if err != nil {
		return agent, err
	}
	a.warn(s, registry)
	return under(policy, agent)
}

// disconnect closes the connections of agentOf. It ignores what servers print while
// they exit.
func (a *app) disconnect() {
	for _, end := range a.ends {
		_ = end()
	}
	a.ends, a.servers = nil, nil
}

// mcpServer is a connected server.
type mcpServer struct {
	*mcp.Server

	trusted bool
}

// serverOf finds the connected server that a text such as files:file:///x or files:greet begins with.
func (a *app) serverOf(text string) (s mcpServer, rest string, ok bool) {
	name, rest, cut := strings.Cut(text, ":")
	i := slices.IndexFunc(a.servers, func(s mcpServer) bool { return s.Name() == name })
	if !cut || i < 0 {
		return s, "", false
	}
	return a.servers[i], rest, true
}

// isResource tells SERVER:URI, which --attach takes, from a file.
var isResource = regexp.MustCompile(`^[a-zA-Z0-9_-]+:[a-zA-Z][a-zA-Z0-9+.-]*:`).MatchString

// attached reads files, and the resources of connected MCP servers, to attach.
func (a *app) attached(ctx context.Context, names []string) (files []pawl.File, err error) {
	for _, name := range names {
		s, uri, ok := a.serverOf(name)
		var more []pawl.File
		switch {
		case ok:
			if more, err = s.Read(ctx, uri); err != nil {
				err = &engine.FileError{File: name, Err: err}
			}
		case isResource(name):
			err = &engine.FileError{File: name, Err: errors.New("the spec names no such MCP server")}
		default:
			more, err = attached([]string{name})
		}
		if err != nil {
			return nil, err
		}
		files = append(files, more...)
	}
	return files, nil
}

// connect connects to an MCP server. It prints the command before it starts it, since
// the user may not have written the spec.
func (a *app) connect(ctx context.Context, s spec.MCPServer) ([]pawl.Tool, func() error, error) {
	how, err := a.credentials(s)
	if err != nil {
		return nil, nil, err
	}
	transport, what := mcp.HTTP(s.URL, how), s.URL
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
	a.servers = append(a.servers, mcpServer{server, s.Trusted})
	for _, line := range server.Notes() {
		if !a.quiet {
			a.sayf("%s", line)
		}
	}
	return server.Tools(), server.Close, nil
}

func (env *environment) credentials(s spec.MCPServer) (*mcp.HTTPOptions, error) {
	if o := s.OAuth(); o != nil {
		tokens, err := env.stateFile("mcp-tokens", "set one of them, for the tokens of MCP servers")
		if err != nil {
			return nil, err
		}
		key, err := env.sealingKey()
		if err != nil {
			return nil, err
		}
		how := &mcp.OAuth{
			ClientID: o.Client, Credentials: o.Grant == spec.ClientCredentials, Tokens: tokens, Key: key, Login: "pawl mcp SPEC --login " + s.Name,
			Seen: func(token string) { env.learned.Add(s.Name+"-token", token) },
		}
		if o.Secret != "" {
			how.ClientSecret = env.getenv(o.Secret)
		}
		return &mcp.HTTPOptions{OAuth: how}, nil
	}
	how := new(mcp.HTTPOptions)
	if token := env.getenv(s.Token); s.Token != "" && token != "" {
		how.Header = http.Header{"Authorization": {"Bearer " + token}}
	}
	if s.Credentials != nil {
		how.Token = s.Credentials.Token
	}
	return how, nil
}

// login has a person authorise requests to an MCP server of a spec.
func login(ctx context.Context, a *app, file, name string) (int, error) {
	s, err := loadSpec(file, &spec.Options{Registry: a.registry(), Model: "mechanic"})
	if err != nil {
		return 0, err
	}
	server, ok := s.MCPServer(name)
	if !ok || server.OAuth() == nil || server.OAuth().Grant == spec.ClientCredentials {
		return 0, misuse("--login: %s has no MCP server %s that a person authorises; one has auth: {oauth: true}", file, name)
	}
	how, err := a.credentials(server)
	if err != nil {
		return 0, err
	}
	err = mcp.Login(ctx, server.URL, how.OAuth, func(url string) {
		a.sayf("open this page in a browser of this machine: %s", url)
	})
	if err != nil {
		return 0, err
	}
	a.sayf("requests to %s are authorised; pawl run %s can use it", server.URL, file)
	return 0, nil
}

// sealingKey is the key that seals the tokens of MCP servers; nil: none is configured.
func (env *environment) sealingKey() ([]byte, error) {
	text := env.getenv("PAWL_MCP_KEY")
	if text == "" {
		return nil, nil
	}
	key, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(key) != 32 {
		return nil, misuse("PAWL_MCP_KEY must be 32 bytes in base64, as openssl rand -base64 32 prints them")
	}
	return key, nil
}
