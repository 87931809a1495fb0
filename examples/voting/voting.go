// Package voting is a loop written outside of Pawl: it asks the model a question
// several times, independently, and the majority decides.
package voting

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
)

// Loop takes Votes votes for one of Options. An option with more than half of the votes
// wins at once; otherwise, when all votes are in, the option with most votes wins. A tie is
// broken by one more vote between the tied options.
//
// No vote sees another: replies for a loop's own purpose stay out of the conversation.
type Loop struct {
	Votes   int      // at least one
	Options []string // at least two, as the model must write them
}

const by = "voting"

// Name returns "voting(3:ship,wait)" for three votes between these two options.
func (l Loop) Name() string {
	return fmt.Sprintf("%s(%d:%s)", by, l.Votes, strings.Join(l.Options, ","))
}

// Check refuses invalid numbers of votes and options.
func (l Loop) Check(pawl.Agent) error {
	if l.Votes < 1 || len(l.Options) < 2 {
		return fmt.Errorf("voting: %d votes between %d options: it takes one vote and two options", l.Votes, len(l.Options))
	}
	return nil
}

// Next counts the votes in the log and takes the next one.
func (l Loop) Next(s *pawl.State) pawl.Step {
	count := make([]int, len(l.Options))
	for n := 1; n <= l.Votes; n++ {
		reply, ok := s.Replied(ballot(n))
		if !ok {
			return ask(n, l.Options)
		}
		if i := l.choice(reply); i >= 0 {
			if count[i]++; 2*count[i] > l.Votes {
				return l.decide(i, n, count[i])
			}
		}
	}
	most := slices.Max(count)
	first := slices.Index(count, most)
	if slices.Index(count[first+1:], most) < 0 {
		return l.decide(first, l.Votes, most)
	}
	var tied []string
	for i, n := range count {
		if n == most {
			tied = append(tied, l.Options[i])
		}
	}
	extra := l.Votes + 1
	reply, ok := s.Replied(ballot(extra))
	if !ok {
		return ask(extra, tied)
	}
	if i := l.choice(reply); i >= 0 && count[i] == most {
		return l.decide(i, extra, most+1)
	}
	return pawl.Finish{Verdict: verdict(pawl.StatusNoProgress,
		fmt.Sprintf("%s have %d votes each, and one more was for none of them", strings.Join(tied, " and "), most))}
}

// decide ends the run with the winning option as its answer.
func (l Loop) decide(i, votes, count int) pawl.Step {
	detail := fmt.Sprintf("%d of %d votes are for %s", count, votes, l.Options[i])
	return pawl.Finish{Verdict: verdict(pawl.StatusSuccess, detail), Answer: l.Options[i]}
}

func ballot(n int) pawl.Purpose { return pawl.Purpose(fmt.Sprintf("vote-%d", n)) }

func ask(n int, options []string) pawl.Step {
	prompt := "Decide. Answer with exactly one of these words: " + strings.Join(options, ", ")
	return pawl.Think{Purpose: ballot(n), View: pawl.View{Prompt: prompt, Bare: true}}
}

// choice returns the index of the option that a reply names; -1: none.
func (l Loop) choice(r pawl.Reply) int {
	said := strings.Trim(r.Text(), " \n.!\"")
	return slices.IndexFunc(l.Options, func(o string) bool { return strings.EqualFold(o, said) })
}

func verdict(status pawl.Status, detail string) pawl.Verdict {
	return pawl.Verdict{Holds: true, Status: status, Condition: by, Leaf: by, Detail: detail}
}
