package wire

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"
)

// A Reader goes through one JSON document. Data must not be changed afterwards:
// what is read may be parts of it. After the first error, which Done returns,
// nothing is read any more.
//
//	r := wire.NewReader(data)
//	keys := []string{"name", "age"}
//	r.Open()
//	for k := 0; r.Member(keys, &k); {
//		switch k {
//		case 0:
//			name = r.String()
//		case 1:
//			age = r.Int()
//		default:
//			r.Skip()
//		}
//	}
//	err := r.Done()
type Reader struct {
	d      []byte
	i      int // of the next byte
	depth  int // objects and arrays open
	fresh  bool
	spaced bool // white space stood between tokens
	err    *Error

	// Strict makes text that is not Unicode an error: bytes that are not UTF-8, and
	// a lone surrogate. Otherwise each becomes U+FFFD.
	Strict bool
}

// NewReader returns a Reader of data.
func NewReader(data []byte) Reader {
	r := Reader{d: data}
	r.space(0)
	return r
}

// whole goes through a document that stands in depth objects and arrays.
func (r *Reader) whole(d []byte, depth int) {
	r.d, r.depth = d, depth
	r.space(0)
	r.Skip()
	r.end()
}

// Valid reports whether data is one JSON value of valid UTF-8, in which no more
// than depth objects and arrays are open at once.
func Valid(data []byte, depth int) bool {
	var r Reader
	r.whole(data, MaxDepth-depth)
	return r.err == nil && utf8.Valid(data)
}

// Done reports the first error. Text after the document is an error.
func (r *Reader) Done() error {
	if r.end(); r.err != nil {
		return r.err
	}
	return nil
}

func (r *Reader) end() {
	if r.err != nil {
		return
	}
	if r.space(r.i); r.i < len(r.d) {
		r.FailAt(r.i, "unexpected text after the JSON value")
	}
}

// OK reports whether nothing has failed yet.
func (r *Reader) OK() bool { return r.err == nil }

// Fail makes the reading fail because of a field of what is being read, unless it
// has failed before.
func (r *Reader) Fail(name string, err error) {
	if r.err == nil {
		r.err = &Error{Field: name, Offset: -1, Err: err}
	}
}

const (
	faultEnd = "unexpected end of JSON"

	// TooDeep is the fault of a document that nests deeper than MaxDepth.
	TooDeep = "nested deeper than 1000 objects and arrays"
)

// FailAt makes the reading fail because of what stands at offset i, unless it has
// failed before.
func (r *Reader) FailAt(i int, what string) {
	if r.err == nil {
		r.fault(i, what)
		r.err.whole = true
	}
}

// fault is FailAt for a value that is JSON and not what its field takes.
func (r *Reader) fault(i int, what string) {
	if i >= len(r.d) {
		what = faultEnd
	}
	if r.err == nil {
		r.err = &Error{Offset: i, Err: errors.New(what)}
	}
}

// In adds to an error, if there is one, that it is in the member of key k.
func (r *Reader) In(keys []string, k int) {
	if r.err != nil {
		_ = r.err.within(keys[k])
	}
}

// Offset is where the next key or value begins.
func (r *Reader) Offset() int { return r.i }

// Kind is the byte that a value like the next begins with, 0 of a number and t
// of a boolean; none: what is next is no value.
func (r *Reader) Kind() byte {
	if r.err != nil || r.i >= len(r.d) {
		return 0
	}
	switch ch := r.d[r.i]; {
	case ch == '-' || ch-'0' <= 9:
		return '0'
	case ch == 'f':
		return 't'
	case ch == '{' || ch == '[' || ch == '"' || ch == 't' || ch == 'n':
		return ch
	}
	return 0
}

var kindNames = map[byte]string{'"': "a string", '{': "an object", '[': "an array", 't': "a boolean", 'n': "null", '0': "a number"}

// at reports whether the next value is of the kind that begins with want. It is
// an error if it is not.
func (r *Reader) at(want byte) bool {
	kind := r.Kind()
	if kind == want {
		return true
	}
	start := r.i
	r.Skip()
	r.fault(start, "want "+kindNames[want]+", found "+kindNames[kind])
	return false
}

// Open goes into the object that is next.
func (r *Reader) Open() {
	if r.at('{') {
		r.enter()
	}
}

// List goes into the array that is next.
func (r *Reader) List() {
	if r.at('[') {
		r.enter()
	}
}

// enter goes past the brace or bracket that opens an object or array.
func (r *Reader) enter() {
	if r.depth >= MaxDepth {
		r.FailAt(r.i, TooDeep)
	}
	r.depth++
	r.i++
	r.fresh = true
}

// More goes to the key of the next member of the object that was opened, and
// reports whether there is one and nothing has failed. Member does that and more
// for keys that are known.
func (r *Reader) More() bool { return r.more('}') }

// Element goes to the next element of the array that was opened, and reports
// whether there is one and nothing has failed.
func (r *Reader) Element() bool { return r.more(']') }

