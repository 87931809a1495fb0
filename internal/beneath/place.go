package beneath

import (
	"fmt"
	"strings"
	"unicode"
)

// Place finds the only occurrence of a text in the content of a file, for
// replacing it. If there is none or there are several, the error shows similar
// places, so that the model can correct the text.
func Place(name, content, old, with string) (int, error) {
	at := occurrences(content, old)
	switch {
	case old == "":
		return 0, fmt.Errorf("old is empty; give the text to replace, exactly as it stands in %s", name)
	case old == with:
		return 0, fmt.Errorf("old and new are the same; %s stays as it is", name)
	case len(at) == 0:
		return 0, fmt.Errorf("old does not occur in %s%s", name, nearest(content, old))
	case len(at) > 1:
		return 0, fmt.Errorf("old occurs more than once in %s, at lines %s; give more of the text around the one that is meant:\n%s",
			name, lineNumbers(content, at), around(content, at))
	}
	return at[0], nil
}

// mostOccurrences is how many occurrences an error lists.
const mostOccurrences = 8

// occurrences returns the offsets of a text, overlaps included.
func occurrences(s, part string) (at []int) {
	for i := 0; part != "" && len(at) < mostOccurrences; {
		j := strings.Index(s[i:], part)
		if j < 0 {
			break
		}
		at = append(at, i+j)
		i += j + 1
	}
	return at
}

// around shows each place with the line before it, to distinguish them.
func around(s string, at []int) string {
	lines := strings.Split(s, "\n")
	var parts []string
	for _, a := range at {
		line := strings.Count(s[:a], "\n")
		parts = append(parts, shown(lines, max(0, line-1), min(line+1, 2)))
	}
	return strings.Join(parts, "\n  ...\n")
}

func lineNumbers(s string, at []int) string {
	var b strings.Builder
	for i, a := range at {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprint(&b, 1+strings.Count(s[:a], "\n"))
	}
	if len(at) == mostOccurrences {
		b.WriteString(" and perhaps more")
	}
	return b.String()
}

// nearest describes the part of a file most similar to a text that was not
// found: usual mistakes are white space and half-remembered names.
func nearest(s, from string) string {
	lines, want := strings.Split(s, "\n"), strings.Split(strings.Trim(from, "\n"), "\n")
	if at, line := spaced(lines, want); at >= 0 {
		return fmt.Sprintf(" with this white space; line %d is %q in the file and %q in old: %s",
			at+line+1, lines[at+line], want[line], whiteSpace(lines[at+line], want[line]))
	}
	first := 0
	for first < len(want)-1 && bare(want[first]) == "" {
		first++
	}
	best, score := -1, 0.0
	const most = 20_000 // lines compared
	bags := make([]map[string]int, 0, mostShown)
	for _, w := range want[first:min(len(want), first+mostShown)] {
		bags = append(bags, pairs(bare(w)))
	}
	for i, line := range lines[:min(len(lines), most)] {
		x := likeness(bags[0], pairs(bare(line)))
		if x == 0 {
			continue
		}
		// The following lines decide between equally similar ones.
		for j, bag := range bags[1:] {
			if i+j+1 < len(lines) {
				x += likeness(bag, pairs(bare(lines[i+j+1]))) / float64(4*len(bags))
			}
		}
		if x > score {
			best, score = i, x
		}
	}
	if best < 0 {
		return "; read_file shows what is there"
	}
	return "; the nearest lines are:\n" + shown(lines, best, min(len(want)-first, mostShown))
}

// mostShown is how many lines of a file an error shows.
const mostShown = 6

// shown formats lines of a file with their numbers.
func shown(lines []string, from, n int) string {
	var b strings.Builder
	for i := from; i < min(from+n, len(lines)); i++ {
		line := lines[i]
		if len(line) > lineLimit {
			line = strings.ToValidUTF8(line[:lineLimit], "") + "…"
		}
		fmt.Fprintf(&b, "%5d\t%s\n", i+1, line)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// spaced finds lines that equal the wanted ones except for white space: their
// index, and that of the first different line; -1: none.
func spaced(lines, want []string) (at, differs int) {
	if bare(strings.Join(want, "")) == "" {
		return -1, 0
	}
	for i := 0; i+len(want) <= len(lines); i++ {
		differs = -1
		for j, w := range want {
			have := bare(lines[i+j])
			is := have == bare(w)
			if !is && j == 0 { // the text may begin and end within a line
				is = len(want) > 1 && bare(w) != "" && strings.HasSuffix(have, bare(w)) || len(want) == 1 && strings.Contains(have, bare(w))
			} else if !is && j == len(want)-1 {
				is = strings.HasPrefix(have, bare(w))
			}
			if !is {
				differs = -1
				break
			}
			if differs < 0 && !strings.Contains(lines[i+j], w) || differs < 0 && j > 0 && j < len(want)-1 && lines[i+j] != w {
				differs = j
			}
			if j == len(want)-1 && differs < 0 {
				differs = j
			}
		}
		if differs >= 0 {
			return i, differs
		}
	}
	return -1, 0
}

// whiteSpace describes how the white space of two lines differs.
func whiteSpace(have, want string) string {
	indent := func(s string) string { return s[:len(s)-len(strings.TrimLeft(s, " \t"))] }
	switch h, w := indent(have), indent(want); {
	case strings.HasSuffix(have, "\r") != strings.HasSuffix(want, "\r"):
		return "the lines end in \\r\\n in one and in \\n in the other"
	case strings.Contains(h, "\t") && !strings.Contains(w, "\t") && w != "":
		return "the file indents with tabs, old with spaces"
	case strings.Contains(w, "\t") && !strings.Contains(h, "\t") && h != "":
		return "the file indents with spaces, old with tabs"
	case h != w && strings.TrimSpace(have) == strings.TrimSpace(want):
		return "the indentation is not as deep in one as in the other"
	case strings.TrimRight(have, " \t") == strings.TrimRight(want, " \t"):
		return "there is white space at the end of the line"
	}
	return "there is white space between words that differs"
}

// bare removes all white space.
func bare(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}

// pairs counts the pairs of adjacent bytes.
func pairs(s string) map[string]int {
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
