package cli_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/model/pipe"
)

// adapter is a model of the program fake-adapter, which stands for those that have an SDK.
type adapter struct {
	name string
	at   pipe.Endpoint // says where it is, if it is not at its provider's
}

func (a adapter) Describe() pawl.ModelInfo {
	if a.at.Provider != "" {
		_, model, _ := strings.Cut(a.name, "/")
		return pawl.ModelInfo{Name: a.at.Provider + "/" + model, Endpoint: a.at.BaseURL}
	}
	return pawl.ModelInfo{Name: a.name, Endpoint: os.Getenv("AZURE_OPENAI_ENDPOINT"), Price: &pawl.Price{Input: 1, Output: 8}}
}

func (a adapter) where() string {
	if a.at.Provider == "" {
		return ""
	}
	return fmt.Sprintf(" at %s with %v, and that its key has %d letters,", a.at.BaseURL, a.at.Headers, len(a.at.Key))
}

func (a adapter) Ready() error {
	if a.at.BaseURL == "" && os.Getenv("AZURE_OPENAI_ENDPOINT") == "" {
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
		yield(pawl.Chunk{Reply: new(pawl.Say(a.name + a.where() + " says " + r.Messages[len(r.Messages)-1].Text()))}, nil)
	}
}
