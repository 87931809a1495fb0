package typeschema

import (
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// split reads an enum tag; the result is never nil.
func split(tag string) []string { return strings.Split(tag, ",") }

// enum is the schema of a field with an enum tag.
func (w *walker) enum(t reflect.Type, path string, values []string) *jsonschema.Schema {
	if k := t.Kind(); (k == reflect.Slice || k == reflect.Array) && special(t) == nil && !implements(t, customs...) {
		return list(t, w.visit(t.Elem(), path+"[]", values))
	}
	s := w.visit(t, path, nil)
	for i, v := range values {
		if v == "" || slices.Contains(values[:i], v) {
			return w.fail(path, "the enum tag %q has an empty or repeated value: list each once, separated by commas", strings.Join(values, ","))
		}
		switch s.Type {
		case "string":
			s.Enum = append(s.Enum, v)
		case "integer":
			n, err := strconv.ParseInt(v, 10, 64)
			if err != nil || !fits(n, t) {
				return w.fail(path, "the enum value %q is no %s", v, t)
			}
			s.Enum = append(s.Enum, n)
		case "number":
			if _, err := strconv.ParseFloat(v, 64); err != nil || !json.Valid([]byte(v)) {
				return w.fail(path, "the enum value %q is no number", v)
			}
			s.Enum = append(s.Enum, json.Number(v))
		default:
			return w.fail(path, "%s cannot have an enum tag: only strings, numbers, and slices and arrays of them can", t)
		}
	}
	return s
}

func fits(n int64, t reflect.Type) bool {
	switch {
	case t.Kind() >= reflect.Int && t.Kind() <= reflect.Int64:
		return !reflect.Zero(t).OverflowInt(n)
	case t.Kind() >= reflect.Uint && t.Kind() <= reflect.Uintptr:
		return n >= 0 && !reflect.Zero(t).OverflowUint(uint64(n))
	}
	return true
}
