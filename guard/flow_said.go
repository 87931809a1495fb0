package guard

import (
	"slices"
	"strings"
	"unicode"
)

// A person's text permits the values it names, except those it forbids, and
// permits a verb only as an instruction. These rules know only English: text in
// another language permits all values and instructs nothing.

// speech is the text of people: a corpus of what they permit, and the words
// with a special role.
type speech struct {
	corpus
	orders map[string]bool // instructed verbs: cancel, in "please cancel it"
	banned map[string]bool // forbidden verbs: delete, in "do not delete"
	never  corpus          // the forbidden parts
	modes  map[string]bool // requested states: public, in "make it public"
	lines  []string        // the permitted text, folded line by line
	exact  []string        // the permitted text, unchanged
	quotes map[string]bool // permitted quotations, folded
}

func newSpeech() speech {
	return speech{
		corpus: newCorpus(), never: newCorpus(), orders: map[string]bool{}, banned: map[string]bool{}, modes: map[string]bool{},
		quotes: map[string]bool{},
	}
}

// hear records a text of a person.
func (s *speech) hear(text string) {
	plain, quoted := unquoted(text)
	permitted := []byte(text)
	forbids := false // the previous sentence forbids and ends with a colon
	for _, at := range sentences(plain) {
		sentence := plain[at.start:at.end]
		list := slices.Collect(words(sentence))
		cuts := prohibitions(sentence, list)
		if forbids = forbids && bulleted(sentence); forbids {
			cuts = []prohibition{{end: len(sentence), bans: 0}}
		}
		for _, cut := range cuts {
			s.never.add(text[at.start+cut.start:at.start+cut.end], "")
			for i := cut.start; i < cut.end; i++ {
				permitted[at.start+i] = 0 // a byte that no value contains
			}
			for i := cut.bans; i < len(list) && list[i].start < cut.end; i++ {
				s.banned[list[i].lower] = true
			}
		}
		s.note(sentence, list, cuts)
		forbids = forbids || len(cuts) > 0 && strings.HasSuffix(strings.TrimSpace(sentence), ":")
	}
	for _, q := range quoted {
		s.quotes[fold(string(permitted[q.start:q.end]))] = true
	}
	s.add(string(permitted), "")
	s.exact = append(s.exact, string(permitted))
	for line := range strings.Lines(string(permitted)) {
		s.lines = append(s.lines, fold(line))
	}
}

// unquoted returns a text of the same length without its quotations, and the
// quotations. A quotation is neither an instruction nor a prohibition.
func unquoted(text string) (plain string, quoted []span) {
	b := []byte(text)
	for _, marks := range [][2]string{{`"`, `"`}, {"`", "`"}, {"“", "”"}, {"«", "»"}} {
		if marks[0] == marks[1] && strings.Count(text, marks[0])%2 != 0 {
			continue // one of them is not a quotation mark
		}
		for at := 0; ; {
			start := strings.Index(text[at:], marks[0])
			if start < 0 {
				break
			}
			start += at + len(marks[0])
			length := strings.Index(text[start:], marks[1])
			if length < 0 {
				break
			}
			for i := start; i < start+length; i++ {
				b[i] = '\''
			}
			quoted = append(quoted, span{start: start, end: start + length})
			at = start + length + len(marks[1])
		}
	}
	return string(b), quoted
}

// abbreviations end with a full stop within a sentence.
var abbreviations = one("approx dr e eg etc g i ie mr mrs ms no prof st vs")

// sentences splits a text. A line break ends a sentence only before an empty
// line or a list item.
func sentences(text string) (all []span) {
	start := 0
	for i := 0; i < len(text); i++ {
		ends := false
		switch rest := text[i+1:]; text[i] {
		case '!', '?', '.':
			rest = strings.TrimLeft(rest, `"'`+"`)]”»")
			word := text[start:i]
			word = word[strings.LastIndexFunc(word, func(r rune) bool { return !unicode.IsLetter(r) })+1:]
			ends = (rest == "" || strings.ContainsAny(rest[:1], " \t\r\n")) && (text[i] != '.' || !abbreviations[strings.ToLower(word)])
		case '\n':
			ends = strings.HasPrefix(strings.TrimLeft(rest, " \t\r"), "\n") || bulleted(rest)
		}
		if ends {
			all = append(all, span{start: start, end: i + 1})
			start = i + 1
		}
	}
	return append(all, span{start: start, end: len(text)})
}

