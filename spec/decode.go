package spec

import (
	"bytes"
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/wire"
)

// decoded returns a value that was checked, as a type.
func decoded[T any](n *node) (v T) {
	decode(n, reflect.ValueOf(&v).Elem())
	return v
}

// decode sets a variable to a value that was checked. A refused value leaves it unchanged.
func decode(n *node, to reflect.Value) {
	switch {
	case n == nil || n.kind == 0:
		return
	case n.kind == boolean && n.text == "false" && to.Kind() == reflect.Pointer: // the same as none
		return
	}
	if to.Kind() == reflect.Pointer {
		if to.IsNil() {
			to.Set(reflect.New(to.Type().Elem()))
		}
		to = to.Elem()
	}
	switch u, ok := reflect.TypeAssert[encoding.TextUnmarshaler](to.Addr()); {
	case ok:
		_ = u.UnmarshalText([]byte(n.text)) // the schema allows no other
		return
	case to.Type() == reflect.TypeFor[json.RawMessage]():
		var b bytes.Buffer
		n.json(&b)
		to.SetBytes(b.Bytes())
		return
	case to.Type() == reflect.TypeFor[time.Duration]():
		v, _ := time.ParseDuration(n.text)
		to.SetInt(int64(v))
		return
	}
	switch to.Kind() {
	case reflect.Interface:
		if v := n.decoded(); v != nil {
			to.Set(reflect.ValueOf(v))
		}
	case reflect.String:
		to.SetString(n.text)
	case reflect.Bool:
		to.SetBool(n.text == "true")
	case reflect.Int, reflect.Int64:
		v, _ := strconv.ParseInt(n.text, 10, 64)
		to.SetInt(v)
	case reflect.Float64:
		v, _ := strconv.ParseFloat(n.text, 64)
		to.SetFloat(v)
	case reflect.Slice:
		to.Set(reflect.MakeSlice(to.Type(), len(n.items), len(n.items)))
		for i, item := range n.items {
			decode(item, to.Index(i))
		}
	case reflect.Map:
		to.Set(reflect.MakeMap(to.Type()))
		for _, p := range n.pairs {
			v := reflect.New(to.Type().Elem()).Elem()
			decode(p.value, v)
			to.SetMapIndex(reflect.ValueOf(p.key.text), v)
		}
	case reflect.Struct:
		if markOf(to.Type()).Get("oneof") != "" {
			decodeOne(n, to)
			return
		}
		decodeKeys(n.written(markOf(to.Type()).Get("short")), to)
	}
}

// decodeOne sets the field of the kind of mapping that a value is.
func decodeOne(n *node, to reflect.Value) {
	of := alternative(definitions().mapping(to.Type()), n)
	for _, v := range to.Fields() {
		if v.Kind() == reflect.Pointer && definitions()[markOf(v.Type().Elem()).Get("def")] == of {
			decode(n, v)
		}
	}
}

// written returns the mapping that a value stands for; see [mark].
func (n *node) written(short string) *node {
	long := &node{kind: mapping, src: n.src, place: n.place}
	switch {
	case n.kind == mapping:
		return n
	case short == "key":
		long.pairs = []pair{{n, &node{kind: mapping, src: n.src, place: n.place}}}
	case short != "true" && short[0] != '=':
		long.pairs = []pair{{&node{text: short, src: n.src, place: n.place}, n}}
	}
	return long
}

// decodeKeys sets the fields of a struct to the values of their keys, and its mark.
func decodeKeys(n *node, to reflect.Value) {
	for f, v := range to.Fields() {
		key, _ := keyOf(f)
		at := n.get(key)
		switch {
		case f.Type == reflect.TypeFor[mark]():
			to.Addr().Interface().(interface{ put(*node) }).put(n)
		case f.Anonymous && key == "":
			decodeKeys(n, v)
		case at == nil || at.kind == 0, f.Type == reflect.TypeFor[*pawl.Agent](), f.Type == reflect.TypeFor[pawl.Model](): // a name
		default:
			decodeKey(at, v, f.Tag)
		}
	}
}

// decodeKey sets a field to a value by the tags of the field; see [Keys].
func decodeKey(n *node, to reflect.Value, tag reflect.StructTag) {
	words := strings.Split(tag.Get("enum"), ",")
	_, named := reflect.TypeAssert[encoding.TextUnmarshaler](to.Addr())
	switch k := to.Kind(); {
	case words[0] != "" && n.text == tag.Get("usual"):
	case k == reflect.Bool && words[0] != "":
		to.SetBool(n.text == words[len(words)-1])
	case k == reflect.Bool:
		to.SetBool(n.text == "true" != (tag.Get("usual") == "true"))
	case k == reflect.Int && words[0] != "" && !named:
		to.SetInt(int64(slices.Index(words, n.text) + 1))
	case tag.Get("format") == "size":
		bytes, _ := n.size()
		to.SetInt(int64(bytes))
	default:
		decode(n, to)
	}
	if other, err := strconv.Atoi(tag.Get("zero")); err == nil && to.IsZero() {
		to.Set(reflect.ValueOf(other).Convert(to.Type()))
	}
}

// decoded returns the value as encoding/json does, with its numbers as written.
func (n *node) decoded() (v any) {
	var b bytes.Buffer
	n.json(&b)
	_ = wire.Unmarshal(b.Bytes(), &v) // it is JSON
	return v
}
