package judge

import "strings"

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
