package judge

import (
	"fmt"
	"slices"
	"strconv"
)

// What a claim must have of the evidence. A claim with numbers or identifiers
// stands and falls with them, so that its words need only show that the same
// thing is spoken of; one of words alone must be half known to be more than a
// paraphrase, and of some length to be anything that can be looked for.
const (
	wordsBesides = 0.25
	wordsAlone   = 0.5
	leastWords   = 4
	opposed      = 0.75 // of a claim's words in what denies it
	mostSpeaking = 2000 // atoms that are looked at for what denies a clause
	mostPlaces   = 50   // a number that is in more of them tells nothing
)

// judge compares claims with the evidence.
func (e *evidence) judge(claims []claim) finding {
	f := finding{by: rules}
	raw, english := e.raw.String(), inEnglish(claims)
	for _, c := range claims {
		var numbers []quantity
		for i := range c.clauses {
			numbers = append(numbers, c.clauses[i].numbers...)
		}
		for i := range c.clauses {
			if why := e.wrong(&c.clauses[i], numbers, raw, english); why != "" {
				f.wrong, f.whys = append(f.wrong, c.text), append(f.whys, why)
				break
			}
		}
	}
	return f
}

// wrong says what a clause claims that the evidence does not bear out; empty:
// nothing that can be told.
func (e *evidence) wrong(p *phrase, beside []quantity, raw string, english bool) string {
	if why := e.denies(p); why != "" {
		return why
	}
	if e.full() {
		return ""
	}
	strict := 0
	for _, ident := range p.idents {
		strict++
		if !e.spells(raw, ident) {
			return fmt.Sprintf("%q is nowhere in the results", ident)
		}
	}
	for _, q := range p.numbers {
		if q.value == 0 || q.loose || p.denied { // what is not so need not be anywhere
			continue
		}
		strict++
		if why := e.number(p, q, beside); why != "" {
			return why
		}
	}
	known, names := 0, 0
	for _, w := range p.words {
		if e.knows(w) {
			known++
			continue
		}
		if slices.Contains(p.names, w) {
			names++
		}
	}
	n := len(p.words)
	part := share(known, n)
	switch {
	case !english, p.report, n == 0:
	case strict > 0:
		if n > 2 && part < wordsBesides {
			return "the results speak of something else"
		}
	case n >= leastWords && part < wordsAlone, n >= 2 && names > 0 && part < wordsAlone:
		return "the results do not speak of it"
	}
	return ""
}

// number looks for a number where the same thing is spoken of.
func (e *evidence) number(p *phrase, q quantity, beside []quantity) string {
	found, other := 0, false
	for i := range e.atoms {
		a := &e.atoms[i]
		for _, known := range a.numbers {
			if !q.is(known) {
				continue
			}
			if found++; found > mostPlaces || !e.elsewhere(p, a) {
				return ""
			}
			other = true
		}
	}
	if q.dim == "" && slices.ContainsFunc(e.counts, q.is) || p.sums && slices.ContainsFunc(e.sums, q.is) {
		return ""
	}
	// It may be reckoned from the numbers beside it, which are looked for themselves.
	rest := slices.DeleteFunc(slices.Clone(beside), func(b quantity) bool { return b == q })
	if len(rest) > 1 && q.follows(rest) {
		return ""
	}
	if p.relates && q.follows(e.related(p)) {
		return ""
	}
	if other {
		return q.text + " is said of something else"
	}
	return q.text + " is nowhere in the results"
}

// mostRelated is how many numbers are tried for what may follow from two of them.
const mostRelated = 40

// related are the numbers that are said of what a clause is about.
func (e *evidence) related(p *phrase) (all []quantity) {
	for _, i := range e.speaking(p) {
		a := &e.atoms[i]
		for _, b := range e.of(a.doc) {
			if b.place != a.place {
				continue
			}
			for _, q := range b.numbers {
				if len(all) == mostRelated {
					return all
				}
				if !slices.Contains(all, q) {
					all = append(all, q)
				}
			}
		}
	}
	return all
}

