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
	said corpus
	seen corpus
}

func (k *known) view(s *pawl.State) *view {
	v := &view{known: k, said: newCorpus(), seen: newCorpus()}
	heard := 0
	for c := range s.Open() {
		heard = c.Heard
		break
	}
	if heard > k.heard {
		for _, text := range slices.Collect(s.UserTexts())[k.earlier:][k.heard:heard] {
			v.said.add(text, "")
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
	if w.old == nil && len(h.values) > 0 && harmless(h, &info) && w.verb(info.Name) {
		return ""
	}
	reaching := slices.ContainsFunc(h.values, func(v value) bool { return v.reach || identifies(v.text) })
	for _, v := range h.values {
		r, from := w.judge(v, f, hosts)
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
			if !w.wanted(info.Name, picked, named) {
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
	if w.old == nil && !v.whole && strings.ContainsAny(v.text, "\r\n") {
		return unnamed, ""
	}
	folded := fold(v.text)
	r, from := w.whole(folded, f)
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

// flag judges true and false. What holds without being said is declared; else a
// person must have spoken of it.
func (w *view) flag(v value, f *form) rank {
	switch {
	case (v.text == "true") == f.on[v.name]:
		return declared
	case w.chosen(fold(v.name)):
		return said
	}
	return unnamed
}

// whole judges a folded value as it is, however it may be spelled.
func (w *view) whole(folded string, f *form) (r rank, from string) {
	for _, s := range spellings(folded) {
		if _, ok := w.person.find(s); ok {
			return said, ""
		}
		if _, ok := w.said.find(s); ok {
			return said, ""
		}
		if f.fixed[s] {
			return declared, ""
		}
		if f.choices[s] && w.chosen(s) {
			return said, ""
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
	named := func(word string) bool {
		_, before := w.person.find(word)
		_, now := w.said.find(word)
		return before || now
	}
	if named(phrase) {
		return true
	}
	const least = 4 // letters of a word that is told apart from others by its beginning
	for _, end := range []string{"", "s", "d", "e", "ed", "ing"} {
		stem, ok := strings.CutSuffix(phrase, end)
		if !ok || len(stem) < least {
			continue
		}
		for _, other := range []string{"", "s", "d", "e", "ed", "ing"} {
			if named(stem + other) {
				return true
			}
		}
	}
	return false
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
