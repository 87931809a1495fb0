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
	negations = set("not no never none neither nor cannot without nobody nothing lacks lacking isn't aren't wasn't weren't don't doesn't didn't " +
		"can't couldn't won't wouldn't shouldn't hasn't haven't hadn't isnt doesnt dont cant wont false zero")
	wholes = set("all every each always entire whole none no never nobody nothing")
	sums   = set("total totals totalling sum sums altogether overall average averages mean combined together add adds adding up median")
	// numbered are words that a number of no consequence follows.
	numbered = set("step option item number no phase part section point level tier chapter figure table line lines page pages top priority round stage # task")
	// compares are words that speak of how two numbers relate.
	compares = set("cheaper dearer more less fewer difference differ differs faster slower increase increased decrease decreased growth grew rose fell dropped saves saved saving savings times twice half double higher lower longer shorter larger smaller bigger older younger ratio remaining left remains apart gap ahead behind")
	// stops carry no meaning of their own, or only that something is reported.
	stops = set("a an the and or but if then than that this these those there here it its they them their he she his her we our us you your i me my " +
		"is are was were be been being am do does did done has have had having will would can could shall should may might must " +
		"of in on at to for from by with as into onto about over under between among per via out up down off again further once within per " +
		"so such also too very just only both each every all any some most more less few many much other another same own " +
		"which who whom whose what when where why how while during before after until since because due " +
		"found find finds show shows shown showed say says said according result results returned return returns list lists listed " +
		"contain contains containing see seen look looks looked check checked search searched query queried " +
		"tool tools data information info based following follow follows above below currently now total overall altogether average mean summary " +
		"offer offers provide provides allow allows give gives get gets got use uses used make makes made one ones " +
		"therefore thus hence however moreover additionally finally first next last respectively etc approximately roughly around nearly almost exactly")
	months = map[string]string{"jan": "01", "feb": "02", "mar": "03", "apr": "04", "may": "05", "jun": "06",
		"jul": "07", "aug": "08", "sep": "09", "oct": "10", "nov": "11", "dec": "12"}
	longMonths = set("january february march april may june july august september october november december jan feb mar apr jun jul aug sep sept oct nov dec")
)

// kin are words that stand for each other when an answer tells a result in its
// own words. The first of a line is what all of them become.
var kin = func() map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(`price cost fee charge rate
		pass succeed success ok successful successfully
		delete remove erase
		create add new insert
		buy purchase order
		vendor supplier seller provider
		employee staff worker person people
		begin start launch
		end finish
		send email mail
		big large
		small little
		fast quick
		city town
		number count amount quantity
		id identifier
		update change modify edit`) {
		words := strings.Fields(line)
		for _, w := range words {
			all[stem(w)] = stem(words[0])
		}
	}
	return all
}()

// opposites are words that deny another: what failed did not pass.
var opposites = func() map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(`pass fail failure
		enable disable
		open close
		increase decrease drop decline
		rise fall fell
		valid invalid
		correct incorrect wrong
		active inactive
		available unavailable
		present absent missing
		online offline
		run stop
		approve reject
		accept refuse
		grant deny
		supported unsupported
		known unknown
		possible impossible
		success failed
		profit loss
		higher lower
		faster slower
		best worst
		connect disconnect
		complete incomplete
		lock unlock
		include exclude`) {
		words := strings.Fields(line)
		for _, w := range words[1:] {
			all[stem(w)] = root(words[0])
		}
	}
	return all
}()

// stem cuts a word in lower case to what its forms share. It is a light cut of
// English endings, after Porter ("An algorithm for suffix stripping", 1980)
// without his later steps: cutting too deep would make different words one.
func stem(w string) string {
	w = strings.TrimSuffix(strings.TrimSuffix(w, "'s"), "'")
	switch {
	case len(w) > 4 && strings.HasSuffix(w, "ies"):
		return w[:len(w)-3] + "y"
	case len(w) > 4 && (strings.HasSuffix(w, "sses") || strings.HasSuffix(w, "xes") || strings.HasSuffix(w, "ches") || strings.HasSuffix(w, "shes")):
		return w[:len(w)-2]
	case len(w) > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") && !strings.HasSuffix(w, "us") && !strings.HasSuffix(w, "is"):
		w = w[:len(w)-1]
	}
	for _, end := range []string{"ing", "ed"} {
		cut := strings.TrimSuffix(w, end)
		if cut == w || len(cut) < 3 || !strings.ContainsAny(cut, "aeiouy") {
			continue
		}
		if n := len(cut); n > 3 && cut[n-1] == cut[n-2] && !strings.ContainsAny(cut[n-1:], "lsz") {
			cut = cut[:n-1]
		}
		w = cut
		break
	}
	if len(w) > 4 {
		w = strings.TrimSuffix(w, "e")
	}
	return w
}

// root is the stem of a word, or that of the word it stands for.
func root(w string) string {
	s := stem(w)
	if k, ok := kin[s]; ok {
		return k
	}
	return s
}

// same reports whether two stems are forms of one word: deploy and deployment.
func same(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	return a == b || len(a) >= 4 && len(b)-len(a) <= 5 && strings.HasPrefix(b, a) && !strings.ContainsAny(b, "0123456789")
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

// date reads a date however it is written and adds it as an identifier of its
// day or month. It returns how many words it took; zero: there is none.
func (p *phrase) date(w string, rest []string) int {
	if !strings.ContainsAny(w, "0123456789") && !longMonths[w] {
		return 0
	}
	if m := isoDate.FindStringSubmatch(w); m != nil {
		p.idents = append(p.idents, m[1])
		return 1
	}
	clean := func(i int) string {
		if i >= len(rest) {
			return ""
		}
		return strings.ToLower(strings.Trim(rest[i], ".,;:!?()'"))
	}
	month := func(s string) string {
		if !longMonths[s] {
			return ""
		}
		return months[s[:3]]
	}
	day := func(s string) string {
		if !dayDigits.MatchString(s) {
			return ""
		}
		d := strings.TrimRight(s, "stndrh")
		if len(d) == 1 {
			d = "0" + d
		}
		return d
	}
	switch {
	case month(w) != "" && day(clean(0)) != "" && yearDigits.MatchString(clean(1)): // May 1, 2024
		p.idents = append(p.idents, clean(1)+"-"+month(w)+"-"+day(clean(0)))
		return 3
	case day(w) != "" && month(clean(0)) != "" && yearDigits.MatchString(clean(1)): // 1 May 2024
		p.idents = append(p.idents, clean(1)+"-"+month(clean(0))+"-"+day(w))
		return 3
	case month(w) != "" && day(clean(0)) != "": // May 1
		p.idents = append(p.idents, "-"+month(w)+"-"+day(clean(0)))
		return 2
	case day(w) != "" && month(clean(0)) != "" && clean(0) != "may": // 1 May, but not what 3 may do
		p.idents = append(p.idents, "-"+month(clean(0))+"-"+day(w))
		return 2
	case month(w) != "" && yearDigits.MatchString(clean(0)): // May 2024
		p.idents = append(p.idents, clean(0)+"-"+month(w))
		return 2
	}
	return 0
}

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
