package spec

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/pawl-run/pawl/internal/expr"
	"github.com/pawl-run/pawl/internal/naming"
)

// check reports what a value has against its schema, each problem at its place. A value that is
// reported is refused: it has the zero kind, and as an item of a list it is dropped. A key that was
// misspelt gets the name that was meant. name is the key of the value, or what it is called.
func (d *document) check(s *jsonschema.Schema, n *node, name string) {
	if n.kind == 0 {
		return
	}
	of := alternative(s, n)
	switch {
	case of == nil && n.kind == number && s.Format == "duration":
		d.refuse(n, "%s is %s without a unit (write %[2]ss or %[2]sm)", name, n.text)
	case of == nil:
		d.refuse(n, "%s is %v (write %s)", name, n.kind, wanted(s))
	case n.kind == list:
		d.checkItems(of, n, name)
	case n.kind == mapping:
		d.checkKeys(of, n, name)
	default:
		if wrong := misfit(of, n); wrong != "" {
			d.refuse(n, "%s %s", name, wrong)
		} else if of.Format == "variable" {
			d.variables = append(d.variables, n)
		}
	}
}

func (d *document) refuse(n *node, format string, args ...any) {
	d.problem(n, format, args...)
	n.kind = 0
}

// resolved follows a reference.
func resolved(s *jsonschema.Schema) *jsonschema.Schema {
	if s.Ref == "" {
		return s
	}
	return definitions()[strings.TrimPrefix(s.Ref, "#/$defs/")]
}

// alternative returns the schema that a value is checked by: the one of its kind, and of several
// mappings the one whose first required key it has, or else the first. Nil: there is none.
func alternative(s *jsonschema.Schema, n *node) (of *jsonschema.Schema) {
	if s = resolved(s); s.AnyOf == nil {
		if !takes(s, n.kind) {
			return nil
		}
		return s
	}
	for _, other := range s.AnyOf {
		other = resolved(other)
		if takes(other, n.kind) && (of == nil || n.kind == mapping && n.get(other.Required[0]) != nil) {
			of = other
		}
	}
	return of
}

// takes reports whether values of a kind can match a schema.
func takes(s *jsonschema.Schema, k kind) bool {
	types := s.Types
	if s.Type != "" {
		types = []string{s.Type}
	}
	if s.Enum != nil {
		return k == text || k == boolean && slices.Contains(s.Enum, any(true))
	}
	return types == nil && k != null || slices.ContainsFunc(types, func(name string) bool { return kindOf[name] == k })
}

var kindOf = map[string]kind{"string": text, "boolean": boolean, "number": number, "integer": number, "array": list, "object": mapping}

// wanted says what to write for a schema.
func wanted(s *jsonschema.Schema) string {
	example, _ := s.Extra["example"].(string)
	such := func(what string) string { return strings.TrimSuffix(what+" such as "+example, " such as ") }
	if len(s.AnyOf) > 2 { // kinds of mappings
		var keys []string
		for _, of := range s.AnyOf {
			keys = append(keys, resolved(of).Required[0])
		}
		return "a mapping with one of " + strings.Join(keys, ", ")
	}
	if s.AnyOf != nil {
		var all []string
		for _, of := range s.AnyOf {
			w := wanted(of)
			if of.Type == "string" && of.Format != "size" {
				w = strings.TrimSuffix(fmt.Sprintf("text such as %v", of.Extra["example"]), " such as <nil>")
			}
			if !slices.Contains(all, w) {
				all = append(all, w)
			}
		}
		if example != "" {
			return strings.Join(all[:len(all)-1], ", ") + ", or " + example
		}
		return strings.Join(all, ", or ")
	}
	if s = resolved(s); example == "" {
		example, _ = s.Extra["example"].(string)
	}
	switch {
	case s.Enum != nil:
		return strings.Join(words(s), " or ")
	case s.Format == "condition":
		return such("a condition")
	case formats[s.Format].wanted != "":
		return formats[s.Format].wanted
	case s.Type == "boolean":
		return "true or false"
	case s.Type == "integer":
		return "a whole number such as " + cmp.Or(example, "5")
	case s.Type == "number":
		return "a number such as " + cmp.Or(example, "0.5")
	case s.Format == "argv":
		return such("a list") + "; there is no shell"
	case s.Type == "array":
		return such("a list")
	case len(s.Properties) > 0 && example != "":
		return such("a mapping")
	case len(s.Properties) > 0:
		return "a mapping with " + strings.Join(s.PropertyOrder[:min(3, len(s.PropertyOrder))], ", ")
	case s.Type == "object" && s.AdditionalProperties == nil:
		return "a JSON Schema, as in {type: object, properties: {…}}"
	case s.Type == "object":
		return such("a mapping")
	case slices.Contains(s.Types, "object"):
		return "text, a mapping or a list"
	}
	return "text; put it in quotes if it looks like something else"
}

