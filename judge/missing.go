package judge

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/naming"
)

var (
	headings  = naming.Regexp(`(?m)^\s*#+ .*$|^\s*\(?\d{1,4}(?:\.\d+)*[.)]\s`) // and list numbers
	quotation = naming.Regexp(`"([^"\n]+)"|“([^”\n]+)”|„([^“”\n]+)[“”]|«([^»\n]+)»|「([^」\n]+)」`)
	address   = naming.Regexp("https?://(?:www\\.)?([^\\s<>\"'`|)\\]]*[\\p{L}\\p{N}/])")
	word      = naming.Regexp(`[\p{Lu}\p{Ll}\p{N}_]+(?:[-.:@+]+[\p{Lu}\p{Ll}\p{N}_]+)*`)
	// identifier tells T-100, c_12, 3fa85f64, ann@example.org and 1.2.3 from words
	// with a number, such as 24h and mid-2024.
	identifier = naming.Regexp(`^[\x20-\x7e]*(?:[A-Z][-_]?\d|\b[a-z][-_]\d|\d[A-Za-z]+\d+[A-Za-z]|@.+\.|^v?\d+\.\d+\.\d)[\x20-\x7e]*$`)
	thousands  = naming.Regexp(`^\d{1,3}(?:\.\d{3})+$`)
	hash       = naming.Regexp(`^[0-9a-f]{7,40}$`)
	// spaced is an identifier in groups, such as DE89 3704 0044 0532 0130 00.
	spaced = naming.Regexp(`\b[A-Z0-9]{2,6}(?:[ -][A-Z0-9]{1,6}){2,}\b`)
	// numberShape matches a number with any thousands and decimal separators.
	// [readings] decides whether 1.000 is a thousand or one.
	numberShape = naming.Regexp(`\d{1,3}(?:[ \x{a0}\x{202f}\x{2009}]\d{3})+(?:[.,]\d+)?\b|\d+(?:[.,'’_]\d+)*`)
)

// leastQuote is the fewest characters of a checked one-word quotation; in
// Chinese or Japanese that is a sentence. Shorter ones mostly highlight a word.
const leastQuote = 16

// missing lists the unknown values of an answer: quotations, URLs, dates,
// identifiers and numbers. It skips code, headings, and numbers of one or two
// digits without a currency or %, because they count things and steps.
func (k *known) missing(answer string) (all []string) {
	miss := func(value string) {
		if value = short(strings.TrimSpace(value), mostValue); !k.full && !slices.Contains(all, value) {
			all = append(all, value)
		}
	}
	if isDocument(answer) {
		scalars(json.RawMessage(answer), func(v string) {
			if !isNumber(v) {
				k.look(v, miss)
			} else if digits(v) >= 3 && !k.counts(v, 0) { // a short one is often a score or a rank
				miss(v)
			}
		})
		return all
	}
	text := headings().ReplaceAllString(codeBlock.ReplaceAllString(answer, " "), " ")
	for _, m := range quotation().FindAllStringSubmatch(text, -1) {
		quoted := strings.Join(m[1:], "") // only one is not empty
		for part := range strings.SplitSeq(strings.ReplaceAll(quoted, "...", "…"), "…") {
			if words := strings.Count(flat(quoted), " "); (words > 1 || utf8.RuneCountInString(quoted) >= leastQuote) && !strings.Contains(k.text.String(), strings.TrimSpace(flat(display.Digits(part)))) {
				miss(m[0])
				break
			}
		}
	}
	k.look(text, miss)
	return all
}

// gone replaces a checked value, so that its neighbours do not join.
const gone = " ¦ "

