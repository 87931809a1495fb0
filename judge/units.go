package judge

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

var (
	// currency is a word or a code that makes a number an amount.
	currency = regexp.MustCompile(`^(?:(?i:dollars?|euros?|pounds?|cents?|pence|pesos?|rupees?|francs?|franken|yen|yuan|won|bucks|kron[aeo]r?|z[lł]oty(?:ch)?|dólares|reais|libras)|USD|EUR|GBP|CHF|JPY|CNY|INR|AUD|CAD|NZD|SGD|HKD|SEK|NOK|DKK|PLN|CZK|HUF|RON|BRL|MXN|ZAR|KRW|TRY|ILS|AED|SAR|THB|IDR|UAH)$`)
	scale    = regexp.MustCompile(`^(?i:k|m|mn|mio|bn|tsd|thousand|million(?:en|s)?|billion(?:en|s)?|tausend|milliarden?|mille|mil|lakh|crore)$`)
	// ordinary are words with a digit that everybody writes, and which name nothing of a run.
	ordinary = regexp.MustCompile(`^(?:A[0-6]|Q[1-4]|H[12]|[1-4]D|[2-6]G|[248]K|\d+[KMBPX]|B2[BCE]|C2[BC]|P2P|G7|G8|G20|F1|CO2|H2O|O2|N2|MP[34]|S3|EC2|R2|HTML5|CSS3|ES\d+|UTF-?\d+|SHA-?\d+|MD5|ISO-?\d+|COVID-?19|GPT-?\d+|WW[12]|PS\d|USB-?\d|24/7)$`)
	shortID  = regexp.MustCompile(`^(?:[A-Z]{1,4}[-_]?\d{1,3}|[a-z][-_]\d{1,3}|\d{1,3}[-_]?[A-Z]{1,3})$`)
	numeral  = regexp.MustCompile(`(?:^|[^\w&])(#(\d{1,3}))\b`)
	clock    = regexp.MustCompile(`(\d{1,2}):([0-5]\d)(?::[0-5]\d)?(?:[ \x{a0}]?([aApP])\.?[mM]\b)?|\b(1[0-2]|[1-9])[ \x{a0}]?([aApP])\.?[mM]\b`)
	zone     = regexp.MustCompile(`^\s?\(?(?:[A-Z]{1,4}T|[A-Z]{3,5})\b`)
	monthly  = regexp.MustCompile(`(\p{L}{3,10})\.?,?\s+(?:of |de |del )?((?:19|20)\d\d)\b`)
	routine  = regexp.MustCompile(`(?i)\b(?:24 hours (?:a|per) day|7 days (?:a|per) week)\b`)
)

// lengths are the units of time by the beginning of their names, in seconds, the longest names first.
var lengths = []struct {
	name    *regexp.Regexp
	seconds float64
}{
	{regexp.MustCompile(`^(?i:ms|milliseconds?|millisekunden?)$`), 0.001},
	{regexp.MustCompile(`^(?i:s|secs?|seconds?|sekunden?|segundos?|secondes?)$`), 1},
	{regexp.MustCompile(`^(?i:mins?|minutes?|minuten?|minutos?)$`), 60},
	{regexp.MustCompile(`^(?i:h|hrs?|hours?|stunden?|heures?|horas?)$`), 3600},
	{regexp.MustCompile(`^(?i:days?|tage?n?|jours?|d[ií]as?)$`), 86400},
	{regexp.MustCompile(`^(?i:weeks?|wochen?|semaines?|semanas?)$`), 7 * 86400},
	{regexp.MustCompile(`^(?i:months?|monate?n?|mois|mes(?:es)?)$`), 30 * 86400},
	{regexp.MustCompile(`^(?i:years?|jahre?n?|ans|années?|años?)$`), 360 * 86400}, // twelve months
}

// spelled are numbers that results write as words.
var spelled = strings.Fields("zero one two three four five six seven eight nine ten eleven twelve")

