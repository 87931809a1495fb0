package jsonschema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	// maxDepth bounds the nesting of a document, and so the recursion of
	// everything that walks one.
	maxDepth = 1000
	// maxDigits bounds the length of a number and its exponent. Beyond it exact
	// arithmetic gets slow, and far beyond it the library cannot read the number.
	maxDigits = 1000
)

// decode reads one JSON document into any, with numbers as json.Number. It is
// stricter than encoding/json, which keeps the last of duplicate keys and
// replaces what is not Unicode: both would alter what was sent.
func decode(doc []byte) (any, *Problem) {
	if len(bytes.TrimSpace(doc)) == 0 {
		return nil, &Problem{Message: "the document is empty, JSON was expected"}
	}
	if deeper(doc, maxDepth) {
		return nil, &Problem{Message: fmt.Sprintf("the document is nested deeper than %d levels", maxDepth)}
	}
	if !utf8.Valid(doc) {
		return nil, &Problem{Message: "malformed JSON: the text is not valid UTF-8"}
	}
	var raw json.RawMessage
	if err := json.Unmarshal(doc, &raw); err != nil {
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			return nil, &Problem{Message: fmt.Sprintf("malformed JSON at byte %d: %v", syntax.Offset, err)}
		}
		return nil, &Problem{Message: fmt.Sprintf("malformed JSON: %v", err)}
	}
	if unpaired(doc) {
		return nil, &Problem{Message: `malformed JSON: a \u escape is an unpaired surrogate`}
	}
	d := decoder{Decoder: json.NewDecoder(bytes.NewReader(doc))}
	d.UseNumber()
	return d.value()
}

type decoder struct {
	*json.Decoder
	path []string
}

func (d *decoder) value() (any, *Problem) {
	token, err := d.Token()
	if err != nil {
		return nil, d.problem("malformed JSON: %v", err)
	}
	switch t := token.(type) {
	case json.Delim:
		if t == '{' {
			return d.object()
		}
		return d.array()
	case json.Number:
		if !modest(string(t)) {
			return nil, d.problem("the number is too long or too large: at most %d digits", maxDigits)
		}
	}
	return token, nil
}

func (d *decoder) object() (any, *Problem) {
	object := map[string]any{}
	for d.More() {
		token, err := d.Token()
		key, ok := token.(string)
		if err != nil || !ok {
			return nil, d.problem("malformed JSON: a property name was expected")
		}
		if _, twice := object[key]; twice {
			return nil, d.problem("property %s is given twice, give it once", quote(key))
		}
		d.path = append(d.path, key)
		value, problem := d.value()
		if problem != nil {
			return nil, problem
		}
		d.path = d.path[:len(d.path)-1]
		object[key] = value
	}
	return object, d.end()
}

func (d *decoder) array() (any, *Problem) {
	array := []any{}
	for d.More() {
		d.path = append(d.path, strconv.Itoa(len(array)))
		value, problem := d.value()
		if problem != nil {
			return nil, problem
		}
		d.path = d.path[:len(d.path)-1]
		array = append(array, value)
	}
	return array, d.end()
}

func (d *decoder) end() *Problem {
	if _, err := d.Token(); err != nil {
		return d.problem("malformed JSON: %v", err)
	}
	return nil
}

func (d *decoder) problem(format string, args ...any) *Problem {
	return &Problem{Path: join(d.path), Message: fmt.Sprintf(format, args...)}
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

// deeper reports whether brackets nest deeper than limit. Text that is no JSON
// gets some answer; the parser has the last word on it.
func deeper(doc []byte, limit int) bool {
	depth, quoted := 0, false
	for i := 0; i < len(doc); i++ {
		switch c := doc[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > limit {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}

// unpaired reports whether valid JSON holds a surrogate escape without its
// partner; encoding/json would silently put U+FFFD there.
func unpaired(doc []byte) bool {
	for {
		i := bytes.IndexByte(doc, '\\')
		if i < 0 {
			return false
		}
		doc = doc[i:]
		switch r := escaped(doc); {
		case r < 0:
			doc = doc[2:]
		case 0xD800 <= r && r < 0xDC00:
			if low := escaped(doc[6:]); low < 0xDC00 || low > 0xDFFF {
				return true
			}
			doc = doc[12:]
		case 0xDC00 <= r && r < 0xE000:
			return true
		default:
			doc = doc[6:]
		}
	}
}

// escaped reads the \uXXXX that text begins with, or returns -1.
func escaped(text []byte) rune {
	if len(text) < 6 || !slices.Equal(text[:2], []byte(`\u`)) {
		return -1
	}
	r, err := strconv.ParseUint(string(text[2:6]), 16, 32)
	if err != nil {
		return -1
	}
	return rune(r)
}
