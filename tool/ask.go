package tool

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/pawl-run/pawl"
)

// AskHuman is the tool ask_human, with which a model asks a person a question. The run is
// suspended meanwhile, and the person's answer is the call's result. Other tools ask by returning
// [pawl.AskPerson] as their error.
func AskHuman() pawl.Tool { return askHuman{} }

type askHuman struct{}

// Info declares the one argument, the question.
func (askHuman) Info() pawl.ToolInfo {
	return pawl.ToolInfo{
		Name: "ask_human", Effect: pawl.Read,
		Description: "Ask a person a question and wait for the answer. Use it when something only a person can know or decide is missing.",
		Input:       json.RawMessage(`{"type":"object","properties":{"question":{"type":"string","minLength":1,"description":"one question, complete in itself"}},"required":["question"]}`),
	}
}

// Waits reports that the run may have to wait for a person.
func (askHuman) Waits() bool { return true }

// Run asks the question.
func (askHuman) Run(_ context.Context, inv pawl.Invocation) (pawl.Output, error) {
	var args struct{ Question string }
	if err := json.Unmarshal(inv.Args, &args); err != nil || args.Question == "" {
		return pawl.Output{}, errors.New("there is no question")
	}
	return pawl.Output{}, pawl.AskPerson{Question: args.Question}
}
