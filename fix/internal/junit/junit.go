// Package junit reads the XML that test runners write for continuous integration, in pytest's
// form, and returns the verdict of each test. It runs nothing itself.
//
// This format has no standard. The package reads what pytest documents under --junitxml, with
// junit_family=xunit1 for the attributes file and line; it also understands files of other
// runners that have testcase elements with a classname and a name.
package junit

import (
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-run/pawl/fix/internal/gotest"
	"github.com/pawl-run/pawl/internal/display"
)

const (
	mostOutput    = 8 << 10
	mostMessage   = 1 << 10
	mostLocations = 20
)

type element struct {
	Class   string   `xml:"classname,attr"`
	Name    string   `xml:"name,attr"`
	File    string   `xml:"file,attr"`
	Failure *outcome `xml:"failure"`
	Error   *outcome `xml:"error"`
	Skipped *outcome `xml:"skipped"`
	Out     string   `xml:"system-out"`
	Err     string   `xml:"system-err"`
}

type outcome struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// Parse reads the outcome of one run. dir is the absolute path of the project's root, which is
// taken off the paths in what tests say; it may be empty. A test is named as pytest does on its
// command line, file::class::name: a file of tests counts as a package, and without a file the
// class. A file of tests that could not be collected is a failure of the package.
//
// The file has a test twice if it failed and its teardown failed, too; the report
// has it once, with its first failure. A file that is cut short is an error, which comes with what stood before.
func Parse(r io.Reader, dir string) (gotest.Report, error) {
	var all []*verdict
	known := map[string]*verdict{} // by identity
	seen := false
	for d := xml.NewDecoder(r); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) && !seen {
			err = errors.New("the file is empty; a report has a testsuite element")
		} else if errors.Is(err, io.EOF) {
			return report(all), nil
		}
		start, ok := token.(xml.StartElement)
		if ok && start.Name.Local == "testcase" {
			var e element
			err = d.DecodeElement(&e, &start)
			v := e.read(dir)
			switch first := known[v.id()]; {
			case err != nil:
			case first == nil:
				known[v.id()] = v
				all = append(all, v)
			case first.status != gotest.StatusFail:
				*first = *v
			}
		}
		seen = seen || ok && (start.Name.Local == "testsuites" || start.Name.Local == "testsuite")
		if err != nil {
			return report(all), fmt.Errorf("junit: %w", err)
		}
	}
}

// verdict is that on one test, or on one file that could not be collected, whose test has no name.
type verdict struct {
	suite, test string
	status      gotest.Status
	output      string
	at          []gotest.Location
}

func (v *verdict) id() string {
	if v.test == "" {
		return v.suite
	}
	return v.suite + "::" + v.test
}

func (e element) read(dir string) *verdict {
	file := e.File
	if file != "" {
		file = path.Clean(strings.ReplaceAll(file, `\`, "/"))
	}
	module := strings.ReplaceAll(strings.TrimSuffix(file, path.Ext(file)), "/", ".")
	v := &verdict{suite: file, test: e.Name, status: gotest.StatusPass}
	switch {
	case file == "":
		v.suite = e.Class
	case e.Class == "" && (e.Name == module || e.Name == file):
		v.test = "" // the file could not be collected
	case e.Class != "" && e.Class != module:
		class := e.Class
		// Classes in classes are joined by dots here, and by colons on the command line.
		if inner, ok := strings.CutPrefix(class, module+"."); ok {
			class = strings.ReplaceAll(inner, ".", "::")
		}
		v.test = class + "::" + e.Name
	}
	said := e.Skipped
	switch {
	case e.Failure != nil || e.Error != nil: // the test itself, or what sets it up and tears it down
		v.status, said = gotest.StatusFail, cmp.Or(e.Failure, e.Error)
	case e.Skipped != nil:
		v.status = gotest.StatusSkip
	}
	if said == nil {
		return v
	}
	text := steady(said.Text, dir)
	for _, printed := range []string{e.Out, e.Err} {
		if printed = strings.TrimSpace(steady(printed, dir)); printed != "" {
			text += "\n" + printed
		}
	}
	if text = strings.TrimSpace(text); text == "" {
		text, _ = display.Cut(steady(said.Message, dir), mostMessage)
	}
	v.output, _ = display.Cut(text, mostOutput)
	v.at = places(text)
	return v
}

func report(all []*verdict) gotest.Report {
	var r gotest.Report
	files := map[string]*gotest.Package{}
	for _, v := range all {
		p := files[v.suite]
		if p == nil {
			p = &gotest.Package{Path: v.suite, Status: gotest.StatusPass, Join: "::"}
			files[v.suite] = p
		}
		if v.test != "" {
			p.Tests = append(p.Tests, gotest.Test{Name: v.test, Status: v.status})
		}
		switch v.status {
		case gotest.StatusPass:
			r.Passed++
		case gotest.StatusSkip:
			r.Skipped++
		default:
			p.Status = gotest.StatusFail
			kind := gotest.KindTest
			if v.test == "" {
				kind = gotest.KindSetup
			}
			r.Failures = append(r.Failures, gotest.Failure{ID: v.id(), Package: v.suite, Test: v.test, Kind: kind, Output: v.output, Locations: v.at})
		}
	}
	for _, p := range files {
		slices.SortFunc(p.Tests, func(a, b gotest.Test) int { return strings.Compare(a.Name, b.Name) })
		r.Packages = append(r.Packages, *p)
	}
	slices.SortFunc(r.Packages, func(a, b gotest.Package) int { return strings.Compare(a.Path, b.Path) })
	slices.SortFunc(r.Failures, func(a, b gotest.Failure) int { return strings.Compare(a.ID, b.ID) })
	r.Failed = len(r.Failures)
	r.OK = len(r.Packages) > 0 && r.Failed == 0
	return r
}

var (
	foreign = regexp.MustCompile(`(?m)^(?:/|<frozen )[^:\n]*:\d+: in .*\n(?: {4}.*\n?)?`)
	address = regexp.MustCompile(` at 0x[0-9a-fA-F]+`)
	place   = regexp.MustCompile(`(?m)^(?:E\s+)?([^\s:][^:\n]*\.\w+):(\d+):(?: |$)|^\s*(?:E\s+)?File "([^"\n]+)", line (\d+)`)
)

// steady removes what differs from run to run or is not the project's: the frames of the
// interpreter and of installed packages, addresses, the root.
func steady(s, dir string) string {
	if dir != "" {
		s = strings.ReplaceAll(s, strings.TrimSuffix(dir, "/")+"/", "")
	}
	s = foreign.ReplaceAllString(s, "")
	return address.ReplaceAllString(s, "")
}

// places are the lines of the project's files in a traceback. Files of the interpreter and of
// installed packages have absolute paths.
func places(text string) []gotest.Location {
	var at []gotest.Location
	for _, m := range place.FindAllStringSubmatch(text, -1) {
		file, line := m[1]+m[3], m[2]+m[4]
		n, err := strconv.Atoi(line)
		l := gotest.Location{File: path.Clean(strings.ReplaceAll(file, `\`, "/")), Line: n}
		if err == nil && !path.IsAbs(l.File) && !strings.HasPrefix(l.File, "..") && !slices.Contains(at, l) && len(at) < mostLocations {
			at = append(at, l)
		}
	}
	return at
}