// bulleted reports whether a text begins with a list item.
func bulleted(text string) bool {
	text = strings.TrimLeft(text, " \t\r")
	rest := strings.TrimLeft(text, "0123456789")
	if rest != text {
		return strings.HasPrefix(rest, ". ") || strings.HasPrefix(rest, ") ")
	}
	return strings.HasPrefix(rest, "- ") || strings.HasPrefix(rest, "* ") || strings.HasPrefix(rest, "• ")
}

// A prohibition is the part of a sentence that permits nothing, and its first
// forbidden word.
type prohibition struct{ start, end, bans int }

var (
	negations  = one("avoid cannot cant dont forbid forbidden forbids mustnt never not prohibit prohibited prohibits wont")
	absolutes  = one("neither no nobody none nor nothing") // they also negate what precedes them
	exceptions = one("except excluding unless without")    // they negate what follows them
	// After a negation, these words ask for what they name.
	spared = one("fail forget hesitate mind worry")
	// The negation does not reach past these words.
	conditions = one("if when whether while")
	clauses    = one("because but since that where which who")
)

// longest is the most bytes of a sentence whose parts are judged separately.
const longest = 8 << 10

// prohibitions returns the prohibitions in a sentence.
func prohibitions(sentence string, list []word) (all []prohibition) {
	for i := 0; i < len(list); i++ {
		w, absolute := list[i].lower, absolutes[list[i].lower]
		if exceptions[w] {
			return append(all, prohibition{list[i].start, len(sentence), i + 1})
		}
		if !absolute && !negations[w] && !strings.HasSuffix(w, "n't") {
			continue
		}
		if i+1 < len(list) && (spared[list[i+1].lower] || w == "no" && digit(list[i+1].lower[0])) {
			continue
		}
		if len(sentence) > longest { // no person writes such a sentence
			return []prohibition{{end: len(sentence)}}
		}
		p := scope(sentence, list, i)
		if !absolute {
			p.bans = i + 1
		}
		all = append(all, p)
		for i+1 < len(list) && list[i+1].start < p.end {
			i++
		}
	}
	return all
}

// scope returns the reach of the negation at the i-th word: the whole sentence,
// unless a condition, a clause or a contrast begins at it.
func scope(sentence string, list []word, i int) prohibition {
	p := prohibition{end: len(sentence)}
	comma := false // between the clause and the negation
	for k := i; k > 0; k-- {
		gap, before := sentence[list[k-1].end:list[k].start], list[k-1].lower
		switch {
		case strings.Contains(gap, ";"), before == "but",
			k == i && strings.Contains(gap, ",") && list[i].lower == "not", // to Ann, not to Eve
			k >= i-1 && before == "and":
			return prohibition{list[k].start, p.end, k}
		case strings.Contains(gap, ","):
			comma = true
		}
		if comma {
			continue
		}
		if conditions[before] {
			if at := strings.IndexByte(sentence[list[i].end:], ','); at >= 0 {
				p.end = list[i].end + at
			}
			return prohibition{list[k-1].start, p.end, k - 1}
		}
		if clauses[before] && k > 1 {
			return prohibition{list[k-1].start, p.end, k - 1}
		}
	}
	return p
}

var (
	leads     = one("also and finally first just kindly let's next now please then") // an instruction may follow these
	modals    = one("can could may must should will would")
	wishes    = one("have is like need task want wish you")
	questions = one("are did do does had has have how is should was were what when where whether which who whose why")
	fronts    = one("about all any each every his her its my no of our some that the their these this those your") // they precede an existing object
	backs     = one("and as at by for if in on or please so then to too true until when with yes")
)

