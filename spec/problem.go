package spec

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A Problem is one thing that is wrong with a spec, and where. Line and Column
// count from 1, columns in characters. For what came from outside a file, File
// names the option (model, stop or limits) and Line is zero. Line is also zero for
// a file that cannot be read.
type Problem struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Message string `json:"message"` // what is wrong (what would be right)
}

// String is FILE:LINE:COLUMN: MESSAGE, or OPTION: MESSAGE.
func (p Problem) String() string {
	if p.Line == 0 {
		return p.File + ": " + p.Message
	}
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Message)
}

// Problems is everything that is wrong with a spec, in the order of the file.
// As an error it prints one problem a line.
type Problems []Problem //nolint:errname // it is what check prints before it is an error

func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, one := range p {
		lines[i] = one.String()
	}
	return strings.Join(lines, "\n")
}

// sorted returns the problems in the order of the file, without repetitions.
func (p Problems) sorted() Problems {
	p = slices.Clone(p)
	slices.SortStableFunc(p, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return slices.Compact(p)
}

// asError is nil when there is nothing wrong: an empty list in an error would
// look like one.
func (p Problems) asError() error {
	if len(p) == 0 {
		return nil
	}
	return p
}
