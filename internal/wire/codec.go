// Package wire reads and writes JSON: the entries of logs, the canonical form in which texts that mean the
// same are the same, the JSON in texts that models write, and documents that are still being written.
//
// For entries it turns Go values into JSON objects and back. A [Codec] is compiled
// once for a type, from the tags of its struct:
//
//	type ToolStarted struct {
//		Call    string          `wire:"call"`
//		Args    json.RawMessage `wire:"args"`
//		Effect  Effect          `wire:"effect,omit"`
//		View    View            `wire:",inline"`
//		Attempt int             `wire:"attempt,omit"`
//	}
//
// A tag holds the member's name, which must need no escaping in JSON, and
// options:
//
//	omit        an empty value is left out: zero, nothing in it, a struct of empty fields
//	inline      the members of the struct are members of the outer object; no name
//	ms          a duration is a whole number of milliseconds, the rest is cut off
//	known=Field a number is null unless the bool field is set, which has the tag "-"
//	yes|no      a bool is one of the two texts; what is read as neither is false
//	-           alone: the field is not coded
//
// A field without a tag is a fault of the program. The types that a field can
// have are written like this:
//
//	string, bool, int, int64, uint64    as in Go; integers have no fraction or exponent
//	float64                             in the shortest form that reads back the same; not NaN, no infinity
//	json.RawMessage                     without white space; nil is null, but with omit, left out, and null stays null
//	time.Time                           by RFC 3339 in UTC, with as many digits of the second as it has
//	time.Duration                       as in 30m0s
//	[]byte                              by base64
//	[]string, map[string]string         with its keys sorted bytewise
//	map[string]json.RawMessage          as a list of objects of a name and a value, sorted by name
//	a struct, a pointer to one          as an object; nil is left out
//	a slice of structs                  as a list of objects
//	an int with MarshalText             by its name, as a closed set that starts at one
//
// Written objects have no white space and keep the order of the fields. Reading
// accepts what [encoding/json.Valid] accepts, nested no deeper than MaxDepth:
// keys in any order, white space, escapes, and keys that no field has, which are
// checked and skipped. Of a key that occurs twice the last one counts. A key
// that is missing or null leaves its field zero; empty lists and maps are read as
// nil. Bytes of strings that are not UTF-8 and lone surrogates become U+FFFD, on
// the way in and on the way out.
//
// encoding/json was not used because it costs several times the budget of the
// loop kernel, which writes every event it appends.
package wire

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"
)

// MaxDepth is how many objects and arrays may be open at once, in what is
// written as in what is read; encoding/json allows 10,000.
const MaxDepth = 1000

// Error says which field could not be coded and why.
type Error struct {
	Field  string // path such as calls[2].tool, empty for the document itself
	Offset int    // byte offset in the input, -1 when encoding
	Err    error  // what was wrong
	whole  bool   // with the document, not with a field
}

// Error names the field, the fault and, when decoding, its offset.
func (e *Error) Error() string {
	s := e.Err.Error()
	if e.Field != "" {
		s = "field " + strconv.Quote(e.Field) + ": " + s
	}
	if e.Offset >= 0 {
		s += " at offset " + strconv.Itoa(e.Offset)
	}
	return s
}

// Unwrap returns what was wrong.
func (e *Error) Unwrap() error { return e.Err }

// within puts an outer name before the field of an error that came from inside.
func (e *Error) within(name string) *Error {
	switch {
	case e.whole:
	case e.Field == "":
		e.Field = name
	case e.Field[0] == '[':
		e.Field = name + e.Field
	default:
		e.Field = name + "." + e.Field
	}
	return e
}

// A Codec writes and reads the values of one struct type. It may be used by
// several goroutines at once.
type Codec struct {
	typ    reflect.Type
	zero   any
	make   func() place
	keys   []string // the names of the fields
	fields []field
	form   *form // what is coded in place of the type; nil: the type itself
}

type kind uint8

const (
	kindString kind = iota
	kindBool
	kindWord
	kindInt
	kindInt64
	kindUint64
	kindFloat
	kindKnown
	kindTime
	kindDuration
	kindMillis
	kindRaw
	kindBytes
	kindStrings
	kindMap
	kindRawMap
	kindEnum
	kindObject
	kindPointer
	kindList
)

type field struct {
	name  string
	off   uintptr
	known uintptr // where the bool stands that says whether a number is known
	kind  kind
	omit  bool
	names []string // of an enum, or the two of a bool
	typ   reflect.Type
	elem  *Codec
}

// Table is a table of codecs that is made when it is first asked for.
func Table[K comparable, V any](make func() map[K]V) func() map[K]V { return sync.OnceValue(make) }

// Of compiles the codec of T, of which zero is any value. It panics for a type
// that has none.
func Of[T any](zero T) *Codec {
	c := compile(reflect.TypeFor[T](), map[reflect.Type]*Codec{})
	c.zero = zero
	c.make = func() place { return place(new(T)) }
	return c
}

// Zero is a value of the codec's type.
func (c *Codec) Zero() any { return c.zero }

// A Form is what a *F is that stands in a document in place of a T.
type Form[T, F any] interface {
	*F
	// Take makes the form that of v, whatever it was before, and reports whether
	// Give makes v of it again.
	Take(v *T) (exact bool)
	// Give sets v, which is zero, to what the form says.
	Give(v *T) error
	// Clear makes the form zero. It may keep memory.
	Clear()
}

type form struct {
	codec *Codec
	forms sync.Pool
	take  func(form any, v place) bool
	give  func(form any, v place) error
	clear func(form any)
}

