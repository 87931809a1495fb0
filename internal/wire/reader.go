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
//	keys := wire.NewKeys("name", "age")
//	r.Open()
//	for k := -1; r.Member(keys, &k); {
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
	d     []byte
	i     int // of the next byte
	depth int // objects and arrays open
	fresh bool
	err   *Error
	bad   bool // the error is of the document as a whole, not of a field

	// Strict makes text that is not Unicode an error: bytes that are not UTF-8, and
	// a lone surrogate. It is U+FFFD else.
	Strict bool
}

// NewReader returns a Reader of data.
func NewReader(data []byte) Reader { return Reader{d: data, i: skipSpace(data, 0)} }

// Done reports the first error; that something follows the document is one.
func (r *Reader) Done() error {
	if r.err != nil {
		return r.err
	}
	i, fault := skipEnd(r.d, r.i)
	if fault == "" {
		return nil
	}
	r.FailAt(i, fault)
	return r.err
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

func (r *Reader) fault(i int, what string) {
	if r.err == nil {
		r.err = &Error{Offset: i, Err: errors.New(what)}
	}
}

// FailAt makes the reading fail because of what stands at offset i, unless it has
// failed before.
func (r *Reader) FailAt(i int, what string) {
	if r.err == nil {
		r.fault(i, what)
		r.bad = true
	}
}

// within puts an outer name before the field of an error that came from inside.
func (r *Reader) within(name string) {
	if !r.bad {
		_ = r.err.within(name)
	}
}

// In adds to an error, if there is one, that it is in the member of key k.
func (r *Reader) In(keys Keys, k int) {
	if r.err != nil {
		r.within(keys[k][1 : len(keys[k])-2])
	}
}

// Open goes into the object that is next.
func (r *Reader) Open() {
	if r.at('{') {
		r.enter()
	}
}

// Keys are the members that an object is expected to have, in this order.
type Keys []string

// NewKeys returns keys of these names, which need no escaping in JSON.
func NewKeys(names ...string) (keys Keys) {
	for _, name := range names {
		keys = append(keys, key(name))
	}
	return keys
}

// key is a name as an object without white space has it.
func key(name string) string { return `"` + name + `":` }

// Member goes to the value of the next member of the object that was opened and
// sets k to the number of its key; -1: none of keys. It reports whether there is
// one and nothing has failed. The member is likely to be the one after k, or one
// soon after that.
func (r *Reader) Member(keys Keys, k *int) bool {
	if !r.more('}') {
		return false
	}
	d := r.d[r.i:]
	for i := *k + 1; i < len(keys); i++ {
		key := keys[i]
		if n := len(key); len(d) > n && d[1] == key[1] && d[n-2] == '"' && string(d[:n]) == key {
			r.i = r.space(r.i + n)
			*k = i
			return true
		}
	}
	name, ok := r.name()
	*k = slices.IndexFunc(keys, func(key string) bool { return key[1:len(key)-2] == name })
	return ok
}

// More goes to the key of the next member of the object that was opened, and
// reports whether there is one and nothing has failed. Member does that and more
// for keys that are known.
func (r *Reader) More() bool { return r.more('}') }

// Key reads a key as Text reads a string, and goes to its value.
func (r *Reader) Key() []byte {
	start, end, flags := r.key()
	return r.bytes(start, end, flags)
}

func (r *Reader) name() (string, bool) {
	start, end, flags := r.key()
	return r.str(start, end, flags), r.err == nil
}

// key goes past a key and returns where its inside stands.
func (r *Reader) key() (start, end int, flags uint8) {
	start = r.i
	key, end, flags, fault := skipKey(r.d, start)
	if fault != "" {
		r.FailAt(end, fault)
		return 0, 0, 0
	}
	r.i = end
	if r.Strict && flags&(escaped|nonASCII) != 0 {
		r.unicode(start+1, key-1)
	}
	return start + 1, key - 1, flags
}

// List goes into the array that is next.
func (r *Reader) List() {
	if r.at('[') {
		r.enter()
	}
}

// Element goes to the next element of the array that was opened, and reports
// whether there is one and nothing has failed.
func (r *Reader) Element() bool { return r.more(']') }

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

// Null goes past a null and reports whether that is what comes next.
func (r *Reader) Null() bool {
	if r.err != nil || r.i >= len(r.d) || r.d[r.i] != 'n' {
		return false
	}
	r.Skip()
	return true
}

// at reports whether the next value is of the kind that begins with want. It is
// an error if it is not.
func (r *Reader) at(want byte) bool {
	if r.err != nil {
		return false
	}
	if r.i < len(r.d) {
		if ch := r.d[r.i]; ch == want || want == '0' && (ch == '-' || ch-'0' <= 9) || want == 't' && ch == 'f' {
			return true
		}
	}
	start := r.i
	if r.Skip(); r.err == nil { // what is no JSON is of no kind
		r.fault(start, "want "+kindName(want)+", found "+kindName(r.d[start]))
	}
	return false
}

// enter goes past the brace or bracket that opens an object or array.
func (r *Reader) enter() bool {
	if r.depth >= MaxDepth {
		r.FailAt(r.i, TooDeep)
		return false
	}
	r.depth++
	r.i++
	r.fresh = true
	return true
}

// more goes to the next member or element, or past the end, and reports which.
func (r *Reader) more(end byte) bool {
	if r.err != nil {
		return false
	}
	i := r.space(r.i)
	if i == len(r.d) {
		r.FailAt(i, faultEnd)
		return false
	}
	switch ch := r.d[i]; {
	case ch == end:
		r.i, r.fresh = i+1, false
		r.depth--
		return false
	case r.fresh:
		r.i, r.fresh = i, false
	case ch == ',':
		r.i = r.space(i + 1)
	case end == '}':
		r.FailAt(i, "want a comma or } after a value")
		return false
	default:
		r.FailAt(i, "want a comma or ] after an element")
		return false
	}
	return true
}

func (r *Reader) space(i int) int {
	if i < len(r.d) && r.d[i] <= ' ' {
		return skipSpace(r.d, i)
	}
	return i
}

// Skip goes past the next value.
func (r *Reader) Skip() {
	if r.err == nil {
		r.skip()
	}
}

func (r *Reader) skip() (flags uint8) {
	end, flags, fault := skipValue(r.d, r.i, r.depth)
	if fault != "" {
		r.FailAt(end, fault)
	}
	r.i = end
	return flags
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
	start = r.i
	end, flags, fault := skipString(r.d, start)
	if fault != "" {
		r.FailAt(end, fault)
		return 0, 0, 0
	}
	r.i = end
	if r.Strict && flags != 0 {
		r.unicode(start+1, end-1)
	}
	return start + 1, end - 1, flags
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
	r.skip()
	return yes
}

// Number reads the source of a number.
func (r *Reader) Number() []byte {
	if !r.at('0') {
		return nil
	}
	start := r.i
	end, fault := skipNumber(r.d, start)
	if fault != "" {
		r.FailAt(end, fault)
		return nil
	}
	r.i = end
	return r.d[start:end]
}

// Int reads an integer.
func (r *Reader) Int() int { return int(r.integer(math.MinInt, math.MaxInt)) }

// Int64 reads an integer. Like encoding/json it reads no fraction or exponent.
func (r *Reader) Int64() int64 { return r.integer(math.MinInt64, math.MaxInt64) }

func (r *Reader) integer(least, most int64) int64 {
	lit := r.Number()
	switch {
	case lit == nil:
		return 0
	case len(lit) <= 18: // no overflow possible, the usual case
		n, digits := int64(0), lit
		if lit[0] == '-' {
			digits = lit[1:]
		}
		whole := true
		for _, ch := range digits {
			whole = whole && ch-'0' <= 9
			n = n*10 + int64(ch-'0')
		}
		if lit[0] == '-' {
			n = -n
		}
		if whole && n >= least && n <= most {
			return n
		}
	default:
		if n, err := strconv.ParseInt(string(lit), 10, 64); err == nil && n >= least && n <= most {
			return n
		}
	}
	r.refuse(lit, "want an integer in range, found ")
	return 0
}

func (r *Reader) refuse(lit []byte, why string) {
	r.fault(r.i-len(lit), why+string(lit[:min(len(lit), 40)]))
}

// Uint64 reads an integer that is not negative.
func (r *Reader) Uint64() uint64 {
	lit := r.Number()
	if lit == nil {
		return 0
	}
	n, ok := uint64(0), len(lit) <= 18
	for _, ch := range lit {
		ok = ok && ch-'0' <= 9
		n = n*10 + uint64(ch-'0')
	}
	if !ok {
		var err error
		if n, err = strconv.ParseUint(string(lit), 10, 64); err != nil {
			r.refuse(lit, "want an integer in range, found ")
		}
	}
	return n
}

// Float reads a number in the range of a float64.
func (r *Reader) Float() float64 {
	lit := r.Number()
	if lit == nil {
		return 0
	}
	f, err := strconv.ParseFloat(string(lit), 64)
	if err != nil {
		r.refuse(lit, "want a number in the range of a float64, found ")
	}
	return f
}

// Time reads an instant as RFC 3339 writes it.
func (r *Reader) Time() time.Time {
	start := r.i
	s := r.Text()
	if r.err != nil {
		return time.Time{}
	}
	var t time.Time
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
