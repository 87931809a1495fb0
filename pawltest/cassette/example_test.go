package cassette_test

import (
	"context"
	"fmt"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/model/openai"
	"github.com/pawl-run/pawl/pawltest/cassette"
)

// A test uses [cassette.Client]; anything else opens and closes its tape. With
// PAWL_RECORD=1 this would ask the server and rewrite the file.
func ExampleOpen() {
	tape, err := cassette.Open("testdata/hello.txtar", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	agent := pawl.Agent{
		Name:  "greeter",
		Model: openai.New("gpt-5-mini", &openai.Options{APIKey: "any", BaseURL: "http://127.0.0.1:11434/v1", HTTPClient: tape.Client()}),
		Loop:  pawl.SingleCall{},
	}
	result, err := engine.Run(context.Background(), agent, "Say hello.")
	fmt.Println(result.Answer, err)
	fmt.Println(result.Usage.ModelCalls, "call,", result.Usage.Input+result.Usage.Output, "tokens")
	fmt.Println(tape.Close())
	// Output:
	// Hello. <nil>
	// 1 call, 12 tokens
	// <nil>
}
