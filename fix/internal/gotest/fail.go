package gotest

import (
	"maps"
	"slices"
	"strings"

	"github.com/pawl-run/pawl/internal/display"
)

// report turns the events into failures. Packages come first because a package that could not
// be loaded owns the build messages that say why.
func (s *stream) report() Report {
	var r Report
	claimed := map[string]bool{}
	for _, path := range slices.Sorted(maps.Keys(s.packages)) {
		p := s.packages[path]
		r.Failures = append(r.Failures, s.judge(p, claimed)...)
		r.Packages = append(r.Packages, p.public())
		for _, t := range p.tests {
			if p.hasSubtests(t.name) {
				continue
			}
			switch t.status {
			case StatusPass:
				r.Passed++
			case StatusSkip:
				r.Skipped++
			}
		}
	}
	for _, path := range slices.Sorted(maps.Keys(s.builds)) {
		if b := s.builds[path]; b.failed && !claimed[path] {
			r.Failures = append(r.Failures, s.failure(path, "", KindBuild, b.out.lines()))
		}
	}
	if len(r.Packages) == 0 && len(r.Failures) == 0 {
		lines := s.stray.lines()
		if len(lines) == 0 {
			lines = []string{"go test reported no package"}
		}
		r.Failures = append(r.Failures, s.failure("", "", KindSetup, lines))
	}
	slices.SortFunc(r.Failures, func(a, b Failure) int { return strings.Compare(a.ID, b.ID) })
	r.Failed = len(r.Failures)
	r.OK = r.Failed == 0
	return r
}

// judge finds the identities that fail in p.
func (s *stream) judge(p *pkg, claimed map[string]bool) []Failure {
	switch {
	case p.setup:
		lines := p.out.lines()
		if p.failedBuild != "" {
			b := s.build(p.failedBuild)
			claimed[b.path] = true
			lines = append(b.out.lines(), lines...)
		}
		return []Failure{s.failure(p.path, "", KindSetup, lines)}
	case p.unbuilt, p.status == StatusFail && p.failedBuild != "":
		// The identity is that of the package that does not compile; others
		// that import it add none.
		if p.failedBuild == "" {
			p.failedBuild = p.path
		}
		b := s.build(p.failedBuild)
		p.failedBuild = b.path
		b.failed = true
		return nil
	}
	var out []Failure
	blamed := map[string]bool{}
	if p.status == StatusFail && !p.verdict {
		for _, f := range s.death(p) {
			out = append(out, f)
			blamed[f.Test] = true
			if t := p.tests[f.Test]; t != nil {
				t.status = StatusFail
			}
		}
	}
	for _, t := range p.order {
		folded := func(o *test) bool { return o.status == StatusFail && strings.HasPrefix(o.name, t.name+"/") }
		if t.status != StatusFail || blamed[t.name] || slices.ContainsFunc(p.order, folded) {
			continue
		}
		lines, kind := t.out.lines(), KindTest
		if raced(lines) {
			kind = KindRace
		}
		out = append(out, s.failure(p.path, t.name, kind, lines))
	}
	switch {
	case p.status == StatusUnfinished:
		out = append(out, s.failure(p.path, "", KindUnfinished, p.cutShort()))
	case p.status == StatusFail && len(out) == 0:
		kind := KindSetup
		if raced(p.out.lines()) {
			kind = KindRace
		}
		out = append(out, s.failure(p.path, "", kind, p.out.lines()))
	}
	return out
}

func raced(lines []string) bool {
	return slices.ContainsFunc(lines, func(l string) bool {
		return strings.HasPrefix(l, "WARNING: DATA RACE") || strings.HasSuffix(l, ": race detected during execution of test")
	})
}

func (s *stream) failure(pkg, test string, k Kind, lines []string) Failure {
	f := Failure{ID: packageID(pkg, k), Package: pkg, Test: test, Kind: k}
	if test != "" {
		f.ID = testID(pkg, test)
	}
	lines = tidy(lines)
	s.locate(&f, lines)
	lines = s.cleanTrace(lines)
	f.Output, _ = display.Cut(strings.Join(lines, "\n"), showBytes)
	return f
}

func (p *pkg) cutShort() []string {
	lines := append(p.out.lines(), "the output ends before this package's verdict")
	for _, t := range p.order {
		if t.status == StatusUnfinished && !t.paused && !p.hasSubtests(t.name) {
			lines = append(lines, "running: "+t.name)
		}
	}
	return lines
}

func (p *pkg) public() Package {
	out := Package{Path: p.path, Status: p.status, FailedBuild: p.failedBuild}
	for _, name := range slices.Sorted(maps.Keys(p.tests)) {
		out.Tests = append(out.Tests, Test{Name: name, Status: p.tests[name].status})
	}
	return out
}

// parent returns the name of the test that a subtest's name begins with, or
// "". A slash in a subtest's own name yields parents that do not exist; they
// do no harm.
func parent(name string) string {
	i := strings.LastIndexByte(name, '/')
	if i < 0 {
		return ""
	}
	return name[:i]
}

func (p *pkg) hasSubtests(name string) bool {
	return slices.ContainsFunc(p.order, func(t *test) bool { return strings.HasPrefix(t.name, name+"/") })
}
