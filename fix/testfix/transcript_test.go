package testfix_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/fix/testfix"
	"github.com/pawl-run/pawl/internal/testkit/check"
	"github.com/pawl-run/pawl/journal/memory"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files again")

// All that a model reads stands in one file, to be read as a model reads it:
// what it is asked to do, its tools, and each answer and observation of a run in
// which it goes wrong in the ways that models do.
func TestTranscript(t *testing.T) {
	check.SkipShort(t, "it runs go test half a dozen times")
	t.Parallel()
	var last pawl.Request
	turns := [][]pawl.Call{
		{call("list_files", args{}), call("read_file", args{"path": "interval.go", "start": 1, "end": 12, "numbers": true}),
			call("search_files", args{"pattern": "func .*Merge"}), call("run_tests", args{"run": "^TestMerge$"})},
		{call("edit_file", args{"path": "interval.go", "old": "last := merged[len(merged)-1]", "new": "x"}),
			call("edit_file", args{"path": "interval_test.go", "old": "package", "new": "package "}),
			call("write_file", args{"path": "more_test.go", "content": "package interval\n"}),
			call("read_file", args{"path": "/etc/passwd"})},
		nil, // it claims to be done
		{call("edit_file", args{"path": "interval.go", "old": "return merged", "new": "return nil"})},
		{call("git_diff", args{}), call("edit_file", args{"path": "interval.go", "old": "return nil", "new": "return merged"})},
		nil, nil,
	}
	model := pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
		last = r
		turn := 0
		for _, m := range r.Messages {
			if m.Role == pawl.RoleAssistant {
				turn++
			}
		}
		if calls := turns[min(turn, len(turns)-1)]; calls != nil {
			return pawl.Do(calls...), nil
		}
		return pawl.Say("All tests pass now."), nil
	})
	f := open(t, project(t, "interval"), model, &testfix.Options{})
	agent := f.Agent()
	run, err := engine.New(memory.New(), nil).Start(t.Context(), agent, f.Input(), nil)
	must(t, err)
	_, err = run.Wait(t.Context())
	must(t, err)
	var b strings.Builder
	fmt.Fprintf(&b, "== prompt\n%s\n", last.System)
	for _, info := range last.Tools {
		fmt.Fprintf(&b, "\n== tool %s (%v)\n%s\n", info.Name, info.Effect, info.Description)
		var schema struct {
			Properties map[string]struct{ Description string }
		}
		must(t, json.Unmarshal(info.Input, &schema))
		for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
			fmt.Fprintf(&b, "  %s: %s\n", name, schema.Properties[name].Description)
		}
	}
	for _, m := range last.Messages {
		for _, p := range m.Parts {
			switch p := p.(type) {
			case pawl.Text:
				fmt.Fprintf(&b, "\n== %v\n%s\n", m.Role, p.Text)
			case pawl.Call:
				fmt.Fprintf(&b, "\n== %v calls %s %s\n", m.Role, p.Tool, p.Args)
			case pawl.ToolResult:
				fmt.Fprintf(&b, "\n== result of %s\n%s\n", p.Call, p.Text())
			}
		}
	}
	golden := filepath.Join("testdata", "transcript.txt")
	if *rewrite {
		must(t, os.MkdirAll("testdata", 0o755))
		must(t, os.WriteFile(golden, []byte(b.String()), 0o644))
	}
	want, err := os.ReadFile(golden)
	must(t, err)
	if d := cmp.Diff(string(want), b.String()); d != "" {
		t.Errorf("the transcript differs (-want +got); go test -rewrite writes it again:\n%s", d)
	}
}
