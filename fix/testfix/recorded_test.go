package testfix_test

import (
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/fix/mechanic"
	"github.com/pawl-run/pawl/fix/testfix"
)

// What is made of a source declares what the run's agent declared, and does nothing.
func TestRecorded(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"go.mod": "module example.com/a\n\ngo 1.26\n"})
	f := choose(t, dir, mechanic.New(), testfix.Choices{AllowTestEdits: true}, nil)
	agent := f.Agent()
	source, ok, err := testfix.ParseSource(agent.Source)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	again := testfix.Recorded(source, mechanic.New(), agent.Limits)
	declared := func(a pawl.Agent) pawl.Declaration {
		m, err := pawl.NewMachine(a)
		must(t, err)
		return m.Declaration()
	}
	if parts := declared(agent).Differences(declared(again)); len(parts) > 0 {
		t.Errorf("they differ in %v", parts)
	}
	for _, tool := range again.Tools {
		if out, err := tool.Run(t.Context(), pawl.Invocation{Tool: tool.Info().Name, Args: []byte("{}"), Attempt: 1}); err == nil {
			t.Errorf("%s ran: %s", tool.Info().Name, out.JSON)
		}
	}
	if _, err := again.Observer(t.Context()); err == nil {
		t.Error("it observed something")
	}
}
