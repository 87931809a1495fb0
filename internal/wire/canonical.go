package wire

import (
	"encoding/json"
	"fmt"
	"reflect"
	"time"
	"unicode/utf8"
)

// Canonical reports whether v, a value of the codec's type, is what is read of
// what is written of it, in an object that stands in depth others: whether it
// says only what a document can say. It allocates nothing.
func (c *Codec) Canonical(v any, depth int) bool {
	if reflect.TypeOf(v) != c.typ {
		return false
	}
	p := inside(v)
	if c.form == nil {
		return c.canonical(p, depth)
	}
	form := c.form.forms.Get()
	defer c.form.put(form)
	return c.form.take(form, p) && c.form.codec.canonical(inside(form), depth)
}

// Normal returns v as it is read of what is written of it; v itself where that is
// the same.
func (c *Codec) Normal(v any, depth int) (any, error) {
	if c.Canonical(v, depth) {
		return v, nil
	}
	data, err := c.Append(nil, v, depth)
	if err != nil {
		return nil, fmt.Errorf("cannot be written: %w", err)
	}
	if v, err = c.Decode(data); err != nil {
		return nil, fmt.Errorf("cannot be read back: %w", err)
	}
	return v, nil
}

func (c *Codec) canonical(p place, depth int) bool {
	if depth >= MaxDepth {
		return false
	}
	for i := range c.fields {
		f := &c.fields[i]
		switch q := at(p, f.off); f.kind {
		case kindString:
			if !utf8.ValidString(*as[string](q)) {
				return false
			}
		case kindBool, kindWord, kindInt, kindInt64, kindUint64, kindDuration:
		default:
			if !f.canonical(p, depth+1) {
				return false
			}
		}
	}
	return true
}

// canonical reports it of the field of the struct at p, of a kind that is not
// a plain one. depth counts the objects and arrays around its value.
func (f *field) canonical(p place, depth int) bool {
	q := at(p, f.off)
	switch f.kind {
	case kindFloat:
		x := *as[float64](q)
		return x-x == 0
	case kindKnown:
		x := *as[float64](q)
		return x-x == 0 && (x == 0 || *as[bool](at(p, f.known)))
	case kindTime:
		t := *as[time.Time](q)
		y := t.Year()
		return t == t.UTC() && y >= 0 && y <= 9999 //nolint:revive,staticcheck // its place counts, and the clock beside it
	case kindMillis:
		return *as[time.Duration](q)%time.Millisecond == 0
	case kindRaw:
		raw := *as[[]byte](q)
		return raw == nil || canonicalRaw(raw, depth) && (f.omit || string(raw) != "null")
	case kindBytes:
		b := *as[[]byte](q)
		return b == nil || len(b) > 0
	case kindEnum:
		n := *as[int](q)
		return n >= 0 && n <= len(f.names) && (n > 0 || f.omit)
	case kindObject:
		return f.elem.canonical(q, depth)
	case kindPointer:
		o := *as[place](q)
		return o == nil || f.elem.canonical(o, depth)
	}
	return depth < MaxDepth && f.canonicalAll(q, depth)
}

// canonicalAll is canonical for the kinds that have several values.
func (f *field) canonicalAll(q place, depth int) bool {
	switch f.kind {
	case kindStrings:
		list := *as[[]string](q)
		for _, s := range list {
			if !utf8.ValidString(s) {
				return false
			}
		}
		return list == nil || len(list) > 0
	case kindMap:
		m := *as[map[string]string](q)
		for k, v := range m {
			if !utf8.ValidString(k) || !utf8.ValidString(v) {
				return false
			}
		}
		return m == nil || len(m) > 0
	case kindRawMap:
		m := *as[map[string]json.RawMessage](q)
		for k, v := range m {
			if !utf8.ValidString(k) || v != nil && (string(v) == "null" || !canonicalRaw(v, depth+2)) {
				return false
			}
		}
		return m == nil || len(m) > 0
	}
	list := as[slice](q)
	for i := range list.len {
		if !f.elem.canonical(list.at(i, f.elem.typ.Size()), depth+1) {
			return false
		}
	}
	return list.data == nil || list.len > 0
}

func canonicalRaw(raw []byte, depth int) bool {
	var r Reader
	r.whole(raw, depth)
	return r.err == nil && !r.spaced
}
