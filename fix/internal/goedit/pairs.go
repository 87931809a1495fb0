package goedit

import (
	"cmp"
	"slices"
)

// Bounds on edits made of several of one kind.
const (
	mostInPair = 3
	mostInRow  = 6
	mostPairs  = 6
)

// pairs proposes several edits of the same kind at once, where a function offers them in a few
// places: a slip of the mind is made as often as the thought. Both && of a condition become ||,
// and what is true and what is false change places.
func (m *mutator) pairs() {
	groups := map[string][]site{}
	var kinds []string
	add := func(kind string, s site) {
		if len(groups[kind]) == 0 {
			kinds = append(kinds, kind)
		}
		groups[kind] = append(groups[kind], s)
	}
	for _, s := range m.sites {
		switch s.class {
		case comparison, boolean, arithmetic, step, variable, member, function, wrong, negation, term:
			add(s.rule, s)
		case truth:
			add("true ↔ false", s)
		}
	}
	var found, rows []site
	for _, kind := range kinds {
		list := groups[kind]
		if len(list) > 1 && len(list) <= mostInPair {
			found = append(found, m.together(list)...)
			continue
		}
		// Of many places that forget a case, two that follow one another.
		for i := 1; i < len(list) && list[0].class == term && len(list) <= mostInRow; i++ {
			rows = append(rows, m.together(list[i-1:i+1])...)
		}
	}
	slices.SortStableFunc(found, func(a, b site) int { return cmp.Compare(b.weight, a.weight) })
	slices.SortStableFunc(rows, func(a, b site) int { return cmp.Compare(b.weight, a.weight) })
	m.sites = append(m.sites, found[:min(len(found), mostPairs)]...)
	m.sites = append(m.sites, rows[:min(len(rows), mostPairs)]...)
}

// together is one site made of several; none if they overlap.
func (m *mutator) together(list []site) []site {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b site) int { return a.from - b.from })
	all := list[0]
	for i, s := range list[1:] {
		if s.from <= list[i].end {
			return nil
		}
		all.with += string(m.d.file.src[list[i].end:s.from]) + s.with
		all.end = s.end
		all.weight = min(all.weight, s.weight)
	}
	all.weight *= 0.45
	all.rule = "in " + []string{2: "both", 3: "all three"}[len(list)] + " places: " + list[0].rule
	if all.class == truth {
		all.rule = "true and false exchanged"
	}
	return []site{all}
}
