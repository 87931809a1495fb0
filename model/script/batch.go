package script

import (
	"context"
	"iter"
	"time"

	"github.com/pawl-run/pawl"
)

// Batch returns the model with its calls as batches, as providers have them: each call
// suspends its run for a minute, and costs half.
func (m *Model) Batch() pawl.Model { return batched{m} }

type batched struct{ *Model }

// Describe describes the model at the price of batches.
func (b batched) Describe() pawl.ModelInfo {
	info := b.Model.Describe()
	info.Batch = true
	if info.Price != nil {
		info.Price = new(info.Price.Half())
	}
	return info
}

// Stream yields the reply when the batch is asked for.
func (b batched) Stream(ctx context.Context, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
	if r.Batch != "" || !r.Lost.IsZero() {
		return b.Model.Stream(ctx, r)
	}
	return func(yield func(pawl.Chunk, error) bool) {
		yield(pawl.Chunk{}, &pawl.ModelError{Batch: "batch_1", RetryAfter: time.Minute, Message: "the request is in batch_1 of a script"})
	}
}
