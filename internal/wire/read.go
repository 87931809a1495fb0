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
	"strings"
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
	if err := whole(doc); err != nil {
		return nil, err
	}
	value, twice := read(doc)
	if twice != nil {
		return nil, twice
	}
	return value, nil
}

// whole says what [Check] does, or that a text is not Unicode.
func whole(doc []byte) error {
	if err := Check(doc, 0); err != nil {
		return err
	}
	if !utf8.Valid(doc) {
		before, _, _ := bytes.Cut(bytes.ToValidUTF8(doc, []byte{0xff}), []byte{0xff})
		return &Error{Offset: len(before), Err: errors.New("the text is not valid UTF-8")}
	}
	if at := unpaired(doc); at >= 0 {
		return &Error{Offset: at, Err: errors.New(`a \u escape is an unpaired surrogate`)}
	}
	return nil
}

// read reads a valid document up to a key that an object has twice.
func read(doc []byte) (any, *Error) {
	r := reader{doc: doc}
	first, _ := r.next()
	value, twice := r.value(first)
	if twice != nil {
		slices.Reverse(twice.Path) // which was added to from within
	}
	return value, twice
}

// A reader goes through a document that is valid, but for what [Tokens] reads.
type reader struct {
	doc []byte
	i   int // of the next byte
}

// next returns the next token, without its text and with keys as strings; false: there is none.
func (r *reader) next() (t Token, ok bool) {
	for r.i < len(r.doc) && strings.IndexByte(" \t\r\n,:", r.doc[r.i]) >= 0 {
		r.i++
	}
	if r.i == len(r.doc) {
		return t, false
	}
	t = Token{Kind: r.doc[r.i], Start: r.i, End: r.i + 1}
	switch t.Kind {
	case '{', '[', '}', ']':
	case '"':
		if t.End = closing(r.doc, r.i+1) + 1; t.End == 0 {
			return t, false
		}
	case 't', 'f':
		t.Kind, t.End = 't', r.scalar()
	case 'n':
		t.End = r.scalar()
	default:
		t.Kind, t.End = '0', r.scalar()
	}
	r.i = t.End
	return t, true
}

// scalar returns where the scalar ends that begins here and is no string.
func (r *reader) scalar() int {
	for i := r.i; i < len(r.doc); i++ {
		if strings.IndexByte(" \t\r\n,:{}[]\"", r.doc[i]) >= 0 {
			return i
		}
	}
	return len(r.doc)
}

// text returns what a string says, and the source of another scalar.
func (r *reader) text(t Token) string {
	source := r.doc[t.Start:t.End]
	if t.Kind != '"' {
		return string(source)
	}
	inside := source[1 : len(source)-1]
	if bytes.IndexByte(inside, '\\') >= 0 || !utf8.Valid(inside) {
		var text string
		_ = json.Unmarshal(source, &text) // it is valid
		return text
	}
	return string(inside)
}

// value reads the value that begins with a token. Of a key that an object has twice, it returns the error.
func (r *reader) value(t Token) (any, *Error) {
	switch t.Kind {
	case '{':
		object := map[string]any{}
		for t, ok := r.next(); ok && t.Kind != '}'; t, ok = r.next() {
			key := r.text(t)
			if _, twice := object[key]; twice {
				return nil, &Error{Offset: t.Start, Twice: true, Err: fmt.Errorf("property %s is given twice, give it once", Quote(key))}
			}
			begin, _ := r.next()
			value, twice := r.value(begin)
			if twice != nil {
				twice.Path = append(twice.Path, key)
				return nil, twice
			}
			object[key] = value
		}
		return object, nil
	case '[':
		list := []any{}
		for t, ok := r.next(); ok && t.Kind != ']'; t, ok = r.next() {
			value, twice := r.value(t)
			if twice != nil {
				twice.Path = append(twice.Path, strconv.Itoa(len(list)))
				return nil, twice
			}
			list = append(list, value)
		}
		return list, nil
	case '"':
		return r.text(t), nil
	case '0':
		return json.Number(r.text(t)), nil
	case 't':
		return r.doc[t.Start] == 't', nil
	}
	return nil, nil
}

// canonical reports whether the value that begins with a token is in the canonical form, white space apart.
func (r *reader) canonical(t Token) bool {
	switch t.Kind {
	case '{':
		last, first := "", true
		for t, ok := r.next(); ok && t.Kind != '}'; t, ok = r.next() {
			key := r.text(t)
			if !r.canonical(t) || key <= last && !first {
				return false
			}
			last, first = key, false
			if begin, _ := r.next(); !r.canonical(begin) {
				return false
			}
		}
	case '[':
		for t, ok := r.next(); ok && t.Kind != ']'; t, ok = r.next() {
			if !r.canonical(t) {
				return false
			}
		}
	case '"':
		source := r.doc[t.Start:t.End]
		if bytes.IndexByte(source, '\\') >= 0 || bytes.Contains(source, []byte("\u2028")) || bytes.Contains(source, []byte("\u2029")) {
			written, err := Marshal(r.text(t))
			return err == nil && bytes.Equal(written, source)
		}
	}
	return true
}

// A Token is a key or a scalar of a document, or a bracket.
type Token struct {
	Kind       byte   // k of a key, " of a string, 0 of a number, t of a boolean, n of null; else the bracket
	Text       string // of a key or string what it says, of another scalar the source
	Start, End int    // in the document
}

// Tokens yields the tokens of a JSON document in their order. Of what is no JSON it yields those before the first
// text that is none, and at least those before the fault.
func Tokens(doc []byte) iter.Seq[Token] { return tokens(doc, json.Valid(doc)) }

// TokensOfValid is [Tokens] of a document that was checked.
func TokensOfValid(doc []byte) iter.Seq[Token] { return tokens(doc, true) }

func tokens(doc []byte, whole bool) iter.Seq[Token] {
	return func(yield func(Token) bool) {
		r := reader{doc: doc}
		open, key := []byte{0}, false // the brackets that are open; a key comes next
		for t, ok := r.next(); ok; t, ok = r.next() {
			switch last := len(open) - 1; t.Kind {
			case '{', '[':
				open, key = append(open, t.Kind), t.Kind == '{'
			case '}', ']':
				if last == 0 {
					return
				}
				open = open[:last]
				key = open[last-1] == '{'
			default:
				if !whole && !json.Valid(doc[t.Start:t.End]) {
					return
				}
				if t.Text = r.text(t); key && t.Kind == '"' {
					t.Kind = 'k'
				}
				key = t.Kind != 'k' && open[last] == '{'
			}
			if !yield(t) {
				return
			}
		}
	}
}

// Scalars yields the keys, strings and numbers of a JSON document as [Tokens] does.
func Scalars(doc []byte, yield func(kind byte, text string)) {
	for t := range Tokens(doc) {
		if t.Kind == 'k' || t.Kind == '"' || t.Kind == '0' {
			yield(t.Kind, t.Text)
		}
	}
}
