package judge

import (
	"encoding/json"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A claim is a sentence or an item of an answer that says something is so.
type claim struct {
	text    string
	clauses []phrase
}

// mostClaims is how many claims of an answer are looked at. An answer that long
// is a document, and the rest of it stands or falls with its beginning.
const mostClaims = 200

// claimsOf takes an answer apart. Code, headings, questions, plans, opinions,
// advice and courtesies claim nothing.
func claimsOf(answer string) (all []claim) {
	answer = strings.TrimSpace(answer)
	if strings.HasPrefix(answer, "{") || strings.HasPrefix(answer, "[") {
		if json.Valid([]byte(answer)) {
			return document(answer)
		}
	}
	for _, sentence := range sentences(answer) {
		if len(all) == mostClaims {
			break
		}
		if claimsNothing(sentence) {
			continue
		}
		c := claim{text: sentence}
		for _, part := range clauses(sentence) {
			p := readPhrase(part)
			p.report = report.MatchString(sentence)
			if len(p.words)+len(p.numbers)+len(p.idents) > 0 && !hedged(part) {
				c.clauses = append(c.clauses, p)
			}
		}
		if len(c.clauses) > 0 {
			all = append(all, c)
		}
	}
	return all
}

// document takes an answer apart that is JSON: its texts. Its short numbers are
// as often what the model makes of a thing as what it found: a score, a rank.
func document(answer string) (all []claim) {
	scalars([]byte(answer), func(v string) {
		if len(all) == mostClaims {
			return
		}
		if q, ok := readQuantity(v); ok {
			if digits(v) >= 3 {
				all = append(all, claim{text: v, clauses: []phrase{{numbers: []quantity{q}}}})
			}
			return
		}
		if strings.ContainsAny(v, " \n") && v != answer {
			all = append(all, claimsOf(v)...)
		} else if w := strings.ToLower(v); isIdent(w) {
			all = append(all, claim{text: v, clauses: []phrase{{idents: []string{w}}}})
		}
	})
	return all[:min(len(all), mostClaims)]
}

var (
	marker   = regexp.MustCompile(`^\s*(?:[-*+•–]|\d{1,3}[.)]|\(?[a-z]\)|>)\s+`)
	ruler    = regexp.MustCompile(`^[\s|:=*_-]*$`)
	link     = regexp.MustCompile(`\[([^\]]*)\]\(([^)\s]*)\)`)
	initials = regexp.MustCompile(`(?:^|[\s(])(?:[A-Za-z]\.)+$`)
)

// abbreviations end in a point that ends no sentence.
var abbreviations = set("e.g i.e etc dr mr mrs ms prof inc ltd co corp vs no nos approx est fig eq sec ch vol pp p st jr sr dept min max avg incl excl resp ca cf al u.s u.k a.m p.m")

// sentences splits a text at the ends of its sentences, and at those of its
// lines where a line is an item, a heading or a row. Headings, code between
// fences and rulers are left out.
func sentences(text string) (all []string) {
	var paragraph strings.Builder
	flush := func() {
		all = append(all, split(paragraph.String())...)
		paragraph.Reset()
	}
	fenced := false
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		if strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~") {
			fenced = !fenced
			flush()
			continue
		}
		item := marker.MatchString(line) || strings.Contains(trimmed, "|")
		switch {
		case fenced:
			continue
		case trimmed == "", strings.HasPrefix(trimmed, "#"), ruler.MatchString(trimmed):
			flush()
			continue
		case item:
			flush()
			line = marker.ReplaceAllString(line, "")
		}
		paragraph.WriteString(link.ReplaceAllString(strings.TrimSpace(line), "$1 $2") + " ")
		if item && strings.Contains(trimmed, "|") {
			flush()
		}
	}
	flush()
	return all
}