// Formed compiles the codec of T, which is written and read as an F.
func Formed[T, F any, P Form[T, F]]() *Codec {
	var zero T
	c := Of(*new(F))
	return &Codec{typ: reflect.TypeFor[T](), zero: zero, make: func() place { return place(new(T)) }, form: &form{
		codec: c,
		forms: sync.Pool{New: func() any { return P(new(F)) }},
		take:  func(form any, v place) bool { return form.(P).Take(as[T](v)) },
		give:  func(form any, v place) error { return form.(P).Give(as[T](v)) },
		clear: func(form any) { form.(P).Clear() },
	}}
}

var (
	marshaler   = reflect.TypeFor[encoding.TextMarshaler]()
	unmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
)

func compile(t reflect.Type, all map[reflect.Type]*Codec) *Codec {
	if c := all[t]; c != nil {
		return c
	}
	if t.Kind() != reflect.Struct || lone(t) {
		panic(fmt.Sprintf("wire: %s is no struct, or one of a lone pointer", t))
	}
	c := &Codec{typ: t, make: func() place { return reflect.New(t).UnsafePointer() }}
	all[t] = c
	c.add(t, 0, all)
	if len(c.fields) > 64 {
		panic(fmt.Sprintf("wire: %s has more than 64 members", t))
	}
	return c
}

// add adds the fields of a struct that stands at off.
func (c *Codec) add(t reflect.Type, off uintptr, all map[reflect.Type]*Codec) {
	for sf := range t.Fields() {
		tag, ok := sf.Tag.Lookup("wire")
		if !ok {
			panic(fmt.Sprintf("wire: field %s of %s has no tag", sf.Name, t))
		}
		name, option, _ := strings.Cut(tag, ",")
		if option == "inline" {
			c.add(sf.Type, off+sf.Offset, all)
			continue
		}
		if name == "-" {
			continue
		}
		f := field{name: name, off: off + sf.Offset, typ: sf.Type, kind: kindOf(sf.Type)}
		for option := range strings.SplitSeq(option, ",") {
			known, isKnown := strings.CutPrefix(option, "known=")
			yes, no, isWord := strings.Cut(option, "|")
			switch {
			case isKnown:
				b, _ := t.FieldByName(known)
				f.kind, f.known = kindKnown, off+b.Offset
			case isWord:
				f.kind, f.names = kindWord, []string{yes, no}
			case option == "ms":
				f.kind = kindMillis
			case option == "omit":
				f.omit = true
			case option != "":
				panic(fmt.Sprintf("wire: field %s of %s has the unknown option %q", sf.Name, t, option))
			}
		}
		switch f.kind {
		case kindEnum:
			f.names = enum(sf.Type)
		case kindObject:
			f.elem = compile(sf.Type, all)
		case kindPointer, kindList:
			f.elem = compile(sf.Type.Elem(), all)
			f.omit = f.omit || f.kind == kindPointer
		}
		c.fields, c.keys = append(c.fields, f), append(c.keys, name)
	}
}

func kindOf(t reflect.Type) kind {
	switch t {
	case reflect.TypeFor[json.RawMessage]():
		return kindRaw
	case reflect.TypeFor[map[string]json.RawMessage]():
		return kindRawMap
	case reflect.TypeFor[time.Time]():
		return kindTime
	case reflect.TypeFor[time.Duration]():
		return kindDuration
	case reflect.TypeFor[[]byte]():
		return kindBytes
	case reflect.TypeFor[[]string]():
		return kindStrings
	case reflect.TypeFor[map[string]string]():
		return kindMap
	}
	switch t.Kind() {
	case reflect.String:
		return kindString
	case reflect.Bool:
		return kindBool
	case reflect.Int:
		if t.Implements(marshaler) && reflect.PointerTo(t).Implements(unmarshaler) {
			return kindEnum
		}
		return kindInt
	case reflect.Int64:
		return kindInt64
	case reflect.Uint64:
		return kindUint64
	case reflect.Float64:
		return kindFloat
	case reflect.Struct:
		return kindObject
	case reflect.Pointer:
		return kindPointer
	case reflect.Slice:
		return kindList
	}
	panic(fmt.Sprintf("wire: no field can be a %s", t))
}

// enum returns the names of a closed set, that of one first.
func enum(t reflect.Type) (names []string) {
	v := reflect.New(t).Elem()
	for i := int64(1); ; i++ {
		v.SetInt(i)
		text, err := v.Interface().(encoding.TextMarshaler).MarshalText()
		if err != nil && len(names) == 0 {
			panic(fmt.Sprintf("wire: %s has no names, or none yet: %v", t, err))
		}
		if err != nil {
			return names
		}
		names = append(names, string(text))
	}
}

// empty reports whether the field at p is one that omit leaves out.
func (f *field) empty(p place) bool {
	switch f.kind {
	case kindInt, kindEnum, kindPointer:
		return *as[uintptr](p) == 0
	case kindString:
		return *as[string](p) == ""
	case kindRaw, kindBytes, kindStrings, kindList:
		return as[slice](p).len == 0
	case kindBool, kindWord:
		return !*as[bool](p)
	case kindFloat:
		return *as[float64](p) == 0
	case kindKnown:
		return false
	case kindTime:
		return as[time.Time](p).IsZero()
	case kindMillis:
		return as[time.Duration](p).Milliseconds() == 0
	case kindMap, kindRawMap:
		return len(*as[map[string]string](p)) == 0 // the length of any map
	case kindObject:
		for i := range f.elem.fields {
			if in := &f.elem.fields[i]; !in.empty(at(p, in.off)) {
				return false
			}
		}
		return true
	}
	return *as[int64](p) == 0
}
