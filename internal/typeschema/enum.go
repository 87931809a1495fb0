package typeschema

import (
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// enum adds the values of an enum tag to the schema of a field, or to that of its elements.
func (m *maker) enum(s *jsonschema.Schema, t reflect.Type, path string, values []string) {
	for t = pointed(t); s.Type == "array"; t = pointed(t.Elem()) {
		s = s.Items
	}
	for i, v := range values {
		if v == "" || slices.Contains(values[:i], v) {
			m.fail(path, "the enum tag %q has an empty or repeated value: list each once, separated by commas", strings.Join(values, ","))
			return
		}
		switch s.Type {
		case "string":
			s.Enum = append(s.Enum, v)
		case "integer":
			n, err := strconv.ParseInt(v, 10, 64)
			if err != nil || !fits(n, t) {
				m.fail(path, "the enum value %q is no %s", v, t)
				return
			}
			s.Enum = append(s.Enum, n)
		case "number":
			if _, err := strconv.ParseFloat(v, 64); err != nil || !json.Valid([]byte(v)) {
				m.fail(path, "the enum value %q is no number", v)
				return
			}
			s.Enum = append(s.Enum, json.Number(v))
		default:
			m.fail(path, "%s cannot have an enum tag: only strings, numbers, and slices and arrays of them can", t)
			return
		}
	}
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
