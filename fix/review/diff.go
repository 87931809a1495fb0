package review

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/pawl-run/pawl/internal/redact"
)

// A File is what a change does to one file.
type File struct {
	Path string // relative to the project, with slashes
	Skip string // why it is not reviewed; empty: it is

	hunks []hunk
}

// A hunk is a run of lines, each with the mark of a difference before it: a space, + or -.
type hunk struct {
	start int // the number of its first line in the new file
	lines []string
}

// A Range is some lines of the new file, from its first to its last.
type Range [2]int

// Ranges are the lines of the difference: those that are new, and those on both sides of a
// removal.
func (f *File) Ranges() (list []Range) {
	add := func(n int) {
		switch last := len(list) - 1; {
		case n < 1:
		case last >= 0 && n <= list[last][1]: // a neighbour of a removal, twice
		case last >= 0 && n == list[last][1]+1:
			list[last][1] = n
		default:
			list = append(list, Range{n, n})
		}
	}
	for _, h := range f.hunks {
		n, removed := h.start, false
		for _, line := range h.lines {
			switch line[0] {
			case '+':
				add(n)
				n++
				removed = false
			case '-':
				if !removed {
					add(n - 1)
				}
				removed = true
			default:
				if removed {
					add(n)
				}
				n++
				removed = false
			}
		}
	}
	return list
}

// View is the difference as a model reads it: with the numbers of the new file, and without
// what has the shape of a key.
func (f *File) View() string {
	var b strings.Builder
	for i, h := range f.hunks {
		if i > 0 {
			b.WriteString("   ...\n")
		}
		n := h.start
		for _, line := range withoutKeys(h.lines) {
			if line[0] == '-' {
				fmt.Fprintf(&b, "      - %s\n", line[1:])
				continue
			}
			fmt.Fprintf(&b, "%5d %c %s\n", n, line[0], line[1:])
			n++
		}
	}
	return b.String()
}

// withoutKeys takes keys of known vendors and private keys out of lines. Unlike
// [redact.Text], it leaves the values of variables that are named like secrets: in code
// these are expressions.
func withoutKeys(lines []string) []string {
	bare := make([]string, len(lines))
	for i, line := range lines {
		bare[i] = line[1:]
	}
	text := strings.Join(bare, "\n")
	spans := redact.Tokens(text)
	if len(spans) == 0 {
		return lines
	}
	var b strings.Builder
	rest := 0
	for _, s := range spans {
		b.WriteString(text[rest:s.Start])
		b.WriteString(redact.Marker)
		b.WriteString(strings.Repeat("\n", strings.Count(text[s.Start:s.End], "\n")))
		rest = s.End
	}
	b.WriteString(text[rest:])
	clean := strings.Split(b.String(), "\n")
	for i := range clean {
		clean[i] = lines[i][:1] + clean[i]
	}
	return clean
}

// Parse reads the output of git diff --full-index.
func Parse(diff string) ([]File, error) {
	p := differ{lines: strings.Split(strings.TrimSuffix(diff, "\n"), "\n")}
	if diff == "" {
		return nil, nil
	}
	for p.at < len(p.lines) {
		line := p.lines[p.at]
		p.at++
		if err := p.line(line); err != nil {
			return nil, fmt.Errorf("line %d of the difference: %w", p.at, err)
		}
	}
	return p.files, nil
}

type differ struct {
	lines []string
	at    int
	files []File
}

func (p *differ) line(line string) error {
	if rest, ok := strings.CutPrefix(line, "diff --git "); ok {
		p.files = append(p.files, File{Path: bothNames(rest)})
		return nil
	}
	if len(p.files) == 0 {
		return fmt.Errorf("%q is before the first file", line)
	}
	f := &p.files[len(p.files)-1]
	word, rest, _ := strings.Cut(line, " ")
	switch {
	case word == "index":
		_, mode, _ := strings.Cut(rest, " ")
		f.Skip = kindOf(mode, f.Skip)
	case strings.HasPrefix(line, "new file mode "):
		f.Skip = kindOf(strings.TrimPrefix(line, "new file mode "), f.Skip)
	case word == "deleted":
		f.Skip = "removed"
	case word == "rename" && strings.HasPrefix(rest, "to "):
		f.Path = unquote(strings.TrimPrefix(rest, "to "))
	case word == "+++" && rest != "/dev/null":
		f.Path = strings.TrimPrefix(unquote(strings.TrimSuffix(rest, "\t")), "b/")
	case word == "Binary", word == "GIT":
		f.Skip = "binary"
	case word == "@@":
		return p.hunk(f, rest)
	}
	return nil
}

// kindOf says what is no file, by its mode.
func kindOf(mode, otherwise string) string {
	switch mode {
	case "160000":
		return "a submodule"
	case "120000":
		return "a symbolic link"
	}
	return otherwise
}

// hunk reads the lines of a hunk, whose header has their numbers.
func (p *differ) hunk(f *File, header string) error {
	ranges, _, ok := strings.Cut(header, " @@")
	was, is, two := strings.Cut(ranges, " ")
	_, olds, err := span(was, "-")
	start, news, err2 := span(is, "+")
	if !ok || !two || err != nil || err2 != nil {
		return fmt.Errorf("%q is no header of a hunk", header)
	}
	h := hunk{start: start}
	if news == 0 {
		h.start++ // git names the line before
	}
	for olds > 0 || news > 0 {
		if p.at == len(p.lines) || p.lines[p.at] == "" {
			return fmt.Errorf("a hunk of %s is cut short", f.Path)
		}
		line := p.lines[p.at]
		p.at++
		switch line[0] {
		case ' ':
			olds, news = olds-1, news-1
		case '-':
			olds--
		case '+':
			news--
		case '\\': // no newline at the end of the file
			continue
		default:
			return fmt.Errorf("%q is no line of a hunk", line)
		}
		h.lines = append(h.lines, strings.TrimSuffix(line, "\r"))
	}
	f.hunks = append(f.hunks, h)
	return nil
}

// span reads a start and a number of lines, as in -12,3.
func span(text, sign string) (start, n int, err error) {
	text, ok := strings.CutPrefix(text, sign)
	if !ok {
		return 0, 0, fmt.Errorf("%q has no %s", text, sign)
	}
	from, count, given := strings.Cut(text, ",")
	if n = 1; given {
		if n, err = strconv.Atoi(count); err != nil {
			return 0, 0, fmt.Errorf("lines: %w", err)
		}
	}
	if start, err = strconv.Atoi(from); err != nil {
		return 0, 0, fmt.Errorf("start: %w", err)
	}
	return start, n, nil
}

// bothNames returns the name in "a/NAME b/NAME". It counts only for a file without
// lines and without a new name, where both are the same.
func bothNames(text string) string {
	if strings.HasPrefix(text, `"`) {
		return strings.TrimPrefix(unquote(text[:len(text)/2]), "a/")
	}
	return strings.TrimPrefix(text[:len(text)/2], "a/")
}

// unquote undoes the quotes of git, which are those of C.
func unquote(name string) string {
	if !strings.HasPrefix(name, `"`) {
		return name
	}
	if plain, err := strconv.Unquote(name); err == nil {
		return plain
	}
	return name
}
