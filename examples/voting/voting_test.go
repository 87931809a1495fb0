package voting_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/examples/voting"
	"github.com/pawl-run/pawl/explain"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/pawltest"
)

const question = "All tests pass, but it is Friday evening. Ship the release, wait, or drop it?"

// panel is an agent whose nth vote is for the nth of some words.
func panel(loop voting.Loop, votes string) pawl.Agent {
	words := strings.Fields(votes)
	return pawl.Agent{
		Name: "panel", Loop: loop,
		Model: pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
			var n int
			if _, err := fmt.Sscanf(string(r.Purpose), "vote-%d", &n); err != nil || len(r.Messages) != 1 {
				return pawl.Reply{}, &pawl.ModelError{Class: pawl.ClassInvalid, Message: "a vote sees more than the question"}
			}
			return pawl.Say(words[n-1]), nil
		}),
	}
}

func ways(votes int) voting.Loop {
	return voting.Loop{Votes: votes, Options: []string{"ship", "wait", "drop"}}
}

func TestVotes(t *testing.T) {
	for _, c := range []struct {
		loop        voting.Loop
		votes, want string
	}{
		{ways(1), "Ship.", "success: 1 of 1 votes are for ship"},
		{ways(3), "wait WAIT", "success: 2 of 2 votes are for wait"},
		{ways(3), "ship wait wait", "success: 2 of 3 votes are for wait"},
		{ways(4), "ship wait drop ship", "success: 2 of 4 votes are for ship"},
		{ways(4), "ship wait wait ship wait", "success: 3 of 5 votes are for wait"},
		{ways(3), "ship wait drop drop", "success: 2 of 4 votes are for drop"},
		{ways(2), "ship wait drop", "no_progress: ship and wait have 1 votes each, and one more was for none of them"},
		{ways(3), "perhaps ship perhaps", "success: 1 of 3 votes are for ship"},
	} {
		r, err := engine.Run(t.Context(), panel(c.loop, c.votes), question)
		if got := fmt.Sprintf("%v: %s", r.Status, r.Reason.Detail); err != nil || got != c.want {
			t.Errorf("%s: %s, %v; want %s", c.votes, got, err, c.want)
		}
	}
}

func TestSurvives(t *testing.T) { // Promises: D1.
	pawltest.KillEverywhere(t, func() pawl.Agent { return panel(ways(4), "ship wait wait ship wait") }, question, nil)
}

func TestCheck(t *testing.T) {
	for _, l := range []voting.Loop{{Options: []string{"yes", "no"}}, {Votes: 3, Options: []string{"yes"}}} {
		if _, err := pawl.NewMachine(panel(l, "yes")); err == nil {
			t.Errorf("%s can be held", l.Name())
		}
	}
}

func Example() {
	ctx, journal := context.Background(), memory.New()
	agent := panel(voting.Loop{Votes: 4, Options: []string{"ship", "wait"}}, "ship wait wait ship wait")
	run, err := engine.New(journal, nil).Start(ctx, agent, question, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := run.Wait(ctx)
	fmt.Println(result.Status, result.Reason.Detail, err)

	fmt.Println(result.Answer)

	report, err := explain.Of(engine.Entries(ctx, journal, run.ID(), 1), nil)
	for _, d := range report.Decisions {
		fmt.Println(d.Step, d.Subject)
	}
	fmt.Println(err)
	// Output:
	// success 3 of 5 votes are for wait <nil>
	// wait
	// start agent panel
	// think vote-1
	// think vote-2
	// think vote-3
	// think vote-4
	// think vote-5
	// finish success
	// <nil>
}
