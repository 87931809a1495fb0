package judge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/pawl-run/pawl"
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
	old    map[int]bool     // documents that a later one of the same question stands for
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
	e.text(s.Declaration().Prompt, e.document(""))
	for text := range s.UserTexts() {
		e.text(text, e.document(""))
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
	if text := plain(raw); len(raw) > 0 && raw[0] == '"' {
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

// scalars yields the strings and numbers in a document.
func scalars(raw []byte, yield func(string)) {
	var v any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return
	}
	walk(v, yield)
}

func walk(v any, yield func(string)) {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range sortedKeys(v) {
			walk(v[name], yield)
		}
	case []any:
		for _, one := range v {
			walk(one, yield)
		}
	case string:
		yield(v)
	case json.Number:
		yield(v.String())
	}
}

// spaced takes names apart: unitPrice and unit_price become unit price.
func spaced(name string) string {
	var b strings.Builder
	before := ' '
	for _, r := range name {
		if r >= 'A' && r <= 'Z' && before >= 'a' && before <= 'z' {
			b.WriteByte(' ')
		}
		if r == '_' {
			r = ' '
		}
		b.WriteRune(r)
		before = r
	}
	return b.String()
}

// value takes in a value under its key.
func (e *evidence) value(v any, key string, at *place, doc int) {
	switch v := v.(type) {
	case map[string]any:
		here := &place{}
		if at != e.docs[doc] { // what an object is in says what it is about
			here.merge(at.phrase)
			here.subject.merge(at.subject)
		}
		keys := sortedKeys(v)
		for _, name := range keys {
			switch one := v[name].(type) {
			case string:
				if len(one) <= mostLength {
					p := readPhrase(one)
					here.merge(p)
					here.subject.merge(p)
				}
			}
			here.merge(readPhrase(spaced(name)))
		}
		e.learn(&here.phrase)
		for _, name := range keys {
			e.value(v[name], spaced(name), here, doc)
		}
	case []any:
		e.count(len(v))
		e.columns(v)
		for _, one := range v {
			e.value(one, key, at, doc)
		}
		if len(v) == 0 {
			e.field(key, "", true, at, doc)
		}
	case string:
		e.raw.WriteString(strings.ToLower(v) + "\n")
		if len(v) > mostLength || strings.Contains(v, "\n") {
			e.text(v, doc)
			return
		}
		for _, part := range clauses(v) {
			e.field(key, part, v == "", at, doc)
		}
	case json.Number:
		e.raw.WriteString(v.String() + "\n")
		e.field(key, v.String(), false, at, doc)
	case bool:
		e.field(key, "", !v, at, doc)
	case nil:
		e.field(key, "", true, at, doc)
	}
}

// field is an atom of a key and its value. A unit in the key's name is the
// value's: price_usd, timeout_ms.
func (e *evidence) field(key, value string, denied bool, at *place, doc int) {
	p := readPhrase(value)
	for i := range p.numbers {
		p.numbers[i].named(key)
		if p.numbers[i].value == 0 {
			denied = false // the value denies by itself
		}
	}
	k := readPhrase(key)
	p.denied = p.denied != (denied != k.denied)
	p.merge(k)
	e.learn(&p)
	e.keep(atom{p, doc, at})
}

// named gives a number the unit in its name.
func (q *quantity) named(key string) {
	if u, ok := units[strings.ToLower(key[strings.LastIndexByte(key, ' ')+1:])]; ok && q.dim == "" {
		q.dim, q.unit = u.dim, u.size
	}
}

// keep takes in an atom.
func (e *evidence) keep(a atom) {
	for _, ident := range a.idents {
		if isoDate.MatchString(ident) { // a date names its year too
			if q, ok := readQuantity(ident[:4]); ok {
				a.numbers = append(a.numbers, q)
			}
		}
	}
	for _, w := range a.words {
		e.near[beginning(w)] = append(e.near[beginning(w)], len(e.atoms))
	}
	e.atoms = append(e.atoms, a)
}

// beginning is what all forms of a word share.
func beginning(stem string) string { return stem[:min(4, len(stem))] }

// merge adds what another phrase speaks of.
func (p *phrase) merge(other phrase) {
	for _, w := range other.words {
		p.add(w, false)
	}
	p.idents = append(p.idents, other.idents...)
}

// text takes in sentences. Those before and after stand around each; the rows
// of a table stand for themselves.
func (e *evidence) text(text string, doc int) {
	e.raw.WriteString(strings.ToLower(text) + "\n")
	var places []*place
	var all [][]phrase
	var owns []phrase
	for line := range strings.Lines(text) {
		list := split(line)
		for _, s := range list {
			whole := &place{}
			var parts []phrase
			var own phrase
			for _, c := range clauses(s) {
				p := readPhrase(c)
				own.merge(p)
				parts = append(parts, p)
			}
			whole.merge(own)
			prose := strings.ContainsAny(s[max(0, len(s)-1):], ".!?")
			if prose { // what "it" is stands before
				for _, before := range owns[max(0, len(owns)-2):] {
					whole.merge(before)
				}
			}
			whole.subject = whole.phrase
			places, all, owns = append(places, whole), append(all, parts), append(owns, own)
		}
	}
	for i, parts := range all {
		for _, p := range parts {
			e.learn(&p)
			e.keep(atom{p, doc, places[i]})
		}
	}
}

