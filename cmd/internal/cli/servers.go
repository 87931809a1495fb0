package cli

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"strings"

	"github.com/pawl-run/pawl"
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
	return server.Tools(), server.Close, nil
}

func (env *environment) credentials(s spec.MCPServer) (*mcp.HTTPOptions, error) {
	if o := s.OAuth; o != nil {
		tokens, err := env.stateFile("mcp-tokens", "set one of them, for the tokens of MCP servers")
		if err != nil {
			return nil, err
		}
		how := &mcp.OAuth{
			ClientID: o.Client, Credentials: o.Credentials, Tokens: tokens, Key: env.sealingKey, Login: "pawl mcp SPEC --login " + s.Name,
			Seen: func(token string) { env.learned.Add(s.Name+"-token", token) },
		}
		if o.Secret != "" {
			how.ClientSecret = env.getenv(o.Secret)
		}
		return &mcp.HTTPOptions{OAuth: how}, nil
	}
	if token := env.getenv(s.Token); s.Token != "" && token != "" {
		return &mcp.HTTPOptions{Header: http.Header{"Authorization": {"Bearer " + token}}}, nil
	}
	return nil, nil
}

// places are where a login keeps tokens.
const (
	inKeyring = "keyring"
	inFile    = "file"
)

// login has a person authorise requests to an MCP server of a spec.
func login(ctx context.Context, a *app, file string, o *serving) (int, error) {
	s, err := loadSpec(file, &spec.Options{Registry: a.registry(), Model: "mechanic"})
	if err != nil {
		return 0, err
	}
	server, ok := s.MCPServer(o.login)
	if !ok || server.OAuth == nil || server.OAuth.Credentials {
		return 0, misuse("--login: %s has no MCP server %s that a person authorises; one has auth: {oauth: true}", file, o.login)
	}
	how, err := a.credentials(server)
	if err != nil {
		return 0, err
	}
	kept := "sealed by a key in the keyring"
	if why := a.sealed(o.tokens); why != nil {
		if o.tokens == inKeyring {
			return 0, refused(fmt.Errorf("--tokens keyring: %w", why))
		}
		how.OAuth.Key, kept = nil, fmt.Sprintf("in a file that only you can read (%v)", why)
	}
	err = mcp.Login(ctx, server.URL, how.OAuth, func(url string) {
		a.sayf("open this page in a browser of this machine: %s", url)
	})
	if err != nil {
		return 0, err
	}
	a.sayf("the tokens are %s", kept)
	a.sayf("requests to %s are authorised; pawl run %s can use it", server.URL, file)
	return 0, nil
}

// sealed returns why a login does not seal tokens; nil: it does. It asks the keyring before a
// person goes to the browser.
func (env *environment) sealed(tokens string) error {
	if tokens == inFile {
		return errors.New("--tokens file")
	}
	_, err := env.sealingKey(true)
	return err
}

// sealingKey is the key in the system's keyring that seals tokens. A program of its own asks
// for it: it has a client of D-Bus, which nothing else here needs.
func (env *environment) sealingKey(create bool) ([]byte, error) {
	path, err := beside("pawl-keyring")
	if err != nil {
		return nil, fmt.Errorf("pawl-keyring, which asks the keyring, is neither beside pawl nor in the PATH; install it with: go install github.com/pawl-run/pawl/mcp/keyring/cmd/pawl-keyring@latest")
	}
	do := "get"
	if create {
		do = "create"
	}
	c := exec.Command(path, do) //nolint:noctx // it gives up by itself
	c.Env = env.environ
	out, err := c.Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok && len(failed.Stderr) > 0 {
		return nil, errors.New(gist(string(failed.Stderr)))
	}
	if err != nil {
		return nil, fmt.Errorf("pawl-keyring: %w", err)
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(out)))
	if err != nil {
		return nil, errors.New("pawl-keyring printed no key")
	}
	return key, nil
}
