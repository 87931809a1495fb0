package engine_test

import (
	"context"
	"fmt"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/model/script"
	"github.com/pawl-run/pawl/tool"
)

// A run that met a ceiling goes on where it stopped, with more room. On a
// journal on disk another process could do so, after a crash too.
func ExampleEngine_Resume() {
	look := func(_ context.Context, at struct{ Page int }) (string, error) {
		fmt.Println("looking at page", at.Page)
		return "nothing here", nil
	}
	page := func(n int) pawl.Reply {
		return pawl.Do(pawl.Call{Tool: "look", Args: fmt.Appendf(nil, `{"Page": %d}`, n)})
	}
	agent := pawl.Agent{
		Name:   "searcher",
		Model:  script.Replies(page(1), page(2), page(3), pawl.Say("It is in none of the three.")),
		Tools:  []pawl.Tool{tool.Func("look", "Look at a page.", look, pawl.Read)},
		Limits: pawl.Limits{Iterations: 2},
	}
	ctx := context.Background()
	eng := engine.New(memory.New(), nil)
	run, err := eng.Start(ctx, agent, "Where is it?", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := run.Wait(ctx)
	fmt.Println(result.Verdict, err)

	run, err = eng.Resume(ctx, agent, result.Run, &engine.ResumeOptions{Limits: pawl.Limits{Iterations: 5}})
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err = run.Wait(ctx)
	fmt.Println(result.Verdict, err)
	fmt.Println(result.Answer, result.Iterations, "iterations")
	// Output:
	// looking at page 1
	// looking at page 2
	// exhausted: iterations >= 2 <nil>
	// looking at page 3
	// success: done <nil>
	// It is in none of the three. 4 iterations
}
