package engine_test

import (
	"context"
	"fmt"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
)

// A program that runs one agent again and again prepares it once.
func ExamplePrepare() {
	agent := pawl.Agent{
		Name:  "greeter",
		Model: pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) { return pawl.Say("Hello!"), nil }),
	}
	greeter, err := engine.Prepare(agent)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, name := range []string{"Ada", "Grace"} {
		result, err := greeter.Run(context.Background(), "Greet "+name)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(name, result.Answer)
	}
	// Output:
	// Ada Hello!
	// Grace Hello!
}
