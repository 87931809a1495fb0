package judge

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// A phrase is a piece of text as it is compared: what it speaks of, with which
// numbers and identifiers, and whether it denies it.
type phrase struct {
	words   []string // stems of what carries meaning, in order, each once
	names   []string // those of the words that are capitalised within a sentence
	numbers []quantity
	idents  []string // in lower case
	denied  bool
	whole   bool // it says so of all there are
	sums    bool // it speaks of what numbers come to together
	relates bool // it speaks of how numbers relate
	report  bool // it reports what the speaker did, whose words are the speaker's own
}

func (p *phrase) has(stem string) bool {
	for _, w := range p.words {
		if same(w, stem) {
			return true
		}
	}
	return false
}

func (p *phrase) add(stem string, name bool) {
	if slices.Contains(p.words, stem) {
		return
	}
	p.words = append(p.words, stem)
	if name {
		p.names = append(p.names, stem)
	}
}

func set(list string) map[string]bool {
	all := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		all[w] = true
	}
	return all
}

var (
	isoDate    = regexp.MustCompile(`^(\d{4}-\d{2}-\d{2})(?:[t ]\d{2}:\d{2}.*)?$`)
	isoMonth   = regexp.MustCompile(`^\d{4}-\d{2}$`)
	fraction   = regexp.MustCompile(`^(\d+(?:\.\d+)?)/\d+$`)
	clock      = regexp.MustCompile(`^(\d{1,2}):(\d{2})$`)
	rangeShape = regexp.MustCompile(`^([$€£]?\d[\d,.]*)[–—-]([$€£]?\d[\d,.]*[%a-z]*)$`)
	yearDigits = regexp.MustCompile(`^\d{4}$`)
	dayDigits  = regexp.MustCompile(`^\d{1,2}(?:st|nd|rd|th)?$`)
)

// unquote takes out what only dresses words up.
var unquote = strings.NewReplacer("’", "'", "‘", "'", "“", " ", "”", " ", "\"", " ", "`", " ", "*", " ", "=", " ", "|", " ", "…", " ")

// readPhrase reads a clause.
func readPhrase(text string) phrase {
	var p phrase
	fields := strings.Fields(unquote.Replace(text))
	begun := false
	pending := exactly
	for i := 0; i < len(fields); i++ {
		raw := strings.Trim(fields[i], ".,;:!?()[]{}<>'")
		if raw == "" {
			continue
		}
		w := strings.ToLower(raw)
		if used := p.date(w, fields[i+1:]); used > 0 {
			i, begun = i+used-1, true
			continue
		}
		var m []string
		if strings.ContainsAny(w, "0123456789") {
			m = rangeShape.FindStringSubmatch(w)
		}
		if m != nil {
			for _, end := range m[1:] {
				if q, ok := readQuantity(strings.Trim(end, ".,")); ok {
					p.numbers = append(p.numbers, q)
				}
			}
			begun = true
			continue
		}
		if m := fraction.FindStringSubmatch(w); m != nil { // 4.5/5
			if q, ok := readQuantity(m[1]); ok {
				p.numbers = append(p.numbers, q)
				begun = true
				continue
			}
		}
		at := i
		q, ok := readQuantity(w)
		if v, spelt := numberWords[w]; spelt && !ok {
			q, ok = quantity{value: v, place: 1, text: w}, true
		}
		if ok {
			i += q.measured(fields[i+1:])
			if at > 0 && q.dim == "" { // USD 10
				if u, money := units[strings.ToLower(strings.Trim(fields[at-1], "(,"))]; money && (u.dim == "usd" || u.dim == "eur" || u.dim == "gbp") && u.size == 1 {
					q.dim, q.unit = u.dim, u.size
				}
			}
			if q.bound == exactly {
				q.bound = pending
			}
			if at > 0 {
				before := strings.ToLower(strings.Trim(fields[at-1], "(,#"))
				q.loose = numbered[before] || before == "of" && at > 1 && strings.EqualFold(fields[at-2], "out")
			}
			pending, begun = exactly, true
			if q.value == 0 { // as many as none
				p.denied, p.whole = !p.denied, true
			}
			p.numbers = append(p.numbers, q)
			continue
		}
		switch b, bounded := bounds[w]; {
		case bounded:
			pending = b
		case (w == "than") && pending == exactly && i > 0:
			switch strings.ToLower(fields[i-1]) {
			case "more", "greater", "higher":
				pending = above
			case "less", "fewer", "lower":
				pending = below
			}
		}
		p.word(raw, w, begun)
		if wholes[w] && !negations[w] && at > 0 && strings.EqualFold(fields[at-1], "not") {
			p.whole = false // not all is some
		}
		begun = true
	}
	return p
}

