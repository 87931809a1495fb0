package judge

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-run/pawl/internal/naming"
)

// months are the names of the months in English, German, French, Spanish, Italian,
// Portuguese and Dutch. In other languages the numbers of a date are checked.
var months = [...]string{"", "january|januar|janvier|enero|gennaio|janeiro|januari|jan", "february|februar|février|febrero|febbraio|fevereiro|februari|feb",
	"march|märz|mars|marzo|março|maart|mar", "april|avril|abril|aprile|apr", "may|mai|mayo|maggio|maio|mei", "june|juni|juin|junio|giugno|junho|jun",
	"july|juli|juillet|julio|luglio|julho|jul", "august|août|agosto|augustus|aug", "september|septembre|septiembre|settembre|setembro|sept|sep",
	"october|oktober|octobre|octubre|ottobre|outubro|oct", "november|novembre|noviembre|novembro|nov", "december|dezember|décembre|diciembre|dicembre|dezembro|dec"}

// The forms of a date, from its first digit.
var (
	numbered = naming.Regexp(`^(\d{1,4})[-/.](\d{1,2})[-/.](\d{1,4})(?:[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?Z?)?\b`)
	compact  = naming.Regexp(`^(19\d\d|20\d\d)(\d\d)(\d\d)(?:T\d{4,6}Z?)?\b`)
	dayFirst = naming.Regexp(`^(\d{1,2})(?:st|nd|rd|th|er|\.|º)?(?: de| of)?\s+(\p{L}{3,10})\.?(?:,?(?: de)?\s+(\d{4}))?\b`)
	dayLast  = naming.Regexp(`^(\d{1,2})(?:st|nd|rd|th)?\b(?:,?\s+(\d{4})\b)?`)
	goesOn   = naming.Regexp(`^[-/.]?\d`) // as in 10.1.20.5
	before   = naming.Regexp(`(?:^|[^\p{L}\p{N}_])(\p{L}{3,10})\.?\s+$`)
)

// dates replaces each date in a text by the result of f, which gets the date as
// written and the days it may mean: 2026-03-12, or -03-12 without a year.
func dates(text string, f func(written string, days []string) string) string {
	var b strings.Builder
	done := 0
	for i := 0; i < len(text); i++ {
		if text[i] < '0' || text[i] > '9' || i > 0 && isWord(text[i-1]) {
			continue
		}
		from, to, days := i, 0, []string(nil)
		rest, earlier := text[i:min(len(text), i+60)], text[max(done, i-20):i]
		if m := numbered().FindStringSubmatch(rest); m != nil {
			if to = i + len(m[0]); len(m[1]) == 4 && len(m[3]) <= 2 {
				days = day(m[1], m[2], m[3])
			} else if year := m[3]; len(m[1]) <= 2 && (len(year) == 4 || len(year) == 2 && !goesOn().MatchString(rest[to-i:])) {
				if len(year) == 2 {
					year = "20" + year
				}
				days = append(day(year, m[2], m[1]), day(year, m[1], m[2])...) // 3/4/2026 is in March or in April
			}
		} else if m := compact().FindStringSubmatch(rest); m != nil {
			to, days = i+len(m[0]), day(m[1], m[2], m[3])
		}
		if m := dayFirst().FindStringSubmatch(rest); m != nil && days == nil {
			to, days = i+len(m[0]), day(m[3], m[2], m[1])
		}
		if name := before().FindStringSubmatchIndex(earlier); name != nil && days == nil {
			if m := dayLast().FindStringSubmatch(rest); m != nil {
				to, days = i+len(m[0]), day(m[2], earlier[name[2]:name[3]], m[1])
				from = i - len(earlier) + name[2]
			}
		}
		if days == nil {
			continue
		}
		b.WriteString(text[done:from])
		b.WriteString(f(text[from:to], days))
		done, i = to, to-1
	}
	return b.String() + text[done:]
}

// isWord reports whether a byte belongs to a word or number.
func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// day returns the day with these parts; nil: no such day exists.
func day(year, month, of string) []string {
	m, _ := strconv.Atoi(month)
	if m == 0 && (month != "may" || year != "") { // "3 may" may be the verb
		name := "|" + strings.ToLower(month) + "|"
		m = slices.IndexFunc(months[:], func(names string) bool { return strings.Contains("|"+names+"|", name) })
	}
	n, _ := strconv.Atoi(of)
	if m < 1 || m > 12 || n < 1 || n > 31 {
		return nil
	}
	return []string{fmt.Sprintf("%s-%02d-%02d", year, m, n)}
}