func (e *evidence) add(doc int, text string) {
	p := readPhrase(text)
	e.learn(&p)
	e.keep(atom{p, doc, e.docs[doc]})
}

// lines counts those of a text, which is how many things some tools list.
func (e *evidence) lines(text string) {
	n := 0
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) != "" {
			n++
		}
	}
	if n > 1 {
		e.count(n)
		e.count(n - 1) // a table has a heading
	}
}

func (e *evidence) count(n int) {
	e.counts = append(e.counts, quantity{value: float64(n), place: 1})
}

// mostRows is how many things are counted and added up by their fields.
const mostRows = 5000

// columns counts equal values of a list of objects by field, and adds up numbers.
func (e *evidence) columns(list []any) {
	sums, counts, numbers := map[string]float64{}, map[string]int{}, map[string]int{}
	for _, one := range list[:min(len(list), mostRows)] {
		row, ok := one.(map[string]any)
		if !ok {
			row = map[string]any{"": one}
		}
		for name, v := range row {
			switch v := v.(type) {
			case json.Number:
				if f, err := v.Float64(); err == nil {
					sums[name] += f
					numbers[name]++
				}
			case string, bool:
				counts[fmt.Sprintf("%s\x00%v", name, v)]++
			}
		}
	}
	for _, n := range counts {
		if n > 1 && n < len(list) {
			e.count(n)
		}
	}
	for name, sum := range sums {
		if n := numbers[name]; n > 1 {
			q := quantity{value: sum, place: 1e-9}
			q.named(spaced(name))
			mean := q
			mean.value /= float64(n)
			e.sums = append(e.sums, q, mean)
		}
	}
}

// learn takes in the words that occur.
func (e *evidence) learn(p *phrase) {
	for _, ident := range p.idents {
		if isoDate.MatchString(ident) || isoMonth.MatchString(ident) || strings.HasPrefix(ident, "-") {
			e.dates = append(e.dates, ident)
		}
	}
	for _, w := range p.words {
		e.vocab[w] = true
		if len(w) >= 4 {
			e.prefix[w] = true
		}
	}
}

// knows reports whether a word occurs anywhere, in whatever form.
func (e *evidence) knows(stem string) bool {
	if e.vocab[stem] {
		return true
	}
	for n := 4; n < len(stem); n++ { // a shorter form of it
		if len(stem)-n <= 5 && e.prefix[stem[:n]] {
			return true
		}
	}
	if len(stem) < 4 {
		return false
	}
	for w := range e.prefix { // a longer one
		if len(w) > len(stem) && same(stem, w) {
			return true
		}
	}
	return false
}

// spells reports whether an identifier occurs, on its own and not as a part of
// a longer one. Of a path, its last part will do.
func (e *evidence) spells(raw, ident string) bool {
	for _, date := range e.dates {
		if strings.HasPrefix(date, ident) && (isoDate.MatchString(ident) || isoMonth.MatchString(ident)) {
			return true
		}
	}
	if strings.HasPrefix(ident, "-") { // a day of any year
		for _, date := range e.dates {
			if strings.HasSuffix(date, ident) {
				return true
			}
		}
		return false
	}
	forms := []string{ident}
	if m := clock.FindStringSubmatch(ident); m != nil {
		hour, _ := strconv.Atoi(m[1]) // two digits
		for _, h := range []int{hour, hour + 12} {
			forms = append(forms, fmt.Sprintf("%02d:%s", h%24, m[2]), fmt.Sprintf("%02d:%s", h%24, m[2])+":00")
		}
	}
	if last := ident[strings.LastIndexByte(ident, '/')+1:]; last != ident && isIdent(last) && !strings.Contains(ident, "://") {
		forms = append(forms, last)
	}
	for _, form := range forms {
		for from := 0; ; {
			i := strings.Index(raw[from:], form)
			if i < 0 {
				break
			}
			i += from
			if !joined(raw, i-1) && !joined(raw, i+len(form)) {
				return true
			}
			from = i + len(form)
		}
	}
	return false
}

// joined reports whether the byte there goes on with a word or a number. The t
// between a date and a time does not.
func joined(s string, i int) bool {
	if i > 0 && i < len(s)-1 && s[i] == 't' && s[i-1] >= '0' && s[i-1] <= '9' && s[i+1] >= '0' && s[i+1] <= '9' {
		return false
	}

	return i >= 0 && i < len(s) && (s[i] >= '0' && s[i] <= '9' || s[i] >= 'a' && s[i] <= 'z' || s[i] == '_')
}

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
		text := plain(c.Result)
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
