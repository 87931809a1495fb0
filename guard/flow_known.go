package guard

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/naming"
)

// known is what a run has read, up to a turn. It depends only on the beginning
// of the run and its calls.
type known struct {
	author  []text   // by the agent's author
	results []result // of tools
	foreign []text   // untrusted from the start: descriptions of tools, an input
	first   string   // the first untrusted text; empty: the run is not tainted
	wrote   bool     // a call wrote what nobody who is trusted had said
	done    deeds
}

// deeds are the Writes that succeeded, by what they did, with the call.
type deeds map[string]string

const ofRun = " of run "

// record adds a call if it is such a Write.
func (d deeds) record(c *pawl.CallState, run string) {
	if c.OK() && c.Effect != pawl.Read && c.Effect != pawl.Idempotent {
		args := c.Args
		if c.Edited != nil {
			args = c.Edited
		}
		d[deed(c.Tool, args)] = c.ID + run
	}
}

// deed identifies what a call does, however its values are written.
func deed(tool string, args json.RawMessage) string {
	parts := []string{tool}
	for _, v := range valuesOf(args, nil) {
		parts = append(append(parts, v.name), v.facts...)
		if v.facts == nil && v.kind == '"' {
			parts = append(parts, lower(v.forms[len(v.forms)-1]))
		} else if v.facts == nil {
			parts = append(parts, v.text)
		}
	}
	return strings.Join(parts, "\x00")
}

// result is what a tool returned. If a tainted model called the tool with words
// that no trusted text has, the result is untrusted: the tool may repeat the words,
// or look up what they ask for. If the call was not a Read, or if the tool is
// untrusted and writes, so is every later result, which may hold what was written.
type result struct {
	text
	untrusted bool    // by the label of the tool
	words     []value // of the call, which neither the author nor a trusted tool has used
	wrote     bool    // the call was not a Read
	clean     bool    // it is trusted, whatever people say later
}

// begun returns what is known at the start of a run: its agent's prompt and steps,
// the conversation that it continues, and what is untrusted from the start.
func begun(s *pawl.State) *known {
	k := &known{done: deeds{}}
	var chain []*pawl.State
	for run, ok := s, true; ok; run, ok = run.Earlier() {
		chain = append(chain, run)
	}
	for _, run := range slices.Backward(chain) {
		start, _ := run.Start()
		k.author = append(k.author, textOf("", start.Declaration.Prompt+"\n"+plain(start.Declaration.Steps)))
		for _, t := range start.Declaration.Tools {
			if t.Foreign {
				k.taint(textOf("the description of "+t.Name, t.Name+"\n"+t.Description+"\n"+plain(t.Input)))
			}
		}
		for _, f := range start.Files {
			k.taint(textOf("the file "+f.Name, f.Name))
		}
		if start.Continues != nil && start.Continues.Untrusted {
			k.first = cmp.Or(k.first, "the conversation that it continues")
		}
		if start.Untrusted {
			k.taint(textOf("what the run was asked", start.Input))
		}
		if run == s {
			break
		}
		for c := range run.Calls() {
			k.add(&c, ofRun+run.Run())
		}
		k.results = append(k.results, result{text: textOf("", run.Seen()), clean: true})
	}
	return k
}

func (k *known) taint(t text) {
	k.foreign = append(k.foreign, t)
	k.first = cmp.Or(k.first, t.from)
}

// add adds a call and its result.
func (k *known) add(c *pawl.CallState, run string) {
	if naming.OfMachine(c.Tool) || !c.Ran && !c.OK() {
		return // its result is the machine's
	}
	what := "the result"
	if c.Error != "" {
		what = "the error"
	}
	said := []string{readable(c.Result), c.Error}
	for _, f := range c.Files {
		said = append(said, f.Name)
	}
	r := result{
		text:      textOf(fmt.Sprintf("%s of %s (%s)%s", what, c.ID, c.Tool, run), strings.Join(said, "\n")),
		untrusted: c.Trust == pawl.Untrusted, wrote: c.Ran && c.Effect != pawl.Read,
	}
	if k.first != "" && c.Edited == nil { // else a person wrote the arguments
		r.words = slices.DeleteFunc(valuesOf(c.Args, nil), func(v value) bool { return v.kind == 'n' || k.used(v) })
	}
	k.done.record(c, run)
	k.wrote = k.wrote || r.wrote && (r.untrusted || len(r.words) > 0)
	r.clean = !r.untrusted && len(r.words) == 0 && !k.wrote
	k.results = append(k.results, r)
	if r.untrusted {
		k.first = cmp.Or(k.first, r.from)
	}
}

