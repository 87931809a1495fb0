// Package wire reads and writes JSON: what encoding/json does not say of the entries of logs, the canonical
// form in which texts that mean the same are the same, the JSON in texts that models write, and documents that
// are still being written.
package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"unicode/utf8"
)

// MaxDepth is how many objects and arrays may be open at once; encoding/json allows 10,000.
const MaxDepth = 1000

// An Error says why a document is not read, and where.
type Error struct {
	Offset int // of the byte
	Err    error
	Twice  bool     // an object has a key twice
	Path   []string // to that object
}

// Error has the reason and the offset.
func (e *Error) Error() string { return e.Err.Error() + " at offset " + strconv.Itoa(e.Offset) }

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }

// ErrTooDeep is the reason of a document that nests deeper than [MaxDepth].
var ErrTooDeep = fmt.Errorf("nested deeper than %d objects and arrays", MaxDepth)

// Check says what is wrong with a JSON document that stands in depth objects and arrays: that it nests too
// deep, or the first fault of its syntax; nil: nothing. The error is an *[Error].
func Check(doc []byte, depth int) error {
	if at := deeper(doc, MaxDepth-depth); at >= 0 {
		return &Error{Offset: at, Err: ErrTooDeep}
	}
	if json.Valid(doc) {
		return nil
	}
	var raw json.RawMessage
	err := json.NewDecoder(bytes.NewReader(doc)).Decode(&raw) // which tells an end from a fault
	if err == nil {
		err = json.Unmarshal(doc, &raw) // more follows the value
	}
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return &Error{Offset: int(syntax.Offset) - 1, Err: syntax} // it counts the byte at fault
	}
	return &Error{Offset: len(doc), Err: errors.New("unexpected end of JSON input")}
}

// Valid reports whether doc is one JSON value of valid UTF-8, in which no more
// than depth objects and arrays are open at once.
func Valid(doc []byte, depth int) bool {
	return utf8.Valid(doc) && deeper(doc, depth) < 0 && json.Valid(doc)
}

// deeper returns where a document first has more than most objects and arrays open; -1: nowhere.
func deeper(doc []byte, most int) int {
	open := 0
	for i := 0; i < len(doc); i++ {
		switch doc[i] {
		case '{', '[':
			if open++; open > most {
				return i
			}
		case '}', ']':
			open--
		case '"':
			if i = closing(doc, i+1); i < 0 {
				return -1
			}
		}
	}
	return -1
}

