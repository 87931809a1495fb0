package review

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/pawl-run/pawl/internal/redact"
)

// A File is what a change does to one file.
type File struct {
	Path  string  // relative to the project, with slashes
	Skip  string  // why it is not reviewed; empty: it is
	Lines []Range // of the difference: those that are new, and those on both sides of a removal

	shown []line
}

// A Range is some lines of the new file, from its first to its last.
type Range [2]int

// A line stands in a hunk.
type line struct {
	mark byte // a space, + or -
	at   int  // its number in the new file, or that of the line after it if it was removed
	text string
}

// add adds a line of the difference.
func (f *File) add(n int) {
	switch last := len(f.Lines) - 1; {
	case n < 1 || last >= 0 && n <= f.Lines[last][1]: // a neighbour of a removal, twice
	case last >= 0 && n == f.Lines[last][1]+1:
		f.Lines[last][1] = n
	default:
		f.Lines = append(f.Lines, Range{n, n})
	}
}

// View is the difference as a model reads it: with the numbers of the new file, and without
// what has the shape of a key.
func (f *File) View() string {
	texts := make([]string, len(f.shown))
	for i, l := range f.shown {
		texts[i] = l.text
	}
	texts = strings.Split(withoutKeys(strings.Join(texts, "\n")), "\n")
	var b strings.Builder
	for i, l := range f.shown {
		if i > 0 && l.at > f.shown[i-1].at+1 {
			b.WriteString("   ...\n")
		}
		if l.mark == '-' {
			fmt.Fprintf(&b, "      - %s\n", texts[i])
		} else {
			fmt.Fprintf(&b, "%5d %c %s\n", l.at, l.mark, texts[i])
		}
	}
	return b.String()
}

// withoutKeys takes keys of known vendors and private keys out of a text, and keeps its lines. Unlike
// [redact.Text], it leaves the values of variables that are named like secrets: in code
// these are expressions.
func withoutKeys(text string) string {
	var b strings.Builder
	rest := 0
	for _, s := range redact.Tokens(text) {
		b.WriteString(text[rest:s.Start] + redact.Marker + strings.Repeat("\n", strings.Count(text[s.Start:s.End], "\n")))
		rest = s.End
	}
	return b.String() + text[rest:]
}

// Parse reads the output of git diff --full-index.
func Parse(diff string) ([]File, error) {
	var files []File
	var olds, news, n int // what is left of a hunk, and the number of its next line
	var removed bool
	for text := range strings.SplitSeq(strings.TrimSuffix(diff, "\n"), "\n") {
		if names, ok := strings.CutPrefix(text, "diff --git "); ok {
			files = append(files, File{Path: bothNames(names)})
			continue
		}
		if len(files) == 0 {
			if diff == "" {
				return nil, nil
			}
			return nil, fmt.Errorf("%q is before the first file of the difference", text)
		}
		f := &files[len(files)-1]
		if olds == 0 && news == 0 {
			if ranges, ok := strings.CutPrefix(text, "@@ "); ok {
				if olds, news, n, ok = hunk(ranges); !ok {
					return nil, fmt.Errorf("%q is no header of a hunk", text)
				}
				removed = false
			} else {
				f.header(text)
			}
			continue
		}
		if text == "" || !strings.ContainsRune(" +-\\", rune(text[0])) {
			return nil, fmt.Errorf("%q is no line of a hunk of %s", text, f.Path)
		}
		if text[0] == '\\' { // no newline at the end of the file
			continue
		}
		f.shown = append(f.shown, line{text[0], n, strings.TrimSuffix(text[1:], "\r")})
		if text[0] == '+' || removed && text[0] == ' ' {
			f.add(n)
		} else if text[0] == '-' && !removed {
			f.add(n - 1)
		}
		removed = text[0] == '-'
		if text[0] != '+' {
			olds--
		}
		if text[0] != '-' {
			news, n = news-1, n+1
		}
	}
	if olds > 0 || news > 0 {
		return nil, fmt.Errorf("a hunk of %s is cut short", files[len(files)-1].Path)
	}
	return files, nil
}

// header reads a line before the hunks of a file.
func (f *File) header(text string) {
	word, rest, _ := strings.Cut(text, " ")
	mode := text[strings.LastIndexByte(text, ' ')+1:]
	switch {
	case (word == "index" || word == "new") && mode == "160000":
		f.Skip = "a submodule"
	case (word == "index" || word == "new") && mode == "120000":
		f.Skip = "a symbolic link"
	case word == "deleted":
		f.Skip = "removed"
	case word == "Binary", word == "GIT":
		f.Skip = "binary"
	case word == "rename" && strings.HasPrefix(rest, "to "):
		f.Path = unquote(strings.TrimPrefix(rest, "to "))
	case word == "+++" && rest != "/dev/null":
		f.Path = strings.TrimPrefix(unquote(strings.TrimSuffix(rest, "\t")), "b/")
	}
}

// hunk reads the ranges in a header of a hunk: how many lines it has of both files, and the number of its first
// in the new one.
func hunk(header string) (olds, news, start int, ok bool) {
	header, _, ok = strings.Cut(header, " @@")
	was, is, two := strings.Cut(header, " ")
	_, olds, ok1 := span(was, "-")
	start, news, ok2 := span(is, "+")
	if news == 0 {
		start++ // git names the line before
	}
	return olds, news, start, ok && two && ok1 && ok2
}

// span reads a start and a number of lines, as in -12,3.
func span(text, sign string) (start, n int, ok bool) {
	text, ok = strings.CutPrefix(text, sign)
	from, count, given := strings.Cut(text, ",")
	start, err := strconv.Atoi(from)
	if n = 1; given && err == nil {
		n, err = strconv.Atoi(count)
	}
	return start, n, ok && err == nil
}

// bothNames returns the name in "a/NAME b/NAME". It counts only for a file without
// lines and without a new name, where both are the same.
func bothNames(text string) string { return strings.TrimPrefix(unquote(text[:len(text)/2]), "a/") }

// unquote undoes the quotes of git, which are those of C.
func unquote(name string) string {
	if plain, err := strconv.Unquote(name); err == nil && strings.HasPrefix(name, `"`) {
		return plain
	}
	return name
}
