package spec

import (
	"context"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
)

const gated = `
name: orders
model: mechanic
dir: data
approvals: {ttl: 90m, on_deny: stop, observation: false, gates: ["delete_*"]}
tools:
  - {name: delete_file, description: Delete., command: [rm], approval: required, witness: [ledger.csv, ./rules.yaml]}
  - {name: pick, client: true, description: Pick., input: {type: object, properties: {cell: {type: string}}}, approval: {when: 'args.cell=="a"'}, witness: [ledger.csv]}
`

// What a spec says of approvals is in the agent, as policies and settings.
func TestApprovals(t *testing.T) {
	dir := tree(t, map[string]string{"data/ledger.csv": "a,1\n", "rules.yaml": "none\n"})
	s, err := Parse(filepath.Join(dir, "orders.yaml"), []byte(gated), nil)
	must(t, err)
	a, err := s.Agent(registry())
	must(t, err)
	m, err := pawl.NewMachine(a)
	must(t, err)
	want := []string{`approval("delete_file")`, `approval_when("pick", args.cell == "a")`, `approval("delete_*")`}
	if diff := cmp.Diff(want, m.Declaration().Policies); diff != "" {
		t.Errorf("policies (-want +got):\n%s", diff)
	}
	if want := (pawl.Approvals{TTL: 90 * time.Minute, StopOnDeny: true, IgnoreObservation: true}); a.Approvals != want {
		t.Errorf("approvals are %+v, want %+v", a.Approvals, want)
	}
	if !m.Waits() {
		t.Error("the agent does not say that it waits for a person")
	}
	for i, names := range [][]string{{"ledger.csv", filepath.Join(dir, "rules.yaml")}, {"ledger.csv"}} {
		found, err := a.Tools[i].(interface {
			Witness(context.Context, json.RawMessage) (map[string]string, error)
		}).Witness(t.Context(), nil)
		must(t, err)
		for _, name := range names {
			if len(found[name]) != 64 {
				t.Errorf("the witness %s is %q among %q", name, found[name], slices.Sorted(maps.Keys(found)))
			}
		}
	}
}
