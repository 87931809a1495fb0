package review

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"github.com/pawl-run/pawl/internal/display"
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
	parsed, before, err := gitdiff.Parse(strings.NewReader(diff))
	if err != nil {
		return nil, fmt.Errorf("the difference: %w", err)
	}
	if len(parsed) == 0 && before != "" {
		return nil, fmt.Errorf("the difference names no file; it begins with %q", display.Clip(before, 80))
	}
	var files []File
	for _, p := range parsed {
		f := File{Path: cmp.Or(p.NewName, p.OldName), Skip: unread(p)}
		for _, h := range p.TextFragments {
			f.hunk(h)
		}
		files = append(files, f)
	}
	return files, nil
}

// unread says why nobody reads what changed in a file, by git's modes where it is no text; empty: it is read.
func unread(p *gitdiff.File) string {
	switch mode := cmp.Or(p.NewMode, p.OldMode); {
	case mode == 0o160000:
		return "a submodule"
	case mode == 0o120000:
		return "a symbolic link"
	case p.IsDelete:
		return "removed"
	case p.IsBinary:
		return "binary"
	}
	return ""
}

// hunk adds the lines of a hunk.
func (f *File) hunk(h *gitdiff.TextFragment) {
	n := int(h.NewPosition)
	if h.NewLines == 0 {
		n++ // git names the line before
	}
	removed := false
	for _, l := range h.Lines {
		f.shown = append(f.shown, line{l.Op.String()[0], n, strings.TrimRight(l.Line, "\r\n")})
		if l.Op == gitdiff.OpAdd || removed && l.Op == gitdiff.OpContext {
			f.add(n)
		} else if l.Op == gitdiff.OpDelete && !removed {
			f.add(n - 1)
		}
		if removed = l.Op == gitdiff.OpDelete; !removed {
			n++
		}
	}
}
