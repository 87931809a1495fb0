package gotest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// run makes the report of one package m from its tests' verdicts.
func run(tests map[string]Status) Report {
	r := Report{Packages: []Package{{Path: "m", Status: StatusPass}}}
	p := &r.Packages[0]
	for name, s := range tests {
		p.Tests = append(p.Tests, Test{name, s})
		if s == StatusFail {
			p.Status = StatusFail
			r.Failures = append(r.Failures, Failure{ID: testID("m", name), Package: "m", Test: name, Kind: KindTest})
		}
	}
	return r
}

func unbuilt() Report {
	return Report{
		Packages: []Package{{Path: "m", Status: StatusFail, FailedBuild: "dep"}},
		Failures: []Failure{{ID: "dep [build]", Package: "dep", Kind: KindBuild}},
	}
}

func TestCompare(t *testing.T) {
	const pass, fail, skip, unfinished = StatusPass, StatusFail, StatusSkip, StatusUnfinished
	type m = map[string]Status
	tests := []struct {
		name          string
		before, after Report
		want          Delta
	}{
		{"fixed", run(m{"A": fail, "B": pass}), run(m{"A": pass, "B": pass}), Delta{Fixed: []string{"m.A"}}},
		{"fixing one and breaking another", run(m{"A": fail, "B": pass}), run(m{"A": pass, "B": fail}), Delta{Fixed: []string{"m.A"}, Broken: []string{"m.B"}}},
		{"still", run(m{"A": fail}), run(m{"A": fail}), Delta{Still: []string{"m.A"}}},
		{"removed is not fixed", run(m{"A": fail, "B": pass}), run(m{"B": pass}), Delta{Still: []string{"m.A"}}},
		{"skipped is not fixed", run(m{"A": fail}), run(m{"A": skip}), Delta{Still: []string{"m.A"}}},
		{"not reached is not fixed", run(m{"A": fail, "B": fail}), run(m{"A": fail, "B": unfinished}), Delta{Still: []string{"m.A", "m.B"}}},
		{"passed and then not reached", run(m{"A": fail, "B": pass}), run(m{"A": fail, "B": unfinished}), Delta{Still: []string{"m.A"}, Hidden: []string{"m.B"}}},
		{"passed and then skipped", run(m{"A": pass}), run(m{"A": skip}), Delta{Hidden: []string{"m.A"}}},
		{"now compiles", unbuilt(), run(m{"A": fail, "B": pass}), Delta{Fixed: []string{"dep [build]"}, Revealed: []string{"m.A"}}},
		{"no longer compiles", run(m{"A": fail, "B": pass}), unbuilt(), Delta{Broken: []string{"dep [build]"}, Still: []string{"m.A"}, Hidden: []string{"m.B"}}},
		{"subtests named by their values", run(m{"A/1": fail, "C": pass, "C/2": pass}), run(m{"A": pass, "A/2": pass, "C": pass, "C/3": pass}), Delta{Fixed: []string{"m.A/1"}}},
		{"a subtest that its parent did not reach", run(m{"A": fail}), run(m{"A/1": fail}), Delta{Still: []string{"m.A"}, Revealed: []string{"m.A/1"}}},
		{"a new case of a table that passed", run(m{"A": pass}), run(m{"A/1": fail}), Delta{Broken: []string{"m.A/1"}, Hidden: []string{"m.A"}}},
		{"the later run was of another package", run(m{"A": fail, "B": pass}), Report{Packages: []Package{{Path: "n", Status: pass}}}, Delta{Still: []string{"m.A"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := Compare(tt.before, tt.after)
			if diff := cmp.Diff(tt.want, d); diff != "" {
				t.Errorf("delta (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWithout(t *testing.T) {
	r := Report{Passed: 1, Failed: 2, Packages: []Package{{Path: "m"}}, Failures: []Failure{{ID: "m.A"}, {ID: "m.B"}}}
	if got := r.Without([]string{"m.A", "m.C"}); got.Failed != 1 || got.Skipped != 1 || got.OK || got.Failures[0].ID != "m.B" {
		t.Errorf("without m.A: %+v", got)
	}
	if got := r.Without([]string{"m.A", "m.B"}); !got.OK || got.Failed != 0 {
		t.Errorf("without both: %+v, want it OK", got)
	}
	if len(r.Failures) != 2 {
		t.Error("the report itself was changed")
	}
}

func TestJoin(t *testing.T) {
	report := func(s Status) Report {
		return Report{Packages: []Package{{Path: "a.py", Join: "::", Tests: []Test{{"x", s}}}}}
	}
	d := Compare(report(StatusPass), report(StatusSkip))
	if len(d.Hidden) != 1 || d.Hidden[0] != "a.py::x" {
		t.Errorf("hidden %q, want a.py::x", d.Hidden)
	}
}
