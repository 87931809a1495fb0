package a2a_test

import (
	"context"
	"fmt"
	"os"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/a2a"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/model/script"
	"github.com/pawl-run/pawl/tool"
)

// An agent of another server is a tool like a sub-agent.
func ExampleAgent() {
	billing := a2a.Agent("billing", "Questions about invoices. Give the number of the invoice.",
		"https://agents.example.org/a2a/agents/billing", &a2a.Options{Token: os.Getenv("BILLING_TOKEN")})
	agent := pawl.Agent{
		Name:  "desk",
		Model: script.Replies(pawl.Say("No invoice is open.")),
		Tools: []pawl.Tool{tool.Agent(billing, nil)},
	}
	result, err := engine.Run(context.Background(), agent, "Is an invoice open?")
	fmt.Println(result.Answer, err)
	// Output: No invoice is open. <nil>
}
