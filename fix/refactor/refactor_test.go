package refactor_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/fix/refactor"
	"github.com/pawl-run/pawl/internal/testkit/check"
	"github.com/pawl-run/pawl/internal/testkit/modeltest"
	"github.com/pawl-run/pawl/journal/memory"
)

type args = map[string]any

func writes(name, content string) pawl.Call {
	return call("write_file", args{"path": name, "content": content})
}

func edits(name, old, now string) pawl.Call {
	return call("edit_file", args{"path": name, "old": old, "new": now})
}

const (
	code = "package most\n\nimport \"errors\"\n\n// Of returns the largest.\nfunc Of(list []int) (int, error) {\n\tif len(list) == 0 {\n\t\treturn 0, errors.New(\"none\")\n\t} else {\n\t\tm := list[0]\n\t\tfor _, n := range list {\n\t\t\tm = max(m, n)\n\t\t}\n\t\treturn m, nil\n\t}\n}\n\n" +
		"// Least returns the smallest.\nfunc Least(list []int) int {\n\tif len(list) == 0 {\n\t\treturn 0\n\t} else {\n\t\tm := list[0]\n\t\tfor _, n := range list {\n\t\t\tm = min(m, n)\n\t\t}\n\t\treturn m\n\t}\n}\n\nfunc dead() int { return 3 }\n"
	tests = "package most\n\nimport \"testing\"\n\nfunc TestOf(t *testing.T) {\n\tif got, err := Of([]int{1, 3, 2}); got != 3 || err != nil {\n\t\tt.Errorf(\"got %d, want 3\", got)\n\t}\n\tif _, err := Of(nil); err == nil {\n\t\tt.Error(\"no error\")\n\t}\n}\n"
	slow  = "\t} else {\n\t\tm := list[0]\n\t\tfor _, n := range list {\n\t\t\tm = min(m, n)\n\t\t}\n\t\treturn m\n\t}\n}\n"
)

// A model goes wrong in the ways that models do, and each is named. Only what keeps behaviour is a success.
func TestRefactor(t *testing.T) { // Promises: T18.
	check.SkipShort(t, "it runs go test many times")
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "most")
	write(t, dir, map[string]string{"go.mod": "module example.com/most\n\ngo 1.26\n", "most.go": code, "most_test.go": tests})
	var last pawl.Request
	least := func(want string) pawl.Call {
		return writes("least_test.go", "package most\n\nimport \"testing\"\n\nfunc TestLeast(t *testing.T) {\n\tif got := Least([]int{2, 1}); got != 1 {\n\t\tt.Error(got)\n\t}\n\tif got := Least(nil); got != "+want+" {\n\t\tt.Error(got)\n\t}\n}\n")
	}
	shorter := "\t}\n\tm := list[0]\n\tfor _, n := range list {\n\t\tm = min(m, n)\n\t}\n\treturn m\n}\n"
	model := modeltest.Turns(&last,
		[]pawl.Call{
			edits("most_test.go", "got != 3", "got != 4"),
			writes("go.mod", "module example.com/other\n"),
			edits("most.go", "max(m, n)", "max(m, n+1)"),
		},
		[]pawl.Call{edits("most.go", "max(m, n+1)", "max(m, n)"), edits("most.go", "list[0]\n\t\tfor _, n := range list {\n\t\t\tm = max", "list[0]\n\n\t\tfor _, n := range list {\n\t\t\tm = max")},
		[]pawl.Call{edits("most.go", slow, shorter), least("0")},
		[]pawl.Call{edits("most.go", "func Least(list", "func least(list")},
		[]pawl.Call{edits("most.go", "func least(list", "func Least(list")},
		[]pawl.Call{call("finished", args{})},
	)
	r, err := refactor.New(t.Context(), dir, "make it shorter", refactor.Metric{Name: refactor.Lines}, model, &refactor.Options{StateDir: t.TempDir(), Env: []string{"GOFLAGS=-vet=off -trimpath", "GOWORK=off"}})
	must(t, err)
	defer r.Close()
	if c, err := r.Check(t.Context(), nil); err != nil || c.Passed != 1 {
		t.Fatalf("before: %+v, %v", c, err)
	}
	run, err := engine.New(memory.New(), nil).Start(t.Context(), r.Agent(), r.Input(), nil)
	must(t, err)
	result, err := run.Wait(t.Context())
	said := conversation(last)
	if err != nil || result.Status != pawl.StatusSuccess {
		t.Fatalf("%v, %v: %s\n%s", result.Status, err, result.Verdict.Detail, said)
	}
	for _, want := range []string{
		"- a change towards the goal\n",
		"most_test.go loses the declaration func TestOf",
		"go.mod decides which tests run",
		"- example.com/most.TestOf passed before and does not pass now\n",
		"- lines of code must become less: 19 before, 19 now\n",
		"- call finished when the goal is reached\n",
		"- example.com/most [build] fails\n",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("the model was not told %q:\n%s", want, said)
		}
	}
	out, err := r.Finish(t.Context(), result.Status)
	must(t, err)
	d := out.Diff
	must(t, r.Apply(d))
	want := strings.Replace(strings.Replace(code, slow, shorter, 1), "list[0]\n\t\tfor _, n := range list {\n\t\t\tm = max", "list[0]\n\n\t\tfor _, n := range list {\n\t\t\tm = max", 1)
	got, err := os.ReadFile(filepath.Join(dir, "most.go"))
	if diff := cmp.Diff(want, string(got)); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	facts := refactor.Facts{Metric: refactor.Measured{Name: "lines", Before: 19, After: new(18.0)}, Tests: []string{"least_test.go"}}
	if diff := cmp.Diff(any(facts), out.Facts); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
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
	for name, c := range map[string]struct {
		dir, goal string
		metric    refactor.Metric
		o         refactor.Options
		want      string
	}{
		"no goal":        {dir, " ", refactor.Metric{}, refactor.Options{}, "the goal is empty"},
		"unknown metric": {dir, "tidy up", refactor.Metric{Name: "beauty"}, refactor.Options{}, `there is no metric "beauty"`},
		"no command":     {dir, "tidy up", refactor.Metric{Name: refactor.Command}, refactor.Options{}, "names no command"},
		"not Go":         {python, "tidy up", refactor.Metric{Name: refactor.Complexity}, refactor.Options{Test: []string{"env", "pytest"}}, "complexity is for Go"},
		"no names":       {dir, "tidy up", refactor.Metric{}, refactor.Options{Test: []string{"/bin/sh"}}, "have no names"},
		"no variable":    {dir, "tidy up", refactor.Metric{}, refactor.Options{Test: []string{"go", "test"}, Env: []string{"=x"}}, "is not the name of a variable"},
	} {
		c.o.StateDir = t.TempDir()
		_, err := refactor.New(t.Context(), c.dir, c.goal, c.metric, modeltest.Turns(nil), &c.o)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

var must, write, call = check.Must, check.Write, modeltest.Call
