package redact

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Least is how many bytes a secret must have. A shorter value stands in many texts
// by chance. Replacing it would spoil these texts, and show what the value is.
const Least = 6

// Secrets are values that no event may hold. They are safe for concurrent use;
// a nil *Secrets has none.
type Secrets struct {
	restorer *strings.Replacer // from references to values; nil: there are no values
	values   *table            // of those that were known at the start; nil: there are none
	learned  [2]*Learned       // others, which become known; nil: none
}

// New prepares secrets by name. It leaves out empty values. The error names
// every value that is too short to be found, and every name that cannot stand
// in a reference, and never a value; the other secrets are prepared all the same.
func New(values map[string]string) (*Secrets, error) {
	t := new(table)
	var errs []error
	var references []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		value := values[name]
		core := strings.TrimSpace(value)
		switch {
		case core == "":
		case len(core) < Least:
			errs = append(errs, fmt.Errorf("secret %s has %d bytes, and one of fewer than %d cannot be kept out of texts; make it longer, or do not call it a secret", name, len(core), Least))
		case name == "" || strings.ContainsFunc(name, unnameable):
			errs = append(errs, fmt.Errorf("secret %q: use letters, digits, _, - and . in its name", name))
		case strings.Contains(value, opening):
			errs = append(errs, fmt.Errorf("secret %s holds %q, which begins a reference to a secret", name, opening))
		default:
			t.add(forms(name, value))
			references = append(references, opening+name+closing, value)
		}
	}
	if references == nil {
		return nil, errors.Join(errs...)
	}
	return &Secrets{restorer: strings.NewReplacer(references...), values: t}, errors.Join(errs...)
}

const opening, closing = "{{secret:", "}}"

func unnameable(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-' && r != '.'
}

// forms lists what is looked for because of a value. The reference is a form, too: what was scrubbed
// stays as it is.
func forms(name, value string) []pattern {
	mark := opening + name + closing
	return append(patterns(strings.TrimSpace(value), mark), pattern{mark, mark, verbatim})
}

// A table has the forms of values by their first byte.
type table [256][]pattern

func (t *table) add(forms []pattern) {
	for _, p := range forms {
		t[p.text[0]] = append(t[p.text[0]], p)
	}
}

// known returns the tables of all secrets that are known now, or nil in their place.
func (s *Secrets) known() (all [3]*table) {
	if s == nil {
		return all
	}
	all[0] = s.values
	for i, l := range s.learned {
		if l != nil {
			all[i+1] = l.table.Load()
		}
	}
	return all
}

// None reports whether no secret is known now.
func (s *Secrets) None() bool { return s.known() == [3]*table{} }

// Scrub replaces every secret in a text, plain or encoded, by its reference.
func (s *Secrets) Scrub(text string) string {
	done, _ := s.scrub(text, true)
	return done
}

// scrub returns the scrubbed text. If the text is not whole, held is the length of
// its end that was left out because a secret may begin there.
func (s *Secrets) scrub(text string, whole bool) (done string, held int) {
	if s.None() {
		return text, 0
	}
	tables := s.known()
	var b strings.Builder
	rest := 0
	for i := 0; i < len(text); {
		end, mark, more := match(tables, text, i)
		switch {
		case more && !whole:
			b.WriteString(text[rest:i])
			return b.String(), len(text) - i
		case end == 0:
			i++
		default:
			b.WriteString(text[rest:i] + mark)
			i, rest = end, end
		}
	}
	if rest == 0 {
		return text, 0
	}
	return b.String() + text[rest:], 0
}

// match finds the longest form of a secret at text[from:].
func match(tables [3]*table, text string, from int) (end int, mark string, more bool) {
	first := []byte{text[from]}
	if strings.IndexByte(escapes, text[from]) >= 0 {
		char, n, half := unescape(text[from:])
		if more = half; n > 0 && char[0] != text[from] {
			first = append(first, char[0])
		}
	}
	for _, t := range tables {
		if t == nil {
			continue
		}
		for _, c := range first {
			for _, p := range t[c] {
				e, m := p.match(text, from)
				if more = more || m; e > end {
					end, mark = e, p.mark
				}
			}
		}
	}
	return end, mark, more
}

// JSON is [Secrets.Scrub] for the strings of a JSON document; see [Strings].
func (s *Secrets) JSON(raw []byte) []byte {
	if s.None() {
		return raw
	}
	return Strings(raw, s.Scrub)
}

// Restore puts the values back where a text refers to them. A reference to a
// secret that is not known stays.
func (s *Secrets) Restore(text string) string {
	if s == nil || s.restorer == nil {
		return text
	}
	return s.restorer.Replace(text)
}
