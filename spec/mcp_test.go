package spec

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
)

const withServers = `name: a
model: mechanic
prompt: p
env: [HOME]
tools:
  - {mcp: {name: files, command: [./serve.sh, -v], trusted: true}, allow: [read, write], timeout: 5s, max_output: 2KB, approval: required}
  - {mcp: {name: web, url: https://example.org/mcp, token: WEB_TOKEN}}
stop: tool_called("web__search")
`

func TestOpen(t *testing.T) {
	t.Setenv("WEB_TOKEN", "a token of the web")
	var asked []MCPServer
	ended := ""
	registry := &Registry{Models: registry().Models, MCP: func(_ context.Context, s MCPServer) ([]pawl.Tool, func() error, error) {
		asked = append(asked, s)
		tools := []pawl.Tool{absent{pawl.ToolInfo{Name: s.Name + "__search", Description: "d"}}}
		return tools, func() error { ended += s.Name + " "; return nil }, nil
	}}
	s, err := Parse("/dir/spec.yaml", []byte(withServers), &Options{Registry: registry})
	if err != nil || asked != nil {
		t.Fatalf("%v; asked for %v before it was opened", err, asked)
	}
	a, end, err := s.Open(t.Context(), registry)
	must(t, err)
	var got []string
	for _, m := range asked {
		got = append(got, fmt.Sprintf("%s %q %s %q %v %q %v %d %q %s %s", m.Name, m.Command, m.Dir, m.Env, m.Trusted, m.Allow, m.Timeout, m.MaxOutput, m.Identity, m.URL, m.Token))
	}
	want := []string{
		`files ["/dir/serve.sh" "-v"] /dir ["HOME"] true ["read" "write"] 5s 2048 "./serve.sh\x00-v\x00"  `,
		`web [] /dir ["HOME"] false [] 0s 0 "https://example.org/mcp" https://example.org/mcp WEB_TOKEN`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := names(a); got != "files__search web__search" {
		t.Errorf("tools %s", got)
	}
	if policies := a.Policies[0].String(); !strings.Contains(policies, `"files__*"`) {
		t.Errorf("gate %s", policies)
	}
	if s.Secrets()["WEB_TOKEN"] != "a token of the web" {
		t.Error("the token is no secret")
	}
	if err := end(); err != nil || ended != "web files " {
		t.Errorf("ended %s, %v", ended, err)
	}
	// A run is looked at again with the tools it had.
	as, err := s.AgentAs(registry, pawl.Declaration{Tools: []pawl.ToolInfo{{Name: "web__search", Description: "then"}, {Name: "files__x", Description: "d"}}})
	if err != nil || names(as) != "files__x web__search" || as.Tools[1].Info().Description != "then" {
		t.Errorf("%v, %s", err, names(as))
	}
	if _, err := as.Tools[0].Run(t.Context(), pawl.Invocation{}); err == nil {
		t.Error("a tool that is not there was run")
	}
}

func names(a pawl.Agent) string {
	var all []string
	for _, tool := range a.Tools {
		all = append(all, tool.Info().Name)
	}
	return strings.Join(all, " ")
}

// What begins is ended again when what comes after fails.
func TestOpenFails(t *testing.T) {
	ended := 0
	failing := func(fail string, tool string) *Registry {
		return &Registry{Models: registry().Models, MCP: func(_ context.Context, s MCPServer) ([]pawl.Tool, func() error, error) {
			if s.Name == fail {
				return nil, nil, errors.New("it is down")
			}
			return []pawl.Tool{absent{pawl.ToolInfo{Name: s.Name + tool, Description: "d"}}}, func() error { ended++; return nil }, nil
		}}
	}
	s, err := Parse("/dir/spec.yaml", []byte(withServers), nil)
	must(t, err)
	for _, tt := range []struct {
		registry *Registry
		want     string
		ended    int
	}{
		{&Registry{Models: registry().Models}, "spec.yaml:6:11: this program connects to no MCP servers", 0},
		{failing("web", "__x"), "it is down", 1},
		{failing("", "__serch"), `the agent has no tool web__search (did you mean web__serch?)`, 2},
	} {
		ended = 0
		_, _, err := s.Open(t.Context(), tt.registry)
		if err == nil || !strings.Contains(err.Error(), tt.want) || ended != tt.ended {
			t.Errorf("%v, %d ended; want %s, %d", err, ended, tt.want, tt.ended)
		}
	}
}
