package jsonschema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pawl-run/pawl/internal/wire"
)

// maxDigits bounds the length of a number and its exponent. Beyond it exact
// arithmetic gets slow, and far beyond it the library cannot read the number.
const maxDigits = 1000

// decode reads one JSON document into any, with numbers as json.Number. It is
// stricter than encoding/json, which keeps the last of duplicate keys and
// replaces what is not Unicode: both would alter what was sent.
func decode(doc []byte) (any, *Problem) {
	if len(bytes.TrimSpace(doc)) == 0 {
		return nil, &Problem{Message: "the document is empty, JSON was expected"}
	}
	d := decoder{Reader: wire.NewReader(doc)}
	d.Strict = true
	value := d.value()
	if err := d.Done(); err != nil {
		return nil, d.problem(doc, err)
	}
	return value, nil
}

// problem says what is wrong with a document that was not read. Its words stand in
// logs that are decided again, among them those of encoding/json.
func (d *decoder) problem(doc []byte, err error) *Problem {
	if strings.Contains(err.Error(), wire.TooDeep) {
		return &Problem{Message: fmt.Sprintf("the document is nested deeper than %d levels", wire.MaxDepth)}
	}
	if !utf8.Valid(doc) {
		return &Problem{Message: "malformed JSON: the text is not valid UTF-8"}
	}
	var raw json.RawMessage
	if syntax, ok := errors.AsType[*json.SyntaxError](json.Unmarshal(doc, &raw)); ok {
		return &Problem{Message: fmt.Sprintf("malformed JSON at byte %d: %v", syntax.Offset, syntax)}
	}
	if problem, ok := errors.AsType[refused](err); ok {
		return &Problem{Path: join(d.path), Message: string(problem)}
	}
	return &Problem{Message: `malformed JSON: a \u escape is an unpaired surrogate`}
}

// refused says why a document is not taken although it is JSON.
type refused string

func (r refused) Error() string { return string(r) }

type decoder struct {
	wire.Reader
	path []string // to the value that is read, or that was refused
}

func (d *decoder) refuse(format string, args ...any) {
	d.Fail("", refused(fmt.Sprintf(format, args...)))
}

func (d *decoder) value() any {
	switch d.Kind() {
	case '{':
		return d.object()
	case '[':
		return d.array()
	case '"':
		return string(d.Text())
	case '0':
		number := string(d.Number())
		if !modest(number) {
			d.refuse("the number is too long or too large: at most %d digits", maxDigits)
		}
		return json.Number(number)
	case 't':
		return d.Bool()
	}
	d.Skip() // null, or what is no value
	return nil
}

func (d *decoder) object() any {
	object := map[string]any{}
	for d.Open(); d.More(); {
		key := string(d.Key())
		if _, twice := object[key]; twice {
			d.refuse("property %s is given twice, give it once", quote(key))
			break
		}
		object[key] = d.inner(key)
	}
	return object
}

func (d *decoder) array() any {
	array := []any{}
	for d.List(); d.Element(); {
		array = append(array, d.inner(strconv.Itoa(len(array))))
	}
	return array
}

// inner reads a value within another, and leaves the path at it if that fails.
func (d *decoder) inner(token string) any {
	d.path = append(d.path, token)
	value := d.value()
	if d.OK() {
		d.path = d.path[:len(d.path)-1]
	}
	return value
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
