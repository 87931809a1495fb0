package progress

import (
	"fmt"
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

func (f finding) String() string {
	if f.pattern == none {
		return "none"
	}
	return fmt.Sprintf("%s of %d turns, %d times", f.leaf(2, 12), f.turns, f.times)
}

func TestPatterns(t *testing.T) {
	for _, c := range []struct{ turns, want string }{ // in a window of 2
		{"", "none"},
		{"A A", "none"},
		{"A A A", "stalled(2) of 3 turns, 2 times"},
		{"B A A A", "stalled(2) of 3 turns, 2 times"},
		{"A A A A", "stalled(2) of 4 turns, 3 times"},
		{"A A A B", "none"},
		{"A . A . A", "stalled(2) of 5 turns, 2 times"}, // answers between do not count
		{"A A A .", "none"},                             // it did something else
		{"A=1 A=2 A=3", "none"},                         // it gets better by it
		{"A=3 A=2 A=1", "stalled(2) of 3 turns, 2 times"},
		{"A=3 A=1 A=2", "stalled(2) of 3 turns, 2 times"}, // up, but not where it was
		{"A=1 A=2 A=2 A=2", "stalled(2) of 3 turns, 2 times"},
		{"A=1:x:y A=1:x A=1", "none"}, // fewer are open, at the same value
		{"A=1:x A=1:y A=1:z", "stalled(2) of 3 turns, 2 times"},

		{"A B A B A", "none"},
		{"A B A B A B", "cycle(2) of 6 turns, 3 times"},
		{"A B A B A C", "none"},
		{"A B C A B C A B C", "cycle(3) of 9 turns, 3 times"},
		{"A A B A A B A A B", "cycle(3) of 9 turns, 3 times"},
		{"A B C D A B C D A B C D", "cycle(4) of 12 turns, 3 times"},
		{"A B C D E A B C D E A B C D E", "none"}, // longer ones are left to the ceilings
		{"A . A . A .", "cycle(2) of 6 turns, 3 times"},
		{"A=1 B=2 A=3 B=4 A=5 B=6", "none"},
		{"A=1 B=2 A=1 B=2 A=1 B=2", "cycle(2) of 6 turns, 3 times"}, // to and fro is not forth
		{"A=1 B=0 A=1 B=0 A=1 B=3", "none"},
		{"A=-1:b[x] B=-2:b.1:b.2 A=-1:b[x] B=-2:b.1:b.2 A=-1:b[x] B=-2:b.1:b.2", "cycle(2) of 6 turns, 3 times"},

		{"A!x B!x C!x", "same_fault(2) of 3 turns, 3 times"},
		{"A!x B!y C!z", "none"},
		{"A!x B!x D C!x", "none"}, // something new came between
		{"D A!x D B!x D C!x", "same_fault(2) of 5 turns, 3 times"},
		{"A!x . B!x C!x", "same_fault(2) of 4 turns, 3 times"},
		{"A!x B!x C!x=1", "none"},
		{"A!x B!x C", "none"},

		{". . .", "monologue(2) of 3 turns, 3 times"},
		{". .", "none"},
		{". . A .", "none"},
		{". . .=1", "none"},

		{"A~t a~t A~t", "same_thought(2) of 3 turns, 3 times"},
		{"A~t B~t C~t", "none"}, // page after page
		{"A~t a~t A~u", "none"},
		{"A a A", "none"},                                         // nothing was said
		{"A~t* a~t* A~t*", "same_thought(2) of 3 turns, 3 times"}, // whatever it writes
		{"A~t* B~t C~t*", "none"},
		{"A!x~t B!y~t C!z~t", "same_thought(2) of 3 turns, 3 times"},
		{"A~t a~t A~t=1", "none"},

		{"A=-1 B=-2 C=-3", "metric_worse(2) of 3 turns, 3 times"},
		{"A=-1 B=-2 C=-2", "none"},
		{"A=5 B=4 C=3 D=4", "none"},
		{"A=5 B=4 . C=3 D=2", "metric_worse(2) of 4 turns, 3 times"},
		{"A=-1:b[x] B=-9:b.1:b.2 C=-10:b.1:b.2:b.3 D=-11:b.1:b.2:b.3:b.4", "none"}, // a fixed build

		{"A*=0 B*=0 C*=0 D*=0 E*=0 F*=0 G*=0 H*=0 I*=0 J*=0 K*=0", "none"},
		{"A*=0 B*=0 C*=0 D*=0 E*=0 F*=0 G*=0 H*=0 I*=0 J*=0 K*=0 L*=0", "metric_flat(12) of 12 turns, 12 times"},
		{"A*=0 B*=-1 C*=0 D*=-2 E*=0 F*=-1 G*=0 H*=-1 I*=0 J*=-4 K*=-1 L*=0", "metric_flat(12) of 12 turns, 12 times"},
		{"A*=0 B*=0 C*=0 D*=0 E*=0 F*=0 G*=0 H*=0 I*=0 J*=0 K*=0 L*=1", "none"},
		{"A*=0 B*=1 C*=0 D*=0 E*=0 F*=0 G*=0 H*=0 I*=0 J*=0 K*=0 L*=0", "none"},
		{"A=0 B=0 C=0 D=0 E=0 F=0 G=0 H=0 I=0 J=0 K=0 L=0 M=0 N=0", "none"}, // to look for a cause is no change
		{"A*=0 a=0 B*=0 C*=0 D*=0 b=0 E*=0 F*=0 G*=0 H*=0 I*=0 J*=0 c=0 K*=0 L*=0", "metric_flat(12) of 15 turns, 12 times"},
		{"A=100 B*=100 C*=100 D*=100 E*=100 F*=100 G*=100 H*=100 I*=100 J*=100 K*=100 L*=100 M*=100", "none"}, // it is there already
	} {
		tr := trailOf(c.turns)
		if got := tr.look(2, Patience(2), tr.sameWords).String(); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.turns, got, c.want)
		}
	}
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
