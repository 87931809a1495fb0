// Package junit reads the XML that test runners write for continuous integration, in pytest's
// form, and returns the verdict of each test. It runs nothing itself.
//
// This format has no standard. The package reads what pytest documents under --junitxml, with
// junit_family=xunit1 for the attributes file and line; it also understands files of other
// runners that have testcase elements with a classname and a name.
package junit

import (
	"fmt"

	"github.com/pawl-run/pawl/internal/names"
)

// Report is the outcome of one run.
type Report struct {
	// Cases has one entry for each test, in the order of the file. A test that failed and
	// whose teardown failed, too, is in the file twice, and here once.
	Cases []Case
}

// Case is one test, or one file that could not be collected.
type Case struct {
	// File is the slash path of the test's file relative to the root of the project; empty
	// if the runner does not report it.
	File string
	// Class is the name of the test's class, without that of its module if File is known;
	// empty for a function.
	Class string
	// Name is the test's own name, parameters included; empty for a file that
	// could not be collected.
	Name   string
	Status Status
	// Message is the runner's short message.
	Message string
	// Output is the traceback and, after it, what the test printed as far as the file has
	// it; at most about 8 kB, truncated in the middle. Addresses, which differ from run to
	// run, are removed.
	Output string
	// At are the places that Output names, in its order, at most 20, and of
	// files beneath the root only.
	At []Location
}

// Location is a line of a source file, counted from one.
type Location struct {
	File string
	Line int
}

// String returns file:line.
func (l Location) String() string { return fmt.Sprintf("%s:%d", l.File, l.Line) }

// Status is the verdict on a test.
type Status int

// The verdicts.
const (
	Passed  Status = iota + 1
	Skipped        // also one that is expected to fail, and did
	Failed         // the test said no
	Errored        // it could not be collected, set up or torn down
)

var statusNames = names.Make[Status]("status", []string{"passed", "skipped", "failed", "error"})

// String returns the verdict's name.
func (s Status) String() string { return statusNames.String(s) }

// ID names the test as pytest does on its command line: file::class::name. It
// stays the same from run to run. A test without a file is named by its class.
func (c Case) ID() string {
	id := c.Suite()
	if t := c.Test(); t != "" {
		id += "::" + t
	}
	return id
}

// Suite is the test's file, or its class if the file is unknown.
func (c Case) Suite() string {
	if c.File != "" {
		return c.File
	}
	return c.Class
}

// Test is the test's name within its suite; empty for the suite itself.
func (c Case) Test() string {
	if c.File != "" && c.Class != "" {
		return c.Class + "::" + c.Name
	}
	return c.Name
}
