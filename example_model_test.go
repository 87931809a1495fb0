package pawl_test

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
)

// A parrot is a model of one's own: it says back what it was told, word by
// word, once somebody listens.
type parrot struct{ listening chan struct{} }

// Stream yields the words as they come, and the whole reply last.
func (p parrot) Stream(ctx context.Context, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
	return func(yield func(pawl.Chunk, error) bool) {
		select {
		case <-p.listening:
		case <-ctx.Done():
			yield(pawl.Chunk{}, ctx.Err())
			return
		}
		said := r.Messages[len(r.Messages)-1].Text()
		for word := range strings.SplitAfterSeq(said, " ") {
			if !yield(pawl.Chunk{Text: word}, nil) {
				return // nobody listens any more
			}
		}
		reply := pawl.Say(said)
		yield(pawl.Chunk{Reply: &reply}, nil)
	}
}

// Describe says what a run is to record of its model. It need not be there.
func (parrot) Describe() pawl.ModelInfo { return pawl.ModelInfo{Name: "zoo/parrot"} }

// A model is one method that yields a reply in pieces. Whoever watches the run
// sees the pieces at once; what is kept is the reply.
func Example_ownModel() {
	ctx := context.Background()
	bird := parrot{make(chan struct{})}
	agent := pawl.Agent{Name: "parrot", Model: bird}
	run, err := engine.New(memory.New(), nil).Start(ctx, agent, "Who is a pretty boy?", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	var heard strings.Builder
	for entry, err := range run.Entries(ctx) {
		if err != nil {
			fmt.Println(err)
			return
		}
		switch e := entry.Event.(type) {
		case pawl.ModelCalled:
			close(bird.listening)
		case pawl.ModelDelta:
			heard.WriteString(e.Text)
		case pawl.ModelReplied:
			fmt.Printf("said %q\n", e.Reply.Text())
		}
	}
	fmt.Printf("heard %q\n", heard.String())
	// Output:
	// said "Who is a pretty boy?"
	// heard "Who is a pretty boy?"
}
