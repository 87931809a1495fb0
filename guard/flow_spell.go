package guard

import (
	"strings"
	"time"
)

// spellings returns the equivalent forms of a folded value, the value itself
// first. A source that names one names all.
func spellings(folded string) []string {
	all := []string{folded}
	add := func(s string) {
		if s != "" && s != folded {
			all = append(all, s)
		}
	}
	if i := strings.Index(folded, "://"); i > 0 && !strings.ContainsAny(folded[:i], " /") {
		rest := strings.TrimSuffix(folded[i+len("://"):], "/")
		add(strings.TrimSuffix(folded, "/"))
		add(rest)
		add(strings.TrimPrefix(rest, "www."))
		return all
	}
	if rest, ok := strings.CutPrefix(folded, "./"); ok {
		add(strings.TrimSuffix(rest, "/"))
	} else if rest, ok := strings.CutSuffix(folded, "/"); ok {
		add(rest)
	}
	return all
}

// moment splits an RFC 3339 time into a date and a time to the minute, in any
// zone.
func moment(folded string) (date, clock string, ok bool) {
	const minute = len("2006-01-02t15:04")
	if len(folded) < minute || folded[10] != 't' && folded[10] != ' ' {
		return "", "", false
	}
	date, clock = folded[:10], folded[11:minute]
	if !isDate(date) || !isClock(clock) {
		return "", "", false
	}
	rest := strings.TrimPrefix(strings.TrimPrefix(folded[minute:], ":00"), ".000")
	zone := rest == "" || rest == "z" || len(rest) == len("+01:00") && (rest[0] == '+' || rest[0] == '-') && rest[3] == ':'
	return date, clock, zone
}

func isDate(s string) bool {
	_, err := time.Parse(time.DateOnly, s)
	return err == nil
}

func isClock(s string) bool {
	_, err := time.Parse("15:04", s)
	return err == nil
}
