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

// A message reaches a run at work. The model reads it with the result of the call in progress.
func ExampleEngine_Say() {
	ctx := context.Background()
	eng := engine.New(memory.New(), nil)
	painting, paint := make(chan string), make(chan struct{})
	door := tool.Func("paint", "Paint the door.", func(ctx context.Context, _ struct{}) (string, error) {
		painting <- "primer"
		<-paint
		return "primed", nil
	}, pawl.Write)
	agent := pawl.Agent{
		Name: "painter", Tools: []pawl.Tool{door},
		Model: script.Replies(pawl.Do(pawl.Call{Tool: "paint", Args: []byte(`{}`)}), pawl.Say("In blue, then.")),
	}
	run, err := eng.Start(ctx, agent, "Paint the door.", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	<-painting
	fmt.Println(eng.Say(ctx, run.ID(), "ada", "Make it blue.", nil))
	close(paint)
	result, err := run.Wait(ctx)
	fmt.Println(result.Status, result.Answer, err)
	// Output:
	// <nil>
	// success In blue, then. <nil>
}
