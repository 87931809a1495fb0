package beneath

import (
	"fmt"
	"strings"
)

// Place finds the only occurrence of a text in the content of a file, for
// replacing it. If there is none or there are several, the error shows similar
// places, so that the model can correct the text.
func Place(name, content, old, with string) (int, error) {
	at := strings.Index(content, old)
	switch {
	case old == "":
		return 0, fmt.Errorf("old is empty; give the text to replace, exactly as it stands in %s", name)
	case old == with:
		return 0, fmt.Errorf("old and new are the same; %s stays as it is", name)
	case at < 0:
		return 0, fmt.Errorf("old does not occur in %s%s", name, nearest(content, old))
	case strings.Contains(content[at+1:], old):
		numbers, lines := occurrences(content, old)
		return 0, fmt.Errorf("old occurs more than once in %s, at lines %s; give more of the text around the one that is meant:\n%s", name, numbers, lines)
	}
	return at, nil
}

// Ended returns a text with the line ends of a file's content: CRLF if all of its lines end so,
// which a model does not see.
func Ended(text, content string) string {
	if n := strings.Count(content, "\n"); n == 0 || n != strings.Count(content, "\r\n") {
		return text
	}
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n")
}

// occurrences returns the numbers of the lines at which a text first occurs, overlaps
// included, and these lines, each with the one before it.
func occurrences(s, part string) (numbers, around string) {
	lines := strings.Split(s, "\n")
	var all, shows []string
	for from := 0; ; {
		i := strings.Index(s[from:], part)
		if i < 0 {
			break
		}
		if len(all) == 8 {
			all = append(all, "and more")
			break
		}
		line := strings.Count(s[:from+i], "\n")
		all = append(all, fmt.Sprint(line+1))
		before := max(0, line-1)
		shows = append(shows, shown(lines[before:line+1], before+1))
		from += i + 1
	}
	return strings.Join(all, ", "), strings.Join(shows, "\n  ...\n")
}

// mostShown is how many lines of a file an error shows.
const mostShown = 6

// nearest shows the part of a file most similar to a text that was not found:
// usual mistakes are white space and half-remembered names.
func nearest(s, from string) string {
	const most = 20_000 // lines compared
	lines, want := strings.Split(s, "\n"), strings.Split(strings.TrimSpace(from), "\n")
	want = want[:min(len(want), mostShown)]
	bags := make([]map[string]int, len(want))
	for i, w := range want {
		bags[i] = pairs(w)
	}
	best, score := -1, 0.0
	for i, line := range lines[:min(len(lines), most)] {
		x := likeness(bags[0], pairs(line))
		if x == 0 {
			continue
		}
		// The following lines decide between equally similar ones.
		for j, bag := range bags[1:] {
			if i+j+1 < len(lines) {
				x += likeness(bag, pairs(lines[i+j+1])) / float64(4*len(bags))
			}
		}
		if x > score {
			best, score = i, x
		}
	}
	if strings.Contains(s, "\r\n") && !strings.Contains(from, "\r") {
		return "; its lines end in \\r\\n"
	}
	if best < 0 {
		return "; read_file shows what is there"
	}
	return "; the nearest lines are:\n" + shown(lines[best:min(best+len(want), len(lines))], best+1)
}

// shown formats lines of a file with their numbers.
func shown(lines []string, first int) string {
	var b strings.Builder
	for i, line := range lines {
		fmt.Fprintf(&b, "%5d\t%s\n", first+i, clip(line))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// pairs counts the pairs of adjacent bytes of a text without its white space.
func pairs(s string) map[string]int {
	s = strings.Join(strings.Fields(s), "")
	n := make(map[string]int, len(s))
	for i := range len(s) - 1 {
		n[s[i:i+2]]++
	}
	return n
}

// likeness is Dice's coefficient of two bags of pairs: from 0 for nothing in
// common to 1 for equal.
func likeness(a, b map[string]int) float64 {
	common, all := 0, 0
	for p, n := range a {
		common += min(n, b[p])
		all += n
	}
	for _, n := range b {
		all += n
	}
	if all == 0 {
		return 0
	}
	return 2 * float64(common) / float64(all)
}
