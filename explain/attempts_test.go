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
  - {text: Trying a few., calls: [{tool: try_edits, args: {edits: []}}, {tool: search, args: {q: A}}]}
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
	try := tool("try_edits", pawl.Read, func(context.Context, map[string]any) (string, error) {
		return `{"summary":"12 edits tried, none fixes anything.","still_fail":[1,2,4],"do_not_end":[3],"do_not_compile":[{"edit":5}],"runs":3}`, nil
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

// The work of a program of rules is told in trials: its tokens only count its calls.
func TestRulesCostTrials(t *testing.T) {
	log := inLab(t, func(l *lab) []pawl.Entry { return l.run(mender(l), "go") })
	for i, e := range log {
		if begun, ok := e.Event.(pawl.RunStarted); ok {
			begun.Declaration.Model.Name = "mechanic"
			log[i].Event = begun
		}
	}
	r, err := explain.Of(sequence(log), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := r.Used(), "5 edits tried in 3 test runs"; !strings.Contains(got, want) || strings.Contains(got, "token") {
		t.Errorf("it used %q, want %q in it", got, want)
	}
	if text := r.Markdown(); !strings.Contains(text, "asks nobody and costs nothing: 5 edits tried in 3 test runs.") || strings.Contains(text, "token") || strings.Contains(text, "$0") {
		t.Errorf("it says\n%s", text)
	}
}

// What a refactoring by rules lacks is a test, and it tries no edits.
func TestRulesLackTest(t *testing.T) {
	for result, want := range map[string]string{
		`{"changed":[],"left":["a.go:3: x (no test executes it)"],"untested":["a.go:4"]}`: "pawl refactor 'early return' /home/ann/it",
		`{"changed":["b.go:1: x"],"left":["a.go:3: x"],"untested":["a.go:4"]}`:            "pawl resume",
		`{"changed":[],"left":["a.go:3: x (TestA fails)"]}`:                               "pawl resume",
	} {
		log := inLab(t, func(l *lab) []pawl.Entry {
			a := mender(l)
			a.Model = scripted(l.t, "repeat: last\nreplies: [{calls: [{tool: refactor_by_rules, args: {}}]}, {text: That is all.}]")
			a.Tools = []pawl.Tool{tool("refactor_by_rules", pawl.Write, func(context.Context, map[string]any) (string, error) { return result, nil })}
			a.Source = `{"kind":"refactor","goal":"early return","dir":"/home/ann/it"}`
			return l.run(a, "go")
		})
		for i, e := range log {
			if begun, ok := e.Event.(pawl.RunStarted); ok {
				begun.Declaration.Model.Name = "mechanic"
				log[i].Event = begun
			}
		}
		r, err := explain.Of(sequence(log), nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Next) == 0 || !strings.HasPrefix(r.Next[0].Command, want) || strings.HasPrefix(want, "pawl refactor") != strings.HasSuffix(r.Next[0].Why, "a test that executes a.go:4") {
			t.Errorf("%s is %v: next is %v, want %s first", result, r.Status, r.Next, want)
		}
		if text := r.Used() + r.Markdown(); strings.Contains(text, "tried") {
			t.Errorf("it used %s", text)
		}
	}
}
