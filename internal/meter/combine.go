package meter

import (
	"reflect"
	"strings"
)

// Combine returns the limits that f makes of each limit of l and m, which are structs of numbers. Name
// is that of specs and logs, and times are in nanoseconds.
func Combine[L any](l, m L, f func(name string, l, m float64) float64) L {
	mine, other := reflect.ValueOf(&l).Elem(), reflect.ValueOf(m)
	for field, mine := range mine.Fields() {
		other := other.FieldByIndex(field.Index)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		was, is := amount(mine), amount(other)
		switch v := f(name, was, is); v {
		case was:
		case is:
			mine.Set(other) // exactly
		default:
			mine.Set(reflect.ValueOf(v).Convert(mine.Type()))
		}
	}
	return l
}

func amount(limit reflect.Value) float64 {
	if limit.CanInt() {
		return float64(limit.Int())
	}
	return limit.Float()
}