// unitAfter returns the word after a number, and the one after that.
func unitAfter(text string) (first, second string) {
	words := strings.FieldsFunc(text[:min(len(text), 40)], func(r rune) bool { return unicode.IsSpace(r) || r == '-' })
	begins := func(i int) string {
		if i >= len(words) || i == 0 && strings.IndexFunc(text, func(r rune) bool { return !unicode.IsSpace(r) && r != '-' }) > 2 {
			return ""
		}
		end := strings.IndexFunc(words[i], func(r rune) bool { return !unicode.IsLetter(r) })
		if end < 0 {
			end = len(words[i])
		}
		return words[i][:end]
	}
	return begins(0), begins(1)
}

// measured checks a number that is an amount or a length of time: it reports whether it is one, how it
// is written, and whether it is known.
func (k *known) measured(text string, from, to int) (is bool, written string, ok bool) {
	n := text[from:to]
	first, second := unitAfter(text[to:])
	before := strings.TrimRight(text[max(0, from-5):from], " \u00a0")
	code := before[max(0, len(before)-3):]
	sign, _ := utf8.DecodeLastRuneInString(strings.TrimRight(before, "-−"))
	next, _ := utf8.DecodeRuneInString(strings.TrimLeft(text[to:], " \u00a0\u202f"))
	scaled := scale.MatchString(first)
	if scaled {
		first = second
	}
	switch {
	case unicode.Is(unicode.Sc, sign):
		written = string(sign) + n
	case unicode.Is(unicode.Sc, next):
		written = n + string(next)
	case currency.MatchString(first):
		written = n + " " + first
	case len(code) == 3 && code == strings.ToUpper(code) && currency.MatchString(code) && !endsInLetter(before[:len(before)-3]):
		written = code + " " + n
	default:
		for _, unit := range lengths {
			if !scaled && unit.name.MatchString(first) {
				return true, n + " " + first, k.lasts(n, unit.seconds)
			}
		}
		return false, "", false
	}
	all := readings(n)
	if scaled || len(all) == 0 || all[0].value >= 1000 {
		return true, written, k.counts(n, '$')
	}
	return true, written, slices.ContainsFunc(all, func(r reading) bool {
		return r.value == 0 || k.has(r.value, r.place) || k.has(100*r.value, 100*r.place)
	})
}

func endsInLetter(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(s)
	return unicode.IsLetter(r)
}

// has reports whether a number that is part of nothing else is known, rounded to a place.
func (k *known) has(value, place float64) bool {
	i, _ := slices.BinarySearch(k.alone, (value-place/2)*(1-1e-12))
	return i < len(k.alone) && k.alone[i] <= (value+place/2)*(1+1e-12)
}

// lasts reports whether a length of time is known: in any unit, or as the time between two known days or
// two known times of day.
func (k *known) lasts(n string, seconds float64) bool {
	for _, r := range readings(n) {
		for _, unit := range lengths {
			f := seconds / unit.seconds
			if long := 30 * 86400.0; (seconds < long) != (unit.seconds < long) {
				continue // no month has a fixed number of days
			}
			if r.value == 0 || k.has(r.value*f, min(r.place, r.value/5)*f) {
				return true
			}
		}
		between := func(points []float64, day float64) bool {
			for i, a := range points {
				for _, b := range points[i+1:] {
					if d := math.Abs(a - b); math.Abs(d-r.value*seconds) <= r.place*seconds/2 || day > 0 && math.Abs(day-d-r.value*seconds) <= r.place*seconds/2 {
						return true
					}
				}
			}
			return false
		}
		var days, minutes []float64
		for written := range k.dates {
			if day, err := time.Parse(time.DateOnly, written); err == nil && len(days) < mostPoints {
				days = append(days, float64(day.Unix()))
			}
		}
		for minute := range k.minutes {
			if len(minutes) < mostPoints {
				minutes = append(minutes, float64(60*minute))
			}
		}
		if between(days, 0) || between(minutes, 86400) {
			return true
		}
	}
	return false
}

