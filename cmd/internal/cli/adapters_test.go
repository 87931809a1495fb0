package cli_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"

	"github.com/pawl-run/pawl"
)

// adapter is a model of the program fake-adapter, which stands for those that have an SDK.
type adapter string

func (a adapter) Describe() pawl.ModelInfo {
	return pawl.ModelInfo{Name: string(a), Endpoint: os.Getenv("AZURE_OPENAI_ENDPOINT"), Price: &pawl.Price{Input: 1, Output: 8}}
}

func (a adapter) Ready() error {
	if os.Getenv("AZURE_OPENAI_ENDPOINT") == "" {
		return errors.New("set AZURE_OPENAI_ENDPOINT")
	}
	return nil
}

func (a adapter) Stream(_ context.Context, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
	return func(yield func(pawl.Chunk, error) bool) {
		if file := os.Getenv("DIES"); file != "" {
			if _, err := os.Stat(file); err != nil { // the first time
				yield(pawl.Chunk{Text: "I"}, nil)
				_ = os.WriteFile(file, nil, 0o600)
				fmt.Fprintln(os.Stderr, "out of memory")
				os.Exit(3)
			}
		}
		yield(pawl.Chunk{Reply: new(pawl.Say(string(a) + " says " + r.Messages[len(r.Messages)-1].Text()))}, nil)
	}
}
