package spec

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
)

// What a spec says of guards and hooks is in the agent, or there for the engine.
func TestGuardAndHooks(t *testing.T) {
	_, a := parseAgent(t, t.TempDir(), least+`guard: {pii: redact, secrets: block, topics: [a b, c]}
hooks: [{log: {format: json}}, retry, steer]
`, nil)
	m, err := pawl.NewMachine(a)
	must(t, err)
	got := m.Declaration().Policies
	if diff := cmp.Diff(`guard(pii: redact, secrets: block, topics("a b", "c"): block)`, got[0]); diff != "" {
		t.Error(diff)
	}
	if f, ok := a.Policies[0].(interface{ Filter(string) string }); !ok || f.Filter("a@b.de") != "[redacted email]" {
		t.Errorf("%T does not redact", a.Policies[0])
	}
	_, a = parseAgent(t, t.TempDir(), least+"topics: {deny: [a b], then: retry}\n", nil)
	if m, err = pawl.NewMachine(a); err != nil || m.Declaration().Policies[0] != `guard(topics("a b"): retry)` {
		t.Errorf("%v: %q", err, m.Declaration().Policies)
	}
	s, _ := parseAgent(t, t.TempDir(), least+"hooks: [{log: {format: json}}, retry]\n", nil)
	if h := s.Hooks; len(h) != 2 || h[0].Log == nil || h[0].Log.Format != "json" || h[1].Retry == nil {
		t.Errorf("the hooks are %+v", h)
	}
}

// A source gives what an engine needs, whatever else is wrong with it by now.
func TestNeedsOfASource(t *testing.T) {
	t.Setenv("PAWL_SPEC_TOKEN", "long enough")
	_, a := parseAgent(t, t.TempDir(), least+"env: [PAWL_SPEC_TOKEN]\nhooks: [retry]\n", nil)
	for _, source := range []string{a.Source, strings.Replace(a.Source, "hooks:", "limits: {cost: 1}\\nnonsense: 1\\nhooks:", 1)} {
		secrets, hooks := ReadSource(source).Secrets(), ReadSource(source).Hooks
		if secrets["PAWL_SPEC_TOKEN"] != "long enough" || len(hooks) != 1 {
			t.Errorf("%s needs %v and %v", source, secrets, hooks)
		}
	}
	for _, source := range []string{"", "{}", `{"kind":"spec","document":"["}`} {
		if secrets, hooks := ReadSource(source).Secrets(), ReadSource(source).Hooks; len(secrets)+len(hooks) > 0 {
			t.Errorf("%q needs %v and %v", source, secrets, hooks)
		}
	}
}

// A guard of the data flow that never holds anything is warned of.
func TestDataFlowWithoutTaint(t *testing.T) {
	for tools, warned := range map[string]bool{
		"":                                  true,
		"tools: [{builtin: [read_file]}]\n": true,
		"tools: [{builtin: [read_file], trust: untrusted}]\n":                                        false,
		"tools: [{builtin: [fetch]}]\n":                                                              false,
		"tools: [{builtin: [fetch], trust: trusted}]\n":                                              true,
		"tools: [{name: mail, description: Reads., command: [cat]}]\n":                               true,
		"tools: [{name: mail, description: Reads., command: [cat], trust: untrusted}]\n":             false,
		"tools: [{mcp: {name: files, command: [cat]}}]\n":                                            false,
		"tools: [{mcp: {name: files, command: [cat], trusted: true}}]\n":                             true,
		"tools: [{mcp: {name: files, command: [cat], trusted: true}, trust: untrusted}]\n":           false,
		"tools: [{mcp: {name: files, command: [cat]}, trust: trusted}, {builtin: [search_files]}]\n": true,
		"tools: [{mcp: {name: files, command: [cat]}, trust: trusted}, {builtin: [read_more]}]\n":    false,
	} {
		s, _ := parseAgent(t, t.TempDir(), least+tools+"guard: {data_flow: true}\n", nil)
		got := false
		for _, w := range s.Warnings(nil) {
			got = got || strings.HasPrefix(w.Message, "data_flow holds no call: ")
		}
		if got != warned {
			t.Errorf("%swarned: %v", tools, got)
		}
	}
}

// A tool is warned of that is trusted by default and may return what strangers wrote.
func TestDataFlowThroughTrustedTools(t *testing.T) {
	const save = "{name: save, description: Saves., command: [cat], trust: untrusted}"
	for text, want := range map[string]string{
		"tools: [{builtin: [run_command]}]":                                                                             "run_command can download, ",
		"tools: [{builtin: [run_command], trust: untrusted}]":                                                           "",
		"tools: [{builtin: [run_command], trust: trusted}]":                                                             "",
		"tools: [{builtin: [run_command]}]\ncage: {network: none}":                                                      "",
		"tools: [{builtin: [read_file]}, {builtin: [fetch]}]":                                                           "",
		"tools: [{builtin: [list_files, read_file]}, " + save + "]":                                                     "data_flow trusts what read_file reads, and in an earlier run the untrusted save ",
		"tools: [{builtin: [search_files]}, {mcp: {name: hub, command: [cat]}}]":                                        "data_flow trusts what search_files reads, and in an earlier run the untrusted MCP server hub ",
		"tools: [{builtin: [search_files]}, {mcp: {name: hub, command: [cat], trusted: true}}]":                         "",
		"tools: [{builtin: [read_file]}, {name: look, description: x, command: [cat], trust: untrusted, effect: read}]": "",
		"tools: [{builtin: [read_file]}, " + save + "]\ncage: {files: {read: [.], write: [out]}}":                       "data_flow trusts what read_file reads, ",
		"tools: [{builtin: [read_file]}, " + save + "]\ncage: {files: {read: [.], write: [/tmp]}}":                      "data_flow trusts what read_file reads, ",
		"tools: [{builtin: [read_file]}, " + save + "]\ncage: {files: {read: [.], write: [/var/spool]}}":                "",
		"tools: [{builtin: [read_file]}, " + save + "]\ncage: {files: {read: [.]}}":                                     "",
	} {
		for flow, want := range map[string]string{"": "", "guard: {data_flow: true}\n": want} {
			s, _ := parseAgent(t, t.TempDir(), least+text+"\n"+flow, nil)
			got := ""
			for _, w := range s.Warnings(nil) {
				if strings.Contains(w.Message, "data_flow trusts") {
					got += w.Message
				}
			}
			if !strings.HasPrefix(got, want) || (got == "") != (want == "") {
				t.Errorf("%s\n%s: %q, want %q", text, flow, got, want)
			}
		}
	}
}

// Strict data flow is part of what the run is held to.
func TestStrictDataFlow(t *testing.T) {
	_, a := parseAgent(t, t.TempDir(), least+"tools: [{name: mail, description: Reads., command: [cat], trust: untrusted}]\nguard: {data_flow: strict}\n", nil)
	for _, p := range a.Policies {
		if p.String() == "data_flow(strict)" {
			return
		}
	}
	t.Errorf("the policies are %v", a.Policies)
}
