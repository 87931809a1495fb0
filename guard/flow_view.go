package guard

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/display"
)

// view is the knowledge when the calls of a turn are judged: the permanent
// knowledge, the texts of people since the previous calls, and the latest
// observation.
type view struct {
	*known
	said speech
	seen corpus
}

func (k *known) view(s *pawl.State) *view {
	v := &view{known: k, said: newSpeech(), seen: newCorpus()}
	heard := 0
	for c := range s.Open() {
		heard = c.UserTexts
		break
	}
	if heard > k.heard {
		for _, text := range slices.Collect(s.UserTexts())[k.earlier:][k.heard:heard] {
			v.said.hear(text)
		}
	}
	v.seen.add(s.Seen(), "")
	return v
}

// rank says how trusted a value's best source is.
type rank int

const (
	unnamed  rank = iota // no trusted source has named it
	declared             // the only value or the default of the tool's schema
	found                // a trusted tool has named it and no untrusted text
	said                 // a person has named it
)

// form returns the tool's declaration of its arguments. That of an untrusted
// server is ignored.
func (w *view) form(info pawl.ToolInfo) *form {
	if info.Foreign {
		return formOf(nil)
	}
	return formOf(info.Input)
}

// objection returns the reason for holding a call, for a person; empty: it is
// not held.
func (w *view) objection(h heldCall, info pawl.ToolInfo, hosts []string) string {
	const most = 3
	var whys []string
	var picked []*record
	var named []value
	f := w.form(info)
	best, more := unnamed, 0
	ordered := w.person.ordered(info.Name) || w.said.ordered(info.Name)
	switch {
	case ordered && len(h.values) > 0 && harmless(h, &info):
		return ""
	case !ordered && (w.person.forbade(info.Name) || w.said.forbade(info.Name)):
		return "untrusted text may be behind it (" + w.first + "), and a person said not to do it"
	}
	if titled := func(v value) bool {
		return v.flag || lines[lastWord(v.name)] && (w.person.quotes[fold(v.text)] || w.said.quotes[fold(v.text)])
	}; h.text && slices.ContainsFunc(h.values, func(v value) bool { return !v.flag && titled(v) }) {
		h.values = slices.DeleteFunc(slices.Clone(h.values), func(v value) bool { return !titled(v) && reads(&v) })
	}
	reaching := slices.ContainsFunc(h.values, func(v value) bool { return v.reach || identifies(v.text) })
	for _, v := range h.values {
		r, from := w.judge(v, f, hosts)
		if r == unnamed && v.reach && info.Effect == pawl.Read && w.linked(v.text) {
			r = found
		}
		if r == unnamed && !v.reach && !v.whole {
			if (from == "" || !reaching) && dated(fold(v.text)) {
				r = declared
			} else if p := w.picked(fold(v.text)); p != nil {
				r, picked = declared, append(picked, p)
			}
		}
		if best = max(best, r); r >= found {
			named = append(named, v)
		}
		if r > unnamed {
			continue
		}
		if len(whys) == most {
			more++
			continue
		}
		what := v.name
		what = cmp.Or(what, "an argument")
		if w.forbidden(v) {
			whys = append(whys, what+" is "+shown(v)+", which a person forbids")
			continue
		}
		from = cmp.Or(from, "no trusted tool")
		whys = append(whys, what+" is "+shown(v)+", from "+from+" and from no person")
	}
	if more > 0 {
		whys = append(whys, fmt.Sprintf("%d more values like these", more))
	}
	if whys == nil && (best < found || picked != nil) { // the text may show what is wanted
		for _, v := range h.prose {
			if r, _ := w.judge(v, f, hosts); r >= found {
				best, named = max(best, r), append(named, v)
			}
		}
		if picked != nil {
			if !ordered && !wanted(picked, named) {
				return "untrusted text may be behind it (" + w.first + "): searching found what it is done to, and nobody named what is done"
			}
			best = found
		}
	}
	switch {
	case whys == nil && best < found:
		whys = append(whys, "nothing in it was named by a person or a trusted tool")
	case whys == nil:
		return ""
	}
	return "untrusted text may be behind it (" + w.first + "): " + strings.Join(whys, "; ")
}

