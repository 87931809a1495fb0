package judge

import (
	"strconv"
	"strings"

	"github.com/pawl-run/pawl/internal/jsonin"
)

// How much evidence a judge is shown.
const (
	mostFound = 24 << 10 // bytes in all
	eachFound = 4 << 10  // of one result
)

// excerpts are the results a judge is shown, the latest first: of a long one the
// stretch that has most of what the claims name.
func (e *evidence) excerpts(claims []claim) (all []briefCall) {
	left := mostFound
	for _, c := range e.calls {
		text := jsonin.Plain(c.Result)
		if len(text) > eachFound {
			text = densest(text, claims)
		}
		if left -= len(text); left < 0 {
			break
		}
		b := called(c)
		b.Result = text
		all = append(all, b)
	}
	return all
}

// densest is the window of a text with the most of the claims' words in it.
func densest(text string, claims []claim) string {
	wanted := map[string]bool{}
	for _, c := range claims {
		for _, p := range c.clauses {
			for _, w := range p.words {
				wanted[w] = true
			}
			for _, n := range p.numbers {
				wanted[strconv.FormatFloat(n.value, 'f', -1, 64)] = true
			}
		}
	}
	best, most := 0, -1
	for from := 0; from < len(text); from += eachFound / 2 {
		hits := 0
		window := text[from:min(len(text), from+eachFound)]
		for w := range strings.FieldsFuncSeq(strings.ToLower(window), apart) {
			if w = strings.Trim(w, ".:"); wanted[w] || wanted[root(w)] {
				hits++
			}
		}
		if hits > most {
			best, most = from, hits
		}
	}
	return strings.ToValidUTF8("… "+text[best:min(len(text), best+eachFound)]+" …", "")
}
