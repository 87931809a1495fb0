package goedit

import "strings"

// opposites are words that come in sets, of which people take the wrong one.
var opposites = wordSets(
	"start end stop", "begin end finish", "first last", "head tail", "front back", "lo hi", "low high mid", "left right",
	"min max", "lower upper", "floor ceil round trunc", "before after", "prefix suffix", "next prev", "previous next current cur",
	"push pop peek", "width height depth", "row col", "rows cols", "src dst", "source target dest", "old new", "key val value",
	"from to", "in out", "read write", "add sub remove delete", "total count sum", "parent child", "debit credit", "get set",
	"enqueue dequeue", "open close closed", "lock unlock rlock runlock", "north south east west", "top bottom", "up down", "inc dec",
	"x y z", "i j k", "a b c", "m n", "p q", "s t", "r c", "w h", "l r", "u v", "second minute hour millisecond", "year month day",
	"seconds minutes hours milliseconds", "len cap size", "name title label id", "price cost amount", "and or", "any all none",
	"true false", "locked unlocked", "enabled disabled", "active inactive", "valid invalid", "found missing", "success failure error", "pending active done", "encode decode", "marshal unmarshal", "index idx pos offset",
	"used free", "want got", "input output", "request response", "buy sell", "ask bid", "even odd", "letter digit space", "first second third",
)

func wordSets(sets ...string) map[string][]int {
	out := map[string][]int{}
	for i, s := range sets {
		for w := range strings.FieldsSeq(s) {
			out[w] = append(out[w], i)
		}
	}
	return out
}

func opposed(a, b string) bool {
	for _, i := range opposites[a] {
		for _, j := range opposites[b] {
			if i == j && a != b {
				return true
			}
		}
	}
	return false
}

// likeness says how easily one name is written for another: about one for two unrelated
// names, more for names that differ in one word of a pair, or in a letter.
func likeness(a, b string) float64 {
	x, y := parts(a), parts(b)
	if len(x) == len(y) {
		differ, pair := 0, false
		for i := range x {
			if x[i] != y[i] {
				differ++
				pair = opposed(x[i], y[i])
			}
		}
		switch {
		case differ == 1 && pair:
			return 2.2
		case differ == 1 && len(x) > 1:
			return 1.7
		}
	}
	shared := 0
	for _, w := range x {
		for _, v := range y {
			if w == v {
				shared++
			}
		}
	}
	switch {
	case shared > 0:
		return 1.5
	case min(len(a), len(b)) > 2 && (strings.HasSuffix(strings.ToLower(a), strings.ToLower(b)) || strings.HasSuffix(strings.ToLower(b), strings.ToLower(a))):
		return 1.5
	case len(a) == 1 && len(b) == 1:
		return 1.3
	case prefix(strings.ToLower(a), strings.ToLower(b))*2 >= min(len(a), len(b)) && min(len(a), len(b)) > 1:
		return 1.4
	}
	return 1
}

// parts splits a name into its words, short ones included.
func parts(name string) []string {
	var out []string
	start := 0
	for i := 1; i <= len(name); i++ {
		if i == len(name) || name[i] == '_' || upper(name[i]) && !upper(name[i-1]) {
			if w := strings.ToLower(strings.Trim(name[start:i], "_")); w != "" {
				out = append(out, w)
			}
			start = i
		}
	}
	return out
}

func upper(c byte) bool { return 'A' <= c && c <= 'Z' }

func prefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