// mostPoints bounds the days and times between which a length of time is looked for.
const mostPoints = 300

// times checks the times of day and the months in a text, and what is written as #12.
func (k *known) times(text string, miss func(string)) string {
	text = routine.ReplaceAllString(text, gone)
	text = monthly.ReplaceAllStringFunc(text, func(written string) string {
		m := monthly.FindStringSubmatch(written)
		days := day(m[2], m[1], "1")
		if days == nil {
			return written
		}
		if month := days[0][:len("2026-06")]; !k.months[month] && !k.months["any"+month[4:]] {
			miss(written)
		}
		return gone
	})
	var b strings.Builder
	done := 0
	for _, at := range clock.FindAllStringIndex(text, -1) {
		minutes := minutesOf(text[at[0]:at[1]])
		if from := text[:at[0]]; minutes == nil || from != "" && (isWord(from[len(from)-1]) || from[len(from)-1] == ':') || strings.HasPrefix(text[at[1]:], ":") {
			continue // a length such as 1:05:33, or part of an address
		}
		abroad := zone.FindString(text[at[1]:])
		moved := abroad != "" && !strings.Contains(abroad, "UTC") && !strings.Contains(abroad, "GMT")
		if !slices.ContainsFunc(minutes, func(m int) bool { return k.minutes[m] || moved && k.pastHour[m%60] }) {
			miss(text[at[0]:at[1]])
		}
		b.WriteString(text[done:at[0]] + gone)
		done = at[1]
	}
	text = b.String() + text[done:]
	for _, m := range numeral.FindAllStringSubmatch(text, -1) {
		n, _ := strconv.ParseFloat(m[2], 64)
		if _, found := slices.BinarySearch(k.numbers, n); n > 1 && !found {
			miss(m[1])
		}
	}
	return text
}

// minutesOf returns the minutes of the day that a time may mean; nil: it is none.
func minutesOf(written string) []int {
	m := clock.FindStringSubmatch(written)
	hour, _ := strconv.Atoi(m[1] + m[4])
	minute, _ := strconv.Atoi(m[2])
	half := strings.ToLower(m[3] + m[5])
	switch at := hour%12*60 + minute; {
	case hour > 24 || half != "" && hour > 12:
		return nil
	case half == "a":
		return []int{at}
	case half == "p":
		return []int{at + 720}
	case hour > 12 || m[1][0] == '0':
		return []int{hour%24*60 + minute}
	default:
		return []int{at, at + 720}
	}
}

// addTimes adds the times of day, the months, the numbers in words, and those that are part of
// nothing else.
func (k *known) addTimes(text string) {
	alone := dates(text, func(string, []string) string { return gone })
	alone = clock.ReplaceAllString(alone, gone)
	alone = word.ReplaceAllStringFunc(alone, func(w string) string {
		if shortID.MatchString(w) || identifier.MatchString(w) {
			return gone
		}
		return w
	})
	for _, n := range numberShape.FindAllString(alone, -1) {
		for _, r := range readings(n) {
			k.alone = append(k.alone, r.value)
		}
	}
	for _, written := range clock.FindAllString(text, -1) {
		for _, minute := range minutesOf(written) {
			k.minutes[minute], k.pastHour[minute%60] = true, true
		}
	}
	for _, m := range monthly.FindAllStringSubmatch(text, -1) {
		if days := day(m[2], m[1], "1"); days != nil {
			k.months[days[0][:len("2026-06")]] = true
		}
	}
	for _, m := range isoMonth.FindAllStringSubmatch(text, -1) {
		k.months[m[1]] = true
	}
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) }) {
		if i := slices.Index(spelled, word); i > 0 {
			k.alone = append(k.alone, float64(i))
		}
	}
}

var isoMonth = regexp.MustCompile(`\b((?:19|20)\d\d-(?:0[1-9]|1[0-2]))\b`)
