package redact

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
)

// Least is how many bytes a secret must have. A shorter value stands in too
// many texts by chance: taking out all of them would give more away, and spoil
// more, than leaving it.
const Least = 6

// Secrets are values that no event may hold. They are safe for concurrent use;
// a nil *Secrets has none.
type Secrets struct {
	values  map[string]string
	learned *Learned // nil: no others come to be known
	known   atomic.Pointer[table]
}

// A table finds secrets. It is immutable; a nil *table has none.
type table struct {
	version int64    // of what was learned
	marks   []string // by name in the tries, less one
	plain   trie
	coded   trie // base64 and hexadecimal, which programs break into lines
	first   [256]bool
}

// New prepares secrets by name. What is empty is left out. The error names
// every value that is too short to be found, and every name that cannot stand
// in a reference, and never a value; the other secrets are prepared all the same.
func New(values map[string]string) (*Secrets, error) {
	if len(values) == 0 {
		return nil, nil
	}
	s := &Secrets{values: map[string]string{}}
	var errs []error
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
		}
	}
	if len(s.values) == 0 {
		return nil, errors.Join(errs...)
	}
	s.known.Store(s.table(nil, 0))
	return s, errors.Join(errs...)
}

// table is a table of the values and of those that were learned.
func (s *Secrets) table(learned []pair, version int64) *table {
	t := &table{version: version, coded: trie{wraps: true}}
	for _, name := range slices.Sorted(maps.Keys(s.values)) {
		t.add(name, s.values[name])
	}
	for _, p := range learned {
		t.add(p.name, p.value)
	}
	for c, begins := range escaping {
		t.first[c] = t.first[c] || begins
	}
	for i, mark := range t.marks { // what was scrubbed stays as it is
		t.plain.add(mark, int32(i+1))
		t.first[mark[0]] = true
	}
	return t
}

func (t *table) add(name, value string) {
	t.marks = append(t.marks, opening+name+closing)
	at := int32(len(t.marks))
	plain, coded := forms(strings.TrimSpace(value))
	for _, p := range plain {
		t.plain.add(p, at)
		t.first[p[0]] = true
	}
	for _, p := range coded {
		t.coded.add(p, at)
		t.first[p[0]] = true
	}
}

// current is the table that has all secrets which are known now; nil: there are none.
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
		s.known.Store(t) // another may do the same at the same time
	}
	return t
}

// None reports whether no secret is known now.
func (s *Secrets) None() bool { return s.current() == nil }

const opening, closing = "{{secret:", "}}"

func unnameable(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-' && r != '.'
}

// Scrub replaces every secret in a text, plain or encoded, by its reference.
func (s *Secrets) Scrub(text string) string {
	done, _ := s.current().scrub(text, true)
	return done
}

// scrub returns the text scrubbed, and how much of its end it left alone
// because a secret may begin there; nothing if the text is whole.
func (t *table) scrub(text string, whole bool) (done string, held int) {
	if t == nil {
		return text, 0
	}
	var b []byte
	rest := 0
	for i := 0; i < len(text); {
		if !t.first[text[i]] {
			i++
			continue
		}
		end, name, more := t.plain.match(text, i)
		if e, n, m := t.coded.match(text, i); m || e > end {
			more = more || m
			if e > end {
				end, name = e, n
			}
		}
		switch {
		case more && !whole:
			return string(append(b, text[rest:i]...)), len(text) - i
		case end == 0:
			i++
		default:
			b = append(append(b, text[rest:i]...), t.marks[name-1]...)
			i, rest = end, end
		}
	}
	if b == nil {
		return text, 0
	}
	return string(append(b, text[rest:]...)), 0
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
	if s == nil {
		return text
	}
	var b strings.Builder
	for {
		i := strings.Index(text, opening)
		if i < 0 {
			break
		}
		from := i + len(opening)
		n := strings.Index(text[from:], closing)
		if n < 0 {
			break
		}
		value, known := s.values[text[from:from+n]]
		if !known { // another reference may begin within what looked like one
			b.WriteString(text[:from])
			text = text[from:]
			continue
		}
		b.WriteString(text[:i])
		b.WriteString(value)
		text = text[from+n+len(closing):]
	}
	if b.Len() == 0 {
		return text
	}
	b.WriteString(text)
	return b.String()
}