// words returns the words that a schema allows.
func words(s *jsonschema.Schema) (all []string) {
	for _, word := range s.Enum {
		all = append(all, fmt.Sprint(word))
	}
	return all
}

func (d *document) checkItems(s *jsonschema.Schema, n *node, name string) {
	if s.MinItems != nil && len(n.items) < *s.MinItems {
		example, _ := s.Extra["example"].(string)
		d.refuse(n, "%s is empty (write a list such as %s)", name, example)
		return
	}
	if s.Items == nil { // any values
		return
	}
	for i, item := range n.items {
		of := alternative(s.Items, item)
		switch {
		case item.kind == 0:
		case of == nil && resolved(s.Items).Title != "":
			d.refuse(item, "%s is %v (write %s)", resolved(s.Items).Title, item.kind, wanted(s.Items))
		case of == nil:
			d.refuse(item, "%s has %v in its list (write %s)", name, item.kind, wanted(s.Items))
		case s.Format == "argv" && item.kind != text: // an argument is text, also if it looks like a number
			item.kind, item.text = text, item.word
		default:
			d.check(s.Items, item, name)
		}
		if s.UniqueItems && slices.ContainsFunc(n.items[:i], func(other *node) bool { return item.kind == text && other.kind == text && other.text == item.text }) {
			d.problem(item, "%s has %s twice (drop one)", name, item.text)
		}
	}
	n.wrong = slices.ContainsFunc(n.items, func(item *node) bool { return item.kind == 0 })
	if of := resolved(s.Items); of.Title != "the step" && of.Type != "array" { // steps may be referred to
		n.items = slices.DeleteFunc(n.items, func(item *node) bool { return item.kind == 0 })
	}
}

func (d *document) checkKeys(s *jsonschema.Schema, n *node, name string) {
	if s.Properties == nil { // a mapping with any keys
		if s.AdditionalProperties != nil {
			for _, p := range n.pairs {
				d.check(s.AdditionalProperties, p.value, name+"."+p.key.text)
				n.wrong = n.wrong || p.value.kind == 0
			}
		}
		return
	}
	title := cmp.Or(s.Title, name)
	if strings.Contains(name, ".") {
		title = name
	}
	unknown := d.checkUnknown(s, n, title)
	needed := slices.Clone(s.Required)
	for key, others := range s.DependentRequired {
		if n.get(key) != nil {
			needed = append(needed, others...)
		}
	}
	what := title
	if id := n.get("id"); n.name() != "" {
		what += " " + n.name()
	} else if id != nil {
		what += " " + id.text
	}
	for _, key := range needed {
		if n.get(key) == nil {
			n.wrong = true
			d.problem(n, "%s has no %s (write %[2]s: %s)", what, key, sample(s.Properties[key]))
		}
	}
	for _, p := range n.pairs {
		if with := s.DependentSchemas[p.key.text]; with != nil {
			if all, given := keysOf(s, with.AnyOf, n); given == nil {
				d.problem(p.key, "%s goes with %s, which %s does not have", p.key.text, strings.Join(all, " or "), title)
				p.value.kind = 0
			}
		}
		d.check(s.Properties[p.key.text], p.value, p.key.text)
		n.wrong = n.wrong || p.value.kind == 0 || p.value.wrong
	}
	all, given := keysOf(s, s.OneOf, n)
	if n.wrong = n.wrong || unknown || len(given) != 1 && len(all) > 0; len(all) == 0 || len(given) == 1 {
		return
	}
	if n.kind = 0; len(given) > 1 {
		d.problem(n, "%s has both %s (leave one out)", what, strings.Join(given, " and "))
	} else if !unknown {
		such := ""
		if example, ok := s.Properties[all[0]].Extra["example"].(string); ok {
			such = ", such as " + all[0] + ": " + example
		}
		d.problem(n, "%s has none of %s (write one%s)", what, strings.Join(all, ", "), such)
	}
}

