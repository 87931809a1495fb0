package redact

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
)

// Least is how many bytes a secret must have. A shorter value stands in many texts
// by chance. Replacing it would spoil these texts, and show what the value is.
const Least = 6

// Secrets are values that no event may hold. They are safe for concurrent use;
// a nil *Secrets has none.
type Secrets struct {
	values   map[string]string
	restorer *strings.Replacer // from references to values; nil: there are no values
	learned  *Learned          // nil: no others become known
	known    atomic.Pointer[table]
}

// New prepares secrets by name. It leaves out empty values. The error names
// every value that is too short to be found, and every name that cannot stand
// in a reference, and never a value; the other secrets are prepared all the same.
func New(values map[string]string) (*Secrets, error) {
	s := &Secrets{values: map[string]string{}}
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
			s.values[name] = value
			references = append(references, opening+name+closing, value)
		}
	}
	if len(s.values) == 0 {
		return nil, errors.Join(errs...)
	}
	s.restorer = strings.NewReplacer(references...)
	s.known.Store(s.table(nil, 0))
	return s, errors.Join(errs...)
}

const opening, closing = "{{secret:", "}}"

func unnameable(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-' && r != '.'
}

// A table finds secrets. It is immutable; a nil *table has none.
type table struct {
	version int64 // of the learned values
	first   [256][]pattern
}

// table returns a table of the values and of those that were learned.
func (s *Secrets) table(learned []pair, version int64) *table {
	t := &table{version: version}
	for _, name := range slices.Sorted(maps.Keys(s.values)) {
		t.add(name, s.values[name])
	}
	for _, p := range learned {
		t.add(p.name, p.value)
	}
	return t
}

func (t *table) add(name, value string) {
	mark := opening + name + closing
	all := append(patterns(strings.TrimSpace(value), mark), pattern{mark, mark, verbatim}) // what was scrubbed stays as it is
	for _, p := range all {
		t.first[p.text[0]] = append(t.first[p.text[0]], p)
	}
}

// current returns the table of all secrets that are known now; nil means none.
func (s *Secrets) current() *table {
	if s == nil {
		return nil
	}
	t := s.known.Load()
	if s.learned == nil {
		return t
	}
	if pairs, version := s.learned.since(t); pairs != nil {
		t = s.table(pairs, version)
		s.known.Store(t) // another goroutine may do the same at the same time
	}
	return t
}

// None reports whether no secret is known now.
func (s *Secrets) None() bool { return s.current() == nil }

// Scrub replaces every secret in a text, plain or encoded, by its reference.
func (s *Secrets) Scrub(text string) string {
	done, _ := s.current().scrub(text, true)
	return done
}

// scrub returns the scrubbed text. If the text is not whole, held is the length of
// its end that was left out because a secret may begin there.
func (t *table) scrub(text string, whole bool) (done string, held int) {
	if t == nil {
		return text, 0
	}
	var b strings.Builder
	rest := 0
	for i := 0; i < len(text); {
		end, mark, more := t.match(text, i)
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
func (t *table) match(text string, from int) (end int, mark string, more bool) {
	lists := [2][]pattern{t.first[text[from]]}
	if strings.IndexByte(escapes, text[from]) >= 0 {
		char, n, half := unescape(text[from:])
		if more = half; n > 0 && char[0] != text[from] {
			lists[1] = t.first[char[0]]
		}
	}
	for _, list := range lists {
		for k := range list {
			e, m := list[k].match(text, from)
			if more = more || m; e > end {
				end, mark = e, list[k].mark
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
