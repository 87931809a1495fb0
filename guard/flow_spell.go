package guard

import (
	"fmt"
	"strconv"
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
	if account := strings.ReplaceAll(folded, " ", ""); len(account) >= 4 && lengths[strings.ToUpper(account[:2])] == len(account) {
		var groups []string // an IBAN, as it is printed and as it is sent
		for i := 0; i < len(account); i += 4 {
			groups = append(groups, account[i:min(i+4, len(account))])
		}
		add(account)
		add(strings.Join(groups, " "))
	}
	if date, ok := dateOf(folded); ok {
		all = append(all, date...)
	}
	if clock, ok := clockOf(folded); ok {
		all = append(all, clock...)
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
	if _, ok := dateOf(date); !ok {
		return "", "", false
	}
	if _, ok := clockOf(clock); !ok {
		return "", "", false
	}
	rest := strings.TrimPrefix(strings.TrimPrefix(folded[minute:], ":00"), ".000")
	zone := rest == "" || rest == "z" || len(rest) == len("+01:00") && (rest[0] == '+' || rest[0] == '-') && rest[3] == ':'
	return date, clock, zone
}

var months = strings.Fields("january february march april may june july august september october november december")

// dateOf returns the ways to write a date in the form 2006-01-02.
func dateOf(s string) (all []string, ok bool) {
	if len(s) != len("2006-01-02") || s[4] != '-' || s[7] != '-' {
		return nil, false
	}
	year, err := strconv.Atoi(s[:4])
	month, err2 := strconv.Atoi(s[5:7])
	day, err3 := strconv.Atoi(s[8:])
	if err != nil || err2 != nil || err3 != nil || month < 1 || month > 12 || day < 1 || day > 31 {
		return nil, false
	}
	ordinal := strconv.Itoa(day) + "th"
	if ending := map[int]string{1: "st", 2: "nd", 3: "rd"}[day%10]; ending != "" && day/10 != 1 {
		ordinal = strconv.Itoa(day) + ending
	}
	for _, name := range []string{months[month-1], months[month-1][:3]} {
		for _, d := range []string{strconv.Itoa(day), ordinal} {
			all = append(all, fmt.Sprintf("%s %s, %d", name, d, year), fmt.Sprintf("%s %s %d", name, d, year), fmt.Sprintf("%s %s", name, d),
				fmt.Sprintf("%s %s %d", d, name, year), fmt.Sprintf("%s %s", d, name), fmt.Sprintf("%s of %s", d, name))
		}
	}
	return append(all, fmt.Sprintf("%d.%d.%d", day, month, year), fmt.Sprintf("%02d.%02d.%d", day, month, year)), true
}

// clockOf returns the ways to write a time in the form 15:04.
func clockOf(s string) (all []string, ok bool) {
	const form = "15:04"
	t, err := time.Parse(form, s)
	if err != nil || len(s) != len(form) {
		return nil, false
	}
	all = []string{strings.TrimPrefix(s, "0"), t.Format("3:04pm"), t.Format("3:04 pm")}
	if t.Minute() == 0 {
		all = append(all, t.Format("3pm"), t.Format("3 pm"))
	}
	if s == "12:00" {
		all = append(all, "noon")
	}
	return all, true
}