// closing returns where the string ends whose inside begins at i; -1: it does not.
func closing(doc []byte, i int) int {
	for ; i < len(doc); i++ {
		switch doc[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return -1
}

// Decode reads a document into any, with numbers as [json.Number]. It is stricter than encoding/json, which
// keeps the last of the values of a key and replaces what is not Unicode: both would alter what was sent. It
// refuses also what [Check] does. The error is an *[Error].
func Decode(doc []byte) (any, error) {
	if err := Check(doc, 0); err != nil {
		return nil, err
	}
	if !utf8.Valid(doc) {
		before, _, _ := bytes.Cut(bytes.ToValidUTF8(doc, []byte{0xff}), []byte{0xff})
		return nil, &Error{Offset: len(before), Err: errors.New("the text is not valid UTF-8")}
	}
	if at := unpaired(doc); at >= 0 {
		return nil, &Error{Offset: at, Err: errors.New(`a \u escape is an unpaired surrogate`)}
	}
	value, twice := read(doc)
	if twice != nil {
		return nil, twice
	}
	return value, nil
}

// read reads a valid document up to a key that an object has twice.
func read(doc []byte) (value any, twice *Error) {
	r := reader{doc: doc}
	first, _ := r.next()
	return r.value(first), r.twice
}

// value reads the value that begins with a token, in a valid document.
func (r *reader) value(t Token) any {
	switch t.Kind {
	case '{':
		object := map[string]any{}
		for t, _ = r.next(); t.Kind == 'k' && r.twice == nil; t, _ = r.next() {
			if _, twice := object[t.Text]; twice {
				r.twice = &Error{Offset: t.Start, Twice: true, Path: slices.Clone(r.path), Err: fmt.Errorf("property %s is given twice, give it once", Quote(t.Text))}
			}
			begin, _ := r.next()
			object[t.Text] = r.inner(begin, t.Text)
		}
		return object
	case '[':
		list := []any{}
		for t, _ = r.next(); t.Kind != ']' && r.twice == nil; t, _ = r.next() {
			list = append(list, r.inner(t, strconv.Itoa(len(list))))
		}
		return list
	case '"':
		return t.Text
	case '0':
		return json.Number(t.Text)
	case 't':
		return t.Text == "true"
	}
	return nil
}

// inner reads a value within another.
func (r *reader) inner(t Token, key string) any {
	r.path = append(r.path, key)
	value := r.value(t)
	r.path = r.path[:len(r.path)-1]
	return value
}

// A Token is a key or a scalar of a document, or a bracket.
type Token struct {
	Kind       byte   // k of a key, " of a string, 0 of a number, t of a boolean, n of null; else the bracket
	Text       string // of a key or string what it says, of another scalar the source
	Start, End int    // in the document
}

// Tokens yields the tokens of a JSON document in their order. Of what is no JSON it yields those before the first
// text that is none, and at least those before the fault.
func Tokens(doc []byte) iter.Seq[Token] {
	return func(yield func(Token) bool) {
		r := reader{doc: doc}
		for t, ok := r.next(); ok && yield(t); t, ok = r.next() {
		}
	}
}

// A reader goes through a document.
type reader struct {
	doc  []byte
	i    int    // of the next byte
	open []byte // the brackets that are open
	key  bool   // a string that is next is a key

	path  []string // of the value that is read
	twice *Error   // a key that an object has twice
}

// next reads a token; false: there is none.
func (r *reader) next() (t Token, ok bool) {
	for ; r.i < len(r.doc); r.i++ {
		switch c := r.doc[r.i]; c {
		case ' ', '\t', '\r', '\n':
		case ':':
			r.key = false
		case ',':
			r.key = len(r.open) > 0 && r.open[len(r.open)-1] == '{'
		default:
			t = Token{Kind: c, Start: r.i}
			ok = r.token(&t)
			t.End = r.i
			return t, ok
		}
	}
	return t, false
}

// token reads the token that begins with its kind, and reports whether it is one.
func (r *reader) token(t *Token) bool {
	rest := r.doc[r.i:]
	n := 1
	switch t.Kind {
	case '{', '[':
		r.open, r.key = append(r.open, t.Kind), t.Kind == '{'
	case '}', ']':
		if len(r.open) == 0 {
			return false
		}
		r.open, r.key = r.open[:len(r.open)-1], false
	case '"':
		if n = closing(rest, 1) + 1; n == 0 {
			return false
		}
		if t.Text = string(rest[1 : n-1]); bytes.IndexByte(rest[:n], '\\') >= 0 || !utf8.ValidString(t.Text) {
			if json.Unmarshal(rest[:n], &t.Text) != nil {
				return false
			}
		}
		if r.key {
			t.Kind = 'k'
		}
	default:
		if n = bytes.IndexAny(rest, " \t\r\n,:{}[]\""); n < 0 {
			n = len(rest)
		}
		if !json.Valid(rest[:n]) {
			return false
		}
		t.Text = string(rest[:n])
		switch t.Kind {
		case 't', 'f':
			t.Kind = 't'
		case 'n':
		default:
			t.Kind = '0'
		}
	}
	r.i += n
	return true
}

// Scalars yields the keys, strings and numbers of a JSON document as [Tokens] does.
func Scalars(doc []byte, yield func(kind byte, text string)) {
	for t := range Tokens(doc) {
		if t.Kind == 'k' || t.Kind == '"' || t.Kind == '0' {
			yield(t.Kind, t.Text)
		}
	}
}
