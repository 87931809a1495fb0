package expr

import "fmt"

// Error is a fault in an expression, found while parsing, checking or
// evaluating it.
type Error struct {
	Column  int // of the fault, counted in runes from 1
	Message string
}

// Error names the column and the fault.
func (e *Error) Error() string {
	return fmt.Sprintf("column %d: %s", e.Column, e.Message)
}

// Errorf makes an Error at a column.
func Errorf(column int, format string, args ...any) *Error {
	return &Error{Column: column, Message: fmt.Sprintf(format, args...)}
}
