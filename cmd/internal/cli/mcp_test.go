package cli_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/mcp"
)

// The example that buys through another agent's tools does, by a server that is
// this program.
func TestExampleOverMCP(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	database := "--database=sqlite:" + filepath.Join(t.TempDir(), "pawl.db")
	code, out, said := typing(t, t.Context(), strings.NewReader(""), os.Environ(), "run", "../../../examples/specs/buyer.yaml", "--json", database)
	if code != 0 {
		t.Fatalf("exit %d: %s", code, said)
	}
	var r pawl.Result
	if err := json.Unmarshal([]byte(out), &r); err != nil || r.Status != pawl.StatusSuccess || r.ToolCalls != 2 || r.Reason.Leaf != `tool_called("desk__submit_po")` {
		t.Errorf("%v: %s", err, out)
	}
}

// pawl mcp --http says where it is and what the token is, and serves who shows it.
func TestServeMCPOverHTTP(t *testing.T) {
	m, end, err := begin(append(os.Environ(), "PAWL_TOKEN="), regexp.MustCompile(`(?s)token: (\S+)\n.*serving MCP at (http://127\.0\.0\.1:\d+/mcp)\n`),
		"mcp", "../../../examples/specs/procurement.yaml", "--http", "127.0.0.1:0", "--database=sqlite:"+filepath.Join(t.TempDir(), "pawl.db"))
	must(t, err)
	if _, err := mcp.Connect(t.Context(), "desk", mcp.HTTP(m[2], nil), nil); err == nil {
		t.Error("served without the token")
	}
	s, err := mcp.Connect(t.Context(), "desk", mcp.HTTP(m[2], &mcp.HTTPOptions{Header: http.Header{"Authorization": {"Bearer " + m[1]}}}), nil)
	must(t, err)
	for _, tool := range s.Tools() {
		if tool.Info().Name != "desk__search_vendors" {
			continue
		}
		if out, err := tool.Run(t.Context(), pawl.Invocation{Args: json.RawMessage(`{"category":"cloud"}`)}); err != nil || !strings.Contains(string(out.JSON), "v-17") {
			t.Errorf("%s, %v", out.JSON, err)
		}
	}
	s.Close()
	if got, _ := end(); got != 130 {
		t.Errorf("exit %d", got)
	}
}
