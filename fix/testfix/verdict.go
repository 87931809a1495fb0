package testfix

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-run/pawl/fix/internal/gotest"
	"github.com/pawl-run/pawl/fix/internal/testrun"
)

// verdict is the result of a run compared with the first one: it is the data of an observation,
// and the basis of the goal's measure.
type verdict struct {
	Passed  int      `json:"passed"`
	Failed  int      `json:"failed"`
	Skipped int      `json:"skipped"`
	Open    []string `json:"open,omitempty"`
	// Gone are those of Open that do not fail but have no verdict any more.
	Gone []string `json:"gone,omitempty"`
	// Cut says which packages ended early, as "m [panic in TestA]". That keeps other tests of the
	// package from running, and such a name hides them, like "m [build]" does. It is left out when
	// all tests of the package had a verdict at first, since those are Gone.
	Cut []string `json:"cut,omitempty"`
	// Flaky are tests that fail by chance: they are never among Open.
	Flaky []string `json:"flaky,omitempty"`
}

// judge names what is open after a run. Unless tests may be edited, a test that had a verdict
// at first must still have one: a test that does not run proves nothing.
func judge(first gotest.Report, now testrun.Result, edits bool) verdict {
	if !now.Named() {
		if now.Exit.Code == 0 && !now.Exit.Killed || len(now.Flaky) > 0 {
			return verdict{}
		}
		return verdict{Failed: 1, Open: []string{testrun.NoSuccess}}
	}
	r := now.Report
	v := verdict{Passed: r.Passed, Failed: r.Failed, Skipped: r.Skipped, Open: r.Open(), Cut: cut(first, r)}
	if !edits {
		d := gotest.Compare(first, r)
		for _, id := range slices.Concat(d.Still, d.Hidden, gotest.NotRun(first, r)) {
			if !slices.Contains(now.Flaky, id) && !slices.Contains(v.Open, id) && !slices.Contains(v.Gone, id) {
				v.Gone = append(v.Gone, id)
			}
		}
		slices.Sort(v.Gone)
		v.Open = slices.Concat(v.Open, v.Gone)
		slices.Sort(v.Open)
	}
	switch {
	case len(v.Open) > 0:
		return v
	case r.Passed == 0 && len(now.Flaky) == 0:
		v.Open = []string{testrun.NoTests}
	case now.Exit.Code != 0 && len(now.Flaky) == 0:
		v.Open = []string{testrun.NoReason}
	default:
		v.Open = nil
	}
	return v
}

// cut lists the packages that ended early in a test now, and did not run to their end at first.
func cut(first, now gotest.Report) (ids []string) {
	for _, f := range now.Failures {
		if f.Test == "" || f.Kind != gotest.KindPanic && f.Kind != gotest.KindTimeout {
			continue
		}
		whole := slices.ContainsFunc(first.Packages, func(p gotest.Package) bool { return p.Path == f.Package && p.FailedBuild == "" }) &&
			!slices.ContainsFunc(first.Failures, func(x gotest.Failure) bool {
				return x.Package == f.Package && x.Kind != gotest.KindTest && x.Kind != gotest.KindRace
			})
		if !whole {
			ids = append(ids, fmt.Sprintf("%s [%s in %s]", f.Package, f.Kind, f.Test))
		}
	}
	return ids
}

// text is the run for the model: first the counts, then what is open, one line each, then the
// tests' output, as far as it fits.
func (v verdict) text(n testrun.Result) string {
	var b strings.Builder
	if n.Named() {
		b.WriteString(n.Summary(4000))
	} else {
		state := "ok"
		if len(v.Open) > 0 {
			state = "FAIL"
		}
		fmt.Fprintf(&b, "%s: the test command ended with %s.\n", state, n.Exit)
	}
	if len(v.Gone) > 0 {
		b.WriteString("\nThese had a verdict before the first edit and have none now, so they are open too:\n* " +
			strings.ReplaceAll(some(v.Gone, 20), ", ", "\n* ") + "\n")
	}
	for _, id := range v.Cut {
		fmt.Fprintf(&b, "%s ended the package before its later tests. If those fail later, no edit broke them.\n", id)
	}
	if n.Filled {
		b.WriteString("The tests were stopped because they were filling the memory: something does not end.\n")
	}
	if len(v.Flaky) > 0 {
		b.WriteString("No part of the goal, since they passed once and failed once with nothing changed, or fail only in this copy: " + some(v.Flaky, 10) + "\n")
	}
	switch {
	case !n.Named():
		b.WriteString("Its output:\n" + strings.TrimSuffix(n.Output, "\n") + "\n")
	case slices.Equal(v.Open, []string{testrun.NoTests}):
		b.WriteString("No test ran, so nothing is proved.\n")
	case slices.Equal(v.Open, []string{testrun.NoReason}):
		fmt.Fprintf(&b, "No test failed, but the test command ended with %s.\n", n.Exit)
	case slices.ContainsFunc(n.Report.Failures, func(f gotest.Failure) bool { return f.Kind == gotest.KindTimeout }):
		fmt.Fprintf(&b, "The tests of one package may take %v.\n", n.Limit)
	}
	return b.String()
}
