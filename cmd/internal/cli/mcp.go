package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/cmd/internal/acp"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/mcp/mcpserver"
	"github.com/pawl-run/pawl/spec"
	"github.com/pawl-run/pawl/webhook"
)

// serving holds the options of pawl mcp.
type serving struct {
	driving
	address   string
	tokenFile string
	login     string
}

func mcpCommand(a *app) *cobra.Command {
	s := &serving{}
	c := a.command("mcp SPEC [flags]", "Serve the agent in SPEC and its tools over MCP", cobra.ExactArgs(1),
		func(ctx context.Context, args []string) (int, error) {
			if s.login != "" {
				return login(ctx, a, args[0], s.login)
			}
			return serveMCP(ctx, a, s, args[0])
		})
	c.Flags().StringVar(&s.login, "login", "", "serve nothing: authorise requests to this MCP server of the spec in a browser, by OAuth")
	c.Flags().StringVar(&s.address, "http", "", "serve HTTP at this loopback address, such as 127.0.0.1:8081, instead of standard input and output")
	c.Flags().StringVar(&s.tokenFile, "token-file", "", "the file with the bearer token for HTTP (default: $PAWL_TOKEN, else one is generated and printed)")
	s.flag(c, "model", "effort", "limit", "label", "policy", "parking")
	return c
}

func serveMCP(ctx context.Context, a *app, s *serving, file string) (int, error) {
	if err := s.parks("an MCP server"); err != nil {
		return 0, err
	}
	if s.tokenFile != "" && s.address == "" {
		return 0, misuse("--token-file is for --http; a server on standard input and output needs no token")
	}
	set, err := s.settings()
	if err != nil {
		return 0, err
	}
	listener, token, err := a.listen(ctx, s)
	if err != nil {
		return 0, err
	}
	if listener != nil {
		defer listener.Close()
	}
	agent, _, err := agentToServe(ctx, a, s, file, set)
	if err != nil {
		return 0, err
	}
	return a.with(ctx, func(j store) (int, error) {
		limits, err := ceilings(agent)
		if err != nil {
			return 0, err
		}
		eng := a.engine(j, &s.driving, agent)
		defer eng.Close()
		var rests func(pawl.Result)
		if a.webhooks(agent.Source) != nil {
			tell, quit, err := deliverAll(ctx, a, j, []string{agent.Name}, &webhook.Options{Loopback: true, Log: a.noticeLog()})
			if err != nil {
				return 0, err
			}
			defer quit()
			rests = tell
		}
		server, err := mcpserver.New(eng, j, agent, &mcpserver.Options{Version: thisBuild().Version, Labels: set.labels, Rests: rests, Place: a.place()})
		if err != nil {
			return 0, refused(err)
		}
		defer server.Close()
		a.announce(agent, limits)
		if listener != nil {
			err = serveOverHTTP(ctx, a, server, listener, token)
		} else {
			err = server.Serve(ctx, a.in, a.out)
		}
		if err == nil && ctx.Err() != nil {
			return exitPaused, nil
		}
		return 0, err
	})
}

// agentToServe makes the agent to serve.
func agentToServe(ctx context.Context, a *app, s *serving, file string, set settings) (agent pawl.Agent, dir string, err error) {
	registry := a.registry()
	made, err := loadSpec(file, &spec.Options{Registry: registry, Model: s.model, Effort: s.effort, Limits: set.limits})
	if err != nil {
		return agent, "", err
	}
	agent, err = a.agentUnder(ctx, made, registry, set.policy)
	return agent, made.WorkDir(), err
}

// listen opens the port of --http, and finds its token. Nil: --http is not given.
func (env *environment) listen(ctx context.Context, s *serving) (net.Listener, string, error) {
	if s.address == "" {
		return nil, "", nil
	}
	if !near(s.address) {
		return nil, "", misuse("--http is %q; write a loopback address with a port, such as 127.0.0.1:8081", s.address)
	}
	token, err := env.token(s.tokenFile)
	if err != nil {
		return nil, "", err
	}
	listener, err := listenTCP(ctx, "--http", s.address)
	return listener, token, err
}

// token is the configured bearer token; empty: none is configured.
func (env *environment) token(file string) (string, error) {
	if file == "" {
		return env.getenv("PAWL_TOKEN"), nil
	}
	keys, err := env.readKeys(file)
	if err == nil && (len(keys) > 1 || keys[0].Scopes != nil) { // it would grant more than the scopes say
		err = misuse("--token-file %s has several tokens, or scopes, which this server does not know; write one token alone", file)
	}
	if err != nil {
		return "", err
	}
	return keys[0].Token, nil
}

// serveOverHTTP serves until ctx ends.
func serveOverHTTP(ctx context.Context, a *app, server *mcpserver.Server, listener net.Listener, token string) error {
	if token == "" {
		token = rand.Text()
		a.sayf("token: %s", token) // even if quiet: it is printed nowhere else
	}
	handler, err := server.Handler(token)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/mcp", handler)
	web := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10}
	unhook := context.AfterFunc(ctx, func() {
		server.Close() // before the clients are gone, which would cancel their calls
		_ = web.Close()
	})
	defer unhook()
	a.sayf("serving MCP at http://%s/mcp", listener.Addr())
	if err := web.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func acpCommand(a *app) *cobra.Command {
	d := &driving{}
	c := a.command("acp [SPEC] [flags]", "Serve an agent to an editor over ACP", cobra.MaximumNArgs(1),
		func(ctx context.Context, args []string) (int, error) { return serveACP(ctx, a, d, args) })
	d.flag(c, "model", "effort", "limit", "label", "policy")
	return c
}

func serveACP(ctx context.Context, a *app, d *driving, args []string) (int, error) {
	set, err := d.settings()
	if err != nil {
		return 0, err
	}
	return a.with(ctx, func(j store) (int, error) {
		open := func(ctx context.Context, dir string, by engine.Approver) (agent pawl.Agent, _ *engine.Engine, _ string, err error) {
			if len(args) > 0 {
				agent, dir, err = agentToServe(ctx, a, &serving{driving: *d}, args[0], set)
			} else if err = os.Chdir(dir); err == nil { // where its tools work
				agent, err = a.defaultAgent(ctx, "acp", d, set, chatAgent)
			}
			if err != nil {
				return agent, nil, "", err
			}
			agent.Limits = agent.Limits.Merge(set.limits)
			agent.Labels = set.labels
			limits, err := ceilings(agent)
			if err != nil {
				return agent, nil, "", err
			}
			a.announce(agent, limits)
			o := a.options(agent.Source)
			o.Approver, o.Patience = by, -1 // the user may take until the request expires
			return agent, engine.New(j, o), dir, nil
		}
		return 0, acp.Serve(ctx, a.in, a.out, acp.Options{Version: thisBuild().Version, Journal: j, Open: open, Log: a.noticeLog()})
	})
}