// look checks the values in a text, the larger kinds first.
func (k *known) look(text string, miss func(string)) {
	text = address().ReplaceAllStringFunc(display.Digits(text), func(url string) string {
		if !k.says(address().FindStringSubmatch(url)[1]) {
			miss(url)
		}
		return gone
	})
	text = dates(text, func(written string, days []string) string {
		if !k.says(written) && !slices.ContainsFunc(days, func(day string) bool { return k.dates[day] || k.dates["any"+day[len(day)-len("-01-02"):]] }) {
			miss(written)
		}
		return gone
	})
	text = spaced().ReplaceAllStringFunc(text, func(id string) string {
		switch {
		case digits(id) < 8:
			return id
		case k.spells(id):
			return gone
		case identifier().MatchString(id[:strings.IndexAny(id, " -")]):
			miss(id)
			return gone
		}
		return id // adjacent numbers
	})
	text = word().ReplaceAllStringFunc(text, func(w string) string {
		if !identifier().MatchString(w) || len(w) < 4 || digits(w) < 2 && !strings.Contains(w, "@") || thousands().MatchString(w) {
			return w
		}
		if !k.says(w) && !(len(w) >= leastSpelled && k.spells(w)) && !(hash().MatchString(w) && strings.Contains(k.text.String(), " "+w)) { // a hash may be abbreviated
			miss(w)
		}
		return gone
	})
	for _, at := range numberShape().FindAllStringIndex(text, -1) {
		n := text[at[0]:at[1]]
		last, _ := utf8.DecodeLastRuneInString(text[:at[0]])
		unit, _ := utf8.DecodeRuneInString(strings.TrimLeft(text[at[1]:], spaces))
		amount := n
		if sign, _ := utf8.DecodeLastRuneInString(strings.TrimRight(text[:at[0]], spaces)); unicode.Is(unicode.Sc, sign) {
			unit, amount = sign, string(sign)+n
		} else if unit == '%' || unicode.Is(unicode.Sc, unit) {
			amount += string(unit)
		}
		long := len(n) > 2 && !strings.Contains(n, ",") || slices.ContainsFunc(strings.FieldsFunc(n, notDigit), func(g string) bool { return len(g) > 2 })
		switch {
		case last < 0x80 && unicode.IsLetter(last): // of a word such as int64
		case !long && amount == n: // one or, in 5,6, several
		case !k.counts(n, unit):
			miss(amount)
		}
	}
}

const spaces = " \u00a0\u202f"

func notDigit(r rune) bool { return !unicode.IsDigit(r) }

// A reading is one meaning of a number. Place is the value of its last
// significant digit.
type reading struct{ value, place float64 }

// readings lists the possible meanings of a number.
func readings(n string) (all []reading) {
	groups := strings.FieldsFunc(n, notDigit)
	last := len(groups) - 1
	grouped := func(groups []string) bool { // 1,234,567 or 12,34,567
		last := len(groups) - 1
		return last == 0 || len(groups[0]) <= 3 && len(groups[last]) == 3 &&
			(!slices.ContainsFunc(groups[1:last], func(g string) bool { return len(g) != 3 }) || !slices.ContainsFunc(groups[1:last], func(g string) bool { return len(g) != 2 }))
	}
	if whole := strings.Join(groups, ""); grouped(groups) {
		v, _ := strconv.ParseFloat(whole, 64) // digits are a number
		place := 1.0
		if said := strings.TrimRight(whole, "0"); len(said) > 1 && len(whole)-len(said) > 1 {
			place = math.Pow10(len(whole) - len(said)) // 1,300 may be 1,250
		}
		all = append(all, reading{v, place})
	}
	if last > 0 && strings.ContainsAny(n[len(n)-len(groups[last])-1:], ".,") && grouped(groups[:last]) {
		v, _ := strconv.ParseFloat(strings.Join(groups[:last], "")+"."+groups[last], 64)
		all = append(all, reading{v, math.Pow10(-len(groups[last]))})
	}
	return all
}

// factors convert a number to a smaller unit: dollars to cents, thousands,
// bytes and times to ones. The first converts a percentage to a fraction.
var factors = []float64{0.01, 1, 100, 1e3, 1e6, 1e9, 1 << 10, 1 << 20, 1 << 30, 60, 3600, 86400}

// counts reports whether a number is known: exactly, rounded, or in a smaller
// unit. A second reading must match exactly, or 12,000 would be 1200 cents.
func (k *known) counts(n string, unit rune) bool {
	if len(n) >= leastSpelled && strings.IndexFunc(n, notDigit) < 0 && (!strings.HasSuffix(n, "00") || k.spells(n)) {
		return k.spells(n) // an account or phone number must match exactly
	}
	all := readings(n)
	for second, r := range all {
		if r.value == 0 || unit == '%' && r.value == 100 {
			return true
		}
		for _, f := range factors {
			i, _ := slices.BinarySearch(k.numbers, (r.value-r.place/2)*f*(1-1e-12))
			in := i < len(k.numbers) && k.numbers[i] <= (r.value+r.place/2)*f*(1+1e-12)
			if in && (f == 1 || second == 0 && (f < 1) == (unit == '%')) {
				return true
			}
		}
	}
	parts := strings.Fields(n) // which may be adjacent numbers
	return len(all) == 0 || len(parts) > 1 && !slices.ContainsFunc(parts, func(part string) bool { return !k.counts(part, 0) })
}
