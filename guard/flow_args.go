package guard

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/pawl-run/pawl"
)

// value is a value of a call with the name of its argument.
type value struct {
	name   string
	text   string
	number bool
	flag   bool // it is true, false, null or empty
	resets bool // false, null and empty change existing data
	reach  bool // a destination of the call
	whole  bool // a program: its parts must not be judged separately
}

// contents are the names, or last words of the names, of arguments that are
// text for a reader. Such an argument does not determine a recipient, an object
// to remove or an amount.
var contents = one("abstract agenda answer article body caption comment comments content contents desc description " +
	"explanation feedback greeting html markdown memo message msg note notes prompt purpose question reason reference remark remarks replacement review " +
	"subject summary text title transcript")

// lines are the contents that have one line. A line break in one starts
// something else, such as a mail header.
var lines = one("caption heading headline label name reference subject title topic")

// wholes are the names of arguments that hold programs.
var wholes = one("argv args cmd code command commands eval expression program query script shell sql statement")

// reaches are the names of arguments that hold destinations.
var reaches = one("domain endpoint host hostname href link links uri uris url urls webhook")

// isContent reports whether a value is text for a reader by its argument's
// name.
func isContent(v *value) bool { return contents[lastWord(v.name)] && !v.flag }

// reads reports whether a value is only text: no address, and no line break in
// a one-line argument.
func reads(v *value) bool {
	return !identifies(v.text) && !(lines[lastWord(v.name)] && strings.ContainsAny(v.text, breaks))
}

// breaks are the characters that end a line (UAX #14, class BK, CR, LF, NL).
const breaks = "\n\v\f\r\u0085\u2028\u2029"

// identifies reports whether a text is just the name of a person, an account or
// a place: a mail address, a URL, an IBAN.
func identifies(text string) bool {
	text = strings.TrimRight(strings.TrimSpace(text), ".,;:!?")
	words := strings.Fields(text)
	account := strings.ToUpper(strings.Join(words, ""))
	if len(account) >= 4 && lengths[account[:2]] == len(account) {
		return true
	}
	name, domain, address := strings.Cut(text, "@")
	return away(text) || len(words) == 1 && (strings.Contains(text, "://") || address && name != "" && strings.Contains(domain, "."))
}

// isDestination reports whether a value is a destination: by the tool's declaration, the
// argument's name, or its form. All arguments of an untrusted tool leave the
// run.
func isDestination(info *pawl.ToolInfo, v *value) bool {
	if slices.Contains(info.Reaches, v.name) || reaches[lastWord(v.name)] {
		return true
	}
	if v.number || v.flag {
		return false
	}
	if info.Effect == pawl.Read && away(v.text) {
		return true
	}
	return !strings.ContainsFunc(v.text, unicode.IsSpace) && (strings.Contains(v.text, "://") || info.Trust == pawl.Untrusted && hostly(v.text))
}

// hostly reports whether a text has the form of a host: labels between dots,
// the last of letters, or a numeric address.
func hostly(text string) bool {
	host, _, _ := strings.Cut(text, "/")
	host, _, _ = strings.Cut(host, ":")
	labels := strings.Split(host, ".")
	if len(labels) < 3 {
		return false // it may be a file
	}
	for _, l := range labels {
		if l == "" || strings.ContainsFunc(l, func(r rune) bool { return r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			return false
		}
	}
	return true
}

// resetting are the first words of names of tools that change existing data,
// for which false and null mean as much as true.
var resetting = one("change configure delete disable edit enable modify patch put remove reset set toggle update")

// flagsOf returns the booleans in a call's arguments and, for a tool that
// changes existing data, the null and empty values.
func flagsOf(tool string, args json.RawMessage) (all []value) {
	var tree any
	if json.Unmarshal(args, &tree) != nil {
		return nil
	}
	verb := verbs(tool)
	resets := len(verb) > 0 && resetting[verb[0]]
	add := func(name, text string) {
		all = append(all, value{name: name, text: text, flag: true, resets: resets})
	}
	var walk func(name string, v any)
	walk = func(name string, v any) {
		switch v := v.(type) {
		case bool:
			add(name, strconv.FormatBool(v))
		case nil:
			if resets {
				add(name, "null")
			}
		case string:
			if resets && strings.TrimSpace(v) == "" {
				add(name, "")
			}
		case []any:
			if resets && len(v) == 0 {
				add(name, "[]")
			}
			for _, item := range v {
				walk(name, item)
			}
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(v)) {
				walk(key, v[key])
			}
		}
	}
	walk("", tree)
	return all
}

