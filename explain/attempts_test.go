package explain_test

import (
	"context"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/explain"
)

const fixing = `
replies:
  - {text: Trying., calls: [{tool: edit_file, args: {path: sum.go, old: a, new: b}}]}
  - {calls: [{tool: edit_file, args: {path: sum.go, old: b, new: c}}, {tool: edit_file, args: {path: new.go}}]}
  - {text: It broke another., calls: [{tool: edit_file, args: {path: "a` + "`" + ` # FORGED"}}]}
  - {calls: [{tool: edit_file, args: {path: no}}]}
`

// mender changes files until it meets a limit, and hears each time what the
// tests say.
func mender(l *lab) pawl.Agent {
	edit := func(_ context.Context, args map[string]any) (string, error) {
		if args["path"] == "no" {
			return "", context.DeadlineExceeded
		}
		return `"replaced"`, nil
	}
	a := one(l, `{text: x}`, tool("edit_file", pawl.Write, edit))
	a.Model = scripted(l.t, fixing)
	a.Goal = course(pawl.Measured{Value: -1, Open: []string{"TestA"}}, pawl.Measured{Value: -1, Open: []string{"TestA"}},
		pawl.Measured{Value: -2, Open: []string{"TestA", "TestB"}}, pawl.Measured{Value: -1, Open: []string{"TestB"}}, pawl.Measured{Value: -1, Open: []string{"TestC"}})
	a.Goal.Success = atMost{-9}
	a.Limits.Iterations = 4
	return a
}

// A program of rules costs nothing: its tokens only count its calls.
func TestRulesCostNothing(t *testing.T) {
	log := inLab(t, func(l *lab) []pawl.Entry { return l.run(mender(l), "go") })
	for i, e := range log {
		if begun, ok := e.Event.(pawl.RunStarted); ok {
			begun.Declaration.ModelInfo.Name = "mechanic"
			log[i].Event = begun
		}
	}
	r, err := explain.Of(sequence(log), nil)
	must(t, err)
	if got := r.Used(); strings.Contains(got, "token") {
		t.Errorf("it used %q", got)
	}
	if text := r.Markdown(); !strings.Contains(text, "asks nobody and costs nothing.") || strings.Contains(text, "token") || strings.Contains(text, "$0") {
		t.Errorf("it says\n%s", text)
	}
}
