package spec

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A Problem is one error in a spec, with its place. Line and Column count from
// 1, columns in characters. For an option, File is its name (model, effort,
// stop or limits) and Line is zero. Line is also zero for a file that cannot be read.
type Problem struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Message string `json:"message"` // what is wrong (how to fix it)
}

// String returns FILE:LINE:COLUMN: MESSAGE, or OPTION: MESSAGE.
func (p Problem) String() string {
	if p.Line == 0 {
		return p.File + ": " + p.Message
	}
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Message)
}

// Problems are all errors in a spec, in the order of the file. As an error it
// prints one problem per line.
type Problems []Problem //nolint:errname // pawl check prints it, too

func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, one := range p {
		lines[i] = one.String()
	}
	return strings.Join(lines, "\n")
}

// sorted returns the problems in the order of the file, without duplicates.
func (p Problems) sorted() Problems {
	p = slices.Clone(p)
	slices.SortStableFunc(p, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return slices.Compact(p)
}

// err returns the problems in order; nil if there are none, since an empty list in an error is not nil.
func (p Problems) err() error {
	if len(p) == 0 {
		return nil
	}
	return p.sorted()
}
