// Command hello is the smallest agent: one tool, a model that is a Go function, one run.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/tool"
)

type person struct {
	Name string `json:"name" jsonschema:"whom to greet"`
}

func greet(_ context.Context, p person) (string, error) {
	return "Hello, " + p.Name + "!", nil
}

// answer replaces a language model: it calls the tool, then repeats the result.
func answer(_ context.Context, r pawl.Request) (pawl.Reply, error) {
	last := r.Messages[len(r.Messages)-1]
	for _, part := range last.Parts {
		if result, ok := part.(pawl.ToolResult); ok {
			return pawl.Say(result.Text()), nil
		}
	}
	args, err := json.Marshal(person{Name: last.Text()})
	return pawl.Do(pawl.Call{Tool: "greet", Args: args}), err
}

func main() {
	agent := pawl.Agent{
		Name:  "hello",
		Model: pawl.ModelFunc(answer),
		Tools: []pawl.Tool{tool.Func("greet", "Greet somebody.", greet, pawl.Read)},
	}
	result, err := engine.Run(context.Background(), agent, "World")
	if err == nil {
		err = result.Err()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(result.Answer)
}