// checkUnknown drops the keys that a mapping does not have, and reports whether there are some.
func (d *document) checkUnknown(s *jsonschema.Schema, n *node, title string) (unknown bool) {
	for _, p := range n.pairs {
		key := p.key.text
		if s.Properties[key] != nil {
			continue
		}
		unknown = true
		near := naming.Nearest(key, s.PropertyOrder)
		place := placeOf(key)
		if slices.Contains([]string{"the policy", "the Hyphen document", "properties"}, title) {
			place = ""
		}
		switch {
		case near == "" && place != "" && place != title:
			d.problem(p.key, "unknown key %s in %s (it belongs to %s)", key, title, place)
		case near == "" && len(s.PropertyOrder) > mostListed:
			d.problem(p.key, "unknown key %s in %s (pawl schema lists the known keys)", key, title)
		default:
			d.problem(p.key, "unknown key %s in %s%s", key, title, expr.DidYouMean(key, s.PropertyOrder))
			if near != "" && n.get(near) == nil { // check what was meant, and do not report it as missing
				p.key.text = near
			}
		}
	}
	n.pairs = slices.DeleteFunc(n.pairs, func(p pair) bool { return s.Properties[p.key.text] == nil })
	return unknown
}

// keysOf returns the keys that alternatives require, and those of them that a mapping has. A
// boolean key that is false is the same as none.
func keysOf(of *jsonschema.Schema, alternatives []*jsonschema.Schema, n *node) (all, given []string) {
	for _, s := range alternatives {
		key := s.Required[0]
		if all = append(all, key); n.get(key) != nil && (of.Properties[key].Type != "boolean" || n.get(key).text != "false") {
			given = append(given, key)
		}
	}
	return all, given
}

// sample returns an example of a value, or else what it means.
func sample(s *jsonschema.Schema) string {
	if example, ok := s.Extra["example"].(string); ok {
		return example
	}
	if s.Enum != nil {
		return strings.Join(words(s), " or ")
	}
	meaning, _, _ := strings.Cut(s.Description, ". Default:")
	return strings.ReplaceAll(meaning, "`", "")
}

// mostListed is how many valid keys are listed for an unknown one.
const mostListed = 16

// placeOf returns the mapping that has a key: the spec, a mapping directly under it, or a tool.
// Empty: none.
func placeOf(key string) string {
	if other := map[string]string{"max_iterations": "limits, as iterations", "system": "the spec, as prompt"}[key]; other != "" {
		return other
	}
	all := definitions()
	for _, name := range slices.Concat([]string{"spec"}, all["spec"].PropertyOrder, []string{"tool"}) {
		if s := all[name]; s != nil && s.Properties[key] != nil {
			return strings.Replace(s.Title, "the tool", "a tool", 1)
		}
	}
	return ""
}

