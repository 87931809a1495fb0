package workspace

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

const (
	// textLimit is the size up to which a file is shown in a patch.
	textLimit = 1 << 20
	// context is the number of unchanged lines around a change.
	contextLines = 3
	// editWork bounds edits times bytes, in which making the hunks is quadratic. Beyond it, about
	// a tenth of a second, the whole text is replaced in one hunk.
	editWork = 1 << 31
)

// patch writes one change in git's form of a unified diff.
func patch(c Change, before, after string, shown bool) string {
	if c.Old.Exists() && c.New.Exists() && c.Old.isLink() != c.New.isLink() {
		// As in git, a change of the file's type is a deletion and an addition.
		return patch(Change{Path: c.Path, Old: c.Old}, before, "", shown) +
			patch(Change{Path: c.Path, New: c.New}, "", after, shown)
	}
	from, to := quote("a/"+c.Path), quote("b/"+c.Path)
	var b strings.Builder
	fmt.Fprintf(&b, "diff --git %s %s\n", from, to)
	switch {
	case !c.Old.Exists():
		fmt.Fprintf(&b, "new file mode %s\n", gitMode(c.New))
		from = "/dev/null"
	case !c.New.Exists():
		fmt.Fprintf(&b, "deleted file mode %s\n", gitMode(c.Old))
		to = "/dev/null"
	case c.Old.executable() != c.New.executable():
		fmt.Fprintf(&b, "old mode %s\nnew mode %s\n", gitMode(c.Old), gitMode(c.New))
	}
	switch {
	case c.Old.Digest == c.New.Digest:
	case !shown:
		fmt.Fprintf(&b, "Binary files %s and %s differ\n", from, to)
	case before != after: // an empty file that comes or goes has no hunk
		fmt.Fprintf(&b, "--- %s\n+++ %s\n%s", ended(from), ended(to), hunks(before, after))
	}
	return b.String()
}

// Edit replaces the bytes of a text from Start up to End by New.
type Edit struct {
	Start, End int
	New        string
}

// LineEdits returns the edits of whole lines that make one text of another, in their order.
func LineEdits(before, after string) []Edit {
	var edits []Edit
	for _, e := range udiff.Lines(before, after) {
		edits = append(edits, Edit(e))
	}
	return edits
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

func gitMode(f File) string {
	switch {
	case f.isLink():
		return "120000"
	case f.executable():
		return "100755"
	}
	return "100644"
}

// ended marks the end of a name that contains blanks; other programs would cut it at the blank.
func ended(name string) string {
	if strings.Contains(name, " ") && !strings.HasPrefix(name, `"`) {
		return name + "\t"
	}
	return name
}

// quote writes a name as git does with core.quotePath off: quoted as in C if necessary.
func quote(name string) string {
	if !strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f || r == '"' || r == '\\' }) {
		return name
	}
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(name) {
		switch c := name[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\t':
			b.WriteString(`\t`)
		case c < ' ' || c == 0x7f:
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
