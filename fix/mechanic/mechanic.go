// Package mechanic is the offline model of the test-fix agent: a program and no language model.
//
// It sends nothing anywhere and understands nothing. It asks the agent's tool to try small edits of Go
// code, one at a time, until one makes failing tests pass, and again as long as tests fail. When no edit
// does, it says so. It claims nothing but that the tests pass.
//
// A reply depends on the request alone, so a run can be killed and resumed, replayed or forked at any
// point.
package mechanic

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/fix/internal/project"
)

// Name is the model's name.
const Name = project.Mechanic

// New returns the mechanic.
func New() pawl.Model { return model{} }

type model struct{}

// Describe names the model. It costs nothing.
func (model) Describe() pawl.ModelInfo { return pawl.ModelInfo{Name: Name, Price: &pawl.Price{}} }

// Limits returns the limits that suit the model. It uses no tokens, but before each call the machine
// reserves an estimate of what a model would have to read, so the limit on tokens is out of reach.
func (model) Limits() pawl.Limits {
	return pawl.Limits{Iterations: 50, Tokens: 1_000_000_000, Time: 30 * time.Minute}
}

// Stream replies at once. It reports one token, since no report would be booked at an estimate.
func (model) Stream(ctx context.Context, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
	return func(yield func(pawl.Chunk, error) bool) {
		if err := context.Cause(ctx); err != nil {
			yield(pawl.Chunk{}, err)
			return
		}
		reply := answer(r)
		reply.Usage = pawl.Usage{Input: 1}
		yield(pawl.Chunk{Reply: &reply}, nil)
	}
}

func answer(r pawl.Request) pawl.Reply {
	found, round := latest(r.Messages)
	switch {
	case r.Purpose == pawl.PurposeFinal:
		return say("The run reached a limit. Resume it with a higher one to continue.")
	case r.Purpose != pawl.PurposeTurn && r.Purpose != "":
		return say(fmt.Sprintf("It does not support this request (%s).", r.Purpose))
	case !slices.ContainsFunc(r.Tools, func(t pawl.ToolInfo) bool { return t.Name == project.RepairTool }):
		return say("It only repairs Go code for pawl fix. A language model could help: give pawl a provider's key.")
	case round > 0 && found.Edit == "":
		return say(found.Summary)
	}
	args, _ := json.Marshal(project.Round{Round: round + 1}) // a number always marshals
	return pawl.Do(pawl.Call{Tool: project.RepairTool, Args: args})
}

// latest returns the result of the latest search, and how many there were.
func latest(messages []pawl.Message) (found project.Repaired, round int) {
	for _, m := range messages {
		for _, p := range m.Parts {
			result, ok := p.(pawl.ToolResult)
			if !ok {
				continue
			}
			found = project.Repaired{}
			if round++; result.Failed || json.Unmarshal(result.Content, &found) != nil {
				found.Summary = "It cannot try edits here: " + result.Text()
			}
		}
	}
	return found, round
}

func say(why string) pawl.Reply {
	return pawl.Say("This is the mechanic, a rule-based program and no language model. " + why)
}