// split splits a paragraph.
func split(text string) (all []string) {
	text = strings.TrimSpace(text)
	from := 0
	for i, r := range text {
		if i < from || !strings.ContainsRune(".!?。！？", r) {
			continue
		}
		rest := text[i+utf8.RuneLen(r):]
		next := firstRune(strings.TrimLeft(rest, " \"')]*_”’"))
		switch {
		case rest != "" && r < 0x80 && !strings.ContainsRune(" \"')]*_”’", firstRune(rest)):
			continue // within a number, a name, an address
		case r == '.' && next != 0 && (unicode.IsLower(next) || abbreviated(text[from:i])):
			continue
		}
		end := i + utf8.RuneLen(r)
		end += len(rest) - len(strings.TrimLeft(rest, "\"')]*_”’"))
		if s := strings.TrimSpace(text[from:end]); s != "" {
			all = append(all, s)
		}
		from = end
	}
	if s := strings.Trim(text[from:], " \"')]*_”’"); s != "" {
		all = append(all, s)
	}
	return all
}

// abbreviated reports whether a text that a point follows ends in an abbreviation.
func abbreviated(text string) bool {
	if initials.MatchString(text + ".") {
		return true
	}
	last := text[strings.LastIndexAny(text, " (")+1:]
	return abbreviations[strings.ToLower(last)]
}

// clauseEnds part what is said from what is said beside it, so that a "not"
// denies only its own half.
var clauseEnds = regexp.MustCompile(`(?i)\s*(?:;|—|–\s|,?\s+(?:but|however|although|though|whereas|while|except|instead|rather than)\s+)\s*`)

func clauses(sentence string) []string { return clauseEnds.Split(sentence, -1) }

var (
	courtesy = regexp.MustCompile(`(?i)^(?:hello|hi|hey|thanks|thank you|sure|of course|certainly|great|absolutely|you're welcome|no problem|sorry|apologies|i apologi[sz]e|please|feel free|let me know|if you|hope|i hope|happy to|glad to|good (?:morning|afternoon|evening|luck))\b`)
	plan     = regexp.MustCompile(`(?i)^(?:so |now |next,? |then,? |first,? |finally,? |and )*(?:i|we)(?:'ll| will|'m going to| am going to| are going to| plan| intend| need| want| would|'d| can| could| should| must| might| may| hope| have to| am unable| was unable| were unable| cannot| can't| couldn't| could not| don't| do not| did not| didn't| am not| have no| had no)\b|^(?:let me|let's|here (?:is|are)|here's|below (?:is|are)|see )`)
	report   = regexp.MustCompile(`(?i)^(?:i|we|i've|we've|i’ve|we’ve)\b|^(?:\w+ed|wrote|sent|made|built|ran|found|took|put|set|got|did|chose)\b`)
	view     = regexp.MustCompile(`(?i)\b(?:i think|i believe|i feel|i guess|i suspect|i assume|in my (?:opinion|view)|i'd say|i would say|imo|it (?:seems|appears|looks like)|seems? to|appears? to)\b`)
	hedges   = regexp.MustCompile(`\b(?:probably|perhaps|maybe|possibly|presumably|likely|unlikely|might|may|could|should|would|ought|recommend(?:ed|s)?|suggest(?:ed|s)?|consider|advis(?:e|able)|worth|better to|best to|if you|in case|assuming|typically|usually|generally|often|sometimes)\b`)
	unknown  = regexp.MustCompile(`(?i)\b(?:(?:no|not enough|insufficient) (?:information|details|data|evidence|results?)|not (?:specified|mentioned|stated|known|clear|found|provided|given)|unknown|unclear|could not (?:be )?(?:find|found|determine|verify|confirm)|couldn't (?:find|determine|verify|confirm)|unable to)\b`)
)

// claimsNothing reports whether a sentence is of a kind that says of nothing
// that it is so.
func claimsNothing(s string) bool {
	s = strings.ReplaceAll(s, "’", "'")
	bare := strings.Trim(s, " *_\"'“”")
	switch {
	case strings.HasSuffix(bare, "?"), strings.HasSuffix(bare, ":"):
		return true
	case courtesy.MatchString(bare), plan.MatchString(bare), view.MatchString(bare), unknown.MatchString(bare):
		return true
	}
	return false
}

// hedged reports whether a clause says that something may be so.
func hedged(clause string) bool { return hedges.MatchString(clause) }
