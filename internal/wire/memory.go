package wire

import (
	"reflect"
	"unsafe"
)

// This file has all of the package that goes around Go's types: fields are
// reached by their offset, which takes a third of the time off that reflection
// needs to look at them, and strings of a small document are parts of it.

// A place is where a value stands.
type place = unsafe.Pointer

func at(p place, off uintptr) place { return unsafe.Add(p, off) }

func as[T any](p place) *T { return (*T)(p) }

// A boxed is how Go lays out an interface value: where its struct stands is the
// second word.
type boxed struct{ typ, data place }

// inside returns where the struct stands that v holds or points to.
func inside(v any) place { return (*boxed)(unsafe.Pointer(&v)).data } //nolint:gosec // see above

// box returns the struct at p, of zero's type, as an interface value without
// copying it. The caller must not keep p.
func box(zero any, p place) any {
	(*boxed)(unsafe.Pointer(&zero)).data = p //nolint:gosec // see above
	return zero
}

// A slice is how Go lays out a slice of any type.
type slice struct {
	data     place
	len, cap int
}

// at is where element i stands, of so many bytes each.
func (s *slice) at(i int, size uintptr) place { return unsafe.Add(s.data, uintptr(i)*size) }

// lone reports whether an interface value has the struct itself as its second
// word: it is a single pointer.
func lone(t reflect.Type) bool {
	for t.Kind() == reflect.Struct || t.Kind() == reflect.Array {
		switch {
		case t.Kind() == reflect.Struct && t.NumField() == 1:
			t = t.Field(0).Type
		case t.Kind() == reflect.Array && t.Len() == 1:
			t = t.Elem()
		default:
			return false
		}
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Chan, reflect.Func, reflect.UnsafePointer:
		return true
	}
	return false
}

// text returns b, which is not empty and will not change, as a string.
func text(b []byte) string { return unsafe.String(&b[0], len(b)) } //nolint:gosec // see above
