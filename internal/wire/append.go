package wire

import (
	"bytes"
	"encoding"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"
)

// Append appends v, a value of the codec's type or a pointer to one, as a JSON
// object that stands in depth others, or returns dst as it was and why it cannot.
func (c *Codec) Append(dst []byte, v any, depth int) ([]byte, error) {
	p, err := c.place(v)
	if err != nil {
		return dst, err
	}
	if c.form != nil {
		form := c.form.forms.Get()
		defer c.form.put(form)
		c.form.take(form, p)
		c, p = c.form.codec, inside(form)
	}
	out, e := c.append(dst, p, depth)
	if e != nil {
		return dst, e
	}
	return out, nil
}

func (f *form) put(form any) {
	f.clear(form)
	f.forms.Put(form)
}

// place returns where v stands.
func (c *Codec) place(v any) (place, error) {
	switch t := reflect.TypeOf(v); {
	case t == c.typ:
	case t != nil && t.Kind() == reflect.Pointer && t.Elem() == c.typ && !reflect.ValueOf(v).IsNil():
	default:
		return nil, fmt.Errorf("want a %s, found a %T", c.typ, v)
	}
	return inside(v), nil
}

func unwritable(what string) *Error { return &Error{Offset: -1, Err: errors.New(what)} }

var (
	errNotFinite = errors.New("a number must be finite, JSON has no NaN and no infinity")
	errYear      = errors.New("the year of a time must be between 0 and 9999 in UTC")
)

func (c *Codec) append(b []byte, p place, depth int) ([]byte, *Error) {
	if depth >= MaxDepth {
		return b, unwritable(TooDeep)
	}
	b = append(b, '{')
	for i := range c.fields {
		f := &c.fields[i]
		q := at(p, f.off)
		if f.omit && f.empty(q) {
			continue
		}
		if b[len(b)-1] != '{' { // no value ends in an opening brace
			b = append(b, ',')
		}
		b = append(append(append(b, '"'), f.name...), '"', ':')
		switch f.kind {
		case kindString:
			b = AppendString(b, *as[string](q))
		case kindInt:
			b = strconv.AppendInt(b, int64(*as[int](q)), 10)
		case kindBool:
			b = strconv.AppendBool(b, *as[bool](q))
		case kindInt64:
			b = strconv.AppendInt(b, *as[int64](q), 10)
		case kindUint64:
			b = strconv.AppendUint(b, *as[uint64](q), 10)
		case kindMillis:
			b = strconv.AppendInt(b, as[time.Duration](q).Milliseconds(), 10)
		default:
			var err *Error
			if b, err = f.append(b, p, depth+1); err != nil {
				return b, err.within(f.name)
			}
		}
	}
	return append(b, '}'), nil
}

