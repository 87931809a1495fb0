package guard

import "strings"

// corpus is a set of texts indexed for finding values in them.
type corpus struct {
	texts   []source
	words   map[string][]spot // the places of each word
	numbers map[string]int    // canonical number to the first text with it
	phones  map[string]int    // digits of a telephone number to one plus the index of the first text with it
}

// source is a folded text, its origin, and the number of calls known before it.
type source struct {
	text string
	from string
	at   int
}

// spot is a place in a text.
type spot struct{ text, at int32 }

func newCorpus() corpus {
	return corpus{words: map[string][]spot{}, numbers: map[string]int{}, phones: map[string]int{}}
}

// add adds a text, in time linear in its length.
func (c *corpus) add(text, from string) { c.addAt(text, from, 0) }

func (c *corpus) addAt(text, from string, at int) {
	folded := fold(text)
	if folded == "" {
		return
	}
	n := len(c.texts)
	c.texts = append(c.texts, source{folded, from, at})
	skip := 0
	eachWord(folded, func(word string, at int) bool {
		c.words[word] = append(c.words[word], spot{int32(n), int32(at)})
		if at >= skip && digit(word[0]) {
			number, end, ok := numberAt(folded, at)
			if skip = end; ok {
				if _, known := c.numbers[number]; !known {
					c.numbers[number] = n
				}
			}
		}
		return true
	})
	if strings.Contains(folded, "+") {
		for _, p := range phones(folded) {
			if number := digits(folded[p.start:p.end]); c.phones[number] == 0 {
				c.phones[number] = n + 1
			}
		}
	}
}

// digits returns the digits of a text.
func digits(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, text)
}

// find returns the first text that contains a folded value as a whole word. It
// searches at the value's rarest word. A value without words is never found.
func (c *corpus) find(folded string) (source, bool) {
	if strings.HasPrefix(folded, "+") {
		if p := phones(folded); len(p) == 1 && p[0].end == len(folded) {
			if n := c.phones[digits(folded)]; n > 0 {
				return c.texts[n-1], true
			}
		}
	}
	var rare []spot
	offset := -1
	eachWord(folded, func(word string, at int) bool {
		spots := c.words[word]
		if offset < 0 || len(spots) < len(rare) {
			rare, offset = spots, at
		}
		return len(spots) > 0
	})
	for _, p := range rare {
		text := c.texts[p.text].text
		start := int(p.at) - offset
		if end := start + len(folded); start >= 0 && end <= len(text) && text[start:end] == folded && standsAlone(text, start, end) {
			return c.texts[p.text], true
		}
	}
	return source{}, false
}

// number returns the first text with a number, as [canonical] writes it.
func (c *corpus) number(number string) (source, bool) {
	n, ok := c.numbers[number]
	if !ok {
		return source{}, false
	}
	return c.texts[n], true
}

// first returns the index of the text that used a word first.
func (c *corpus) first(word string) (at int, ok bool) {
	spots := c.words[word]
	if spots == nil {
		return 0, false
	}
	return c.texts[spots[0].text].at, true
}
