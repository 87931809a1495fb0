package wire

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"io"
	"math"
	"math/big"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Marshal is json.Marshal without the escapes of HTML: for models, people and
// logs, which no browser reads.
func Marshal(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Unmarshal is json.Unmarshal that keeps numbers as they were written: in an any they are [json.Number]s.
func Unmarshal(raw []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is more after the value")
	}
	return nil
}

// ReadValid is json.Unmarshal of a document that was checked.
func ReadValid(doc []byte, v any) error {
	if own, ok := v.(json.Unmarshaler); ok { // which checks it itself
		return own.UnmarshalJSON(doc)
	}
	return json.Unmarshal(doc, v)
}

// PlainIntegers writes each integer of a document without point and exponent, as encoding/json wants one: 1.0 as 1
// and 2e3 as 2000.
func PlainIntegers(doc []byte) ([]byte, error) {
	var tree any
	if err := Unmarshal(doc, &tree); err != nil {
		return nil, err
	}
	return json.Marshal(plainly(tree))
}

func plainly(v any) any {
	switch v := v.(type) {
	case json.Number:
		_, exponent, _ := strings.Cut(strings.ToLower(string(v)), "e")
		if len(v) > mostDigits || len(strings.TrimLeft(exponent, "+-0")) >= len(strconv.Itoa(mostDigits)) {
			return v
		}
		if n, ok := new(big.Rat).SetString(string(v)); ok && n.IsInt() {
			return json.Number(n.Num().String())
		}
	case map[string]any:
		for key, value := range v {
			v[key] = plainly(value)
		}
	case []any:
		for i, value := range v {
			v[i] = plainly(value)
		}
	}
	return v
}

// mostDigits bounds the digits of a number that is rewritten. No integer type of Go but big.Int
// has more than 20 digits, and 1e999999999 must not be written out.
const mostDigits = 1000

// Millis is a duration that JSON has as a whole number of milliseconds.
type Millis time.Duration

// MarshalJSON cuts off what is less than a millisecond.
func (d Millis) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(d).Milliseconds()) }

// UnmarshalJSON reads a whole number.
func (d *Millis) UnmarshalJSON(data []byte) error {
	var n int64
	err := json.Unmarshal(data, &n)
	*d = Millis(time.Duration(n) * time.Millisecond)
	return err
}

// Period is a duration that JSON has as a text such as 30m0s.
type Period time.Duration

// MarshalText writes the duration as [time.Duration.String] does.
func (d Period) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText reads a text as [time.ParseDuration] does; an empty one is no time.
func (d *Period) UnmarshalText(text []byte) error {
	if *d = 0; len(text) == 0 {
		return nil
	}
	v, err := time.ParseDuration(string(text))
	*d = Period(v)
	return err
}

// OrNull is t for JSON; nil, which is null, for the zero time.
func OrNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// NotNull is raw without the null that JSON has for none.
func NotNull(raw json.RawMessage) json.RawMessage {
	if string(raw) == "null" {
		return nil
	}
	return raw
}

// Exact reports whether v, a struct with json tags, equals what encoding/json reads of what it
// writes of v, within depth objects and arrays. Fields with the tag "-" and what stands in
// interfaces are not looked at. It is much cheaper than to write and read v.
func Exact(v any, depth int) bool {
	s := reflect.ValueOf(v)
	return s.Kind() == reflect.Struct && exact(s, &unknown, depth)
}

var (
	timeType = reflect.TypeFor[time.Time]()
	rawType  = reflect.TypeFor[json.RawMessage]()
)

// exact is Exact of a field, or of another value, of which nothing is known.
func exact(v reflect.Value, f *field, depth int) bool {
	switch v.Kind() {
	case reflect.String:
		return utf8.ValidString(v.String())
	case reflect.Float64:
		x := v.Float()
		return !math.IsNaN(x) && !math.IsInf(x, 0)
	case reflect.Int:
		most := f.most
		if most == 0 {
			most = members(v.Type())
		}
		return v.Int() == 0 && f.omit || most == math.MaxInt64 || v.Int() > 0 && v.Int() <= most
	case reflect.Pointer:
		return v.IsNil() || exact(v.Elem(), &unknown, depth)
	case reflect.Struct:
		if v.Type() == timeType {
			t, _ := reflect.TypeAssert[time.Time](v)
			return f.omit && v.IsZero() || t == t.UTC() && t.Year() >= 0 && t.Year() <= 9999 //nolint:revive,staticcheck // its place counts, and the clock beside it
		}
		fields := shapeOf(v.Type())
		for i := range fields {
			if depth >= MaxDepth || !exact(v.Field(fields[i].index), &fields[i], depth+1) {
				return false
			}
		}
		return true
	case reflect.Slice:
		if v.Type() == rawType {
			if v.IsNil() {
				return f.omit
			}
			raw := v.Bytes()
			return Check(raw, depth) == nil && !spaced(raw)
		}
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return true
		}
		for i := range v.Len() {
			if !exact(v.Index(i), &unknown, depth+1) {
				return false
			}
		}
		return depth < MaxDepth
	case reflect.Map:
		return depth < MaxDepth && exactMap(v.Interface(), depth+1)
	}
	return true
}

// spaced reports whether white space stands between the tokens of a document.
func spaced(doc []byte) bool {
	for i := 0; i < len(doc); i++ {
		switch doc[i] {
		case ' ', '\t', '\r', '\n':
			return true
		case '"':
			i = closing(doc, i+1)
		}
	}
	return false
}

func exactMap(m any, depth int) bool {
	switch m := m.(type) {
	case map[string]string:
		for k, v := range m {
			if !utf8.ValidString(k) || !utf8.ValidString(v) {
				return false
			}
		}
		return true
	case map[string]json.RawMessage:
		for k, v := range m {
			if !utf8.ValidString(k) || !exact(reflect.ValueOf(v), &unknown, depth) {
				return false
			}
		}
		return true
	}
	return false
}

// members counts the members of a closed set, which begins at 1; of other numbers there is no end.
func members(t reflect.Type) int64 {
	v := reflect.New(t).Elem()
	for n := int64(0); ; n++ {
		v.SetInt(n + 1)
		text, ok := reflect.TypeAssert[encoding.TextMarshaler](v)
		if !ok {
			return math.MaxInt64
		}
		if _, err := text.MarshalText(); err != nil {
			return n
		}
	}
}

// A field is what [Exact] knows of a field of a struct type.
type field struct {
	index int
	omit  bool  // its tag leaves out the zero value
	most  int64 // members of a closed set; zero: not counted
}

var unknown field

var shapes sync.Map // of a reflect.Type its fields

func shapeOf(t reflect.Type) []field {
	known, ok := shapes.Load(t)
	if !ok {
		known, _ = shapes.LoadOrStore(t, newShape(t))
	}
	return known.([]field)
}

// newShape returns the fields that do not say what they are already.
func newShape(t reflect.Type) (fields []field) {
	for of := range t.Fields() {
		tag, skip := of.Tag.Get("json"), false
		f := field{index: of.Index[0], omit: strings.Contains(tag, ",omitzero")}
		switch of.Type.Kind() {
		case reflect.Bool, reflect.Int64, reflect.Uint64, reflect.Interface:
			skip = true
		case reflect.Int:
			f.most = members(of.Type)
			skip = f.most == math.MaxInt64
		case reflect.Struct:
			skip = newShape(of.Type) == nil
		}
		if tag != "-" && !skip {
			fields = append(fields, f)
		}
	}
	return fields
}
