package guard

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-run/pawl/internal/wire"
)

// value is a text, a number or a boolean of a call, or a key that its tool does
// not declare, with the name of its argument.
type value struct {
	name  string
	text  string
	kind  byte // as in a JSON document: " for a text or a key, 0 for a number, t for a boolean, n for nothing
	reach bool // it says where the call goes
	exact bool // case matters in it
	whole bool // it is a command, which a text must have as a whole

	forms []string // how a text may write it
	facts []string // the number, or the date and the time, that it consists of
}

// valueOf returns a value with the ways to write it: a URL also without https://,
// a path also without ./ before and / behind it. A boolean is written by the name
// of its argument.
func valueOf(name, written string, kind byte) value {
	v := value{name: name, text: written, kind: kind}
	s := fold(written)
	v.exact = strings.ContainsAny(s, `/\`) || strings.HasPrefix(s, "-") || strings.Contains(s, " -") || file().MatchString(s) || called(name, ofPaths)
	if number, ok := canonical(s); ok {
		v.facts = []string{number}
	} else if v.facts = momentOf(s); v.facts == nil {
		for _, at := range accounts(s) {
			if at.start == 0 && at.end == len(s) {
				v.facts = []string{solid(s)}
			}
		}
	}
	switch kind {
	case '"':
		bare := strings.TrimPrefix(strings.TrimPrefix(strings.TrimSuffix(s, "/"), "https://"), "./")
		v.forms = []string{s, strings.TrimSuffix(s, "/"), bare}
	case 't':
		v.forms = []string{name, strings.NewReplacer("_", " ", "-", " ").Replace(name)}
	}
	return v
}

// in returns the first of the texts that name the value; nil: none does.
func (v *value) in(texts []text) *text {
	for i := range texts {
		if texts[i].holds(v) {
			return &texts[i]
		}
	}
	return nil
}

// nothing is the value of null and of what is empty.
const nothing = "nothing"

// valuesOf returns the values of a call's arguments. Items of an array have the
// array's name.
func valuesOf(args json.RawMessage, declared map[string]bool) (all []value) {
	walk("", treeOf(args), func(name string, v any, key bool) {
		if written(v) == nothing && !key && name != "" {
			all = append(all, value{name: name, text: nothing, kind: 'n'})
			return
		}
		switch v := v.(type) {
		case string:
			if (!key || len(declared) > 0 && !declared[v]) && strings.TrimSpace(v) != "" {
				all = append(all, valueOf(name, v, '"'))
			}
		case json.Number:
			all = append(all, valueOf(name, v.String(), '0'))
		case bool:
			all = append(all, valueOf(name, strconv.FormatBool(v), 't'))
		}
	})
	return all
}

// written is a scalar of a JSON document as the text of a value.
func written(v any) string {
	if s, ok := v.(string); v == nil || ok && strings.TrimSpace(s) == "" {
		return nothing
	}
	return fmt.Sprint(v)
}

func treeOf(raw json.RawMessage) (tree any) {
	if wire.Unmarshal(raw, &tree) != nil {
		return nil
	}
	return tree
}

// walk yields the keys and scalars of a JSON document in a fixed order, each with
// the key that it stands under. What is empty counts as null.
func walk(name string, v any, yield func(name string, v any, key bool)) {
	switch v := v.(type) {
	case []any:
		if len(v) == 0 {
			yield(name, nil, false)
		}
		for _, item := range v {
			walk(name, item, yield)
		}
	case map[string]any:
		if len(v) == 0 {
			yield(name, nil, false)
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			yield(name, key, true)
			walk(key, v[key], yield)
		}
	default:
		yield(name, v, false)
	}
}

// form is what a tool's schema says of its arguments.
type form struct {
	names map[string]bool
	fixed map[string]bool // the values that it leaves no choice about or that are the default: name, \x00, value
}

func formOf(schema json.RawMessage) form {
	f := form{map[string]bool{}, map[string]bool{}}
	f.read("", treeOf(schema))
	return f
}

func (f *form) read(name string, v any) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			f.read(name, item)
		}
	case map[string]any:
		for key, item := range v {
			list, _ := item.([]any)
			properties, _ := item.(map[string]any)
			switch {
			case key == "const" || key == "default" || key == "enum" && len(list) == 1:
				walk(name, item, func(_ string, v any, _ bool) { f.fixed[name+"\x00"+written(v)] = true })
			case key == "properties" && properties != nil:
				for property, schema := range properties {
					f.names[property] = true
					f.read(property, schema)
				}
			default:
				f.read(name, item)
			}
		}
	}
}

// fixes reports whether the schema chose a value.
func (f *form) fixes(v value) bool { return f.fixed[v.name+"\x00"+v.text] }
