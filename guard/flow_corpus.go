package guard

import "strings"

// corpus is texts, so that it can be asked whether a value stands in one of them.
type corpus struct {
	texts   []source
	words   map[string][]spot // where each word stands
	numbers map[string]int    // canonical, to the first text with it
	phones  map[string]int    // telephone numbers, digits only, to the first text with it and one
}

// source is a text, folded, whose it is, and how many calls were in before it.
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

// add takes in a text, in time in proportion to it.
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

// digits are the digits of a text.
func digits(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, text)
}

// find is the first text that has a folded value standing for itself. It looks
// where the value's rarest word stands. What has no word is never found.
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
		if end := start + len(folded); start >= 0 && end <= len(text) && text[start:end] == folded && stands(text, start, end) {
			return c.texts[p.text], true
		}
	}
	return source{}, false
}

// number is the first text that has a number, as [canonical] writes it.
func (c *corpus) number(number string) (source, bool) {
	n, ok := c.numbers[number]
	if !ok {
		return source{}, false
	}
	return c.texts[n], true
}

// first is when a word was first said.
func (c *corpus) first(word string) (at int, ok bool) {
	spots := c.words[word]
	if spots == nil {
		return 0, false
	}
	return c.texts[spots[0].text].at, true
}
