// Command team is pawl with what a team wrote in Go: tools, loops, a policy and a
// condition, which its specs name. It has every command of pawl.
package main

import (
	"context"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/approval"
	"github.com/pawl-run/pawl/cmd/cli"
	"github.com/pawl-run/pawl/examples/planexecute"
	"github.com/pawl-run/pawl/examples/voting"
	"github.com/pawl-run/pawl/spec"
	"github.com/pawl-run/pawl/tool"
)

type trip struct {
	To string `json:"to" jsonschema:"the city to travel to"`
}

func quote(_ context.Context, t trip) (int, error) { return 10 * len(t.To), nil }

func book(_ context.Context, t trip) (string, error) { return "a seat to " + t.To + " is booked", nil }

func main() {
	cli.Main(&spec.Registry{
		Tools: []pawl.Tool{
			tool.Func("quote", "Quote the price of a seat, in euros.", quote, pawl.Read),
			tool.Func("book", "Book a seat.", book, pawl.Idempotent),
		},
		Loops:    map[string]pawl.Loop{"plan": planexecute.Loop{Plans: 2}, "panel": voting.Loop{Votes: 3, Options: []string{"train", "plane"}}},
		Policies: map[string]pawl.Policy{"asks-first": approval.For("book")},
		When:     map[string]func(*pawl.State) bool{"chatty": func(s *pawl.State) bool { return len(s.LastText()) > 500 }},
	})
}
