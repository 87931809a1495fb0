package judge

import (
	"fmt"
	"strconv"
	"strings"
)

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
