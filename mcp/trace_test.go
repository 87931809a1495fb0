package mcp_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/web"
	"github.com/pawl-run/pawl/mcp"
)

// A server is told of the span that calls it: in the metadata of the call, and by
// HTTP in the header. Without telemetry it is told nothing.
func TestServerIsToldOfTheTrace(t *testing.T) {
	server := sdk.NewServer(&sdk.Implementation{Name: "echo", Version: "1"}, nil)
	sdk.AddTool(server, &sdk.Tool{Name: "echo", Description: "Say what one is told."}, func(_ context.Context, r *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, any, error) {
		return text(fmt.Sprintf("%v %v %v", r.Params.Meta["traceparent"], r.Params.Meta["tracestate"], r.Extra.Header.Get("Traceparent"))), nil, nil
	})
	remote := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil))
	defer remote.Config.Close()
	s, err := mcp.Connect(t.Context(), "web", mcp.HTTP(remote.URL, nil), nil)
	must(t, err)
	const id = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	within := web.WithParent(t.Context(), web.Parent{ID: id, State: "a=b"})
	for _, c := range []struct {
		ctx  context.Context
		want string
	}{{within, `"` + id + " a=b " + id + `"`}, {t.Context(), `"<nil> <nil> "`}} {
		out, err := pick(t, s, "web__echo").Run(c.ctx, pawl.Invocation{Run: "r", Call: "c", Tool: "web__echo", Key: "key"})
		if err != nil || string(out.JSON) != c.want {
			t.Errorf("it is told %s, %v; want %s", out.JSON, err, c.want)
		}
	}
}
