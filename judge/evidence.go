package judge

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/jsonin"
)

// An atom is the least that a piece of evidence says: a field of an object, or a
// clause of a text.
type atom struct {
	phrase
	doc   int    // the call or text it is from
	place *place // what stands around it: the object, the row, the sentences beside
}

// A place is where atoms stand: what is spoken of there, and of that what the
// atoms are about, which in an object are the values and not the names of fields.
type place struct {
	phrase
	subject phrase
}

// about reports whether the atom says a word, or is about it.
func (a *atom) about(stem string) bool { return a.has(stem) || a.place.subject.has(stem) }

// near reports whether a word stands in the atom's place.
func (a *atom) near(stem string) bool { return a.has(stem) || a.place.has(stem) }

// evidence is all that an answer may lean on.
type evidence struct {
	atoms  []atom
	begin  []int    // the first atom of each document
	docs   []*place // what each document is about as a whole: the tool and the arguments
	dates  []string
	vocab  map[string]bool
	prefix map[string]bool // stems by their first four bytes, to find forms of a word
	raw    strings.Builder // everything, in lower case, for identifiers
	counts []quantity      // how many there are of what can be counted
	sums   []quantity      // what numbers add up to, and their means
	calls  []pawl.CallState
	near   map[string][]int // atoms by the beginnings of their words
	common map[string]bool  // whether a word is everywhere in a document
	old    map[int]bool     // documents that deny nothing: a later one of the same question stands for them, or a person said them
	asked  map[string]bool  // what was asked of which tool, latest first
}

// mostEvidence bounds what is read: the latest results of a run that goes on
// for days are what its answer is about. Where it is reached, claims that are
// not found are let pass.
const mostEvidence = 2 << 20

// evidenceOf gathers what tools, observations and people said.
func evidenceOf(s pawl.State) *evidence {
	e := &evidence{vocab: map[string]bool{}, prefix: map[string]bool{}, near: map[string][]int{}, common: map[string]bool{},
		old: map[int]bool{}, asked: map[string]bool{}}
	told := func(text string) { // which may be leaned on, but denies nothing
		doc := e.document("")
		e.old[doc] = true
		e.text(text, doc)
	}
	told(s.Declaration().Prompt)
	for text := range s.UserTexts() {
		told(text)
	}
	e.text(s.Seen(), e.document(""))
	ran := map[string]int{}
	for c := range s.Recent() {
		if !c.OK() || strings.HasPrefix(c.Tool, own) {
			continue
		}
		e.calls = append(e.calls, c)
		if ran[c.Tool]++; e.raw.Len() < mostEvidence {
			e.call(c)
		}
	}
	for before, ok := s.Earlier(); ok; before, ok = before.Earlier() { // an answer may lean on what was found then
		for c := range before.Recent() {
			if c.OK() && !strings.HasPrefix(c.Tool, own) && e.raw.Len() < mostEvidence {
				e.call(c)
			}
		}
	}
	for _, n := range ran {
		e.count(n)
	}
	return e
}

// full reports whether something was left out.
func (e *evidence) full() bool { return e.raw.Len() >= mostEvidence }

func (e *evidence) document(about string) int {
	p := readPhrase(spaced(about))
	e.docs, e.begin = append(e.docs, &place{p, p}), append(e.begin, len(e.atoms))
	e.learn(&p)
	return len(e.docs) - 1
}

// of are the atoms of a document, which stand together.
func (e *evidence) of(doc int) []atom {
	if doc+1 < len(e.begin) {
		return e.atoms[e.begin[doc]:e.begin[doc+1]]
	}
	return e.atoms[e.begin[doc]:]
}

// own begins the names of the machine's tools, in which the model speaks to itself.
const own = "__"

// call takes in what a call was asked and what it said. The arguments of what
// was done count too: a report of it names what it was done with. Those of a
// question do not, nor do long ones: they are the model's own words.
func (e *evidence) call(c pawl.CallState) {
	about := c.Tool
	var args []string
	scalars(ran(c), func(v string) {
		if len(v) <= mostLength {
			args = append(args, v)
			about += " " + v
			return
		}
		p := readPhrase(v[:min(len(v), mostAnswer)])
		e.learn(&phrase{words: p.words}) // it may be spoken of
	})
	doc := e.document(about)
	key := c.Tool + digest(c)
	e.old[doc], e.asked[key] = e.asked[key], true
	if c.Ran && c.Effect != pawl.Read {
		for _, v := range args {
			e.add(doc, v)
		}
		e.raw.WriteString(strings.ToLower(strings.Join(args, "\n")) + "\n")
	}
	raw := c.Result
	if text := jsonin.Plain(raw); len(raw) > 0 && raw[0] == '"' {
		if !json.Valid([]byte(text)) || !strings.HasPrefix(strings.TrimSpace(text), "{") && !strings.HasPrefix(strings.TrimSpace(text), "[") {
			e.text(text, doc)
			e.lines(text)
			return
		}
		raw = []byte(text) // JSON that came as a text
	}
	var v any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return
	}
	e.value(v, spaced(c.Tool), e.docs[doc], doc)
}
