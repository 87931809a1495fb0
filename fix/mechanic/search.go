package mechanic

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/fix/internal/goedit"
)

// pending keeps an edit that was found to help, or tries those that helped before the last
// edit: independent faults are fixed one after another.
func (m *mind) pending() (pawl.Reply, bool) {
	l := m.base()
	if p, ok := m.choose(l, false); ok {
		return m.keep(p), true
	}
	var again []tryEdit
	for _, earlier := range m.levels[:len(m.levels)-1] {
		for _, p := range earlier.partial {
			if _, fits := p.edit.on(l.files); fits && !l.tried[p.edit.key()] && !m.bars(p.edit) && len(again) < batchSize {
				again = append(again, p.edit)
			}
		}
	}
	if len(again) == 0 {
		return pawl.Reply{}, false
	}
	return do("Trying again, on top of the last edit, what helped before it.", []pawl.Call{call(tryEdits, tryArgs{again})}), true
}

// choose picks the edit to keep: one that fixes all tests; else the one that fixes most, at
// once if there are plainly several faults or only tests fail that did not run before, when it
// fixes a whole fault and nothing better was found for long enough, or at the end. A single edit that fixes all is better than two
// that each fix a part: the second may only suit the tests that the first has left.
func (m *mind) choose(l *level, end bool) (partial, bool) {
	var best *partial
	whole, freed := false, false
	for i, p := range l.partial {
		after, fits := p.edit.on(l.files)
		if !fits || l.been[digest(l.files, after)] || m.bars(p.edit) {
			continue
		}
		if p.all {
			return p, true
		}
		w := l.several || l.whole(p)
		if best == nil || w && !whole || w == whole && len(p.fixed) > len(best.fixed) {
			best, whole = &l.partial[i], w
			freed = !l.outcome.more && len(p.fixed) == len(l.outcome.open)
		}
	}
	if best == nil {
		return partial{}, false
	}
	return *best, end || l.several || freed || whole && len(l.tried) >= l.first+patience
}

// whole reports whether an edit fixes every failing test that executes the changed code. Then
// it fixes one of several faults: with a single fault elsewhere, all of these passing would be
// an accident. An edit that fixes only a part of them more likely hides a fault.
func (l *level) whole(p partial) bool {
	before := l.files[p.edit.Path]
	after, ok := replace(before, p.edit.Old, p.edit.New)
	if !ok || len(p.edit.Also) > 0 || l.profiled < len(l.outcome.open) {
		return false
	}
	a, b := strings.Split(before, "\n"), strings.Split(after, "\n")
	at := 0
	for at < len(a) && at < len(b) && a[at] == b[at] {
		at++
	}
	return l.lines[goedit.Location{File: p.edit.Path, Line: at + 1}].Failed == len(p.fixed)
}

// bars reports whether an edit is of a file that cannot be edited.
func (m *mind) bars(e tryEdit) bool {
	return slices.ContainsFunc(e.pieces(), func(p editArgs) bool { return m.barred[p.Path] })
}

// keep makes an edit.
func (m *mind) keep(p partial) pawl.Reply {
	after, _ := p.edit.on(m.base().files) // it fits, or it would not have been chosen
	what := "fixes a part and breaks nothing"
	if p.all {
		what = "makes every test pass"
	}
	return do("Keeping the edit that "+what+": "+p.edit.String()+".", m.moves(after))
}

// String returns the position and the text of an edit.
func (e tryEdit) String() string {
	var list []string
	for _, p := range e.pieces() {
		list = append(list, p.Path+": "+brief(p.Old)+" → "+brief(p.New))
	}
	return strings.Join(list, "; ")
}

// search tries the next edits of the state that is searched. When none is
// left, it keeps the best of those that helped, or goes back a state.
func search(mind *mind) pawl.Reply {
	top := len(mind.levels) - 1
	l := mind.levels[top]
	list, err := candidates(l)
	if err != nil {
		return mind.giveUp("It cannot read the code: " + err.Error() + ".")
	}
	if batch, rules := mind.untried(top, list, min(max(batchSize, len(l.tried)), mostBatch)); len(batch) > 0 {
		thought := fmt.Sprintf("Trying %d edits, after %d of %d possible ones: %s.", len(batch), len(l.tried), len(list), strings.Join(rules, "; "))
		return do(thought, []pawl.Call{call(tryEdits, tryArgs{batch})})
	}
	if p, ok := mind.choose(l, true); ok {
		return mind.keep(p)
	}
	for top--; top >= 0; top-- {
		l := mind.levels[top]
		_, left := mind.choose(l, true)
		if !left && l.details != nil {
			list, err := candidates(l)
			batch, _ := mind.untried(top, list, 1)
			left = err == nil && len(batch) > 0
		}
		if left {
			return do("Nothing more to try from here: back to an earlier state.", mind.moves(l.files))
		}
	}
	if base := mind.base(); !base.outcome.repairable() {
		why := "nothing small that the compiler's messages suggest is left to try"
		if mind.tries == 0 {
			why = "the compiler's messages suggest no small edit"
		}
		return mind.giveUp(fmt.Sprintf("What fails does not build or cannot be set up, and %s. Fix the build first: %s", why,
			brief(strings.Join(slices.Sorted(maps.Keys(base.outcome.open)), ", "))))
	}
	if mind.tries == 0 {
		return mind.giveUp("It found no edit to try.")
	}
	return mind.giveUp("It tried every edit it found, and none made every test pass.")
}

// untried returns the next edits to try on a state, with their descriptions.
func (m *mind) untried(top int, list []candidate, most int) (batch []tryEdit, rules []string) {
	l := m.levels[top]
	for _, c := range list {
		if top > 0 && len(l.tried) >= mostDeep || len(batch) == most {
			break
		}
		if !l.tried[c.edit.key()] && !m.bars(c.edit) {
			batch = append(batch, c.edit)
			rules = append(rules, c.rule)
		}
	}
	return batch, rules
}