// misfit says what is wrong with a text, a number or a boolean of the right kind.
func misfit(s *jsonschema.Schema, n *node) string {
	switch {
	case len(s.Enum) == 1 && n.text != words(s)[0]:
		return fmt.Sprintf("is %q (write %s)", n.text, words(s)[0])
	case s.Enum != nil && !slices.Contains(words(s), n.text):
		return fmt.Sprintf("is %q%s", n.text, expr.DidYouMean(n.text, words(s)))
	case s.Format == "size":
		return sizeFault(s, n)
	case n.kind == number && (s.Type == "integer" || s.Type == "number"):
		return numberFault(s, n)
	case n.kind != text || s.Enum != nil:
	case s.Format == "duration":
		switch v, err := time.ParseDuration(n.text); {
		case err != nil:
			return fmt.Sprintf("is %q, which is not a duration (%s)", n.text, formats["duration"].write)
		case v <= 0:
			return fmt.Sprintf("is %s (it must be positive)", n.text)
		}
	case s.Pattern == `\S` && strings.TrimSpace(n.text) == "":
		return "is blank (write something or leave it out)"
	case formats[s.Format].check != nil:
		if err := formats[s.Format].check(n.text); err != nil {
			return fmt.Sprintf(formats[s.Format].says, n.text, err)
		}
	case s.Pattern != "" && s.Pattern != `\S` && !regexp.MustCompile(s.Pattern).MatchString(n.text), s.MaxLength != nil && len(n.text) > *s.MaxLength:
		return fmt.Sprintf("is %q (%s)", n.text, formats[s.Format].write)
	}
	return ""
}

func numberFault(s *jsonschema.Schema, n *node) string {
	if s.Type == "integer" {
		if _, err := strconv.Atoi(n.text); err != nil && strings.ContainsAny(n.text, ".eE") {
			return fmt.Sprintf("is %s (write %s)", n.text, wanted(s))
		} else if err != nil {
			return fmt.Sprintf("is %s, which is too large (write a smaller number)", n.text)
		}
	}
	v, err := strconv.ParseFloat(n.text, 64)
	switch {
	case err != nil:
		return fmt.Sprintf("is %s, which is too large (write a smaller number)", n.text)
	case s.Minimum != nil && v < *s.Minimum && s.Type == "integer":
		return fmt.Sprintf("is %s (it must be at least %v)", n.text, *s.Minimum)
	case s.Minimum != nil && v < *s.Minimum:
		return fmt.Sprintf("is %s (it may not be negative)", n.text)
	case s.ExclusiveMinimum != nil && v <= *s.ExclusiveMinimum:
		return fmt.Sprintf("is %s (it must be above %v)", n.text, *s.ExclusiveMinimum)
	case s.Maximum != nil && v > *s.Maximum:
		return fmt.Sprintf("is %s (the most is %.0f)", n.text, *s.Maximum)
	}
	return ""
}

var units = map[string]float64{"": 1, "B": 1, "KB": 1 << 10, "KIB": 1 << 10, "MB": 1 << 20, "MIB": 1 << 20, "GB": 1 << 30, "GIB": 1 << 30}

// size returns the bytes that a size says. A KB is 1024 bytes.
func (n *node) size() (bytes float64, ok bool) {
	digits := strings.TrimRight(n.text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ ")
	unit, known := units[strings.ToUpper(strings.TrimSpace(n.text[len(digits):]))]
	v, err := strconv.ParseFloat(digits, 64)
	return v * unit, known && err == nil && !strings.ContainsAny(digits, "_xXeE")
}

func sizeFault(s *jsonschema.Schema, n *node) string {
	switch v, ok := n.size(); {
	case !ok:
		return fmt.Sprintf("is %q, which is not a size (%s)", n.text, formats["size"].write)
	case v < *s.Minimum || v > *s.Maximum:
		return fmt.Sprintf("is %s (it must be from %.0f to %.0f bytes)", n.text, *s.Minimum, *s.Maximum)
	}
	return ""
}
