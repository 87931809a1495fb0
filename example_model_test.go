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

// A parrot is a model that repeats what it hears, word by word.
type parrot struct{}

// Stream yields the words as they come, and the whole reply last.
func (parrot) Stream(_ context.Context, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
	return func(yield func(pawl.Chunk, error) bool) {
		said := r.Messages[len(r.Messages)-1].Text()
		for word := range strings.SplitAfterSeq(said, " ") {
			if !yield(pawl.Chunk{Text: word}, nil) {
				return // the call was cut short
			}
		}
		reply := pawl.Say(said)
		yield(pawl.Chunk{Reply: &reply}, nil)
	}
}

// Describe says what a run is to record of its model. It need not be there.
func (parrot) Describe() pawl.ModelInfo { return pawl.ModelInfo{Name: "zoo/parrot"} }

// A model is one method that yields a reply in pieces. A watcher of the run gets
// the pieces as they come; the log keeps the reply. With Watch, the watcher gets
// also what the model says before the program ranges over the entries.
func Example_ownModel() { // Promises: T10.
	ctx := context.Background()
	agent := pawl.Agent{Name: "parrot", Model: parrot{}}
	run, err := engine.New(memory.New(), nil).Start(ctx, agent, "Who is a pretty boy?", &engine.StartOptions{Watch: true})
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
