package progress

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pawl-run/pawl/internal/meter"
)

// trailOf reads turns, oldest first. A letter is the result of a turn, a dot an
// answer; !x is its fault, ~x its thought, * says that it changed something, and
// =v that it left the goal at v, with what is open behind colons.
func trailOf(text string) trail {
	t := trail{before: &meter.Measure{}, scale: meter.ScaleOf("metric >= 100")}
	for i, word := range strings.Fields(text) {
		u := turn{iteration: i + 1, answer: word[0] == '.', outcome: uint64(word[0]) << 8}
		word, measure, measured := strings.Cut(word, "=")
		if measured {
			value, open, _ := strings.Cut(measure, ":")
			v, err := strconv.ParseFloat(value, 64)
			if err != nil {
				panic(err)
			}
			u.measure = &meter.Measure{Value: v}
			if open != "" {
				u.measure.Open = strings.Split(open, ":")
			}
		}
		for k := 1; k < len(word); k++ {
			switch word[k] {
			case '*':
				u.changed = true
			case '!':
				u.fault, k = uint64(word[k+1]), k+1
			case '~':
				u.thought, k = uint64(word[k+1]), k+1
			}
		}
		if u.answer {
			u.outcome = 0
		}
		t.turns = append(t.turns, u)
	}
	slices.Reverse(t.turns)
	return t
}

// sameWords finds the results of turns by the first letter of their outcome, in
// either case: a and A came to the same.
func (t *trail) sameWords(from, to int) bool {
	words := map[uint64]bool{}
	for _, u := range t.turns {
		if u.iteration >= from && u.iteration <= to && u.fault == 0 {
			words[u.outcome>>8|0x20] = true
		}
	}
	return len(words) <= 1
}

// TestForeignLoop: a loop that asks for text turn by turn gets it.
func TestForeignLoop(t *testing.T) {
	for turns, want := range map[string]pattern{
		".~a .~b .~c":                         none,
		".~a .~a .~a":                         monologue,
		".~a . .~a":                           none,
		"A .~a A .~b A":                       stalled, // as it always was
		"A .~a A .~b A .~c A .~d":             none,
		"A .~a B .~a A .~a B .~a A .~a B .~a": cycle,
		".~a .~b .~a .~b .~a .~b":             cycle,
	} {
		tr := trailOf(turns)
		tr.foreign = true
		if got := tr.look(2, Patience(2), tr.sameWords).pattern; got != want {
			t.Errorf("%s: %v, want %v", turns, got, want)
		}
	}
}
