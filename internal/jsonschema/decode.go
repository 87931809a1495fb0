package jsonschema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-run/pawl/internal/wire"
)

// maxDigits bounds the length of a number and its exponent. Beyond it exact
// arithmetic gets slow, and far beyond it the library cannot read the number.
const maxDigits = 1000

// decode reads one JSON document as [wire.Decode] does.
func decode(doc []byte) (any, *Problem) {
	if len(bytes.TrimSpace(doc)) == 0 {
		return nil, &Problem{Message: "the document is empty, JSON was expected"}
	}
	value, err := wire.Decode(doc)
	if err != nil {
		return nil, problem(err)
	}
	if path, ok := immodest(value); ok {
		slices.Reverse(path)
		return nil, &Problem{Path: join(path), Message: fmt.Sprintf("the number is too long or too large: at most %d digits", maxDigits)}
	}
	return value, nil
}

// problem says what is wrong with a document that was not read. Its words stand in
// logs that are decided again, among them those of encoding/json.
func problem(err error) *Problem {
	if errors.Is(err, wire.ErrTooDeep) {
		return &Problem{Message: fmt.Sprintf("the document is nested deeper than %d levels", wire.MaxDepth)}
	}
	if fault, ok := errors.AsType[*wire.Error](err); ok && fault.Twice {
		return &Problem{Path: join(fault.Path), Message: fault.Err.Error()}
	}
	return &Problem{Message: "malformed JSON: " + err.Error()}
}

// immodest finds a number that is too long to be computed with exactly, and the path to it, innermost first.
func immodest(value any) (path []string, found bool) {
	switch v := value.(type) {
	case json.Number:
		return nil, !modest(string(v))
	case map[string]any:
		first := ""
		for key, value := range v {
			if inner, is := immodest(value); is && (!found || key < first) {
				path, found, first = append(inner, key), true, key
			}
		}
		return path, found
	case []any:
		for i := range v {
			if path, found = immodest(v[i]); found {
				return append(path, strconv.Itoa(i)), true
			}
		}
	}
	return nil, false
}

// modest reports whether a number is small enough to be computed with exactly.
func modest(number string) bool {
	if len(number) > maxDigits {
		return false
	}
	i := strings.IndexAny(number, "eE")
	if i < 0 {
		return true
	}
	exponent, err := strconv.Atoi(number[i+1:])
	return err == nil && -maxDigits <= exponent && exponent <= maxDigits
}
