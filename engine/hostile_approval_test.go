package engine_test

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/approval"
	"github.com/pawl-run/pawl/engine"
)

// payer pays as often as its plan says, and each payment has to be approved.
func payer(l *ledger, plan ...pawl.Call) pawl.Agent {
	return pawl.Agent{
		Name:  "payer",
		Model: turns(plan),
		Tools: []pawl.Tool{fake{name: "pay", effect: pawl.Write, run: func(_ context.Context, inv pawl.Invocation) (pawl.Output, error) {
			l.add(inv)
			return pawl.Output{JSON: inv.Args}, nil
		}}},
		Policies: []pawl.Policy{approval.For("pay")},
	}
}

// A token is shown to who parked the run, stands nowhere in the log, and another
// one decides nothing. Asking again makes a new one, and the old one is void.
func TestToken(t *testing.T) {
	j, l := newTap(), new(ledger)
	agent, eng := payer(l, call("pay", 1)), engine.New(j, nil)
	first := ends(t, begin(t, eng, agent), pawl.StatusWaitingApproval).Pending[0].Token
	second := ends(t, resume(t, eng, agent), pawl.StatusWaitingApproval).Pending[0].Token
	if len(first) < 22 || len(second) < 22 || first == second {
		t.Fatalf("tokens %q and %q", first, second)
	}
	for row, err := range j.Read(t.Context(), "r", 1) {
		if err != nil || strings.Contains(string(row.Data), first) || strings.Contains(string(row.Data), second) {
			t.Errorf("a token in the log: %s, %v", row.Data, err)
		}
	}
	for _, token := range []string{first, "x", second[1:]} {
		if err := eng.Approve(t.Context(), "r", "c_1", "", &engine.ApproveOptions{Token: token}); err == nil {
			t.Errorf("the token %q decides", token)
		}
	}
	must(t, eng.Approve(t.Context(), "r", "c_1", "", &engine.ApproveOptions{Token: second}))
	ends(t, resume(t, eng, agent), pawl.StatusSuccess)
	if l.len() != 1 {
		t.Errorf("it took place %d times", l.len())
	}
}

// What runs is what was asked about: a call that is changed in the journal while it
// waits is asked about again.
func TestChangedCall(t *testing.T) {
	from, l := newTap(), new(ledger)
	agent := payer(l, call("pay", 1))
	ends(t, begin(t, engine.New(from, nil), agent), pawl.StatusWaitingApproval)
	lines, changes := recorded(t, from), 0
	for i, line := range lines {
		if at := bytes.LastIndex(line, []byte(`{"n":1}`)); bytes.Contains(line, []byte(`"type":"model.replied"`)) {
			lines[i] = slices.Concat(line[:at], []byte(`{"n":9}`), line[at+7:])
			changes++
		}
	}
	e := engine.New(&tap{Journal: cut(t, lines)}, nil)
	if err := e.Approve(t.Context(), "r", "c_1", "ada", nil); err != nil || changes != 1 {
		t.Fatal(changes, err)
	}
	res := ends(t, resume(t, e, agent), pawl.StatusWaitingApproval)
	if l.len() != 0 || len(res.Pending) != 1 || string(res.Pending[0].Args) != `{"n":9}` {
		t.Errorf("it took place %d times and is asked about again as %+v", l.len(), res.Pending)
	}
}
