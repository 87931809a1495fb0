package cli

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/cmd/internal/screen"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/mcp"
	"github.com/pawl-run/pawl/mcp/mcpserver"
	"github.com/pawl-run/pawl/tool"
)

// A signal suspends the calls of pawl mcp --http that are in progress. It does not cancel them as
// a client that hangs up does.
func TestMCPStops(t *testing.T) {
	running := make(chan struct{})
	hang := tool.Func("hang", "Hang.", func(ctx context.Context, _ struct{}) (string, error) {
		close(running)
		<-ctx.Done()
		return "", ctx.Err()
	}, pawl.Read)
	agent := pawl.Agent{Name: "clerk", Tools: []pawl.Tool{hang}, Model: pawl.ModelFunc(func(context.Context, pawl.Request) (pawl.Reply, error) { return pawl.Say("done"), nil })}
	j := memory.New()
	e := engine.New(j, nil)
	defer e.Close()
	server, err := mcpserver.New(e, j, agent, nil)
	must(t, err)
	defer server.Close()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() {
		served <- serveOverHTTP(ctx, &app{console: console{err: screen.NewWriter(io.Discard)}}, server, l, "secret")
	}()
	to := mcp.HTTP("http://"+l.Addr().String()+"/mcp", &mcp.HTTPOptions{Header: http.Header{"Authorization": {"Bearer secret"}}})
	client, err := mcp.Connect(t.Context(), "desk", to, nil)
	must(t, err)
	defer client.Close()
	called := make(chan struct{})
	go func() {
		defer close(called)
		for _, one := range client.Tools() {
			if one.Info().Name == "desk__hang" {
				_, _ = one.Run(t.Context(), pawl.Invocation{Args: json.RawMessage(`{}`)})
			}
		}
	}()
	<-running
	stop()
	must(t, <-served)
	<-called
	for head, err := range j.List(t.Context(), pawl.Query{}) {
		if err != nil || head.Status != pawl.StatusPaused {
			t.Errorf("the run is %v, %v", head.Status, err)
		}
	}
}
