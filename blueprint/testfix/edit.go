package testfix

import (
	"fmt"
	"go/parser"
	"go/token"
	"strings"
	"unicode"
)

// edit replaces the only occurrence of a text in a file.
func (f *files) edit(name, from, to string) (string, error) {
	name, err := local(name)
	if err != nil {
		return "", err
	}
	if err := f.writable(name); err != nil {
		return "", err
	}
	data, perm, err := f.read(name)
	if err != nil {
		return "", err
	}
	before := string(data)
	at := occurrences(before, from)
	switch {
	case from == "":
		return "", fmt.Errorf("old is empty; give the text to replace, exactly as it stands in %s", name)
	case from == to:
		return "", fmt.Errorf("old and new are the same; %s stays as it is", name)
	case len(at) == 0:
		return "", fmt.Errorf("old does not occur in %s%s", name, nearest(before, from))
	case len(at) > 1:
		return "", fmt.Errorf("old occurs more than once in %s, at lines %s; give more of the text around the one that is meant",
			name, lineNumbers(before, at))
	}
	after := before[:at[0]] + to + before[at[0]+len(from):]
	if len(after) > largest {
		return "", fmt.Errorf("%s would become larger than %d bytes", name, largest)
	}
	if err := f.write(name, []byte(after), perm); err != nil {
		return "", err
	}
	line := 1 + strings.Count(before[:at[0]], "\n")
	told := fmt.Sprintf("%s: replaced at line %d", name, line)
	if strings.HasSuffix(name, ".go") {
		if why := parses(name, after); why != nil && parses(name, before) == nil {
			told += fmt.Sprintf("; it does not parse any more: %v", why)
		}
	}
	return told, nil
}

func parses(name, src string) error {
	_, err := parser.ParseFile(token.NewFileSet(), name, src, parser.SkipObjectResolution)
	return err
}

// mostOccurrences is how many places are told of a text that occurs too often.
const mostOccurrences = 8

// occurrences returns where a text occurs, overlaps included.
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

// nearest tells which line of a file is most like the first line of a text
// that was not found: the usual mistakes are white space and half-remembered names.
func nearest(s, from string) string {
	if strings.Contains(bare(s), bare(from)) && bare(from) != "" {
		from = strings.TrimSpace(from)
		first, _, _ := strings.Cut(from, "\n")
		for i, line := range strings.Split(s, "\n") {
			if bare(first) != "" && strings.Contains(bare(line), bare(first)) {
				return fmt.Sprintf(" with this white space; line %d is %q", i+1, line)
			}
		}
	}
	first := ""
	for line := range strings.Lines(from) {
		if bare(line) != "" {
			first = line
			break
		}
	}
	want := pairs(bare(first))
	best, score := -1, 0.0
	lines := strings.Split(s, "\n")
	const most = 20_000 // lines looked at
	for i, line := range lines[:min(len(lines), most)] {
		if x := likeness(want, pairs(bare(line))); x > score {
			best, score = i, x
		}
	}
	if best < 0 {
		return "; read_file shows what is there"
	}
	return fmt.Sprintf("; the nearest is line %d: %q", best+1, lines[best])
}

// bare drops all white space.
func bare(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}

// pairs counts the pairs of neighbouring bytes.
func pairs(s string) map[string]int {
	n := make(map[string]int, len(s))
	for i := range len(s) - 1 {
		n[s[i:i+2]]++
	}
	return n
}

// likeness is Dice's coefficient of two bags of pairs: from 0, nothing in
// common, to 1, all.
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
