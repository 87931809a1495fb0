package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/tool"
)

// TestChildren: who watches a run from its start gets all that its children, and theirs, stream, also
// when it is slow and they speak at once; each piece after the entry that began its run.
func TestChildren(t *testing.T) {
	const many = 5_000
	leaf := pawl.Agent{Name: "leaf", Description: "Counts.", Model: &talker{words: many}}
	twig := pawl.Agent{Name: "twig", Description: "Has it counted.", Model: turns([]pawl.Call{ask("leaf")}), Tools: []pawl.Tool{tool.Agent(leaf, nil)}}
	root := pawl.Agent{Name: "root", Model: turns([]pawl.Call{ask("leaf"), ask("twig"), ask("leaf")}), Tools: []pawl.Tool{tool.Agent(leaf, nil), tool.Agent(twig, nil)}}
	for _, children := range []bool{true, false} {
		h, err := engine.New(memory.New(), &engine.Options{Children: children}).Start(t.Context(), root, "go", &engine.StartOptions{ID: "r", Watch: true})
		must(t, err)
		ends(t, h, pawl.StatusSuccess) // nobody has read anything yet
		heard, begun, pieces := map[string]string{}, map[string]bool{}, 0
		for e, err := range h.Entries(t.Context()) {
			must(t, err)
			switch event := e.Event.(type) {
			case pawl.ChildStarted:
				begun[event.Child] = true
			case pawl.ChildStopped:
				begun[event.Child] = false
			case pawl.ModelDelta:
				if e.Run == "r" {
					continue
				}
				if top := strings.Join(strings.SplitN(e.Run, ".", 3)[:2], "."); !begun[top] {
					t.Fatalf("a piece of run %s comes while %s does not run", e.Run, top)
				}
				pieces++
				heard[event.Agent+" "+e.Run] += event.Text
			}
		}
		if !children {
			if pieces > 0 {
				t.Errorf("%d pieces that nobody asked for", pieces)
			}
			continue
		}
		whole := ""
		for i := range many {
			whole += fmt.Sprint(i, " ")
		}
		for _, run := range []string{"leaf r.c_1", "leaf r.c_2.c_1", "leaf r.c_3"} {
			if heard[run] != whole {
				t.Errorf("%s said %d bytes of %d", run, len(heard[run]), len(whole))
			}
		}
		if pieces > 4096 {
			t.Errorf("they were kept in %d pieces", pieces)
		}
	}
}
