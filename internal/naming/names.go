package naming

import (
	"fmt"
	"strings"
)

// Enum holds the names of a closed set of constants that starts at one, so that
// every enum prints and parses the same way, and the error for an unknown name
// lists the known ones.
type Enum[T ~int] struct {
	what string
	list []string
}

// NewEnum returns the names of a set; what names the set in errors, and the first
// name is that of the constant 1.
func NewEnum[T ~int](what string, list []string) Enum[T] { return Enum[T]{what, list} }

// String returns the name of a value, or its number if it has none.
func (n Enum[T]) String(v T) string {
	if v >= 1 && int(v) <= len(n.list) {
		return n.list[v-1]
	}
	return fmt.Sprintf("%s(%d)", n.what, int(v))
}

// Marshal returns the name of a value that has one.
func (n Enum[T]) Marshal(v T) ([]byte, error) {
	if v < 1 || int(v) > len(n.list) {
		return nil, fmt.Errorf("%s %d is not one of %s", n.what, int(v), strings.Join(n.list, ", "))
	}
	return []byte(n.list[v-1]), nil
}

// Unmarshal reads a name.
func (n Enum[T]) Unmarshal(v *T, b []byte) error {
	found, err := n.Parse(string(b))
	if err == nil {
		*v = found
	}
	return err
}

// Parse returns the value of a name.
func (n Enum[T]) Parse(s string) (T, error) {
	for i, name := range n.list {
		if s == name {
			return T(i + 1), nil
		}
	}
	return 0, fmt.Errorf("%s %q is not one of %s", n.what, s, strings.Join(n.list, ", "))
}

// OfMachine reports whether a tool belongs to the machine, whose tools have no effect outside
// the run.
func OfMachine(tool string) bool { return strings.HasPrefix(tool, "__") }

// Also adds a reason to others, with a semicolon between them, if it is missing: the machine
// calls policies until none of them adds anything.
func Also(reasons, why string) string {
	const between = "; "
	switch {
	case why == "" || strings.Contains(between+reasons+between, between+why+between):
		return reasons
	case reasons == "":
		return why
	}
	return reasons + between + why
}