// shown formats a value for a person: shortened, with invisible characters
// escaped, and foreign letters in Latin text pointed out.
func shown(v value) string {
	const most = 80
	if v.number {
		return v.text
	}
	text := display.Clip(v.text, most)
	latin, other := false, false
	for _, r := range text {
		latin = latin || unicode.Is(unicode.Latin, r)
		other = other || unicode.IsLetter(r) && !unicode.Is(unicode.Latin, r)
	}
	if latin && other {
		return strconv.Quote(text) + " (to the letter " + strconv.QuoteToASCII(text) + ")"
	}
	return strconv.Quote(text)
}

// judge returns the rank of a value and, if it is unnamed, the untrusted text
// that contains it.
func (w *view) judge(v value, f *form, hosts []string) (rank, string) {
	if v.number {
		if number, ok := canonical(v.text); ok {
			return w.number(number, f)
		}
	}
	if v.flag {
		return w.flag(v, f), ""
	}
	if v.reach && allowed(v.text, hosts) {
		return said, ""
	}
	if !v.whole && strings.ContainsAny(v.text, breaks) {
		return unnamed, ""
	}
	folded := fold(v.text)
	if v.whole {
		return w.command(folded, strings.ContainsAny(v.text, "\r\n"), f)
	}
	r, from := w.whole(folded, f)
	if r == said && v.reach && !w.person.wrote(v.text) && !w.said.wrote(v.text) {
		return unnamed, from
	}
	if r > unnamed {
		return r, from
	}
	if number, ok := canonical(folded); ok {
		if r, _ := w.number(number, f); r > declared {
			return r, ""
		}
	}
	if from != "" { // a value that untrusted text names as a whole is not judged by parts
		return unnamed, from
	}
	parts := w.parts(folded, f)
	if parts == nil {
		return unnamed, ""
	}
	best := said
	for _, p := range parts {
		r, from := w.judge(value{name: v.name, text: p}, f, nil)
		if r == unnamed {
			return unnamed, from
		}
		best = min(best, r)
	}
	if v.reach && best < said {
		return unnamed, "" // part of it may be a secret from a trusted tool
	}
	return best, ""
}

// command judges a folded program, which a person must have named as a whole.
func (w *view) command(folded string, broken bool, f *form) (rank, string) {
	if w.person.commands(folded, broken) || w.said.commands(folded, broken) {
		return said, ""
	}
	return w.apart(folded, f)
}

// flag judges true, false and null. A default is declared; otherwise a person
// must have requested the state.
func (w *view) flag(v value, f *form) rank {
	switch {
	case v.text != "true" && v.resets:
		if f.off[v.name] {
			return declared
		}
	case (v.text == "true") == f.on[v.name]:
		return declared
	}
	if w.mode(v.name) {
		return said
	}
	return unnamed
}

// whole judges a folded value in all its spellings.
func (w *view) whole(folded string, f *form) (r rank, from string) {
	for _, s := range w.spellings(folded) {
		if w.names(s) {
			return said, ""
		}
		if f.choices[s] && w.chosen(s) {
			return said, ""
		}
	}
	return w.apart(folded, f)
}

// forbidden reports whether a person's prohibition names a value.
func (w *view) forbidden(v value) bool {
	folded := fold(v.text)
	_, before := w.person.never.find(folded)
	_, now := w.said.never.find(folded)
	return !v.flag && (before || now)
}

// names reports whether a person has named a folded value.
func (w *view) names(folded string) bool {
	if _, before := w.person.find(folded); before {
		return true
	}
	_, now := w.said.find(folded)
	return now
}

// spellings returns the spellings of a folded value. A host named with https is
// not permitted without it.
func (w *view) spellings(folded string) []string {
	all := spellings(folded)
	if rest, ok := strings.CutPrefix(folded, "http://"); ok && w.secure(strings.TrimSuffix(rest, "/")) {
		return all[:1]
	}
	return all
}

// secure reports whether trusted sources named a URL only with https.
func (w *view) secure(rest string) bool {
	for _, c := range []*corpus{&w.person.corpus, &w.said.corpus, &w.found, &w.seen} {
		if _, ok := c.find("https://" + rest); ok {
			return true
		}
	}
	return false
}

// apart judges a folded value by sources other than people.
func (w *view) apart(folded string, f *form) (r rank, from string) {
	for _, s := range w.spellings(folded) {
		if f.fixed[s] {
			return declared, ""
		}
		if src, ok := w.found.find(s); ok && !w.laundered(s, src.at) {
			r = found
		} else if _, seen := w.seen.find(s); seen && !w.laundered(s, w.clock) {
			r = found
		} else if ok || seen {
			from = cmp.Or(from, w.wroteIn(s))
		}
		if src, ok := w.foreign.find(s); ok && from == "" {
			from = src.from
		}
	}
	if from != "" {
		return unnamed, from
	}
	return r, ""
}

