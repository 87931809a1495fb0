package engine_test

import (
	"context"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
)

// TestLive finds a run while it is driven and not after, and follows it from
// where the caller stands.
func TestLive(t *testing.T) {
	asked, answer := make(chan bool), make(chan bool)
	agent := pawl.Agent{Name: "a", Model: pawl.ModelFunc(func(context.Context, pawl.Request) (pawl.Reply, error) {
		asked <- true
		<-answer
		return pawl.Say("yes"), nil
	})}
	e := engine.New(memory.New(), nil)
	if e.Live("r") != nil {
		t.Fatal("a run is live that was never started")
	}
	run, err := e.Start(t.Context(), agent, "go", &engine.StartOptions{ID: "r"})
	if err != nil {
		t.Fatal(err)
	}
	<-asked
	live := e.Live("r")
	if live == nil || live.ID() != "r" {
		t.Fatalf("live is %v while the model is asked", live)
	}
	close(answer)
	var seqs []uint64
	for entry, err := range live.Follow(t.Context(), 2) {
		if err != nil {
			t.Fatal(err)
		}
		seqs = append(seqs, entry.Seq)
	}
	if len(seqs) != 3 || seqs[0] != 2 || seqs[2] != 4 {
		t.Errorf("from entry 2 it follows %v", seqs)
	}
	if _, err := run.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if e.Live("r") != nil {
		t.Error("a run is live that has ended")
	}
}
