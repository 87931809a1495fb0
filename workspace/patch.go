package workspace

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

const (
	textLimit    = 1 << 20 // the size up to which a file is shown
	contextLines = 3       // unchanged lines around a change
	editWork     = 1 << 31 // edits times bytes above which one hunk replaces the whole text: making more is slow
)

// patch is the change in git's form of a unified diff. For binary files, and for files of more than 1 MiB,
// it only says that they differ.
func (c Change) patch() string {
	from, to := quote("a/"+c.Path), quote("b/"+c.Path)
	var b strings.Builder
	fmt.Fprintf(&b, "diff --git %s %s\n", from, to)
	before, shown := c.Old.text()
	after, shownToo := c.New.text()
	switch {
	case c.Old == nil:
		fmt.Fprintf(&b, "new file mode %s\n", gitMode(c.New))
		from = "/dev/null"
	case c.New == nil:
		fmt.Fprintf(&b, "deleted file mode %s\n", gitMode(c.Old))
		to = "/dev/null"
	case c.Old.executable() != c.New.executable():
		fmt.Fprintf(&b, "old mode %s\nnew mode %s\n", gitMode(c.Old), gitMode(c.New))
	}
	switch {
	case before == after: // an empty file that comes or goes has no hunk
	case !shown || !shownToo:
		fmt.Fprintf(&b, "Binary files %s and %s differ\n", from, to)
	default:
		fmt.Fprintf(&b, "--- %s\n+++ %s\n%s", ended(from), ended(to), hunks(before, after))
	}
	return b.String()
}

// text returns the content of a file, and whether it can be shown.
func (f *File) text() (text string, shown bool) {
	if f == nil {
		return "", true
	}
	return string(f.Data), len(f.Data) <= textLimit && !bytes.Contains(f.Data, []byte{0})
}

func gitMode(f *File) string {
	if f.executable() {
		return "100755"
	}
	return "100644"
}

func hunks(before, after string) string {
	edits := udiff.Lines(before, after)
	if len(edits)*len(before) > editWork {
		edits = []udiff.Edit{{Start: 0, End: len(before), New: after}}
	}
	text, err := udiff.ToUnified("a", "b", before, edits, contextLines)
	if err != nil {
		panic("edits of a text do not fit it: " + err.Error()) // they were made from it
	}
	return starts(strings.TrimPrefix(text, "--- a\n+++ b\n"))
}

// starts says in which lines of the new text hunks begin. For those after the first, go-udiff leaves out the
// equal lines between the changes of the hunks before.
func starts(text string) string {
	var b strings.Builder
	more := 0 // lines in the new text than in the old, so far
	for line := range strings.Lines(text) {
		var from int
		switch {
		case line[0] == '+':
			more++
		case line[0] == '-':
			more--
		case line[0] == '@' && b.Len() > 0:
			if _, err := fmt.Sscanf(line, "@@ -%d", &from); err != nil {
				panic("hunk without a start: " + err.Error()) // it was made here
			}
			old, now, _ := strings.Cut(line, "+")
			line = old + "+" + strconv.Itoa(from+more) + now[strings.IndexAny(now, ", "):]
		}
		b.WriteString(line)
	}
	return b.String()
}

// ended marks the end of a name that contains blanks; other programs would cut it at the blank.
func ended(name string) string {
	if strings.Contains(name, " ") && !strings.HasPrefix(name, `"`) {
		return name + "\t"
	}
	return name
}

// quote quotes a name as in C if necessary, as git does with core.quotePath off.
func quote(name string) string {
	if strings.ContainsAny(name, "\"\\\a\b\t\n\v\f\r") {
		return strconv.Quote(name)
	}
	return name
}