// number judges a number, as [canonical] writes it.
func (w *view) number(number string, f *form) (r rank, from string) {
	_, before := w.person.number(number)
	_, now := w.said.number(number)
	src, ours := w.found.number(number)
	_, seen := w.seen.number(number)
	switch {
	case before || now:
		return said, ""
	case f.fixed[number]:
		return declared, ""
	case w.person.part(number) || w.said.part(number):
		return said, ""
	}
	if src, foreign := w.foreign.number(number); foreign {
		return unnamed, src.from
	}
	if own, wrote := w.own.number(number); wrote && (!ours || own.at <= src.at) {
		return unnamed, own.from
	}
	if ours || seen {
		return found, ""
	}
	return unnamed, ""
}

// chosen reports whether a person has named a value of an enumeration in any
// form of the word: for closed, also close.
func (w *view) chosen(choice string) bool {
	phrase := strings.Map(func(r rune) rune {
		if r == '_' || r == '-' {
			return ' '
		}
		return r
	}, choice)
	return slices.ContainsFunc(forms(phrase), w.names)
}

// mode reports whether a person named the boolean argument: as a requested
// state in one word, or in several words.
func (w *view) mode(name string) bool {
	if name = fold(name); strings.ContainsAny(name, "_-") {
		return w.chosen(name)
	}
	return slices.ContainsFunc(forms(name), func(word string) bool {
		return w.person.modes[word] || w.said.modes[word] || w.person.orders[word] || w.said.orders[word]
	})
}

// parts splits a composed value; each part must be known. nil: it cannot be
// split.
func (w *view) parts(folded string, f *form) []string {
	if list := strings.FieldsFunc(folded, func(r rune) bool { return r == ',' || r == ';' }); len(list) > 1 {
		for i := range list {
			list[i] = strings.TrimSpace(list[i])
		}
		return slices.DeleteFunc(list, func(s string) bool { return s == "" })
	}
	if name, address, ok := strings.Cut(folded, " <"); ok && strings.HasSuffix(address, ">") {
		return []string{strings.Trim(name, `"`), strings.TrimSuffix(address, ">")}
	}
	if date, clock, ok := moment(folded); ok {
		return []string{date, clock}
	}
	return w.path(folded, f)
}

// path splits a path, or the rest of a URL after a known beginning. It does not
// split a path with .. or a query.
func (w *view) path(folded string, f *form) []string {
	rest, at := strings.TrimSuffix(folded, "/"), 0
	if i := strings.Index(rest, "://"); i >= 0 {
		at = i + len("://")
	} else {
		rest = strings.TrimPrefix(rest, "./")
	}
	if !strings.Contains(rest[at:], "/") || strings.ContainsAny(rest, "?#\\ ") {
		return nil
	}
	var parts []string
	if at > 0 || rest[0] == '/' {
		end := strings.LastIndexByte(rest, '/')
		for ; end > at; end = strings.LastIndexByte(rest[:end], '/') {
			if r, _ := w.whole(rest[:end], f); r >= found {
				break
			}
		}
		if end <= at {
			return nil
		}
		parts, rest = append(parts, rest[:end]), rest[end+1:]
	}
	for segment := range strings.SplitSeq(rest, "/") {
		if strings.Trim(segment, ".") == "" {
			return nil
		}
		parts = append(parts, segment)
	}
	return parts
}

// allowed reports whether a URL or host is among those that may be sent
// anything.
func allowed(text string, hosts []string) bool {
	_, rest, ok := strings.Cut(strings.ToLower(strings.TrimSpace(text)), "://")
	if !ok {
		rest = strings.ToLower(text)
	}
	if i := strings.IndexAny(rest, "/?#\\"); i >= 0 {
		rest = rest[:i]
	}
	name, _, _ := strings.Cut(rest, ":")
	for _, h := range hosts {
		h = strings.ToLower(h)
		under, wild := strings.CutPrefix(h, "*.")
		if h == rest || h == name || wild && strings.HasSuffix(name, "."+under) {
			return !strings.Contains(rest, "@")
		}
	}
	return false
}
