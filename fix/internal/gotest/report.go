// Package gotest reads what go test -json prints and says which tests fail, by
// identity, so that two runs can be compared. It understands build failures,
// panics that take a whole package down, time-outs, data races and streams cut
// short; it runs nothing itself.
//
// The event format is that of cmd/test2json and, for builds, of go help
// buildjson, as of Go 1.26.
package gotest

import (
	"slices"
	"strconv"
	"strings"
)

// Report is the outcome of one run of go test. The zero Report is that of no
// run at all: it is not OK.
type Report struct {
	Passed   int       `json:"passed"`             // tests without subtests: a table of ten cases counts ten
	Failed   int       `json:"failed"`             // failures
	Skipped  int       `json:"skipped"`            // tests, as Passed
	Failures []Failure `json:"failures,omitempty"` // one for each identity, sorted by ID
	Packages []Package `json:"packages,omitempty"` // all that the stream mentions, sorted by path
	OK       bool      `json:"ok"`                 // there was at least one package and nothing failed
}

// Failure is one thing that fails.
type Failure struct {
	// ID stays the same from run to run: "import/path.TestName/sub" for a
	// test, "import/path [build]" (or [panic], [timeout], [race], [setup],
	// [unfinished]) for what concerns a package as a whole, and "[setup]" when
	// the go command never got as far as a package.
	ID      string `json:"id"`
	Package string `json:"package,omitempty"`
	Test    string `json:"test,omitempty"`
	Kind    Kind   `json:"kind"`
	// Output is what the test itself printed, without progress lines, frames of the
	// runtime and addresses; at most about 8 kB, truncated in the middle.
	Output string `json:"output,omitempty"`
	// Locations are the places that Output names, in its order, at most 20.
	Locations []Location `json:"at,omitempty"`
}

// Location is a line of a source file. File is a slash path relative to the module's
// directory if the module's path is known (see Parse); otherwise it is as in the stream,
// often a base name. Line counts from one.
type Location struct {
	File string `json:"file"`
	Line int    `json:"line"`
}

// String returns file:line.
func (l Location) String() string { return l.File + ":" + strconv.Itoa(l.Line) }

// Package is what became of one package.
type Package struct {
	Path   string `json:"path"`
	Status Status `json:"status"`
	// Join separates Path and a test's name in identities; empty means a dot. Reports of
	// other runners use their own separator.
	Join string `json:"join,omitempty"`
	// FailedBuild names the package that did not compile when that is why
	// this one could not run; it is often another package.
	FailedBuild string `json:"failed_build,omitempty"`
	// Tests lists all tests and subtests of the stream, sorted by name.
	Tests []Test `json:"tests,omitempty"`
}

// Test is what became of one test. Status is Unfinished when the package died
// or the stream ended before the test's verdict.
type Test struct {
	Name   string `json:"name"`
	Status Status `json:"status"`
}

// Open returns the sorted identities of what fails: two runs are in the same
// state when their Open sets are equal.
func (r Report) Open() []string {
	ids := make([]string, len(r.Failures))
	for i, f := range r.Failures {
		ids[i] = f.ID
	}
	slices.Sort(ids)
	return ids
}

// ID returns the identity of one of the package's tests.
func (p Package) ID(test string) string {
	if p.Join == "" {
		return testID(p.Path, test)
	}
	return p.Path + p.Join + test
}

// Without returns the report with some failures left out, as if their tests
// had been skipped.
func (r Report) Without(ids []string) Report {
	kept := make([]Failure, 0, len(r.Failures))
	for _, f := range r.Failures {
		if !slices.Contains(ids, f.ID) {
			kept = append(kept, f)
		}
	}
	r.Skipped += len(r.Failures) - len(kept)
	r.Failures, r.Failed = kept, len(kept)
	r.OK = len(r.Packages) > 0 && len(kept) == 0
	return r
}

// Passes reports whether a test passed.
func (r Report) Passes(id string) bool {
	return slices.ContainsFunc(r.Packages, func(p Package) bool {
		return slices.ContainsFunc(p.Tests, func(t Test) bool { return t.Status == StatusPass && p.ID(t.Name) == id })
	})
}

func testID(pkg, test string) string { return pkg + "." + test }

func packageID(pkg string, k Kind) string {
	return strings.TrimSpace(pkg + " [" + string(k) + "]")
}
