package guard

import (
	"slices"
	"strings"
	"unicode"
)

// What a person says permits what it names, but for what it forbids, and a verb
// only where it stands as an instruction. These rules know English only: a sentence
// in another language permits all that it names and instructs nothing.

// speech is what people said: a corpus of what they permit, and the words that
// stand in it in a way that matters.
type speech struct {
	corpus
	orders map[string]bool // instructions: cancel, in "please cancel it"
	banned map[string]bool // what is forbidden: delete, in "do not delete"
	never  corpus          // what is said of it
	modes  map[string]bool // what something is to be: public, in "make it public"
	lines  []string        // what is permitted, folded line by line
	exact  []string        // what is permitted, as it was written
	quotes map[string]bool // what is permitted and quoted, folded
	old    bool            // of a log before machine 3: all that is named is permitted
}

func newSpeech(old bool) speech {
	return speech{
		corpus: newCorpus(), never: newCorpus(), orders: map[string]bool{}, banned: map[string]bool{}, modes: map[string]bool{},
		quotes: map[string]bool{}, old: old,
	}
}

// hear takes in a text of a person.
func (s *speech) hear(text string) {
	if s.old {
		s.add(text, "")
		return
	}
	plain, quoted := unquoted(text)
	permitted := []byte(text)
	forbids := false // the sentence before, with a colon
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
				permitted[at.start+i] = 0 // which is in no value
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

// unquoted is a text of the same length in which nothing stands between quotation
// marks, and what stood there. What is quoted is neither an instruction nor a
// prohibition.
func unquoted(text string) (plain string, quoted []span) {
	b := []byte(text)
	for _, marks := range [][2]string{{`"`, `"`}, {"`", "`"}, {"“", "”"}, {"«", "»"}} {
		if marks[0] == marks[1] && strings.Count(text, marks[0])%2 != 0 {
			continue // one of them is something else
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

// sentences parts a text. A line break ends a sentence only before an empty line or
// an item of a list.
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

// bulleted reports whether a text begins with an item of a list.
func bulleted(text string) bool {
	text = strings.TrimLeft(text, " \t\r")
	rest := strings.TrimLeft(text, "0123456789")
	if rest != text {
		return strings.HasPrefix(rest, ". ") || strings.HasPrefix(rest, ") ")
	}
	return strings.HasPrefix(rest, "- ") || strings.HasPrefix(rest, "* ") || strings.HasPrefix(rest, "• ")
}

// A prohibition is the part of a sentence that permits nothing, and the first of
// the sentence's words that it forbids.
type prohibition struct{ start, end, bans int }

var (
	negations  = one("avoid cannot cant dont forbid forbidden forbids mustnt never not prohibit prohibited prohibits wont")
	absolutes  = one("neither no nobody none nor nothing") // they negate what stands before them, too
	exceptions = one("except excluding unless without")    // they negate what stands behind them
	// An expression with one of these behind the negation asks for what it names.
	spared = one("fail forget hesitate mind worry")
	// What stands before these is not negated with what stands behind them.
	conditions = one("if when whether while")
	clauses    = one("because but since that where which who")
)

// longest is how long a sentence is, in bytes, of which a part may be forbidden.
const longest = 8 << 10

// prohibitions are those of a sentence.
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
		if len(sentence) > longest { // which is no sentence of a person's
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

// scope is how far the negation reaches that is the i-th word: over the whole
// sentence, unless a condition, a clause or a contrast begins with it.
func scope(sentence string, list []word, i int) prohibition {
	p := prohibition{end: len(sentence)}
	comma := false // between there and the negation
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
	leads     = one("also and finally first just kindly let's next now please then") // an instruction may follow
	modals    = one("can could may must should will would")
	wishes    = one("have is like need task want wish you")
	questions = one("are did do does had has have how is should was were what when where whether which who whose why")
	fronts    = one("about all any each every his her its my no of our some that the their these this those your") // of something that is there
	backs     = one("and as at by for if in on or please so then to too true until when with yes")
)

// note takes in which words of a sentence are instructions, and what something is to
// be, outside of what it forbids.
func (s *speech) note(sentence string, list []word, cuts []prohibition) {
	asks := false // a question, and not whether somebody could do something
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

// kin are verbs that people use for one another.
var kin = [][]string{
	{"delete", "erase", "remove", "trash"}, {"move", "postpone", "reschedule", "shift"}, {"answer", "reply", "respond"},
	{"add", "create", "make"}, {"email", "mail", "message", "send"}, {"change", "edit", "modify", "set", "update"},
}

// light are verbs of tools that say less than the noun behind them: set_reminder.
var light = one("add create issue make place send set start submit")

// verbs are the words of a tool's name that say what it does.
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

// forms are those of an English word, the word itself first.
func forms(word string) []string {
	const least = 4 // letters of a word that is told apart from others by its beginning
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

// ordered reports whether people told to do what a tool does.
func (s *speech) ordered(tool string) bool {
	return slices.ContainsFunc(verbs(tool), func(v string) bool { return s.orders[v] })
}

// forbade reports whether people said not to do it.
func (s *speech) forbade(tool string) bool {
	return slices.ContainsFunc(verbs(tool), func(v string) bool {
		return slices.ContainsFunc(forms(v), func(form string) bool { return s.banned[form] })
	})
}

// wrote reports whether people wrote the path of a URL so, in these letters: their
// case can carry what nobody is to get.
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
