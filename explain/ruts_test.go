package explain_test

import (
	"context"
	"fmt"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/progress"
)

// ruts are the runs that got stuck, one in each of the ways there are.
var ruts = []scene{
	{"stuck-cycle", pawl.StatusNoProgress, func(l *lab) []pawl.Entry {
		a := one(l, "{text: x}", tool("list_files", pawl.Read, instant), tool("read_file", pawl.Read, instant))
		a.Model = scripted(l.t, "repeat: last\nreplies:"+both+both+both)
		a.Policies = []pawl.Policy{progress.NoProgress(2, 0, "")}
		return l.run(a, "Find it.")
	}, nil},
	{"stuck-same-fault", pawl.StatusNoProgress, func(l *lab) []pawl.Entry {
		a := one(l, `{calls: [{tool: edit_file, args: {old: "text {{turn}}"}}]}`, tool("edit_file", pawl.Write, func(_ context.Context, args map[string]any) (string, error) {
			return "", fmt.Errorf("a.go: %q is not in the file", args["old"])
		}))
		a.Limits.ToolErrors = 10
		return l.run(a, "Fix it.")
	}, nil},
	{"stuck-monologue", pawl.StatusNoProgress, func(l *lab) []pawl.Entry {
		a := one(l, `{text: It is done.}`, pay())
		a.Goal = course(pawl.Measured{Value: 2, Open: []string{"TestA", "TestB"}})
		return l.run(a, "Make the tests pass.")
	}, nil},
	{"stuck-same-thought", pawl.StatusNoProgress, func(l *lab) []pawl.Entry {
		return l.run(one(l, `{text: I should search once more., calls: [{tool: look, args: {q: "{{turn}}"}}]}`, tool("look", pawl.Read, instant)), "Find it.")
	}, nil},
	{"stuck-metric-worse", pawl.StatusNoProgress, func(l *lab) []pawl.Entry {
		a := one(l, `{text: "Number {{turn}}.", calls: [{tool: edit_file, args: {path: "{{turn}}.go", content: x}}]}`, tool("edit_file", pawl.Write, instant))
		var ids []string
		var all []pawl.Measured
		for i := range 5 {
			ids = append(ids, fmt.Sprintf("Test%c", 'A'+i))
			all = append(all, pawl.Measured{Value: float64(i + 1), Open: ids[: i+1 : i+1]})
		}
		a.Goal = course(all...)
		return l.run(a, "Make the tests pass.")
	}, nil},
	{"stuck-metric-flat", pawl.StatusNoProgress, func(l *lab) []pawl.Entry {
		a := one(l, `{text: "Number {{turn}}.", calls: [{tool: edit_file, args: {path: "{{turn}}.go", content: x}}]}`, tool("edit_file", pawl.Write, instant))
		a.Goal = course(pawl.Measured{Value: 90})
		a.Policies = []pawl.Policy{progress.NoProgress(1, 0, "")}
		return l.run(a, "Make it faster.")
	}, nil},
	{"stuck-asked", pawl.StatusWaitingInput, func(l *lab) []pawl.Entry {
		a := one(l, `{calls: [{tool: search, args: {q: it}}]}`, search())
		a.Policies = []pawl.Policy{progress.NoProgress(1, progress.Escalate, "Look elsewhere.")}
		return l.run(a, "Find it.")
	}, nil},
}

const both = `
  - {calls: [{tool: list_files, args: {dir: "."}}]}
  - {calls: [{tool: read_file, args: {path: a.go}}]}`
