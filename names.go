package pawl

import (
	"fmt"
	"strings"
)

// names gives a closed set that starts at one its text, so that every enum
// prints, marshals and reads back the same way and an unknown name says which
// ones there are.
type names[T ~int] struct {
	what string
	list []string
}

func (n names[T]) string(v T) string {
	if v >= 1 && int(v) <= len(n.list) {
		return n.list[v-1]
	}
	return fmt.Sprintf("%s(%d)", n.what, int(v))
}

func (n names[T]) marshal(v T) ([]byte, error) {
	if v < 1 || int(v) > len(n.list) {
		return nil, fmt.Errorf("%s %d is not one of %s", n.what, int(v), strings.Join(n.list, ", "))
	}
	return []byte(n.list[v-1]), nil
}

func (n names[T]) unmarshal(v *T, b []byte) error {
	found, err := n.parse(string(b))
	if err == nil {
		*v = found
	}
	return err
}

func (n names[T]) parse(s string) (T, error) {
	for i, name := range n.list {
		if s == name {
			return T(i + 1), nil
		}
	}
	return 0, fmt.Errorf("%s %q is not one of %s", n.what, s, strings.Join(n.list, ", "))
}
