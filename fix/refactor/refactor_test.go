package refactor_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/fix/refactor"
	"github.com/pawl-run/pawl/journal/memory"
)

type args = map[string]any

func call(name string, a args) pawl.Call {
	raw, err := json.Marshal(a)
	if err != nil {
		panic(err) // they are strings and numbers
	}
	return pawl.Call{Tool: name, Args: raw}
}

func writes(name, content string) pawl.Call {
	return call("write_file", args{"path": name, "content": content})
}

func edits(name, old, now string) pawl.Call {
	return call("edit_file", args{"path": name, "old": old, "new": now})
}

// scripted is a model that makes the calls of one turn after the other, and then only talks.
func scripted(last *pawl.Request, turns ...[]pawl.Call) pawl.Model {
	return pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
		*last = r
		turn := 0
		for _, m := range r.Messages {
			if m.Role == pawl.RoleAssistant {
				turn++
			}
		}
		if turn < len(turns) {
			return pawl.Do(turns[turn]...), nil
		}
		return pawl.Say("I found nothing."), nil
	})
}

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

const (
	code = "package most\n\nimport \"errors\"\n\n// Of returns the largest.\nfunc Of(list []int) (int, error) {\n\tif len(list) == 0 {\n\t\treturn 0, errors.New(\"none\")\n\t} else {\n\t\tm := list[0]\n\t\tfor _, n := range list {\n\t\t\tm = max(m, n)\n\t\t}\n\t\treturn m, nil\n\t}\n}\n\n" +
		"// Least returns the smallest.\nfunc Least(list []int) int {\n\tif len(list) == 0 {\n\t\treturn 0\n\t} else {\n\t\tm := list[0]\n\t\tfor _, n := range list {\n\t\t\tm = min(m, n)\n\t\t}\n\t\treturn m\n\t}\n}\n\nfunc dead() int { return 3 }\n"
	tests = "package most\n\nimport \"testing\"\n\nfunc TestOf(t *testing.T) {\n\tif got, err := Of([]int{1, 3, 2}); got != 3 || err != nil {\n\t\tt.Errorf(\"got %d, want 3\", got)\n\t}\n\tif _, err := Of(nil); err == nil {\n\t\tt.Error(\"no error\")\n\t}\n}\n"
	slow  = "\t} else {\n\t\tm := list[0]\n\t\tfor _, n := range list {\n\t\t\tm = min(m, n)\n\t\t}\n\t\treturn m\n\t}\n}\n"
)

