package typeschema

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// field is a field of a struct as encoding/json sees it.
type field struct {
	reflect.StructField
	name     string // in JSON
	optional bool
	tagged   bool
	index    []int // from the outer struct, as in [reflect.Value.FieldByIndex]
}

// fieldsOf lists the fields that encoding/json reads and writes, in the order in
// which it does. Of fields with the same name the least deep one wins, then the
// one with a tag. Where neither decides encoding/json drops them all without a
// word, which is an error here.
func fieldsOf(t reflect.Type) ([]*field, error) {
	var all []*field
	if err := collect(t, nil, false, []reflect.Type{t}, &all); err != nil {
		return nil, err
	}
	var kept []*field
	for i, f := range all {
		beaten := false
		for j, other := range all {
			if i == j || other.name != f.name {
				continue
			}
			switch rank := compare(f, other); {
			case rank > 0:
				beaten = true
			case rank == 0 && !outranked(f, all):
				return nil, fmt.Errorf("fields %s and %s are both %q in JSON, so both would be left out: give one another name", goPath(t, f), goPath(t, other), f.name)
			}
		}
		if !beaten {
			kept = append(kept, f)
		}
	}
	slices.SortFunc(kept, func(a, b *field) int { return slices.Compare(a.index, b.index) })
	return kept, nil
}

// compare is negative if a comes before b, which has the same name.
func compare(a, b *field) int {
	if d := len(a.index) - len(b.index); d != 0 {
		return d
	}
	switch {
	case a.tagged == b.tagged:
		return 0
	case a.tagged:
		return -1
	}
	return 1
}

func outranked(f *field, all []*field) bool {
	return slices.ContainsFunc(all, func(o *field) bool { return o.name == f.name && compare(o, f) < 0 })
}

func goPath(t reflect.Type, f *field) string {
	var names []string
	for _, i := range f.index {
		for t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		names = append(names, t.Field(i).Name)
		t = t.Field(i).Type
	}
	return strings.Join(names, ".")
}

// collect adds the fields of t and of what it embeds. Within are the structs
// around it: one that embeds itself through a pointer adds nothing new, since
// its outer fields win.
func collect(t reflect.Type, index []int, optional bool, within []reflect.Type, all *[]*field) error {
	for i := range t.NumField() {
		f := t.Field(i)
		tag := f.Tag.Get("json")
		if tag == "-" {
			continue
		}
		inner, pointer := f.Type, false
		if inner.Kind() == reflect.Pointer {
			inner, pointer = inner.Elem(), true
		}
		embeds := f.Anonymous && inner.Kind() == reflect.Struct
		if !f.IsExported() && !embeds {
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		at := append(slices.Clone(index), i)
		if embeds && name == "" {
			if pointer && !f.IsExported() {
				return fmt.Errorf("field %s embeds a pointer to an unexported struct, which cannot be decoded into: embed the struct, or export its type", f.Name)
			}
			if !slices.Contains(within, inner) {
				if err := collect(inner, at, optional || pointer, append(slices.Clone(within), inner), all); err != nil {
					return err
				}
			}
			continue
		}
		if !f.IsExported() {
			return fmt.Errorf("field %s embeds an unexported struct under a name, which cannot be decoded into: make it a field with an exported name", f.Name)
		}
		if !acceptable(name) {
			return fmt.Errorf("field %s has the JSON name %q, which encoding/json ignores: use letters, digits and plain punctuation", f.Name, name)
		}
		given := strings.Split(options, ",")
		if slices.Contains(given, "string") {
			return fmt.Errorf("field %s has the JSON option string, which hides its type: drop the option, or declare the field as a string", f.Name)
		}
		entry := &field{StructField: f, name: name, tagged: name != "", index: at}
		if name == "" {
			entry.name = f.Name
		}
		entry.optional = optional || f.Type.Kind() == reflect.Pointer ||
			slices.Contains(given, "omitempty") || slices.Contains(given, "omitzero")
		*all = append(*all, entry)
	}
	return nil
}

// acceptable is what encoding/json takes as the name in a tag.
func acceptable(name string) bool {
	return !strings.ContainsFunc(name, func(r rune) bool {
		return !strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}
