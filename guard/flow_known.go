package guard

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
)

// known records the sources of values, up to a turn.
type known struct {
	person  speech              // from people: the prompt, the input, answers
	found   corpus              // from trusted tools
	foreign corpus              // from untrusted sources
	own     corpus              // written by the tainted model without another source
	touched map[string]bool     // objects it changed with such words
	records map[string][]record // records of search results by id
	links   map[string]bool     // URLs on the same host as their page

	clock   int // number of calls recorded, over all runs
	tainted bool
	calls   int      // number of calls recorded of the run
	since   int      // calls made after so many were over may be influenced
	first   string   // the first untrusted text
	earlier int      // number of texts from people in earlier runs of the thread
	heard   int      // number of texts recorded from people in this run
	said    []string // texts from people in this run, as needed
}

func newKnown() *known {
	return &known{person: newSpeech(), found: newCorpus(), foreign: newCorpus(), own: newCorpus(), touched: map[string]bool{}, records: map[string][]record{}, links: map[string]bool{}}
}

// begun returns the knowledge at the start of a run: the agent's prompt and the
// steps of its loop, the conversation it continues, and its input.
func begun(s *pawl.State) *known {
	k := newKnown()
	start, _ := s.Start()
	k.person.hear(start.Declaration.Prompt)
	k.person.hear(plain(start.Declaration.Steps))
	var chain []*pawl.State
	for e, ok := s.Earlier(); ok; e, ok = e.Earlier() {
		chain = append(chain, e)
	}
	for _, run := range slices.Backward(chain) {
		start, _ := run.Start()
		said := slices.Collect(run.UserTexts())
		k.begin(start, said[min(k.earlier, len(said)):])
		for c := range run.Calls() {
			k.took(c, " of run "+run.Run())
		}
		k.hear(len(k.said))
		k.found.add(run.Seen(), "")
		k.earlier += len(k.said)
	}
	for _, t := range start.Declaration.Tools {
		if t.Foreign {
			from := "the description of " + t.Name
			k.foreign.add(t.Name+"\n"+t.Description+"\n"+plain(t.Input), from)
			k.taint(from, 0)
		}
	}
	if start.Continues != nil && start.Continues.Untrusted {
		k.taint("the conversation that it continues", 0)
	}
	said := slices.Collect(s.UserTexts())
	k.begin(start, said[min(k.earlier, len(said)):])
	return k
}

// begin starts a run: the turns of its calls count from its start.
func (k *known) begin(start pawl.RunStarted, said []string) {
	k.calls, k.since, k.heard, k.said = 0, 0, 0, said
	for _, f := range start.Files {
		k.taint("the file "+f.Name, 0)
	}
	if len(said) == 0 {
		return
	}
	if k.heard = 1; start.Untrusted {
		k.foreign.add(said[0], "what the run was asked")
		k.taint("what the run was asked", 0)
		return
	}
	k.person.hear(said[0])
}

// taint records untrusted text. It may influence every call made when at least
// since calls were over.
func (k *known) taint(from string, since int) {
	if !k.tainted {
		k.tainted, k.since, k.first = true, since, from
	}
}

// influenced reports whether untrusted text may have caused a call. It cannot
// have caused a call of the same batch.
func (k *known) influenced(c *pawl.CallState) bool { return k.tainted && c.Prior >= k.since }

// hear records the texts of people, up to the n-th of the run.
func (k *known) hear(n int) {
	for ; k.heard < min(n, len(k.said)); k.heard++ {
		k.person.hear(k.said[k.heard])
	}
}

// add records a call of the run of s.
func (k *known) add(s *pawl.State, c pawl.CallState) {
	if c.UserTexts > len(k.said) {
		k.said = slices.Collect(s.UserTexts())[k.earlier:][:c.UserTexts] // later texts may differ in another state
	}
	k.took(c, "")
}

// took records a call and its result. A trusted tool's result for words without
// a trusted source is untrusted: the tool may repeat the words, or look up what
// they ask for.
func (k *known) took(c pawl.CallState, run string) {
	k.hear(c.UserTexts)
	k.calls++
	k.clock++
	clean, own := true, false
	if k.influenced(&c) {
		clean, own = k.called(&c, run)
	}
	if machines(c.Tool) || !c.Ran && !c.OK() {
		return // a text of the machine
	}
	what := "the result"
	if c.Error != "" {
		what = "the error"
	}
	from := fmt.Sprintf("%s of %s (%s)%s", what, c.ID, c.Tool, run)
	text := plain(c.Result) + "\n" + c.Error
	if c.Error == "" && (c.Trust == pawl.Untrusted || !clean) {
		k.remember(c.Result, c.Args)
	}
	if c.Trust == pawl.Untrusted && clean {
		k.link(text, c.Args)
	}
	switch {
	case c.Trust == pawl.Untrusted:
		k.foreign.add(text, from)
		k.taint(from, k.calls)
	case !clean:
		k.foreign.add(text, from+", asked for after that,")
	case own:
		k.own.addAt(text, from+", which the model wrote to before,", k.clock)
	default:
		k.found.addAt(text, from, k.clock)
	}
}

// called records the arguments of an influenced call. clean: a trusted tool's
// result counts as the tool's. own: it counts as the model's.
func (k *known) called(c *pawl.CallState, run string) (clean, own bool) {
	args := c.Args
	if c.Edited != nil {
		args = c.Edited
	}
	from := fmt.Sprintf("the arguments of %s (%s)%s", c.ID, c.Tool, run)
	values := valuesOf(args, nil)
	if c.Edited != nil {
		return true, false // a person wrote the arguments
	}
	own = k.reread(values)
	if clean = k.wrote(values, from); !clean && c.Ran && c.Effect != pawl.Read {
		k.touch(values)
	}
	return clean, own
}

// tells reports whether a person has named a value, or a trusted tool has and
// no untrusted text.
func (k *known) tells(folded string) bool {
	if _, said := k.person.find(folded); said {
		return true
	}
	if found, ok := k.found.find(folded); !ok || k.laundered(folded, found.at) {
		return false
	}
	_, foreign := k.foreign.find(folded)
	return !foreign
}

// clean reports whether an argument of a read comes from people or trusted
// tools, at least word by word. A number may be the model's own, such as an
// offset.
func (k *known) clean(v value) bool {
	if number, ok := canonical(v.text); ok && v.number {
		_, said := k.person.number(number)
		ours, found := k.found.number(number)
		found = found && !k.repeated(number, ours.at)
		_, foreign := k.foreign.number(number)
		return said || found || !foreign
	}
	folded := fold(v.text)
	if k.tells(folded) {
		return true
	}
	if _, foreign := k.foreign.find(folded); foreign {
		return false
	}
	known := true
	eachWord(folded, func(word string, _ int) bool {
		known = idle[word] || k.word(word) || k.word(word+"s") || k.word(strings.TrimSuffix(word, "s"))
		return known
	})
	return known
}

// word reports whether a person or a trusted tool has used a word.
func (k *known) word(word string) bool {
	return k.person.words[word] != nil || k.found.words[word] != nil && !k.ours(word, k.clock)
}

// idle are words that name nothing, from English, SQL and code. A query of such
// words and known ones has the known words as its source.
var idle = one("a an and any are as at by for from in into is it of on or the to with " +
	"asc between count desc distinct exists group having id inner join left like limit not null offset order outer right select sum where " +
	"class const def func function import interface package return struct type var")