// A model goes wrong in the ways that models do, and each is named. Only what keeps behaviour is a success.
func TestRefactor(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs go test many times")
	}
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "most")
	write(t, dir, map[string]string{"go.mod": "module example.com/most\n\ngo 1.26\n", "most.go": code, "most_test.go": tests})
	var last pawl.Request
	least := func(want string) pawl.Call {
		return writes("least_test.go", "package most\n\nimport \"testing\"\n\nfunc TestLeast(t *testing.T) {\n\tif got := Least([]int{2, 1}); got != 1 {\n\t\tt.Error(got)\n\t}\n\tif got := Least(nil); got != "+want+" {\n\t\tt.Error(got)\n\t}\n}\n")
	}
	shorter := "\t}\n\tm := list[0]\n\tfor _, n := range list {\n\t\tm = min(m, n)\n\t}\n\treturn m\n}\n"
	model := scripted(&last,
		[]pawl.Call{
			edits("most_test.go", "got != 3", "got != 4"),
			writes("go.mod", "module example.com/other\n"),
			edits("most.go", "max(m, n)", "max(m, n+1)"),
		},
		[]pawl.Call{call("undo", args{}), edits("most.go", slow, shorter+"\n// More is new.\nfunc More() {}\n")},
		[]pawl.Call{call("undo", args{}), edits("most.go", slow, shorter), edits("most.go", "return 0\n", "return -1\n"), least("-1")},
		[]pawl.Call{edits("most.go", "return -1\n", "return 0\n"), edits("least_test.go", "-1", "0"), edits("most.go", "\nfunc dead() int { return 3 }\n", "")},
		[]pawl.Call{edits("most.go", "func Least(list", "func least(list")},
		[]pawl.Call{call("restore_best", args{})},
		[]pawl.Call{call("finished", args{})},
	)
	r, err := refactor.New(t.Context(), dir, "make it shorter", model, &refactor.Options{StateDir: t.TempDir(), Metric: refactor.Lines, Env: []string{"GOFLAGS=-vet=off", "GOWORK=off"}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if b, err := r.Check(t.Context(), nil); err != nil || b.Passed != 1 || b.Value != 19 {
		t.Fatalf("before: %+v, %v", b, err)
	}
	run, err := engine.New(memory.New(), nil).Start(t.Context(), r.Agent(), r.Input(), nil)
	if err != nil {
		t.Fatal(err)
	}
	result, err := run.Wait(t.Context())
	said := conversation(last)
	if err != nil || result.Status != pawl.StatusSuccess {
		t.Fatalf("%v, %v: %s\n%s", result.Status, err, result.Verdict.Detail, said)
	}
	for _, want := range []string{
		"- a change towards the goal\n",
		"most_test.go has a declaration that this edit removes or changes: func TestOf",
		"go.mod decides which tests run",
		"- example.com/most.TestOf passed before and does not pass now\n",
		"- the exported API changes: example.com/most: More: added\n",
		"- most.go:22,27 (of the file as it was) is changed, and no test executes it",
		"- example.com/most.TestLeast fails on the code as it was, so it does not describe what that did\n",
		"- call finished when the goal is reached\n",
		"- example.com/most [build] fails\n",
		"restored most.go",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("the model was not told %q:\n%s", want, said)
		}
	}
	d, err := r.Diff(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Apply(d); err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(strings.Replace(code, slow, shorter, 1), "\nfunc dead() int { return 3 }\n", "", 1)
	got, err := os.ReadFile(filepath.Join(dir, "most.go"))
	if diff := cmp.Diff(want, string(got)); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if diff := cmp.Diff([]string{"least_test.go"}, d.Tests()); diff != "" {
		t.Errorf("tests (-want +got):\n%s", diff)
	}
}

// conversation is what was said to a model.
func conversation(r pawl.Request) string {
	var said strings.Builder
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			switch p := p.(type) {
			case pawl.Text:
				said.WriteString(p.Text + "\n")
			case pawl.ToolResult:
				said.WriteString(p.Text() + "\n")
			}
		}
	}
	return said.String()
}

func TestRefused(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"go.mod": "module example.com/in\n\ngo 1.26\n", "pytest.ini": ""})
	python := t.TempDir()
	write(t, python, map[string]string{"pytest.ini": ""})
	test := []string{"go", "test"}
	for name, c := range map[string]struct {
		dir, goal string
		model     pawl.Model
		o         refactor.Options
		want      string
	}{
		"no goal":           {dir, " ", refactor.Mechanic(), refactor.Options{}, "the goal is empty"},
		"beyond rules":      {dir, "tidy up", refactor.Mechanic(), refactor.Options{}, "the mechanic knows the goals modernise, early returns"},
		"not Go":            {python, "modernise", refactor.Mechanic(), refactor.Options{Test: []string{"/bin/sh", "pytest"}}, "refactors Go code only"},
		"unknown metric":    {dir, "modernise", refactor.Mechanic(), refactor.Options{Metric: "beauty"}, `there is no metric "beauty"`},
		"no command":        {dir, "modernise", refactor.Mechanic(), refactor.Options{Metric: refactor.Command}, "names no command"},
		"places of nothing": {dir, "tidy up", scripted(nil), refactor.Options{Metric: refactor.Places}, "is for mechanical refactorings of Go code"},
		"not Go either":     {python, "tidy up", scripted(nil), refactor.Options{Metric: refactor.Complexity, Test: []string{"/bin/sh", "pytest"}}, "complexity is for Go"},
		"no names":          {dir, "tidy up", scripted(nil), refactor.Options{Test: []string{"/bin/sh"}}, "have no names"},
		"no variable":       {dir, "modernise", refactor.Mechanic(), refactor.Options{Test: test, Env: []string{"=x"}}, "is not the name of a variable"},
	} {
		c.o.StateDir = t.TempDir()
		_, err := refactor.New(t.Context(), c.dir, c.goal, c.model, &c.o)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}
