package naming

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
)

// What a model knows of the tool that finds others.
const (
	Tool  = "tool_search"
	About = "Find tools for a task, by words of their names and descriptions. You can call the tools found from your next turn on. If none is found, the answer has the nearest names instead."
	Input = `{"type":"object","properties":{"query":{"type":"string","minLength":1},"max":{"type":"integer","minimum":1,"maximum":20,"description":"the most tools to find; 5 by default"}},"required":["query"]}`
)

// An Index has the words of things. It is immutable.
//
// A search is recorded in a log and decided again on replay, so the same things and the same
// query must give the same result in every build. Therefore scores are whole numbers, and a
// change of them changes decisions.
type Index struct {
	names  []string
	known  map[int]bool     // those that need not be looked for
	unused []string         // patterns of known things that match none
	words  []map[string]int // how often a thing has each word
	length []int            // its words, with repetitions
	in     map[string]int   // how many things have a word
	total  int              // of length
}

// nameCounts is how often a word of a name counts, compared to a word of a
// description.
const nameCounts = 3

// NewIndex returns the index of things, each with its name and its description. known are
// patterns of the names of things that need not be looked for.
func NewIndex(things [][2]string, known []string) *Index {
	x := &Index{in: map[string]int{}, known: map[int]bool{}}
	for _, pattern := range known {
		used := false
		for i := range things {
			if Match(pattern, things[i][0]) {
				x.known[i], used = true, true
			}
		}
		if !used {
			x.unused = append(x.unused, pattern)
		}
	}
	for _, thing := range things {
		words := map[string]int{}
		n := 0
		for i, count := range [...]int{nameCounts, 1} {
			for _, word := range split(thing[i]) {
				words[word] += count
				n += count
			}
		}
		for word := range words {
			x.in[word]++
		}
		x.names, x.words, x.length, x.total = append(x.names, thing[0]), append(x.words, words), append(x.length, n), x.total+n
	}
	return x
}

// Deferred reports whether a thing has to be looked for.
func (x *Index) Deferred(thing int) bool { return !x.known[thing] }

// Err says which patterns match nothing; nil: all match something.
func (x *Index) Err() error {
	var errs []error
	for _, pattern := range x.unused {
		errs = append(errs, fmt.Errorf("core: there is no tool %q; %s", pattern, x.Near(pattern)))
	}
	return errors.Join(errs...)
}

// usual is how many tools a search finds at most unless it says so, and nearest how
// many names it has if it finds none.
const usual, nearest = 5, 5

// Answer answers a call of the tool, whose arguments follow [Input]: the names that
// were found as JSON, and the result. names is nil if none was found.
func (x *Index) Answer(args []byte) (names, result json.RawMessage) {
	var a struct {
		Query string
		Max   float64 // a whole number, however it is written
	}
	_ = json.Unmarshal(args, &a) // validated before
	var answer struct {
		Found   []string `json:"found"`
		Nearest []string `json:"nearest,omitempty"`
	}
	if answer.Found = x.Find(a.Query, cmp.Or(int(a.Max), usual)); len(answer.Found) > 0 {
		names, _ = json.Marshal(answer.Found)
	} else {
		answer.Nearest = x.Nearest(a.Query, nearest)
	}
	result, _ = json.Marshal(answer)
	return names, result
}

// Near says which names are near to one that does not exist.
func (x *Index) Near(name string) string {
	return "the nearest names are " + strings.Join(x.Nearest(name, nearest), ", ")
}

// Find returns the names of at most so many things that have words of the query,
// best first: by BM25 (Robertson and Zaragoza, The Probabilistic Relevance
// Framework, 2009), with k1 = 1.2 and b = 0.75, and things that are equally good in
// their order. What has less than a third of the best score is left out. A name
// that stands in the query is always first.
func (x *Index) Find(query string, most int) []string {
	type hit struct{ thing, score int }
	var hits []hit
	asked := split(query)
	slices.Sort(asked)
	asked = slices.Compact(asked)
	named := strings.Fields(query)
	for i, words := range x.words {
		score := 0
		for _, word := range asked {
			if tf := words[word]; tf > 0 {
				score += x.rarity(word) * 2200 * tf / (1000*tf + 300 + 900*x.length[i]*len(x.names)/x.total)
			}
		}
		if slices.Contains(named, x.names[i]) {
			score += 1 << 30
		}
		if score > 0 {
			hits = append(hits, hit{i, score})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(b.score, a.score) })
	found := []string{}
	for _, h := range hits {
		if len(found) < most && 3*min(h.score, 1<<30) >= min(hits[0].score, 1<<30) {
			found = append(found, x.names[h.thing])
		}
	}
	return found
}

// rarity is the weight of a word, in thousandths: higher for words of few things.
func (x *Index) rarity(word string) int {
	n, all := float64(x.in[word]), float64(len(x.names))
	return int(math.Round(1000 * math.Log(1+(all-n+0.5)/(n+0.5))))
}

// Nearest returns the names that a query is nearest to as it is spelt, word by word.
func (x *Index) Nearest(query string, most int) []string {
	type near struct {
		name string
		far  int
	}
	asked := split(query)
	all := make([]near, len(x.names))
	for i, name := range x.names {
		all[i].name = name
		parts := split(name)
		for _, word := range asked {
			// In thousandths of the longer, or short names would be near to everything.
			least := 1000
			for _, part := range parts {
				least = min(least, 1000*Distance(word, part)/max(len(word), len(part)))
			}
			all[i].far += least
		}
	}
	slices.SortStableFunc(all, func(a, b near) int { return cmp.Compare(a.far, b.far) })
	names := []string{}
	for _, n := range all[:min(most, len(all))] {
		names = append(names, n.name)
	}
	return names
}

// split returns the words of a text in lower case, at what is no letter or digit
// and where a capital follows a small letter, without the s of plurals and without
// words that say nothing.
func split(text string) (words []string) {
	begin, last := -1, rune(0)
	end := func(to int) {
		if begin >= 0 {
			word := strings.ToLower(text[begin:to])
			if len(word) > 3 && strings.HasSuffix(word, "s") && !strings.HasSuffix(word, "ss") {
				word = word[:len(word)-1]
			}
			if !slices.Contains(empty, word) {
				words = append(words, word)
			}
		}
		begin = -1
	}
	for i, r := range text {
		switch inWord := unicode.IsLetter(r) || unicode.IsDigit(r); {
		case !inWord:
			end(i)
		case begin < 0:
			begin = i
		case unicode.IsUpper(r) && unicode.IsLower(last):
			end(i)
			begin = i
		}
		last = r
	}
	end(len(text))
	return words
}

// empty are the words that stand in every description.
var empty = []string{"a", "an", "and", "by", "for", "from", "in", "is", "it", "of", "on", "or", "that", "the", "to", "with"}