// used reports whether the author or a trusted tool has used a value, the tool as
// in [view.says].
func (k *known) used(v value) bool {
	if v.in(k.author) != nil {
		return true
	}
	clean := false
	for _, r := range k.results {
		if r.holds(&v) {
			if clean = true; !r.clean {
				return false
			}
		}
	}
	return clean && v.in(k.foreign) == nil
}

// readable returns the keys, texts and numbers of a JSON document, also of one
// that is the text of another.
func readable(raw json.RawMessage) string {
	text := plain(raw)
	if inner := json.RawMessage(text); len(text) < len(raw) && json.Valid(inner) {
		return plain(inner)
	}
	return text
}

// view is what is known when the calls of a turn are judged.
type view struct {
	first     string
	people    []text // and the agent's author
	own       []text // what people said in this run
	done      deeds  // Writes before this turn
	tools     []text // that are trusted, and the observation
	untrusted []text
}

// view sorts what was read by whose words it is.
func (k *known) view(s *pawl.State) *view {
	var said, own []text
	asked := map[string]bool{}
	for run, ok := s, true; ok; run, ok = run.Earlier() {
		if start, _ := run.Start(); start.Untrusted {
			asked[start.Input] = true
		}
	}
	ago := 0
	if earlier, ok := s.Earlier(); ok {
		ago = len(slices.Collect(earlier.UserTexts()))
	}
	for text := range s.UserTexts() {
		if !asked[text] {
			said = append(said, textOf("", text))
			if ago <= 0 {
				own = append(own, said[len(said)-1])
			}
		}
		ago--
	}
	v := &view{first: k.first, own: own, done: k.done, people: slices.Concat(k.author, said), tools: []text{textOf("", s.Seen())}, untrusted: slices.Clone(k.foreign)}
	wrote := false
	for _, r := range k.results {
		unnamed := slices.ContainsFunc(r.words, func(w value) bool { return w.in(said) == nil && (r.wrote || !w.asks(said)) })
		wrote = wrote || (unnamed || r.untrusted) && r.wrote
		if r.untrusted || unnamed || wrote {
			v.untrusted = append(v.untrusted, r.text)
		} else {
			v.tools = append(v.tools, r.text)
		}
	}
	return v
}

// asks reports whether a value consists of words that the texts name one by one, as
// what a model looks up does.
func (v *value) asks(texts []text) bool {
	words := strings.Fields(v.text)
	return len(words) > 1 && !slices.ContainsFunc(words, func(word string) bool {
		one := valueOf(v.name, word, '"')
		return strings.ContainsFunc(word, func(r rune) bool { return !isWordRune(r) }) || one.in(texts) == nil
	})
}

// names reports whether trusted texts name a value, and else returns the first
// untrusted text that does. The directory and the file of a path may be named
// apart.
func (w *view) names(v *value) (named bool, from *text) {
	named, from = w.says(v)
	dir, file := path.Split(fold(v.text))
	dir = strings.TrimSuffix(dir, "/")
	if named || from != nil || v.kind != '"' || dir == "" || place(v.text) || strings.Contains(dir, "..") {
		return named, from
	}
	in, of := valueOf(v.name, dir, '"'), valueOf(v.name, file, '"')
	if named, from = w.says(&in); named {
		named, from = w.says(&of)
	}
	return named, from
}

// says is names for a value as a whole. What a trusted tool says counts only if no
// untrusted text says it.
func (w *view) says(v *value) (named bool, from *text) {
	if v.in(w.people) != nil {
		return true, nil
	}
	from = v.in(w.untrusted)
	return from == nil && v.in(w.tools) != nil, from
}

// repeats names the Write that a call would do once more, and adds the call to those
// of its turn; empty: there is none. What an earlier run did may be done again if a
// person has named it in this one.
func (w *view) repeats(turn deeds, d *pawl.Classified, a *action) string {
	if d.Info().Effect != pawl.Write {
		return ""
	}
	what := deed(d.Call.Tool, d.Call.Args)
	of := cmp.Or(turn[what], w.done[what])
	turn[what] = d.Call.ID
	if strings.Contains(of, ofRun) && !slices.ContainsFunc(a.values, func(v value) bool { return v.in(w.own) == nil }) {
		return ""
	}
	return of
}
