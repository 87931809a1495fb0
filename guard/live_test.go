package guard_test

import (
	"context"
	"iter"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/guard"
	"github.com/pawl-run/pawl/journal/memory"
)

// dribble streams a reply byte by byte, once somebody watches.
type dribble struct {
	text    string
	watched chan struct{}
}

func (d dribble) Stream(context.Context, pawl.Request) iter.Seq2[pawl.Chunk, error] {
	return func(yield func(pawl.Chunk, error) bool) {
		<-d.watched
		for i := range len(d.text) {
			if !yield(pawl.Chunk{Text: d.text[i : i+1]}, nil) {
				return
			}
		}
		reply := pawl.Say(d.text)
		yield(pawl.Chunk{Reply: &reply}, nil)
	}
}

// What is redacted is not streamed either.
func TestRedactedWhileStreamed(t *testing.T) {
	ctx := t.Context()
	watched := make(chan struct{})
	agent := pawl.Agent{
		Name: "dribbler", Model: dribble{"First.\nWrite to ada@example.org\nor to bob@example.org", watched},
		Policies: []pawl.Policy{guard.New(guard.PII(guard.Redact))},
	}
	h, err := engine.New(memory.New(), nil).Start(ctx, agent, "Go.", nil)
	must(t, err)
	var live strings.Builder
	for e, err := range h.Entries(ctx) {
		must(t, err)
		switch ev := e.Event.(type) {
		case pawl.RunStarted:
			close(watched)
		case pawl.ModelDelta:
			live.WriteString(ev.Text)
		}
	}
	const want = "First.\nWrite to [redacted email]\nor to [redacted email]"
	if r, err := h.Wait(ctx); err != nil || r.Answer != want || live.String() != want {
		t.Errorf("streamed %q, answered %q: %v", live.String(), r.Answer, err)
	}
}
