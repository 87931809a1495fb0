package spec

import (
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
)

// TestRemoteAgents holds what a spec may say of an agent of another server, and what it comes to.
func TestRemoteAgents(t *testing.T) {
	parsed := func(tools string) (*Spec, error) {
		return Parse("house.yaml", []byte("name: house\nmodel: script:x.yaml\ntools:\n"+tools), nil)
	}
	for tools, want := range map[string]string{
		"  - {a2a: {}}\n":                                                                              "url",
		"  - a2a: https://agents.example.org\n":                                                        "a2a",
		"  - {a2a: {url: http://agents.example.org}}\n":                                                "4:17: url cannot be used (write https; http is for this machine)",
		"  - {a2a: {url: \"https://me:secret@agents.example.org\"}}\n":                                 "leave the name and password out",
		"  - {a2a: {url: https://a.example.org, tokn: X}}\n":                                           "token",
		"  - {a2a: {url: https://a.example.org}, name: 'a b'}\n":                                       "tool name \"a b\"",
		"  - {a2a: {url: https://a.example.org}, name: b}\n  - {a2a: {url: https://b.org}, name: b}\n": "another tool b in line 4",
		"  - {a2a: {url: https://a.example.org, timeout: soon}}\n":                                     "timeout",
	} {
		if _, err := parsed(tools); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", tools, err, want)
		}
	}
	t.Setenv("THEIRS", "a-long-secret-token")
	s, err := parsed("  - {a2a: {url: \"https://a.example.org/a2a/agents/billing\", token: THEIRS}}\n  - {a2a: {url: https://b.example.org, trusted: true}, effect: read}\n")
	must(t, err)
	if s.Secrets()["THEIRS"] == "" {
		t.Error("the token is no secret")
	}
	var infos []pawl.ToolInfo
	for _, made := range s.made(ofServer) {
		m, err := pawl.NewMachine(pawl.Agent{Name: "a", Model: standIn{}, Tools: []pawl.Tool{made}})
		must(t, err)
		infos = append(infos, m.Declaration().Tools...)
	}
	for i, want := range []pawl.ToolInfo{
		{Name: "billing", Effect: pawl.Write, Trust: pawl.Untrusted, Agent: "billing"}, {Name: "ask_b_example_org", Effect: pawl.Read, Agent: "ask-b-example-org"},
	} {
		if got := infos[i]; got.Name != want.Name || got.Effect != want.Effect || got.Agent != want.Agent || (got.Trust == pawl.Untrusted) != (want.Trust == pawl.Untrusted) || !strings.Contains(got.Description, ".example.org") {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}
