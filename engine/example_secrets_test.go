package engine_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/model/script"
	"github.com/pawl-run/pawl/tool"
)

// What is known to be secret never becomes part of a run, however it comes up:
// neither the model nor the log ever has it.
func ExampleOptions_secrets() {
	const token = "t0ken-of-the-ledger"
	header := func(context.Context, struct{}) (string, error) {
		return "Basic " + base64.StdEncoding.EncodeToString([]byte("ada:"+token)), nil
	}
	agent := pawl.Agent{
		Name:  "clerk",
		Model: script.Replies(pawl.Do(pawl.Call{Tool: "header"}), pawl.Say("The header holds "+token+".")),
		Tools: []pawl.Tool{tool.Func("header", "Show the header that is sent.", header, pawl.Read)},
	}
	ctx, journal := context.Background(), memory.New()
	eng := engine.New(journal, &engine.Options{Secrets: map[string]string{"LEDGER_TOKEN": token}})
	run, err := eng.Start(ctx, agent, "What is sent?", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := run.Wait(ctx)
	fmt.Println(result.Answer, err)
	for e, err := range engine.Entries(ctx, journal, run.ID(), 1) {
		if err != nil {
			fmt.Println(err)
			return
		}
		if done, ok := e.Event.(pawl.ToolFinished); ok {
			fmt.Println(strings.Trim(string(done.Result), `"`))
		}
	}
	// Output:
	// The header holds {{secret:LEDGER_TOKEN}}. <nil>
	// Basic YWRhOn{{secret:LEDGER_TOKEN}}
}
