package expr

import "fmt"

// Error is an error in an expression, found while parsing, checking or
// evaluating it.
type Error struct {
	Column  int // counted in runes from 1; zero without source
	Message string
}

func (e *Error) Error() string {
	if e.Column == 0 {
		return e.Message
	}
	return fmt.Sprintf("column %d: %s", e.Column, e.Message)
}

// Errorf returns an Error at a column.
func Errorf(column int, format string, args ...any) *Error {
	return &Error{Column: column, Message: fmt.Sprintf(format, args...)}
}
