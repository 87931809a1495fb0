package gotest

import (
	"regexp"
	"strings"
)

const maxValue = 200

// pair is a common way to say got and want on one line.
type pair struct {
	re        *regexp.Regexp
	got, want int // submatches
}

const (
	gotWord  = `(?:got|actual|actually|have|received|found|was)`
	wantWord = `(?:want(?:ed|s)?|expect(?:ed|s)?|exp|should be)`
)

// pairs are tried in order: the form with a call's text before the value
// comes first because the others would take the call for part of the value.
var pairs = []pair{
	{regexp.MustCompile(`(?i)^.*\s=\s(.+?)\s*[,;(:]\s*(?:but )?` + wantWord + `\b:?\s*=?\s*(.+)$`), 1, 2},
	{regexp.MustCompile(`(?i)\b` + gotWord + `\b:?\s*=?\s*(.+?)\s*[,;(]?\s+\(?(?:but )?` + wantWord + `\b:?\s*=?\s*(.+)$`), 1, 2},
	{regexp.MustCompile(`(?i)\b` + wantWord + `\b(?: to be)?:?\s*=?\s*(.+?)\s*[,;(]?\s+\(?(?:but )?` + gotWord + `\b:?\s*=?\s*(.+)$`), 2, 1},
	{regexp.MustCompile(`(\S+) != (.+)$`), 1, 2},
}

var (
	gotLine  = regexp.MustCompile(`(?i)^\s*(?:\S+\.go:\d+: )?(?:.*\s)?` + gotWord + `(?: value)?\s*[:=]\s*(.*)$`)
	wantLine = regexp.MustCompile(`(?i)^\s*(?:\S+\.go:\d+: )?(?:.*\s)?` + wantWord + `(?: value)?\s*[:=]\s*(.*)$`)
	wantGot  = regexp.MustCompile(`(?i)\(?-\s?` + wantWord + `,?\s*\+\s?` + gotWord)
)

// gotWant returns the first pair of values that the lines put side by
// side, on one line or on several.
func gotWant(lines []string) (got, want string) {
	for i, l := range lines {
		if m := logged.FindString(l); m != "" {
			l = l[len(m):]
		}
		if strings.HasPrefix(l, "panic: ") || isHeading(l) {
			break
		}
		if wantGot.MatchString(l) {
			if got, want = diffed(lines[i+1:]); got+want != "" {
				return got, want
			}
			continue
		}
		for _, p := range pairs {
			if m := p.re.FindStringSubmatch(l); m != nil {
				return value(m[p.got]), value(m[p.want])
			}
		}
		if got, want = stacked(lines[i:], gotLine, wantLine); got != "" || want != "" {
			return got, want
		}
		if want, got = stacked(lines[i:], wantLine, gotLine); got != "" || want != "" {
			return got, want
		}
	}
	return "", ""
}

// stacked reads "first: value" with "second: value" below it; a value may
// begin on the next line, as with examples.
func stacked(lines []string, first, second *regexp.Regexp) (string, string) {
	m := first.FindStringSubmatch(lines[0])
	if m == nil {
		return "", ""
	}
	a := []string{m[1]}
	for i, l := range lines[1:] {
		if m := second.FindStringSubmatch(l); m != nil {
			b := m[1]
			if b == "" {
				b = strings.Join(lines[i+2:], "\n")
			}
			return value(strings.Join(a, "\n")), value(b)
		}
		if len(a) > 10 || logged.MatchString(l) {
			break
		}
		a = append(a, l)
	}
	return "", ""
}

// diffed joins the lines that a -want +got diff marks.
func diffed(lines []string) (got, want string) {
	var g, w []string
	for _, l := range lines {
		l = strings.TrimLeft(l, " \t")
		switch {
		case logged.MatchString(l):
			return value(strings.Join(g, "\n")), value(strings.Join(w, "\n"))
		case strings.HasPrefix(l, "+"):
			g = append(g, trimDiff(l))
		case strings.HasPrefix(l, "-"):
			w = append(w, trimDiff(l))
		}
	}
	return value(strings.Join(g, "\n")), value(strings.Join(w, "\n"))
}

// trimDiff takes the mark off; go-cmp uses no-break spaces at times.
func trimDiff(l string) string {
	return strings.Trim(strings.ReplaceAll(l[1:], "\u00a0", " "), " \t,")
}

func value(s string) string {
	s = strings.TrimSpace(s)
	if strings.Count(s, "(") < strings.Count(s, ")") {
		s = strings.TrimSuffix(s, ")")
	}
	if len(s) > maxValue {
		s = strings.ToValidUTF8(s[:maxValue], "") + "..."
	}
	return s
}
