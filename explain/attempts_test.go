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
  - {text: Trying a few., calls: [{tool: repair, args: {}}, {tool: search, args: {q: A}}]}
  - {calls: [{tool: edit_file, args: {path: sum.go, old: "func Of() {\n\treturn a - b\n}", new: "func Of() {\n\treturn a * b\n}"}}]}
  - {text: It broke another., calls: [{tool: edit_file, args: {path: sum.go, old: return a * b, new: "if a == b {\n\tpanic(a)\n}\nreturn a + b"}}, {tool: write_file, args: {path: new.go, content: "package sum\n"}}]}
  - {calls: [{tool: edit_file, args: {path: "a` + "`" + ` # FORGED", old: x, new: ""}}]}
  - {calls: [{tool: edit_file, args: {path: no, old: x, new: ""}}]}
  - {calls: [{tool: edit_file, args: {path: last.go, old: x, new: y}}]}
`

// mender changes files until it meets a limit, and hears each time what the
// tests say.
func mender(l *lab) pawl.Agent {
	a := one(l, `{text: x}`)
	a.Model = scripted(l.t, fixing)
	edit := tool("edit_file", pawl.Write, func(_ context.Context, args map[string]any) (string, error) {
		if args["path"] == "no" {
			return "", context.DeadlineExceeded
		}
		return `"replaced"`, nil
	})
	try := tool("repair", pawl.Idempotent, func(context.Context, map[string]any) (string, error) {
		return `{"summary":"12 edits tried, none fixes anything.","tried":12}`, nil
	})
	a.Tools = []pawl.Tool{search(), edit, try, tool("write_file", pawl.Write, instant)}
	a.Observer = func(context.Context) (pawl.Observation, error) {
		return pawl.Observation{Text: "the tests ran", Data: []byte(`{"flaky":["TestSometimes"]}`)}, nil
	}
	a.Goal = course(pawl.Measured{Value: -1, Open: []string{"TestA"}}, pawl.Measured{Value: -1, Open: []string{"TestA"}},
		pawl.Measured{Value: -2, Open: []string{"TestA", "TestB"}}, pawl.Measured{Value: -1, Open: []string{"TestB"}}, pawl.Measured{Value: -1, Open: []string{"TestC"}})
	a.Goal.Success = atMost{-9}
	a.Limits.Iterations = 6
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
