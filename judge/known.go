package judge

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/wire"
)

// known holds the values that the run's input and results contain.
type known struct {
	text    strings.Builder // as flat returns it
	solid   string          // the same without spaces
	starts  []int           // offsets of the words in solid, and its length
	numbers []float64       // sorted
	dates   map[string]bool // 2026-03-12, -03-12 for that day of any year, any-03-12 where no year is given
	full    bool            // something was left out, so no value counts as missing
}

// mostKnown is the most bytes that are read.
const mostKnown = 1 << 20

// own is the prefix of the machine's tools, whose arguments are the model's own
// words.
const own = "__"

// knownTo gathers the values of the prompt, people, observations and tools, in
// this run and the earlier runs of its thread. A one-word argument of a
// successful call counts, because the tool accepted it. Longer arguments are
// the model's own words, unless the call changed something: then they describe
// the change.
func knownTo(s *pawl.State) *known {
	k := &known{dates: map[string]bool{}, full: s.Internals().Window().Images > 0} // a picture may show any value
	d := s.Declaration()
	k.add(d.Prompt + "\n" + string(d.Steps) + "\n" + s.Seen())
	for _, t := range d.Tools {
		k.add(t.Description + "\n" + string(t.Input))
	}
	for text := range s.UserTexts() {
		k.add(text)
	}
	if v, ok := s.Metric(); ok {
		k.add(strconv.FormatFloat(v, 'f', -1, 64))
	}
	k.add(s.Head().Created.Format("2006-01-02"))
	for run, ok := s, true; ok; run, ok = run.Earlier() {
		for c := range run.Recent() {
			if strings.HasPrefix(c.Tool, own) {
				continue
			}
			k.add(c.Error)
			scalars(c.Result, k.add)
			if c.OK() {
				scalars(ran(c), func(v string) {
					if len(v) <= mostLength && (c.Effect != pawl.Read || !strings.Contains(v, " ")) {
						k.add(v)
					}
				})
			}
		}
	}
	k.seal()
	return k
}

// seal prepares the added texts for searching.
func (k *known) seal() {
	k.text.WriteByte(' ')
	slices.Sort(k.numbers)
	words := strings.Fields(k.text.String())
	k.solid = strings.Join(words, "")
	end := 0
	for _, w := range words {
		k.starts = append(k.starts, end)
		end += len(w)
	}
	k.starts = append(k.starts, end)
}

// add adds the values of a text.
func (k *known) add(text string) {
	if k.full = k.full || k.text.Len() > mostKnown; k.full {
		return
	}
	text = display.Digits(text)
	k.text.WriteString(flat(text))
	text = dates(text, func(written string, days []string) string {
		for _, day := range days {
			if k.dates[day] = true; day[0] == '-' {
				k.dates["any"+day] = true
			} else {
				k.dates[day[4:]] = true
				written = day[:4] // 2026-03-12 says nothing about 12%
			}
		}
		return written
	})
	for _, n := range numberShape().FindAllString(text, -1) {
		for _, r := range readings(n) {
			k.numbers = append(k.numbers, r.value)
		}
		for part := range strings.FieldsFuncSeq(n, notDigit) { // versions, lists, telephone numbers
			if v, err := strconv.ParseFloat(part, 64); err == nil {
				k.numbers = append(k.numbers, v)
			}
		}
	}
}

// says reports whether the words of a text occur in this order.
func (k *known) says(text string) bool { return strings.Contains(k.text.String(), flat(text)+" ") }

// leastSpelled is the length from which a value is known however it is grouped.
const leastSpelled = 10

// spells reports whether an identifier occurs, however either is grouped: DE89
// 3704 0044 is DE8937040044.
func (k *known) spells(id string) bool {
	id = strings.ReplaceAll(flat(id), " ", "")
	for from := 0; ; from++ {
		at := strings.Index(k.solid[from:], id)
		if at < 0 {
			return false
		}
		from += at
		_, begins := slices.BinarySearch(k.starts, from)
		if _, ends := slices.BinarySearch(k.starts, from+len(id)); begins && ends {
			return true
		}
	}
}

// flat returns the words of a text in lower case, each after one space, so that
// T-100 equals t_100. Letters of scripts without case separate words: T-100は
// contains T-100.
func flat(text string) string {
	var b strings.Builder
	const none, caseless, other = 0, 1, 2
	before := none
	for _, r := range text {
		kind := none
		switch {
		case unicode.Is(unicode.Lo, r):
			kind = caseless
		case unicode.IsLetter(r), unicode.IsDigit(r):
			kind = other
		}
		if kind != none && kind != before {
			b.WriteByte(' ')
		}
		if before = kind; kind != none {
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return b.String()
}

// scalars yields the keys, strings and numbers of a JSON document, or of the
// document in a JSON string.
func scalars(raw json.RawMessage, yield func(string)) {
	text := wire.Plain(raw)
	if text != string(raw) && !isDocument(text) {
		yield(text)
		return
	}
	wire.Scalars([]byte(text), func(kind byte, t string) {
		if v, err := strconv.ParseFloat(t, 64); kind == '0' && err == nil && strings.ContainsAny(t, "eE") {
			t = strconv.FormatFloat(v, 'f', -1, 64) // 1e6
		}
		yield(t)
	})
}
