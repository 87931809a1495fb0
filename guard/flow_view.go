package guard

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/pawl-run/pawl"
)

// view is what is known when the calls of a turn are looked at: besides what is
// known for good, what people have said since the calls before, and what was
// seen of the world last.
type view struct {
	*known
	said speech
	seen corpus
}

func (k *known) view(s *pawl.State) *view {
	v := &view{known: k, said: newSpeech(k.old != nil), seen: newCorpus()}
	heard := 0
	for c := range s.Open() {
		heard = c.Heard
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

// rank says how well a value is known.
type rank int

const (
	unnamed  rank = iota // nobody who is trusted has named it
	declared             // the tool's schema leaves no choice, or it is what holds without being said
	found                // a trusted tool has named it, and no untrusted text
	said                 // a person has
)

// form is what a tool declares of its arguments. What an untrusted server declares
// names nothing.
func (w *view) form(info pawl.ToolInfo) *form {
	if info.Foreign && w.old == nil {
		return formOf(nil)
	}
	return formOf(info.Input)
}

// objection is why a call is held, for a person to read; empty: it is not.
func (w *view) objection(h held, info pawl.ToolInfo, hosts []string) string {
	const most = 3
	var whys []string
	var picked []*record
	var named []value
	f := w.form(info)
	best, more := unnamed, 0
	ordered := w.old == nil && (w.person.ordered(info.Name) || w.said.ordered(info.Name))
	switch {
	case ordered && len(h.values) > 0 && harmless(h, &info):
		return ""
	case w.old == nil && !ordered && (w.person.forbade(info.Name) || w.said.forbade(info.Name)):
		return "untrusted text may be behind it (" + w.first + "), and a person said not to do it"
	}
	if titled := func(v value) bool {
		return v.flag || lines[lastWord(v.name)] && (w.person.quotes[fold(v.text)] || w.said.quotes[fold(v.text)])
	}; w.old == nil && h.text && slices.ContainsFunc(h.values, func(v value) bool { return !v.flag && titled(v) }) {
		h.values = slices.DeleteFunc(slices.Clone(h.values), func(v value) bool { return !titled(v) && reads(&v) })
	}
	reaching := slices.ContainsFunc(h.values, func(v value) bool { return v.reach || identifies(v.text) })
	for _, v := range h.values {
		r, from := w.judge(v, f, hosts)
		if r == unnamed && v.reach && info.Effect == pawl.Read && w.linked(v.text) {
			r = found
		}
		if r == unnamed && w.old == nil && !v.reach && !v.whole {
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
		if what == "" {
			what = "an argument"
		}
		if w.forbidden(v) {
			whys = append(whys, what+" is "+shown(v)+", which a person forbids")
			continue
		}
		if from == "" {
			from = "no trusted tool"
		}
		whys = append(whys, what+" is "+shown(v)+", from "+from+" and from no person")
	}
	if more > 0 {
		whys = append(whys, fmt.Sprintf("%d more values like these", more))
	}
	if w.old == nil && whys == nil && (best < found || picked != nil) { // the rest may say what is wanted
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

// shown is a value as a person sees it: shortened, with what no screen shows
// written out, and with it letters of another script among Latin ones.
func shown(v value) string {
	const most = 80
	text := v.text
	if v.number {
		return text
	}
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
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

// judge says how well a value is known, and if it is not, which untrusted text
// has it.
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
	if w.old == nil && !v.whole && strings.ContainsAny(v.text, breaks) {
		return unnamed, ""
	}
	folded := fold(v.text)
	if w.old == nil && v.whole {
		return w.command(folded, strings.ContainsAny(v.text, "\r\n"), f)
	}
	r, from := w.whole(folded, f)
	if r == said && w.old == nil && v.reach && !w.person.wrote(v.text) && !w.said.wrote(v.text) {
		return unnamed, from
	}
	if r > unnamed || v.whole {
		return r, from
	}
	if number, ok := canonical(folded); ok {
		if r, _ := w.number(number, f); r > declared {
			return r, ""
		}
	}
	if from != "" { // what an untrusted text has whole is not put together of what others named
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
	if w.old == nil && v.reach && best < said {
		return unnamed, "" // a secret that a trusted tool told may be a part of it
	}
	return best, ""
}

// command judges a folded program, which a person must have named from its beginning
// to its end.
func (w *view) command(folded string, broken bool, f *form) (rank, string) {
	if w.person.commands(folded, broken) || w.said.commands(folded, broken) {
		return said, ""
	}
	return w.apart(folded, f)
}

// flag judges true, false and nothing. What holds without being said is declared;
// else a person must have said that it is to be so.
func (w *view) flag(v value, f *form) rank {
	switch {
	case v.text != "true" && v.resets:
		if f.off[v.name] {
			return declared
		}
	case (v.text == "true") == f.on[v.name]:
		return declared
	}
	switch {
	case w.old != nil && w.chosen(fold(v.name)), w.old == nil && w.mode(v.name):
		return said
	}
	return unnamed
}

// whole judges a folded value as it is, however it may be spelled.
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

// forbidden reports whether a value stands in what a person forbids.
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

// spellings are those of a folded value. Who names a host with https does not mean
// it without.
func (w *view) spellings(folded string) []string {
	all := spellings(folded)
	if rest, ok := strings.CutPrefix(folded, "http://"); ok && w.old == nil && w.secure(strings.TrimSuffix(rest, "/")) {
		return all[:1]
	}
	return all
}

// secure reports whether somebody who is trusted has named a URL only with https.
func (w *view) secure(rest string) bool {
	for _, c := range []*corpus{&w.person.corpus, &w.said.corpus, &w.found, &w.seen} {
		if _, ok := c.find("https://" + rest); ok {
			return true
		}
	}
	return false
}

// apart judges a folded value by what is known of it apart from people.
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
		if from == "" {
			from = w.old[s]
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
	case w.old == nil && (w.person.part(number) || w.said.part(number)):
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

// chosen reports whether a person has named one of the values that an argument may
// have, in whatever form of the word: who wants a ticket closed may say close.
func (w *view) chosen(choice string) bool {
	phrase := strings.Map(func(r rune) rune {
		if r == '_' || r == '-' {
			return ' '
		}
		return r
	}, choice)
	return slices.ContainsFunc(forms(phrase), w.names)
}

// mode reports whether a person said what an argument that is true or false says:
// in one word, that something is to be so, or in several.
func (w *view) mode(name string) bool {
	if name = fold(name); strings.ContainsAny(name, "_-") {
		return w.chosen(name)
	}
	return slices.ContainsFunc(forms(name), func(word string) bool {
		return w.person.modes[word] || w.said.modes[word] || w.person.orders[word] || w.said.orders[word]
	})
}

// parts are the values that a folded value is put together of, each of which must
// be known; nil: it is none of that kind.
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

// path parts a path, or a URL behind a beginning that is known as a whole. What
// leads up, or asks something of a server, is put together of nothing.
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

// allowed reports whether a URL or host is among those that may be sent anything.
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
