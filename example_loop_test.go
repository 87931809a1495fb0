package pawl_test

import (
	"context"
	"fmt"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
)

// A draft is a loop of one's own: a first answer, a review of it, and a second
// answer that knows the review.
type draft struct{}

func (draft) Name() string { return "draft-review" }

// Next looks at what is in the log and says what is missing. It keeps nothing
// itself: State gives the review back, also after a crash.
func (draft) Next(s *pawl.State) pawl.Step {
	turn := pawl.Think{Purpose: pawl.PurposeTurn}
	review, asked := s.Replied("review")
	switch {
	case !s.Done(): // the model has not answered
		return turn
	case !asked:
		return pawl.Think{Purpose: "review", View: pawl.View{Prompt: "What is wrong with this answer?", Bare: true}}
	case s.Iteration() == 1:
		turn.View.Prompt = "Answer again. " + review.Text()
		return turn
	}
	return pawl.Success("") // with the last reply as the answer
}

// A loop is one pure method. What surrounds it (retries, ceilings, open calls,
// a crash) is not its business. The directory examples has three longer ones.
func Example_ownLoop() { // Promises: D1.
	agent := pawl.Agent{
		Name: "writer",
		Loop: draft{},
		Model: pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
			fmt.Println("asked for:", r.Purpose)
			switch {
			case r.Purpose == "review":
				return pawl.Say("It is too long."), nil
			case len(r.Messages) > 1:
				return pawl.Say("Short."), nil
			}
			return pawl.Say("It depends, as so much does, on this and that."), nil
		}),
	}
	result, err := engine.Run(context.Background(), agent, "How long should an answer be?")
	fmt.Println(result.Verdict, err)
	fmt.Println(result.Answer)
	// Output:
	// asked for: turn
	// asked for: review
	// asked for: turn
	// success: done <nil>
	// Short.
}