// note records the instructed verbs and requested states of a sentence, outside
// of its prohibitions.
func (s *speech) note(sentence string, list []word, cuts []prohibition) {
	asks := false // a question other than a request such as "could you"
	if len(list) > 0 {
		polite := len(list) > 1 && modals[list[0].lower] && list[1].lower == "you"
		asks = !polite && (questions[list[0].lower] || strings.HasSuffix(strings.TrimSpace(sentence), "?"))
	}
	indirect := false
	for i, w := range list {
		indirect = indirect || questions[w.lower] && !wishes[w.lower]
		if slices.ContainsFunc(cuts, func(p prohibition) bool { return w.start >= p.start && w.start < p.end }) {
			continue
		}
		before, wish, gap, after, end := "", "", sentence[:w.start], "", sentence[w.end:]
		if i > 0 {
			before, gap = list[i-1].lower, sentence[list[i-1].end:w.start]
		}
		if i > 1 {
			wish = list[i-2].lower
		}
		if i+1 < len(list) {
			after, end = list[i+1].lower, sentence[w.end:list[i+1].start]
		}
		parted := i == 0 || strings.ContainsAny(gap, " \n") && strings.ContainsAny(gap, ",;:—–(\n") || strings.Contains(gap, " - ")
		if !asks && (parted || leads[before] || before == "to" && wishes[wish] && !indirect) || before == "you" && modals[wish] || !asks && wish == "you" && modals[before] {
			s.orders[w.lower] = true
		}
		if before == "a" || before == "an" || !fronts[before] && (after == "" || backs[after] || strings.ContainsAny(end, `,;:.!?"—–)`)) {
			s.modes[w.lower] = true
		}
	}
}

// kin are groups of interchangeable verbs.
var kin = [][]string{
	{"delete", "erase", "remove", "trash"}, {"move", "postpone", "reschedule", "shift"}, {"answer", "reply", "respond"},
	{"add", "create", "make"}, {"email", "mail", "message", "send"}, {"change", "edit", "modify", "set", "update"},
}

// light are verbs in tool names that mean less than their noun: set_reminder.
var light = one("add create issue make place send set start submit")

// verbs returns the words of a tool's name that tell what it does.
func verbs(tool string) []string {
	if i := strings.LastIndex(tool, "__"); i >= 0 {
		tool = tool[i+len("__"):]
	}
	parts := strings.FieldsFunc(strings.ToLower(tool), func(r rune) bool { return r == '_' || r == '-' || r == '.' })
	if len(parts) == 0 {
		return nil
	}
	all := parts[:1:1]
	for _, list := range kin {
		if slices.Contains(list, parts[0]) {
			all = append(all, list...)
		}
	}
	if light[parts[0]] && len(parts) > 1 {
		last := parts[len(parts)-1]
		all = append(all, last, strings.TrimSuffix(last, "er"))
	}
	return all
}

// forms returns the forms of an English word, the word itself first.
func forms(word string) []string {
	const least = 4 // letters of a word that is recognised by its beginning
	endings := []string{"", "s", "d", "e", "ed", "ing"}
	all := []string{word}
	for _, end := range endings {
		if stem, ok := strings.CutSuffix(word, end); ok && len(stem) >= least {
			for _, other := range endings {
				all = append(all, stem+other)
			}
		}
	}
	return all
}

// ordered reports whether people instructed the model to do what a tool does.
func (s *speech) ordered(tool string) bool {
	return slices.ContainsFunc(verbs(tool), func(v string) bool { return s.orders[v] })
}

// forbade reports whether people forbade what a tool does.
func (s *speech) forbade(tool string) bool {
	return slices.ContainsFunc(verbs(tool), func(v string) bool {
		return slices.ContainsFunc(forms(v), func(form string) bool { return s.banned[form] })
	})
}

// wrote reports whether people wrote the path of a URL in this exact case,
// which can encode a secret.
func (s *speech) wrote(url string) bool {
	_, rest, _ := strings.Cut(url, "://")
	at := strings.IndexByte(rest, '/')
	return at < 0 || slices.ContainsFunc(s.exact, func(text string) bool {
		return strings.Contains(text, strings.TrimRight(rest[at:], "/"))
	})
}

// uses reports whether people used a word, in the singular or the plural.
func (s *speech) uses(word string) bool {
	return s.words[word] != nil || s.words[word+"s"] != nil || s.words[strings.TrimSuffix(word, "s")] != nil
}
