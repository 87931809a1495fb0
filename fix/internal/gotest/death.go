package gotest

import (
	"regexp"
	"slices"
	"strings"
)

var (
	lastWords  = regexp.MustCompile(`^(panic: |fatal error: |runtime: goroutine stack exceeds )`)
	runningFor = regexp.MustCompile(`^\s+(\S.*) \([\d.hmsµn]+\)$`)
)

// death returns what to blame for a test binary that ended without PASS or FAIL.
//
// The go command attributes the text of a panic to the test that printed last, and a subtest's
// panic to the outermost test, whose verdict comes later. So death blames the subtest below it
// that failed last, unless the trace names another test. It also blames a test that ran alone
// when the binary exited silently; among several it blames the package.
func (s *stream) death(p *pkg) []Failure {
	holder, words := p.lastWords()
	if words == nil {
		return s.silentDeath(p)
	}
	if strings.HasPrefix(words[0], "panic: test timed out after") {
		return s.timeout(p, words)
	}
	if holder == nil {
		return []Failure{s.failure(p.path, "", KindPanic, p.out.lines())}
	}
	t := p.culprit(p.traced(holder, words))
	lines := t.out.lines()
	if t != holder {
		lines = append(lines, words...)
	}
	return []Failure{s.failure(p.path, t.name, KindPanic, lines)}
}

// lastWords returns the output from the panic on, and the test it was given
// to: nil for the package itself.
func (p *pkg) lastWords() (*test, []string) {
	for _, t := range slices.Backward(p.order) {
		lines := t.out.lines()
		if i := slices.IndexFunc(lines, lastWords.MatchString); i >= 0 {
			return t, lines[i:]
		}
	}
	lines := p.out.lines()
	if i := slices.IndexFunc(lines, lastWords.MatchString); i >= 0 {
		return nil, lines[i:]
	}
	return nil, nil
}

// traced returns the top-level test that the first goroutine of the trace runs
// in when it is not the holder's and had no verdict other than failure.
func (p *pkg) traced(holder *test, words []string) *test {
	top, _, _ := strings.Cut(holder.name, "/")
	for _, l := range firstGoroutine(words) {
		fn := strings.TrimPrefix(strings.TrimSpace(l), "created by ")
		rest, ok := strings.CutPrefix(fn, p.path+".")
		if !ok {
			rest, ok = strings.CutPrefix(fn, p.path+"_test.")
		}
		if !ok {
			continue
		}
		name := rest[:strings.IndexAny(rest+".", ".( ")]
		if name == top {
			return holder
		}
		if t := p.tests[name]; t != nil && (t.status == StatusFail || t.status == StatusUnfinished) {
			return t
		}
	}
	return holder
}

func firstGoroutine(words []string) []string {
	from := slices.IndexFunc(words, func(l string) bool { return strings.HasPrefix(l, "goroutine ") })
	if from < 0 {
		return nil
	}
	words = words[from:]
	if to := slices.Index(words, ""); to >= 0 {
		words = words[:to]
	}
	return words
}

// culprit descends from a test to the subtest to blame: the innermost that
// failed last or, when none has a verdict, that was started last.
func (p *pkg) culprit(t *test) *test {
	best := t
	for _, o := range p.order {
		if !strings.HasPrefix(o.name, t.name+"/") || o.paused {
			continue
		}
		switch {
		case o.status == StatusFail && (best.status != StatusFail || best == t || inner(o, best)):
			best = o
		case o.status == StatusUnfinished && best.status != StatusFail:
			best = o
		}
	}
	return best
}

func inner(o, best *test) bool {
	if strings.HasPrefix(o.name, best.name+"/") {
		return true
	}
	return o.ended > best.ended && !strings.HasPrefix(best.name, o.name+"/")
}

func (s *stream) timeout(p *pkg, words []string) []Failure {
	var running []string
	for i, l := range words[1:] {
		if i == 0 && strings.TrimSpace(l) == "running tests:" {
			continue
		}
		m := runningFor.FindStringSubmatch(l)
		if m == nil {
			break
		}
		running = append(running, m[1])
	}
	var out []Failure
	for _, name := range running {
		if slices.ContainsFunc(running, func(o string) bool { return strings.HasPrefix(o, name+"/") }) {
			continue
		}
		var lines []string
		if t := p.tests[name]; t != nil {
			lines = t.out.lines()
			if i := slices.IndexFunc(lines, lastWords.MatchString); i >= 0 {
				lines = lines[:i]
			}
		}
		out = append(out, s.failure(p.path, name, KindTimeout, append(lines, words...)))
	}
	if out == nil {
		out = append(out, s.failure(p.path, "", KindTimeout, words))
	}
	return out
}

func (s *stream) silentDeath(p *pkg) []Failure {
	var at []*test
	for _, t := range p.order {
		if t.status != StatusUnfinished || t.paused {
			continue
		}
		at = slices.DeleteFunc(at, func(o *test) bool { return strings.HasPrefix(t.name, o.name+"/") })
		at = append(at, t)
	}
	switch len(at) {
	case 0:
		return nil
	case 1:
		lines := append(at[0].out.lines(), "the test binary exited while this test ran")
		return []Failure{s.failure(p.path, at[0].name, KindPanic, lines)}
	}
	lines := append(p.out.lines(), "the test binary exited while these tests ran:")
	for _, t := range at {
		lines = append(lines, t.name)
	}
	return []Failure{s.failure(p.path, "", KindPanic, lines)}
}