// more goes to the next member or element, or past the end, and reports which.
func (r *Reader) more(end byte) bool {
	if r.err != nil {
		return false
	}
	r.space(r.i)
	if r.i < len(r.d) {
		switch ch := r.d[r.i]; {
		case ch == end:
			r.i, r.fresh = r.i+1, false
			r.depth--
			return false
		case r.fresh:
			r.fresh = false
			return true
		case ch == ',':
			r.space(r.i + 1)
			return true
		}
	}
	if end == '}' {
		r.FailAt(r.i, "want a comma or } after a value")
	} else {
		r.FailAt(r.i, "want a comma or ] after an element")
	}
	return false
}

// space goes to offset i and past the white space there.
func (r *Reader) space(i int) {
	r.i = i
	if i < len(r.d) && r.d[i] <= ' ' {
		r.white()
	}
}

func (r *Reader) white() {
	for r.i < len(r.d) && (r.d[r.i] == ' ' || r.d[r.i] == '\n' || r.d[r.i] == '\r' || r.d[r.i] == '\t') {
		r.i++
		r.spaced = true
	}
}

// Member goes to the value of the next member of the object that was opened and
// sets k to the number of its key; -1: none of keys. It reports whether there is
// one and nothing has failed.
func (r *Reader) Member(keys []string, k *int) bool {
	if !r.More() {
		return false
	}
	name := r.Key()
	*k = slices.IndexFunc(keys, func(key string) bool { return key == string(name) })
	return r.err == nil
}

// Key reads a key as Text reads a string, and goes to its value.
func (r *Reader) Key() []byte {
	start, end, flags := r.key()
	return r.bytes(start, end, flags)
}

// key goes past a key and returns where its inside stands.
func (r *Reader) key() (start, end int, flags uint8) {
	if r.i >= len(r.d) || r.d[r.i] != '"' {
		return r.no(r.i, "want a key in quotes")
	}
	start, end, flags = r.inside()
	if r.err != nil {
		return 0, 0, 0
	}
	if r.space(r.i); r.i >= len(r.d) || r.d[r.i] != ':' {
		return r.no(r.i, "want a colon after a key")
	}
	r.space(r.i + 1)
	return start, end, flags
}

// Null goes past a null and reports whether that is what comes next.
func (r *Reader) Null() bool {
	if r.err != nil || r.i >= len(r.d) || r.d[r.i] != 'n' {
		return false
	}
	r.word("null")
	return r.err == nil
}

// Skip goes past the next value.
func (r *Reader) Skip() {
	var ch byte
	if r.i < len(r.d) && r.err == nil {
		ch = r.d[r.i]
	}
	switch ch {
	case '"':
		r.inside()
	case '{':
		for r.enter(); r.More(); r.Skip() {
			r.key()
		}
	case '[':
		for r.enter(); r.Element(); {
			r.Skip()
		}
	case 't':
		r.word("true")
	case 'f':
		r.word("false")
	case 'n':
		r.word("null")
	default:
		if ch != '-' && ch-'0' > 9 {
			r.FailAt(r.i, "want a JSON value")
			return
		}
		r.number()
	}
}

func (r *Reader) word(word string) {
	for k := range len(word) {
		if r.i+k >= len(r.d) || r.d[r.i+k] != word[k] {
			r.FailAt(r.i+k, "want "+word)
			return
		}
	}
	r.i += len(word)
}

// Raw reads the source of the next value.
func (r *Reader) Raw() []byte {
	start := r.i
	if r.Skip(); r.err != nil {
		return nil
	}
	return r.d[start:r.i:r.i]
}

// String reads a string.
func (r *Reader) String() string {
	start, end, flags := r.quoted()
	return r.str(start, end, flags)
}

// Text reads a string to be looked at: the memory may be the document's, and is
// not to be written to.
func (r *Reader) Text() []byte {
	start, end, flags := r.quoted()
	return r.bytes(start, end, flags)
}

// AppendText reads a string and appends it as AppendString writes it.
func (r *Reader) AppendText(dst []byte) []byte {
	start, end, flags := r.quoted()
	if r.err == nil && flags&escaped == 0 && (r.Strict || flags == 0) {
		return append(dst, r.d[start-1:end+1]...)
	}
	return AppendString(dst, r.bytes(start, end, flags))
}

// quoted goes past a string and returns where its inside stands.
func (r *Reader) quoted() (start, end int, flags uint8) {
	if !r.at('"') {
		return 0, 0, 0
	}
	return r.inside()
}

// What is learned about a string on the way.
const (
	escaped  uint8 = 1 << iota // it holds a backslash
	nonASCII                   // it holds a byte of 0x80 or more
)

// inside goes past the string that is next.
func (r *Reader) inside() (start, end int, flags uint8) {
	d, start := r.d, r.i+1
	for i := skipPlain(d, start); i < len(d); i++ {
		switch class[d[i]] {
		case plain:
		case quote:
			r.i = i + 1
			if r.Strict && flags != 0 {
				r.unicode(start, i)
			}
			return start, i, flags
		case high:
			flags |= nonASCII
		case control:
			return r.no(i, "a control character in a string must be escaped")
		case backslash:
			flags |= escaped
			i++
			switch {
			case i < len(d) && meaning[d[i]] != 0:
			case escape(d, i-1) >= 0:
				i += 4
			case i+4 < len(d) && d[i] == 'u':
				return r.no(i, "want four hexadecimal digits after \\u")
			case i < len(d) && d[i] != 'u':
				return r.no(i, "unknown escape in a string")
			default:
				return r.no(len(d), faultEnd)
			}
		}
	}
	return r.no(len(d), faultEnd)
}

