package guard

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/naming"
)

// The forms of numbers, dates and times. A comma, a point, a space or an
// apostrophe may separate thousands.
var (
	numerals = naming.Regexp(`\d{1,3}(?:[.,'’ \x{a0}\x{202f}]\d{3})+(?:[.,]\d+)?|\d+(?:[.,]\d+)*(?:[eE][+-]?\d+)?`)
	dayLast  = naming.Regexp(`\b(\d{4})(?:[-/.]|年)(\d{1,2})(?:[-/.]|月)(\d{1,2})`)
	dayFirst = naming.Regexp(`\b(\d{1,2})[-/.](\d{1,2})[-/.](\d{4})\b`)
	clock    = naming.Regexp(`(?:\b|T)(\d{1,2}):(\d{2})`)
	moment   = naming.Regexp(`^(?:\d{4}-\d\d-\d\d)?(?:[T ]?\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?(?:Z|[+-]\d\d:\d\d)?$`)
)

// factsOf returns the numbers, dates, times and accounts of a text: 1200.5,
// 2026-03-04, 09:30 and DE89370400440532013000. What can be read in two ways is there in both.
func factsOf(s string) map[string]bool {
	facts := map[string]bool{}
	s = display.Digits(s)
	for _, at := range numerals().FindAllStringIndex(s, -1) {
		start := at[0]
		if start > 0 && s[start-1] == '-' && (start == 1 || strings.IndexByte(" \t\n(", s[start-2]) >= 0) {
			start--
		}
		if standsAlone(s, start, at[1]) {
			for _, number := range readings(s[start:at[1]]) {
				facts[number] = true
			}
		}
	}
	for _, date := range dayLast().FindAllStringSubmatch(s, -1) {
		facts[day(date[1], date[2], date[3])] = true
	}
	for _, date := range dayFirst().FindAllStringSubmatch(s, -1) {
		facts[day(date[3], date[2], date[1])] = true
		facts[day(date[3], date[1], date[2])] = true
	}
	for _, time := range clock().FindAllStringSubmatch(s, -1) {
		facts[fmt.Sprintf("%02s:%s", time[1], time[2])] = true
	}
	for _, at := range accounts(s) {
		facts[solid(s[at.start:at.end])] = true
	}
	return facts
}

// accounts finds what is written in groups of one's own choice: bank accounts and
// international telephone numbers.
func accounts(s string) []span {
	all := ibans(s)
	if strings.Contains(s, "+") {
		all = append(all, phones(s)...)
	}
	return all
}

// solid returns the ASCII letters, digits and plus signs of a text.
func solid(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '+' || r < utf8.RuneSelf && alnum(byte(r)) {
			return r
		}
		return -1
	}, s)
}

func day(year, month, day string) string { return fmt.Sprintf("%s-%02s-%02s", year, month, day) }

// momentOf returns the date and the time that a value consists of; nil: it is
// neither.
func momentOf(v string) (parts []string) {
	if !moment().MatchString(v) {
		return nil
	}
	if date := dayLast().FindStringSubmatch(v); date != nil {
		parts = append(parts, day(date[1], date[2], date[3]))
	}
	if time := clock().FindStringSubmatch(v); time != nil {
		parts = append(parts, time[1]+":"+time[2])
	}
	return parts
}

// readings returns the numbers that a numeral can mean: 1.200 is 1.2 and 1200.
func readings(numeral string) (all []string) {
	add := func(s string) {
		if number, ok := canonical(s); ok {
			all = append(all, number)
		}
	}
	s := strings.NewReplacer(" ", "", "\u00a0", "", "\u202f", "", "'", "", "’", "").Replace(numeral)
	i := strings.LastIndexAny(s, ".,")
	if i < 0 {
		add(s)
		return all
	}
	sign, fraction := s[i:i+1], s[i+1:]
	plain := strings.NewReplacer(".", "", ",", "")
	groups := strings.Count(s, sign)
	if groups == 1 {
		add(plain.Replace(s[:i]) + "." + fraction)
	}
	if whole := strings.TrimPrefix(s[:i], "-"); strings.Count(s, ".")+strings.Count(s, ",") == groups && len(fraction) == 3 && (groups > 1 || len(whole) <= 3 && whole != "0") {
		add(plain.Replace(s))
	}
	return all
}

// canonical writes a number in one way: 50, 50.0 and 5e1 are the same. Digits
// after a zero are a name.
func canonical(s string) (string, bool) {
	rest := strings.TrimPrefix(s, "-")
	if rest == "" || !digit(rest[0]) || len(rest) > 1 && rest[0] == '0' && digit(rest[1]) {
		return "", false
	}
	if strings.Trim(rest, "0123456789") == "" { // also what no float64 holds
		return strings.TrimSuffix(s, "-"), true
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return "", false
	}
	return strconv.FormatFloat(f, 'f', -1, 64), true
}
