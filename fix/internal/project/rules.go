package project

import (
	"context"
	"iter"

	"github.com/pawl-run/pawl"
)

// Mechanic is the name of the models that are programs of rules.
const Mechanic = "mechanic"

// Rules is a model that is a program of rules: it needs no key and sends nothing anywhere. It is safe for
// concurrent use.
type Rules struct {
	Reply func(pawl.Request) pawl.Reply // depends on the request alone
	Most  pawl.Limits                   // those that suit it
}

// Describe names the model. It costs nothing.
func (Rules) Describe() pawl.ModelInfo { return pawl.ModelInfo{Name: Mechanic, Price: &pawl.Price{}} }

// Limits are the limits that suit the model. That on tokens is to be out of reach: it uses none, but before
// each call the machine reserves an estimate of what a model would have to read.
func (m Rules) Limits() pawl.Limits { return m.Most }

// Stream replies at once. The usage says one token, for "not reported" would be booked at an estimate, as if
// something had been sent.
func (m Rules) Stream(ctx context.Context, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
	return func(yield func(pawl.Chunk, error) bool) {
		reply := m.Reply(r)
		reply.Usage = pawl.Usage{Input: 1}
		if err := context.Cause(ctx); err != nil {
			yield(pawl.Chunk{}, err)
			return
		}
		yield(pawl.Chunk{Reply: &reply}, nil)
	}
}