// no fails where a string was to be.
func (r *Reader) no(i int, what string) (start, end int, flags uint8) {
	r.FailAt(i, what)
	return 0, 0, 0
}

// unicode makes it an error if the inside of a string is not Unicode.
func (r *Reader) unicode(start, end int) {
	s := r.d[start:end]
	if !utf8.Valid(s) {
		i := 0
		for c, n := utf8.DecodeRune(s); c != utf8.RuneError || n > 1; c, n = utf8.DecodeRune(s[i:]) {
			i += n
		}
		r.FailAt(start+i, "a string is not valid UTF-8")
	}
	if i := unpaired(s); i >= 0 {
		r.FailAt(start+i, "a lone surrogate is not a character")
	}
}

// shareLimit is the size of a document up to which its strings are parts of it.
// Beyond, each string is copied by itself, so that a short field does not keep
// a long document alive.
const shareLimit = 4 << 10

// str returns the text of the string whose inside is d[start:end]. That of a
// small document is the document's own memory, which does not change, so that
// four entries a turn are decoded without copying any of it.
func (r *Reader) str(start, end int, flags uint8) string {
	s := r.bytes(start, end, flags)
	if len(s) == 0 || len(r.d) > shareLimit && flags&escaped == 0 {
		return string(s)
	}
	return text(s)
}

func (r *Reader) bytes(start, end int, flags uint8) []byte {
	s := r.d[start:end:end]
	if flags != 0 && (flags&escaped != 0 || !utf8.Valid(s)) {
		return unescape(make([]byte, 0, len(s)), s)
	}
	return s
}

// Bool reads a boolean.
func (r *Reader) Bool() bool {
	if !r.at('t') {
		return false
	}
	yes := r.d[r.i] == 't'
	r.Skip()
	return yes
}

// Number reads the source of a number.
func (r *Reader) Number() []byte {
	if !r.at('0') {
		return nil
	}
	start := r.i
	if r.number(); r.err != nil {
		return nil
	}
	return r.d[start:r.i]
}

// number goes past a number, by the grammar of RFC 8259, section 6.
func (r *Reader) number() {
	d := r.d
	if d[r.i] == '-' {
		r.i++
	}
	if r.i < len(d) && d[r.i] == '0' {
		r.i++
	} else {
		r.digits()
	}
	if r.i < len(d) && d[r.i] == '.' {
		r.i++
		r.digits()
	}
	if r.i < len(d) && d[r.i]|0x20 == 'e' {
		if r.i++; r.i < len(d) && (d[r.i] == '+' || d[r.i] == '-') {
			r.i++
		}
		r.digits()
	}
}

func (r *Reader) digits() {
	i := r.i
	for i < len(r.d) && r.d[i]-'0' <= 9 {
		i++
	}
	if i == r.i {
		r.FailAt(i, "want a digit")
	}
	r.i = i
}

// Int reads an integer.
func (r *Reader) Int() int { return int(r.integer(math.MinInt, math.MaxInt)) }

// Int64 reads an integer. Like encoding/json it reads no fraction or exponent.
func (r *Reader) Int64() int64 { return r.integer(math.MinInt64, math.MaxInt64) }

func (r *Reader) integer(least, most int64) int64 {
	lit := r.Number()
	n, err := strconv.ParseInt(string(lit), 10, 64)
	if err != nil || n < least || n > most {
		r.refuse(lit, "want an integer in range, found ")
		return 0
	}
	return n
}

// Uint64 reads an integer that is not negative.
func (r *Reader) Uint64() uint64 {
	lit := r.Number()
	n, err := strconv.ParseUint(string(lit), 10, 64)
	if err != nil {
		r.refuse(lit, "want an integer in range, found ")
	}
	return n
}

// Float reads a number in the range of a float64.
func (r *Reader) Float() float64 {
	lit := r.Number()
	f, err := strconv.ParseFloat(string(lit), 64)
	if err != nil && lit != nil {
		r.refuse(lit, "want a number in the range of a float64, found ")
	}
	return f
}

func (r *Reader) refuse(lit []byte, why string) {
	r.fault(r.i-len(lit), why+string(lit[:min(len(lit), 40)]))
}

// Time reads an instant as RFC 3339 writes it.
func (r *Reader) Time() (t time.Time) {
	start := r.i
	s := r.Text()
	if err := t.UnmarshalText(s); err != nil {
		r.fault(start, "want a time such as 2006-01-02T15:04:05Z: "+err.Error())
		return time.Time{}
	}
	t = t.UTC()
	if y := t.Year(); y < 0 || y > 9999 {
		r.fault(start, errYear.Error())
	}
	return t
}
