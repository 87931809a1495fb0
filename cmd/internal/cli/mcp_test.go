package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/cmd/internal/cli"
	"github.com/pawl-run/pawl/mcp"
)

// The example that buys through another agent's tools does, by a server that is
// this program.
func TestExampleOverMCP(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	database := "--database=sqlite:" + filepath.Join(t.TempDir(), "pawl.db")
	var out, said bytes.Buffer
	if code := cli.Main(t.Context(), []string{"run", "../../../examples/specs/buyer.yaml", "--json", database}, strings.NewReader(""), &out, &said, os.Environ()); code != 0 {
		t.Fatalf("exit %d: %s", code, &said)
	}
	var r pawl.Result
	if err := json.Unmarshal(out.Bytes(), &r); err != nil || r.Status != pawl.StatusSuccess || r.ToolCalls != 2 || r.Reason.Leaf != `tool_called("desk__submit_po")` {
		t.Errorf("%v: %s", err, &out)
	}
}

// pawl mcp --http says where it is and what the token is, and serves who shows it.
func TestServeMCPOverHTTP(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	said, writer := io.Pipe()
	code := make(chan int, 1)
	go func() {
		environ := append(os.Environ(), "PAWL_TOKEN=")
		args := []string{"mcp", "../../../examples/specs/procurement.yaml", "--http", "127.0.0.1:0", "--database=sqlite:" + filepath.Join(t.TempDir(), "pawl.db")}
		code <- cli.Main(ctx, args, strings.NewReader(""), io.Discard, writer, environ)
		writer.Close()
	}()
	var text strings.Builder
	found := regexp.MustCompile(`(?s)token: (\S+)\n.*serving MCP at (http://127\.0\.0\.1:\d+/mcp)\n`)
	buf := make([]byte, 4096)
	for !found.MatchString(text.String()) {
		n, err := said.Read(buf)
		if text.Write(buf[:n]); err != nil {
			t.Fatalf("it said %s", &text)
		}
	}
	go io.Copy(io.Discard, said) // nobody reads on
	m := found.FindStringSubmatch(text.String())
	if _, err := mcp.Connect(ctx, "desk", mcp.HTTP(m[2], nil), nil); err == nil {
		t.Error("served without the token")
	}
	s, err := mcp.Connect(ctx, "desk", mcp.HTTP(m[2], &mcp.HTTPOptions{Header: http.Header{"Authorization": {"Bearer " + m[1]}}}), nil)
	must(t, err)
	for _, tool := range s.Tools() {
		if tool.Info().Name != "desk__search_vendors" {
			continue
		}
		if out, err := tool.Run(ctx, pawl.Invocation{Args: json.RawMessage(`{"category":"cloud"}`)}); err != nil || !strings.Contains(string(out.JSON), "v-17") {
			t.Errorf("%s, %v", out.JSON, err)
		}
	}
	s.Close()
	stop()
	if got := <-code; got != 130 {
		t.Errorf("exit %d", got)
	}
}
