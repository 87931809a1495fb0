package guard

import (
	"cmp"
	"strings"
)

// What a model writes once it has read untrusted text may be that text in another
// form: decoded, put together, described. So it is untrusted when a trusted tool
// says it later, be it a file that is read back. What the tool said before the
// model wrote it stays the tool's.

// wrote adds what a call was made with to the model's own words, and reports
// whether all of it is known from people or trusted tools, be it word by word.
func (k *known) wrote(values []value, from string) (clean bool) {
	clean = true
	for _, v := range values {
		clean = clean && k.clean(v)
		if !k.tells(fold(v.text)) {
			k.own.addAt(v.text, from, k.clock)
		}
	}
	return clean
}

// touch notes what a call changed that was made with words of nobody who is
// trusted, such as a path. What is read there is the model's own, in whatever form.
func (k *known) touch(values []value) {
	const longest = 200
	for _, v := range values {
		if s := fold(v.text); len(s) <= longest {
			k.touched[s] = true
		}
	}
}

// reread reports whether a call reads what such a call has changed.
func (k *known) reread(values []value) bool {
	for _, v := range values {
		s := fold(v.text)
		if k.touched[s] {
			return true
		}
		for token := range strings.FieldsSeq(s) {
			if k.touched[token] {
				return true
			}
		}
	}
	return false
}

// laundered reports whether a folded value that trusted tools said first in the
// text at is the model's own: it wrote it before, whole or word by word.
func (k *known) laundered(folded string, at int) bool {
	if own, ok := k.own.find(folded); ok && own.at <= at {
		return true
	}
	own := false
	known := true
	eachWord(folded, func(word string, _ int) bool {
		switch {
		case k.person.words[word] != nil:
		case k.ours(word, at):
			own = true
		default:
			found, ok := k.found.first(word)
			known = ok && found < at
		}
		return known
	})
	return known && own
}

// wroteIn is where the model wrote a folded value.
func (k *known) wroteIn(folded string) string {
	own, _ := k.own.find(folded)
	return cmp.Or(own.from, "what the model wrote before")
}

// ours reports whether the model brought in a word, before the text at and before
// any trusted tool did.
func (k *known) ours(word string, at int) bool {
	own, ok := k.own.first(word)
	found, said := k.found.first(word)
	return ok && own <= at && (!said || own <= found)
}

// repeated reports whether the model wrote a number before trusted tools said it in
// the text at.
func (k *known) repeated(number string, at int) bool {
	own, ok := k.own.number(number)
	return ok && own.at <= at
}
