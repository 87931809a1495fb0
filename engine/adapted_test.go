package engine_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/tool"
)

// What an adapter changed in requests is in the log, each text once, without secrets.
func TestAdapted(t *testing.T) {
	const left = "the server refused temperature: it was left out"
	replies := [][]string{{left}, {left}, {"effort is low", left, "the key is hunter2-hunter2"}, nil}
	turn := 0
	look := tool.Func("look", "Look.", func(context.Context, struct{}) (string, error) { return "seen", nil }, pawl.Read)
	agent := pawl.Agent{Name: "a", Tools: []pawl.Tool{look}, Model: pawl.ModelFunc(func(context.Context, pawl.Request) (pawl.Reply, error) {
		turn++
		reply := pawl.Do(pawl.Call{Tool: "look", Args: fmt.Appendf(nil, `{}`)})
		if turn == len(replies) {
			reply = pawl.Say("done")
		}
		reply.Notes = replies[turn-1]
		return reply, nil
	})}
	j := memory.New()
	e := engine.New(j, &engine.Options{Secrets: map[string]string{"KEY": "hunter2-hunter2"}})
	defer e.Close()
	h, err := e.Start(t.Context(), agent, "go", nil)
	must(t, err)
	ends(t, h, pawl.StatusSuccess)
	var got []string
	for entry := range entriesOf(t, j, h.ID()) {
		if n, ok := entry.Event.(pawl.Noted); ok {
			got = append(got, n.By+" "+n.Name+" "+string(n.Value))
		}
	}
	want := []string{
		`__model__ adapted ["` + left + `"]`,
		`__model__ adapted ["` + left + `","effort is low","the key is {{secret:KEY}}"]`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("noted are\n%q, want\n%q", got, want)
	}
	replays(t, e, agent, h.ID())
}