// append appends the field of the struct at p, of a kind that is not a plain one.
// depth counts the objects and arrays around its value.
func (f *field) append(b []byte, p place, depth int) ([]byte, *Error) {
	q := at(p, f.off)
	switch f.kind {
	case kindWord:
		word := f.names[1]
		if *as[bool](q) {
			word = f.names[0]
		}
		return AppendString(b, word), nil
	case kindFloat, kindKnown:
		x := *as[float64](q)
		if f.kind == kindKnown && !*as[bool](at(p, f.known)) {
			return append(b, "null"...), nil
		}
		if x-x != 0 { // so it is of NaN and the infinities
			return b, &Error{Offset: -1, Err: errNotFinite}
		}
		return appendFloat(b, x), nil
	case kindTime:
		t := as[time.Time](q).UTC()
		if t.IsZero() { // no time; a reader could take the year 1 for one
			return append(b, "null"...), nil
		}
		if y := t.Year(); y < 0 || y > 9999 {
			return b, &Error{Offset: -1, Err: errYear}
		}
		b = t.AppendFormat(append(b, '"'), time.RFC3339Nano)
		return append(b, '"'), nil
	case kindDuration:
		return AppendString(b, as[time.Duration](q).String()), nil
	case kindRaw:
		return appendRaw(b, *as[[]byte](q), depth)
	case kindBytes:
		b = base64.StdEncoding.AppendEncode(append(b, '"'), *as[[]byte](q))
		return append(b, '"'), nil
	case kindEnum:
		n := *as[int](q)
		if n < 1 || n > len(f.names) {
			_, err := reflect.NewAt(f.typ, q).Interface().(encoding.TextMarshaler).MarshalText()
			return b, &Error{Offset: -1, Err: err}
		}
		return AppendString(b, f.names[n-1]), nil
	case kindObject:
		return f.elem.append(b, q, depth)
	case kindPointer:
		return f.elem.append(b, *as[place](q), depth)
	}
	if depth >= MaxDepth {
		return b, unwritable(TooDeep)
	}
	switch f.kind {
	case kindStrings:
		b = append(b, '[')
		for i, s := range *as[[]string](q) {
			if i > 0 {
				b = append(b, ',')
			}
			b = AppendString(b, s)
		}
		return append(b, ']'), nil
	case kindMap:
		return appendMap(b, *as[map[string]string](q)), nil
	case kindRawMap:
		return appendRawMap(b, *as[map[string]json.RawMessage](q), depth+2)
	}
	list := as[slice](q)
	b = append(b, '[')
	for i := range list.len {
		if i > 0 {
			b = append(b, ',')
		}
		var err *Error
		if b, err = f.elem.append(b, list.at(i, f.elem.typ.Size()), depth+1); err != nil {
			return b, err.within("[" + strconv.Itoa(i) + "]")
		}
	}
	return append(b, ']'), nil
}

// appendRaw appends JSON without the white space between tokens.
func appendRaw(b, raw []byte, depth int) ([]byte, *Error) {
	if len(raw) == 0 {
		return append(b, "null"...), nil
	}
	var r Reader
	r.whole(raw, depth)

	switch {
	case r.err != nil:
		return b, unwritable("the raw message is not JSON: " + r.err.Error())
	case r.spaced:
		return append(b, Compact(raw)...), nil
	}
	return append(b, raw...), nil
}

// Compact is a JSON text without the white space between its tokens.
func Compact(d []byte) []byte {
	var b bytes.Buffer
	_ = json.Compact(&b, d) // what is no JSON is empty
	return b.Bytes()
}

func appendMap(b []byte, m map[string]string) []byte {
	b = append(b, '{')
	keys, m := sorted(m)
	for i, k := range keys {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(AppendString(b, k), ':')
		b = AppendString(b, m[k])
	}
	return append(b, '}')
}

// sorted returns the keys of a map in order, and a map that has them as they are
// written. Two that are not UTF-8 may become one: the last in order counts.
func sorted[V any](m map[string]V) ([]string, map[string]V) {
	keys := slices.AppendSeq(make([]string, 0, len(m)), maps.Keys(m))
	slices.Sort(keys)
	if !slices.ContainsFunc(keys, func(k string) bool { return !utf8.ValidString(k) }) {
		return keys, m
	}
	clean := make(map[string]V, len(m))
	for _, k := range keys {
		clean[string([]rune(k))] = m[k]
	}
	return sorted(clean)
}

func appendRawMap(b []byte, m map[string]json.RawMessage, depth int) (_ []byte, err *Error) {
	b = append(b, '[')
	names, m := sorted(m)
	for i, name := range names {
		if i > 0 {
			b = append(b, ',')
		}
		b = AppendString(append(b, `{"name":`...), name)
		if b, err = appendRaw(append(b, `,"value":`...), m[name], depth); err != nil {
			return b, err.within("[" + strconv.Itoa(i) + "].value")
		}
		b = append(b, '}')
	}
	return append(b, ']'), nil
}

// appendFloat writes numbers as ECMAScript does (ECMA-262, Number::toString),
// which is also encoding/json's form, but down to billionths without an exponent:
// so small are amounts of dollars.
func appendFloat(b []byte, f float64) []byte {
	abs := math.Abs(f)
	if abs == 0 || abs >= 1e-9 && abs < 1e21 {
		return strconv.AppendFloat(b, f, 'f', -1, 64)
	}
	return strconv.AppendFloat(b, f, 'e', -1, 64)
}
