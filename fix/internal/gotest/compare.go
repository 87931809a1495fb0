package gotest

import "slices"

// Delta is what changed from one run to a later one, by identity. Each list is
// sorted. An identity is in at most one of Fixed, Broken, Still and Revealed.
type Delta struct {
	Fixed    []string `json:"fixed,omitempty"`    // failed before and passed now, or the package compiled and ran
	Broken   []string `json:"broken,omitempty"`   // fails now and was fine before
	Still    []string `json:"still,omitempty"`    // failed before and is not fixed: it fails, vanished or did not run
	Revealed []string `json:"revealed,omitempty"` // fails now and was hidden by a failed build, a panic or a failed parent
	Hidden   []string `json:"hidden,omitempty"`   // passed before and has no verdict now, though its package ran
}

// Compare says what changed from before to after. Packages that after does not
// mention were not part of the later run; their failures stay in Still.
func Compare(before, after Report) Delta {
	var d Delta
	was, is := index(before), index(after)
	for _, f := range before.Failures {
		if !is.open[f.ID] && is.fine(f, before) {
			d.Fixed = append(d.Fixed, f.ID)
		} else {
			d.Still = append(d.Still, f.ID)
		}
	}
	for _, f := range after.Failures {
		switch {
		case was.open[f.ID]:
		case was.fine(f, after):
			d.Broken = append(d.Broken, f.ID)
		default:
			d.Revealed = append(d.Revealed, f.ID)
		}
	}
	for _, p := range before.Packages {
		if _, ran := is.packages[p.Path]; !ran {
			continue
		}
		for _, t := range p.Tests {
			if t.Status == StatusPass && !is.judged(p.Path, t.Name) {
				d.Hidden = append(d.Hidden, p.ID(t.Name))
			}
		}
	}
	for _, l := range [][]string{d.Fixed, d.Broken, d.Still, d.Revealed, d.Hidden} {
		slices.Sort(l)
	}
	return d
}

// Lost lists what passed before and does not pass in the packages that ran later, in order.
func Lost(before, after Report) []string {
	d := Compare(before, after)
	lost := slices.DeleteFunc(slices.Concat(d.Broken, d.Hidden), func(id string) bool { return !before.Passes(id) })
	slices.Sort(lost)
	return slices.Compact(lost)
}

// NotRun lists the tests that passed before in packages that a later run does not mention at all.
func NotRun(before, after Report) (ids []string) {
	is := index(after)
	for _, p := range before.Packages {
		if _, ran := is.packages[p.Path]; ran {
			continue
		}
		for _, t := range p.Tests {
			if t.Status == StatusPass {
				ids = append(ids, p.ID(t.Name))
			}
		}
	}
	return ids
}

// verdictIndex looks up a Report.
type verdictIndex struct {
	open     map[string]bool
	tests    map[string]Status // by identity
	packages map[string]Package
}

func index(r Report) verdictIndex {
	x := verdictIndex{map[string]bool{}, map[string]Status{}, map[string]Package{}}
	for _, f := range r.Failures {
		x.open[f.ID] = true
	}
	for _, p := range r.Packages {
		x.packages[p.Path] = p
		for _, t := range p.Tests {
			x.tests[testID(p.Path, t.Name)] = t.Status
		}
	}
	return x
}

// fine reports whether the subject of failure f of the run other went well in the indexed
// run.
func (x verdictIndex) fine(f Failure, other Report) bool {
	if f.Test != "" {
		s, ok := x.nearest(f.Package, f.Test)
		return ok && s == StatusPass
	}
	if f.Package == "" {
		return len(x.packages) > 0
	}
	ran := false
	for _, p := range other.Packages {
		if p.Path != f.Package && p.FailedBuild != f.Package {
			continue
		}
		if q, ok := x.packages[p.Path]; ok {
			if q.FailedBuild != "" || q.Status == StatusUnfinished {
				return false
			}
			ran = true
		}
	}
	return ran
}

// judged reports whether the run has a verdict on a test. A missing subtest counts as judged if
// its parent passed: names made from values change.
func (x verdictIndex) judged(pkg, name string) bool {
	s, ok := x.tests[testID(pkg, name)]
	if !ok {
		s, ok = x.nearest(pkg, name)
		return ok && s == StatusPass
	}
	return s == StatusPass || s == StatusFail
}

// nearest returns the status of a test or, when it is not known, of the
// innermost known test around it.
func (x verdictIndex) nearest(pkg, name string) (Status, bool) {
	for ; name != ""; name = parent(name) {
		if s, ok := x.tests[testID(pkg, name)]; ok {
			return s, true
		}
	}
	return "", false
}