// word takes in a word that is no number.
func (p *phrase) word(raw, w string, begun bool) {
	p.whole, p.sums, p.relates = p.whole || wholes[w], p.sums || sums[w], p.relates || compares[w]
	switch {
	case negations[w]:
		p.denied = !p.denied
		return
	case stops[w] || w == "true":
		return
	case isIdent(w):
		p.idents = append(p.idents, w)
		p.add(w, false)
		return
	}
	// What is left after the parts of a compound are taken apart.
	for part := range strings.FieldsFuncSeq(raw, func(r rune) bool {
		return r == '-' || r == '/' || r == '_' || r == '–' || r == '—' || r == ',' || r == ':' || r == '.'
	}) {
		low := strings.ToLower(part)
		if stops[low] || len(low) < 2 && low[0] < 0x80 {
			continue
		}
		if negations[low] {
			p.denied = !p.denied
			continue
		}
		if other, ok := opposites[stem(low)]; ok {
			p.denied = !p.denied
			p.add(other, false)
			continue
		}
		p.add(root(low), begun && unicode.IsUpper(firstRune(part)) && !longMonths[low])
	}
}

// firstRune is the first rune of a text; zero: it is empty.
func firstRune(s string) rune {
	for _, r := range s {
		return r
	}
	return 0
}

// isIdent reports whether a word names one thing and is spelt one way: it has
// digits beside letters, or is an address or a path.
func isIdent(w string) bool {
	letters := strings.ContainsFunc(w, unicode.IsLetter)
	switch {
	case strings.ContainsFunc(w, func(r rune) bool { return r >= 0x80 }):
		return false
	case !letters:
		return strings.ContainsAny(w, "0123456789")
	case strings.ContainsAny(w, "0123456789") && !strings.ContainsAny(w, "'"):
		return true
	case strings.Contains(w, "://"), strings.Contains(w, "@") && strings.Contains(w, "."):
		return true
	case strings.Count(w, "/") > 1 || strings.HasPrefix(w, "/") || strings.HasPrefix(w, "./"):
		return true
	}
	if i := strings.LastIndexByte(w, '.'); i > 0 && len(w)-i >= 3 && len(w)-i <= 5 && !strings.Contains(w, "..") && strings.Count(w, ".") == 1 {
		return fileEnds[w[i+1:]]
	}
	return false
}

// fileEnds are the endings by which a file or a host is told from two sentences
// without a space between.
var fileEnds = set("txt md csv json yaml yml xml html pdf go py js ts sh sql log toml ini cfg png jpg jpeg svg zip gz tar doc docx xls xlsx com org net io dev")

// measured reads what a number counts from the words after it, and returns how
// many of them it took.
func (q *quantity) measured(rest []string) (used int) {
	word := func() string {
		if used >= len(rest) {
			return ""
		}
		return strings.ToLower(strings.Trim(rest[used], ".,;:!?()'"))
	}
	if f, ok := multipliers[word()]; ok && len(word()) > 1 {
		q.scale(f)
		used++
	}
	if u, ok := units[word()]; ok && q.dim == "" {
		q.dim, q.unit = u.dim, u.size
		used++
	} else if word() == "%" {
		q.dim, q.unit = "ratio", 0.01
		used++
	}
	return used
}

// fieldsLower are the words of a text in lower case.
func fieldsLower(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' })
}