// lastWord returns the last word of a name such as email_body or emailBody, in
// lower case.
func lastWord(name string) string {
	at := 0
	for i, r := range name {
		switch {
		case r == '_' || r == '-' || r == '.':
			at = i + 1
		case unicode.IsUpper(r) && i > 0 && name[i-1] >= 'a' && name[i-1] <= 'z':
			at = i
		}
	}
	return strings.ToLower(name[at:])
}

// valuesOf returns the texts and numbers of a call's arguments with their
// names; items of an array have the array's name. An undeclared key is a value
// too, if the schema declares any. True, false and null are too common to
// search for.
func valuesOf(args json.RawMessage, declared map[string]bool) (all []value) {
	dec := json.NewDecoder(bytes.NewReader(args))
	dec.UseNumber()
	var tree any
	if dec.Decode(&tree) != nil {
		return nil
	}
	var walk func(name string, v any)
	walk = func(name string, v any) {
		switch v := v.(type) {
		case string:
			if strings.TrimSpace(v) != "" {
				all = append(all, value{name: name, text: v, whole: wholes[lastWord(name)]})
			}
		case json.Number:
			all = append(all, value{name: name, text: v.String(), number: true})
		case []any:
			if words := texts(v); words != nil && wholes[lastWord(name)] { // a program with its arguments
				all = append(all, value{name: name, text: strings.Join(words, " "), whole: true})
				return
			}
			for _, item := range v {
				walk(name, item)
			}
		case map[string]any:
			keys := make([]string, 0, len(v))
			for key := range v {
				keys = append(keys, key)
			}
			slices.Sort(keys)
			for _, key := range keys {
				if declared != nil && !declared[key] {
					all = append(all, value{name: name, text: key})
				}
				walk(key, v[key])
			}
		}
	}
	walk("", tree)
	return all
}

// texts returns the items of an array of strings; nil: it is not one.
func texts(items []any) (words []string) {
	for _, item := range items {
		s, ok := item.(string)
		if !ok {
			return nil
		}
		words = append(words, s)
	}
	return words
}

// form is a tool's declaration of its arguments: their names, and the values in
// the schema, folded, numbers as [canonical] writes them.
type form struct {
	names   map[string]bool
	fixed   map[string]bool // default and constant values
	choices map[string]bool // values of enumerations
	on, off map[string]bool // arguments with the default true, and with the default false or empty
}

// formOf reads a schema. The position of a name or constant does not matter,
// because the machine has validated the call.
func formOf(schema json.RawMessage) *form {
	f := &form{map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}}
	dec := json.NewDecoder(bytes.NewReader(schema))
	dec.UseNumber()
	var tree any
	if dec.Decode(&tree) == nil {
		f.read(tree)
	}
	return f
}

func (f *form) read(v any) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			f.read(item)
		}
	case map[string]any:
		if properties, ok := v["properties"].(map[string]any); ok {
			for name, schema := range properties {
				f.names[name] = true
				if property, ok := schema.(map[string]any); ok {
					switch usual, given := property["default"]; v := usual.(type) {
					case bool:
						f.on[name], f.off[name] = f.on[name] || v, f.off[name] || !v
					case nil:
						f.off[name] = f.off[name] || given
					case string:
						f.off[name] = f.off[name] || v == ""
					case []any:
						f.off[name] = f.off[name] || len(v) == 0
					}
				}
				f.read(schema)
			}
		}
		for key, item := range v {
			switch key {
			case "properties":
			case "const", "default":
				constant(f.fixed, item)
			case "enum":
				if list, _ := item.([]any); len(list) == 1 {
					constant(f.fixed, list)
				} else {
					constant(f.choices, item)
				}
			default:
				f.read(item)
			}
		}
	}
}

func constant(to map[string]bool, v any) {
	switch v := v.(type) {
	case string:
		to[fold(v)] = true
	case json.Number:
		if n, ok := canonical(v.String()); ok {
			to[n] = true
		}
	case []any:
		for _, item := range v {
			constant(to, item)
		}
	case map[string]any:
		for _, item := range v {
			constant(to, item)
		}
	}
}