// elsewhere reports whether what is said in an atom is said of something else
// than a clause is about: the thing the clause names stands in the same result,
// but in another place. If the result does not name it, nothing can be told: it
// may be called something else there.
func (e *evidence) elsewhere(p *phrase, a *atom) bool {
	for _, w := range p.words {
		if a.near(w) && !e.everywhere(w, a.doc) {
			return false
		}
	}
	for _, w := range p.words {
		if a.near(w) || e.docs[a.doc].has(w) {
			continue
		}
		for _, i := range e.near[beginning(w)] {
			if b := &e.atoms[i]; b.doc == a.doc && b.place != a.place && b.has(w) {
				return true
			}
		}
	}
	return false
}

// everywhere reports whether a word stands in most places of a document, as the
// name of a field does, so that it tells none from another.
func (e *evidence) everywhere(w string, doc int) bool {
	key := strconv.Itoa(doc) + " " + w
	if known, ok := e.common[key]; ok {
		return known
	}
	places := map[*place]bool{}
	has := 0
	for i := range e.of(doc) {
		if a := &e.of(doc)[i]; a.place != e.docs[doc] && !places[a.place] {
			places[a.place] = true
			if a.place.has(w) {
				has++
			}
		}
	}
	e.common[key] = len(places) > 1 && 2*has > len(places)
	return e.common[key]
}

// denies says what in the evidence is the opposite of a clause; empty: nothing.
func (e *evidence) denies(p *phrase) string {
	if len(p.words) == 0 {
		return ""
	}
	type told struct {
		*atom
		part float64
	}
	var against, with []told
	looked := map[int]bool{}
	for _, i := range e.speaking(p) {
		a := &e.atoms[i]
		if looked[i] || e.old[a.doc] || p.saidBy(a) == 0 || len(p.numbers) > 0 && !slices.ContainsFunc(p.numbers, func(q quantity) bool {
			return q.value == 0 || slices.ContainsFunc(a.numbers, q.is) // else it is about another number
		}) {
			continue
		}
		looked[i] = true
		known := 0
		for _, w := range p.words {
			if a.about(w) || e.docs[a.doc].has(w) {
				known++
			}
		}
		if a.denied != p.denied {
			against = append(against, told{a, share(known, len(p.words))})
		} else {
			with = append(with, told{a, share(known, len(p.words))})
		}
	}
	for _, no := range against {
		switch {
		case no.part < opposed:
			continue
		case len(p.words) == 1 && len(no.words) > 1: // it says more, and may mean something else
			continue
		}
		if p.whole { // one that is otherwise is enough
			return "the results say the opposite"
		}
		// What says the same of the same thing outweighs it.
		if !slices.ContainsFunc(with, func(yes told) bool {
			return yes.part >= no.part && slices.ContainsFunc(p.words, func(w string) bool { return yes.has(w) && no.has(w) })
		}) {
			return "the results say the opposite"
		}
	}
	return ""
}

// speaking are the atoms that may have one of a clause's words, those of its
// rarest words first: a word that is in thousands of them tells nothing.
func (e *evidence) speaking(p *phrase) (all []int) {
	lists := make([][]int, 0, len(p.words))
	for _, w := range p.words {
		lists = append(lists, e.near[beginning(w)])
	}
	slices.SortFunc(lists, func(a, b []int) int { return len(a) - len(b) })
	for i, list := range lists {
		if i > 0 && len(all)+len(list) > mostSpeaking {
			break
		}
		all = append(all, list[:min(len(list), mostSpeaking)]...)
	}
	return all
}

// saidBy counts the words of a clause that an atom says itself.
func (p *phrase) saidBy(a *atom) (n int) {
	for _, w := range p.words {
		if a.has(w) {
			n++
		}
	}
	return n
}

// inEnglish reports whether the claims are in the language whose words are
// known here: short words tell. Of others, only numbers, names and identifiers
// are compared.
func inEnglish(claims []claim) bool {
	words, short := 0, 0
	for _, c := range claims {
		for _, w := range fieldsLower(c.text) {
			words++
			if stops[w] || negations[w] {
				short++
			}
		}
	}
	return words < 8 || short*10 >= words
}
