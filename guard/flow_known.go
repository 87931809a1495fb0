package guard

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
)

// known is what a run has read, up to a turn. It depends only on the beginning
// of the run and its calls.
type known struct {
	author  []text   // by the agent's author
	results []result // of tools
	foreign []text   // untrusted from the start: descriptions of tools, an input
	first   string   // the first untrusted text; empty: the run is not tainted
	wrote   bool     // a result with words was of a call that wrote
}

// result is what a tool returned. If a tainted model called the tool with words
// that no trusted text has, the result is untrusted: the tool may repeat the words,
// or look up what they ask for. If the call was not a Read, so is every later
// result, which may hold what the model wrote.
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
	k := &known{}
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
			k.add(&c, " of run "+run.Run())
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
	if machines(c.Tool) || !c.Ran && !c.OK() {
		return // its result is the machine's
	}
	what := "the result"
	if c.Error != "" {
		what = "the error"
	}
	r := result{
		text:      textOf(fmt.Sprintf("%s of %s (%s)%s", what, c.ID, c.Tool, run), readable(c.Result)+"\n"+c.Error),
		untrusted: c.Trust == pawl.Untrusted, wrote: c.Ran && c.Effect != pawl.Read,
	}
	if k.first != "" && c.Edited == nil { // else a person wrote the arguments
		r.words = slices.DeleteFunc(valuesOf(c.Args, nil), k.used)
	}
	k.wrote = k.wrote || r.wrote && len(r.words) > 0
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
	tools     []text // that are trusted, and the observation
	untrusted []text
}

// view sorts what was read by whose words it is.
func (k *known) view(s *pawl.State) *view {
	var said []text
	asked := map[string]bool{}
	for run, ok := s, true; ok; run, ok = run.Earlier() {
		if start, _ := run.Start(); start.Untrusted {
			asked[start.Input] = true
		}
	}
	for text := range s.UserTexts() {
		if !asked[text] {
			said = append(said, textOf("", text))
		}
	}
	v := &view{first: k.first, people: slices.Concat(k.author, said), tools: []text{textOf("", s.Seen())}, untrusted: slices.Clone(k.foreign)}
	wrote := false
	for _, r := range k.results {
		unnamed := slices.ContainsFunc(r.words, func(w value) bool { return w.in(said) == nil })
		wrote = wrote || unnamed && r.wrote
		if r.untrusted || unnamed || wrote {
			v.untrusted = append(v.untrusted, r.text)
		} else {
			v.tools = append(v.tools, r.text)
		}
	}
	return v
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
