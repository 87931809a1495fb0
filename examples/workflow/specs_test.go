package workflow_test

import (
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/model/script"
	"github.com/pawl-run/pawl/pawltest"
	"github.com/pawl-run/pawl/spec"
)

// TestSpecsSurvive holds that the spec of each pattern comes to the same end whichever entry of its
// log, or of those of its legs and child runs, the process dies at.
func TestSpecsSurvive(t *testing.T) { // Promises: L17.
	r := &spec.Registry{Models: map[string]spec.Provider{"script": func(file string) (pawl.Model, error) { return script.Load(file) }}}
	for pattern, name := range map[string]string{
		"sequential and loop": "motto", "parallel": "mailroom", "orchestrator": "survey", "handoff": "frontdesk", "swarm": "stocktake", "graph": "enquiry",
	} {
		t.Run(pattern, func(t *testing.T) {
			s, err := spec.Load("../specs/"+name+".yaml", &spec.Options{Registry: r})
			if err != nil {
				t.Fatal(err)
			}
			pawltest.KillEverywhere(t, func() pawl.Agent {
				agent, err := s.Agent(r)
				if err != nil {
					t.Fatal(err)
				}
				return agent
			}, s.Input.Text, nil)
		})
	}
}
