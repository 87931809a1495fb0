package refine_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/examples/refine"
	"github.com/pawl-run/pawl/pawltest"
)

// writer is an agent that says the replies of each purpose.
func writer(drafts int, says map[pawl.Purpose]string) pawl.Agent {
	return pawl.Agent{
		Name: "writer", Loop: refine.Loop{Drafts: drafts, Good: "A good slogan is true."},
		Model: pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) { return pawl.Say(says[r.Purpose]), nil }),
	}
}

var replies = map[pawl.Purpose]string{
	"draft-1": "The best tea.", "judge-1": "Nobody knows that.",
	"draft-2": "Tea from Assam.", "judge-2": "Yes.",
}

func ExampleLoop() {
	result, err := engine.Run(context.Background(), writer(3, replies), "A slogan for our tea, please.")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Answer)
	fmt.Println(result.Reason.Detail)
	// Output:
	// Tea from Assam.
	// draft 2 is accepted
}

func TestRefineSurvives(t *testing.T) {
	pawltest.KillEverywhere(t, func() pawl.Agent { return writer(3, replies) }, "A slogan for our tea, please.", nil)
}

func TestRefineGivesUp(t *testing.T) {
	result, err := engine.Run(t.Context(), writer(1, replies), "A slogan for our tea, please.")
	if err != nil || result.Status != pawl.StatusNoProgress || result.Answer != "The best tea." {
		t.Errorf("%v, %q, %v", result.Verdict, result.Answer, err)
	}
}

func TestCheck(t *testing.T) {
	if _, err := engine.Run(t.Context(), writer(0, replies), "x"); err == nil {
		t.Error("a loop without drafts is accepted")
	}
}
