package markdown

import (
	"html"
	"strings"
	"unicode"
	"unicode/utf8"
)

// inline shows the text of a line. If the line is not complete, it stops before what
// the rest of the line may change, and returns that.
func (m *Writer) inline(text string, complete bool) (rest string) {
	shown := 0 // spans end here
	flat(text, m.style, complete, func(style, span string, end int) {
		m.put(style, span)
		shown = end
	})
	return text[shown:]
}

// flat yields the spans of a text with their styles. end is where the source of a span
// ends. Of a text that is not complete, it yields what can no longer change.
func flat(text, style string, complete bool, yield func(style, span string, end int)) {
	from, i := 0, 0 // plain text begins at from
	plain := func(to int) {
		if to > from {
			yield(style, html.UnescapeString(text[from:to]), to)
		}
		from = to
	}
	for i < len(text) {
		if text[i] == '\\' && i+1 < len(text) && strings.IndexByte("\\`*_{}[]()#+-.!|~<>&", text[i+1]) >= 0 {
			plain(i)
			yield(style, text[i+1:i+2], i+2)
			i += 2
			from = i
			continue
		}
		if strings.IndexByte("`*_~[!<", text[i]) < 0 {
			i++
			continue
		}
		s, size := spanAt(text, i, complete)
		if size == 0 && !complete && mayOpen(text, i) {
			plain(i)
			return
		}
		if size == 0 {
			i += max(1, run(text, i)) // of a delimiter without a partner nothing is special
			continue
		}
		plain(i)
		if s.verbatim {
			yield(style+s.style, s.text, i+size)
		} else {
			flat(s.text, style+s.style, true, func(st, span string, _ int) { yield(st, span, i) })
			yield("", "", i+size)
		}
		if s.link != "" {
			yield(style+dim, " ("+s.link+")", i+size)
		}
		i += size
		from = i
	}
	if complete {
		plain(len(text))
		return
	}
	if last := strings.LastIndexByte(text, ' '); last >= from { // the last word is not complete
		plain(last + 1)
	}
}

// span is a part of a line between delimiters.
type span struct {
	style, text string
	verbatim    bool
	link        string // where it leads, if the text does not say so
}

// spanAt returns the span that begins at text[i], and the length of its source; zero:
// none begins there, or it does not end, or the rest of an incomplete text decides.
func spanAt(text string, i int, complete bool) (span, int) {
	switch n := run(text, i); text[i] {
	case '`':
		for k := i + n; k < len(text); k++ {
			if text[k] != '`' {
				continue
			}
			if end := run(text, k); end != n {
				k += end - 1
				continue
			}
			body := text[i+n : k]
			if len(body) > 2 && strings.HasPrefix(body, " ") && strings.HasSuffix(body, " ") {
				body = body[1 : len(body)-1]
			}
			return span{style: cyan, text: body, verbatim: true}, k + n - i
		}
	case '*', '_', '~':
		style := map[int]string{1: italic, 2: bold, 3: bold + italic}[n]
		if text[i] == '~' {
			style = map[int]string{2: struck}[n]
		}
		if style == "" || !opens(text, i, n) {
			return span{}, 0
		}
		for k := i + n; k < len(text); k++ {
			if text[k] == '`' { // delimiters in code are code
				_, size := spanAt(text, k, complete)
				if size == 0 && !complete {
					return span{}, 0
				}
				k += max(size, run(text, k)) - 1
				continue
			}
			if text[k] != text[i] {
				continue
			}
			end := run(text, k)
			if end == n && shuts(text, k, n) {
				return span{style: style, text: text[i+n : k]}, k + n - i
			}
			k += end - 1
		}
	case '[', '!':
		return linkAt(text, i)
	case '<':
		if end := strings.IndexByte(text[i:], '>'); end > 0 {
			if address := text[i+1 : i+end]; !strings.Contains(address, " ") && (strings.HasPrefix(address, "https://") || strings.HasPrefix(address, "http://")) {
				return span{style: underline, text: address, verbatim: true}, end + 1
			}
		}
	}
	return span{}, 0
}

// linkAt is spanAt for [TEXT](ADDRESS), and for a picture.
func linkAt(text string, i int) (span, int) {
	start := i
	if text[i] == '!' {
		i++
	}
	if i >= len(text) || text[i] != '[' {
		return span{}, 0
	}
	label, rest, ok := strings.Cut(text[i+1:], "](")
	if !ok || strings.ContainsAny(label, "[]") {
		return span{}, 0
	}
	address, _, ok := strings.Cut(rest, ")")
	if !ok || strings.ContainsAny(address, " <>") {
		return span{}, 0
	}
	s := span{style: underline, text: label}
	if label != address {
		s.link = address
	}
	return s, i + 1 + len(label) + 2 + len(address) + 1 - start
}

// mayOpen reports whether a delimiter at text[i] that has no partner may get one from
// the rest of the line.
func mayOpen(text string, i int) bool {
	switch n := run(text, i); text[i] {
	case '*', '_':
		return n <= 3 && opens(text, i, n)
	case '~':
		return n == 2 && opens(text, i, n)
	case '!':
		return strings.HasPrefix(text[i+1:], "[")
	case '[':
		end := strings.IndexByte(text[i:], ']')
		return end < 0 || strings.HasPrefix(text[i+end+1:], "(")
	}
	return text[i] == '`'
}

// run is how many equal characters begin at text[i].
func run(text string, i int) int {
	n := 1
	for i+n < len(text) && text[i+n] == text[i] {
		n++
	}
	return n
}

// opens reports whether n delimiters at text[i] can begin emphasis: a character follows,
// and an underscore is not within a word.
func opens(text string, i, n int) bool {
	next, _ := utf8.DecodeRuneInString(text[i+n:])
	before, _ := utf8.DecodeLastRuneInString(text[:i])
	return i+n < len(text) && !unicode.IsSpace(next) && (text[i] != '_' || i == 0 || !word(before))
}

// shuts reports whether n delimiters at text[k] can end emphasis.
func shuts(text string, k, n int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:k])
	next, _ := utf8.DecodeRuneInString(text[k+n:])
	return !unicode.IsSpace(before) && (text[k] != '_' || k+n == len(text) || !word(next))
}

func word(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
