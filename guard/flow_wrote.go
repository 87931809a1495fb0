package guard

import (
	"cmp"
	"strings"
)

// After reading untrusted text, a model may write it in another form: decoded,
// combined, described. So its words stay untrusted when a trusted tool repeats
// them, such as a file that is read back. Words that the tool used before the
// model stay trusted.

// wrote adds the arguments of a call to the model's own words, and reports
// whether all of them are known from people or trusted tools, at least word by
// word.
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

// touch records the objects, such as paths, that a call with untrusted words
// changed. Their content then counts as the model's own in any form.
func (k *known) touch(values []value) {
	const longest = 200
	for _, v := range values {
		if s := fold(v.text); len(s) <= longest {
			k.touched[s] = true
		}
	}
}

// reread reports whether a call reads an object that such a call has changed.
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

// laundered reports whether a folded value that trusted tools used first in the
// text at comes from the model, which wrote it earlier, as a whole or word by
// word.
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

// wroteIn returns the place where the model wrote a folded value.
func (k *known) wroteIn(folded string) string {
	own, _ := k.own.find(folded)
	return cmp.Or(own.from, "what the model wrote before")
}

// ours reports whether the model used a word before the text at and before any
// trusted tool.
func (k *known) ours(word string, at int) bool {
	own, ok := k.own.first(word)
	found, said := k.found.first(word)
	return ok && own <= at && (!said || own <= found)
}

// repeated reports whether the model wrote a number before trusted tools used
// it in the text at.
func (k *known) repeated(number string, at int) bool {
	own, ok := k.own.number(number)
	return ok && own.at <= at
}
