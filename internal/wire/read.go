package wire

import (
	"encoding"
	"encoding/base64"
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"time"
)

// Decode reads the one JSON object in data as a value of the codec's type. Data
// must not be changed afterwards: raw messages are parts of it, and the strings
// of a small document, too.
func (c *Codec) Decode(data []byte) (any, error) {
	r := NewReader(data)
	v := c.Read(&r)
	if err := r.Done(); err != nil {
		return nil, err
	}
	return v, nil
}

// Read reads the object that is next as a value of the codec's type; nil after
// an error.
func (c *Codec) Read(r *Reader) any {
	p := c.make()
	if c.form == nil {
		c.read(r, p)
	} else {
		form := c.form.forms.Get()
		defer c.form.put(form)
		if c.form.codec.read(r, inside(form)); r.err == nil {
			if err := c.form.give(form, p); err != nil {
				r.Fail("", err)
			}
		}
	}
	if r.err != nil {
		return nil
	}
	return box(c.zero, p)
}

// read reads an object into the zero struct at p.
func (c *Codec) read(r *Reader, p place) {
	r.Open()
	var seen uint64
	for k := 0; r.Member(c.keys, &k); {
		if k < 0 {
			r.Skip()
			continue
		}
		f := &c.fields[k]
		if seen&(1<<k) != 0 {
			reflect.NewAt(f.typ, at(p, f.off)).Elem().SetZero()
		}
		seen |= 1 << k
		if f.read(r, p); r.err != nil {
			_ = r.err.within(f.name)
			return
		}
	}
}

// read reads the field of the struct at p.
func (f *field) read(r *Reader, p place) {
	q := at(p, f.off)
	if r.i < len(r.d) && r.d[r.i] == 'n' && !(f.kind == kindRaw && f.omit) {
		r.Skip()
		return
	}
	switch f.kind {
	case kindString:
		*as[string](q) = r.String()
	case kindBool:
		*as[bool](q) = r.Bool()
	case kindWord:
		*as[bool](q) = string(r.Text()) == f.names[0]
	case kindInt:
		*as[int](q) = r.Int()
	case kindInt64:
		*as[int64](q) = r.Int64()
	case kindUint64:
		*as[uint64](q) = r.Uint64()
	case kindFloat:
		*as[float64](q) = r.Float()
	case kindKnown:
		*as[float64](q) = r.Float()
		*as[bool](at(p, f.known)) = true
	case kindTime:
		*as[time.Time](q) = r.Time()
	case kindDuration:
		if s := r.String(); s != "" {
			d, err := time.ParseDuration(s)
			if err != nil {
				r.Fail("", err)
			}
			*as[time.Duration](q) = d
		}
	case kindMillis:
		const most = math.MaxInt64 / int64(time.Millisecond)
		*as[time.Duration](q) = time.Duration(r.integer(-most, most)) * time.Millisecond
	case kindRaw:
		*as[[]byte](q) = r.Raw()
	case kindBytes:
		b, err := base64.StdEncoding.AppendDecode(nil, r.Text())
		if err != nil {
			r.Fail("", err)
		}
		*as[[]byte](q) = b
	case kindStrings:
		*as[[]string](q) = r.strings()
	case kindMap:
		*as[map[string]string](q) = r.stringMap()
	case kindRawMap:
		*as[map[string]json.RawMessage](q) = r.rawMap()
	case kindEnum:
		*as[int](q) = f.enum(r)
	case kindObject:
		f.elem.read(r, q)
	case kindPointer:
		o := f.elem.make()
		f.elem.read(r, o)
		*as[place](q) = o
	case kindList:
		f.list(r, q)
	}
}

func (f *field) enum(r *Reader) int {
	name := r.Text()
	for i := range f.names {
		if f.names[i] == string(name) {
			return i + 1
		}
	}
	if len(name) > 0 {
		r.Fail("", reflect.New(f.typ).Interface().(encoding.TextUnmarshaler).UnmarshalText(name))
	}
	return 0
}

// list reads a list of objects, over the memory of the slice at q, if it has any.
func (f *field) list(r *Reader, q place) {
	r.List()
	list := as[slice](q)
	list.len = 0
	for size := f.elem.typ.Size(); r.Element(); {
		n := list.len
		if v := reflect.NewAt(f.typ, q).Elem(); n == list.cap {
			v.Grow(1)
			v.SetLen(n + 1)
		} else {
			v.SetLen(n + 1)
			v.Index(n).SetZero()
		}
		if r.Null() {
			continue
		}
		if f.elem.read(r, list.at(n, size)); r.err != nil {
			_ = r.err.within("[" + strconv.Itoa(n) + "]")
			return
		}
	}
	if list.len == 0 {
		*list = slice{}
	}
}

func (r *Reader) strings() (list []string) {
	r.List()
	for r.Element() {
		var s string
		if !r.Null() {
			s = r.String()
		}
		if r.err != nil {
			_ = r.err.within("[" + strconv.Itoa(len(list)) + "]")
			return nil
		}
		list = append(list, s)
	}
	return list
}

func (r *Reader) stringMap() (m map[string]string) {
	r.Open()
	for r.More() {
		name := string(r.Key())
		var value string
		if !r.Null() {
			value = r.String()
		}
		if r.err != nil {
			_ = r.err.within(name)
			return nil
		}
		if m == nil {
			m = make(map[string]string, 8)
		}
		m[name] = value
	}
	return m
}

// A pair is one of a map of raw messages.
type pair struct {
	Name  string          `wire:"name"`
	Value json.RawMessage `wire:"value"`
}

var pairs = Of(pair{})

func (r *Reader) rawMap() (m map[string]json.RawMessage) {
	r.List()
	for r.Element() {
		var one pair
		if !r.Null() {
			pairs.read(r, place(&one))
		}
		if r.err != nil {
			_ = r.err.within("[" + strconv.Itoa(len(m)) + "]")
			return nil
		}
		if m == nil {
			m = map[string]json.RawMessage{}
		}
		m[one.Name] = one.Value
	}
	return m
}
