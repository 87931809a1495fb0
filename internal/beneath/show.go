package beneath

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pawl-run/pawl/internal/naming"
	"github.com/pawl-run/pawl/internal/wire"
)

// Bounds on what is shown at once, in bytes.
const (
	ReadLimit   = 48 << 10
	listLimit   = 48 << 10
	searchLimit = 24 << 10
	lineLimit   = 300 // of a line in a search, or in an error
)

// Part returns lines start to end of a text file, counted from 1; zero is its
// beginning, or its end. With numbers each line begins with its number and a
// tab. If lines are missing, a last line in square brackets says which part is
// shown.
func Part(root *os.Root, name string, start, end int, numbers bool) (string, error) {
	if start < 0 || end < 0 || end > 0 && end < start {
		return "", fmt.Errorf("lines %d to %d are not a range; lines count from 1", start, end)
	}
	data, _, err := Read(root, name)
	if err != nil {
		return "", err
	}
	lines := bytes.SplitAfter(wire.Unmarked(data), []byte("\n"))
	if len(lines[len(lines)-1]) == 0 && len(lines) > 1 {
		lines = lines[:len(lines)-1]
	}
	first, last := max(start, 1), len(lines)
	if end > 0 {
		last = min(last, end)
	}
	if first > len(lines) {
		return "", fmt.Errorf("%s has %d lines", name, len(lines))
	}
	var b strings.Builder
	shown := first - 1
	for shown < last && (b.Len()+len(lines[shown]) <= ReadLimit || shown == first-1) {
		if numbers {
			fmt.Fprintf(&b, "%d\t", shown+1)
		}
		b.Write(lines[shown])
		shown++
	}
	text := b.String()
	if len(text) > ReadLimit+20 { // a number may precede it
		return "", fmt.Errorf("line %d of %s has %d bytes; lines above %d are not shown", first, name, len(text), ReadLimit)
	}
	if first == 1 && shown == len(lines) {
		return text, nil
	}
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text + fmt.Sprintf("[lines %d to %d of %d]", first, shown, len(lines)), nil
}

// List lists the files beneath a directory, one per line in order. A name that
// ends in / is a directory of third-party code, whose content is not listed.
func List(ctx context.Context, root *os.Root, name string) (string, error) {
	var b strings.Builder
	left := 0
	top := true
	err := walk(ctx, root, name, func(p string, d fs.DirEntry, unread error) error {
		asked := top
		top = false
		switch {
		case unread != nil:
			p += "/ (cannot be read)"
		case d.IsDir() && (asked || !dependencies(p)), strings.HasPrefix(d.Name(), temporary):
			return nil
		case d.IsDir():
			p += "/"
		case d.Type()&fs.ModeSymlink != 0:
			p += " (link)"
		case !d.Type().IsRegular():
			p += " (no regular file)"
		}
		if b.Len()+len(p) > listLimit {
			left++
			return nil
		}
		b.WriteString(shownName(p) + "\n")
		return nil
	})
	if err != nil {
		return "", err
	}
	if left > 0 {
		fmt.Fprintf(&b, "[%d more; list a directory of them]\n", left)
	}
	if b.Len() == 0 {
		return "[no files]\n", nil
	}
	return b.String(), nil
}

// shownName returns a name on one line, since names may contain line breaks.
func shownName(name string) string {
	if strings.ContainsFunc(name, unicode.IsControl) || !utf8.ValidString(name) {
		return strconv.Quote(name)
	}
	return name
}

// clip returns the beginning of a long line.
func clip(line string) string {
	if len(line) <= lineLimit {
		return line
	}
	return strings.ToValidUTF8(line[:lineLimit], "") + "…"
}

// errEnough ends a walk early.
var errEnough = errors.New("enough")

// Search finds the lines beneath a path that match a regular expression in RE2
// syntax, in the form path:line: text. Files and lines that it did not search are named.
func Search(ctx context.Context, root *os.Root, name, expr string) (string, error) {
	re, err := naming.CompilePattern(expr)
	if err != nil {
		return "", fmt.Errorf("pattern: %w; it is a regular expression in RE2 syntax", err)
	}
	var b strings.Builder
	var long []string // lines too long for the pattern
	var left []string // what was not searched
	top := true
	err = walk(ctx, root, name, func(p string, d fs.DirEntry, unread error) error {
		asked := top
		top = false
		switch {
		case unread != nil:
			left = append(left, shownName(p)+"/ (cannot be read)")
			return nil
		case d.IsDir() && !asked && dependencies(p):
			left = append(left, shownName(p)+"/ (third-party code)")
			return nil
		case d.Type()&fs.ModeSymlink != 0:
			left = append(left, shownName(p)+" (link)")
			return nil
		case !d.Type().IsRegular() || strings.HasPrefix(d.Name(), temporary):
			return nil
		}
		data, _, err := Read(root, p)
		if err != nil {
			why, plain := strings.CutPrefix(err.Error(), p)
			if !plain {
				why = "its name has a line break"
			}
			left = append(left, fmt.Sprintf("%s (%s)", shownName(p), strings.TrimLeft(why, " :")))
			return nil
		}
		lines := bufio.NewScanner(bytes.NewReader(wire.Unmarked(data)))
		lines.Buffer(nil, Largest+1)
		for n := 1; lines.Scan(); n++ {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			text := lines.Text()
			if len(text) > re.Reach() && len(long) < mostLong {
				long = append(long, fmt.Sprintf("[%s:%d has %d bytes and was not searched: this pattern is matched against lines of at most %d; use a smaller one]\n", shownName(p), n, len(text), re.Reach()))
			}
			if !re.MatchString(text) {
				continue
			}
			text = clip(text)
			if b.Len()+len(text) > searchLimit {
				b.WriteString("[there are more matches; narrow the pattern or the path]\n")
				return errEnough
			}
			fmt.Fprintf(&b, "%s:%d: %s\n", shownName(p), n, text)
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return "", err
	}
	if b.Len() == 0 {
		b.WriteString("[no match]\n")
	}
	if n := len(left); n > 0 {
		more := ""
		if n > mostLeft {
			more, left = fmt.Sprintf("; and %d more", n-mostLeft), left[:mostLeft]
		}
		long = append(long, fmt.Sprintf("[not searched: %s%s]\n", strings.Join(left, "; "), more))
	}
	return b.String() + strings.Join(long, ""), nil
}

// mostLong is how many lines that were too long are named, and mostLeft how many files that were
// not searched.
const mostLong, mostLeft = 5, 10
