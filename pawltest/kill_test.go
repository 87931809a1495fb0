package pawltest_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/approval"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/pawltest"
	"github.com/pawl-run/pawl/tool"
)

type order struct {
	Order int `json:"order"`
}

// desk is an agent with a Write, and an agent with another one.
func desk(m pawl.Model) pawl.Agent {
	paid := 0
	pay := func(_ context.Context, in order) (string, error) {
		paid++
		return fmt.Sprintf("payment %d for order %d", paid, in.Order), nil
	}
	clerk := pawl.Agent{Name: "clerk", Description: "Pays.", Model: m, Tools: []pawl.Tool{tool.Func("pay", "Pays.", pay, pawl.Write)}}
	return pawl.Agent{Name: "desk", Model: m, Tools: []pawl.Tool{
		tool.Agent(clerk, nil),
		tool.Func("refund", "Refunds.", pay, pawl.Write),
	}}
}

// teller replies by the request alone.
var teller = pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
	call := func(name, args string) (pawl.Reply, error) {
		return pawl.Do(pawl.Call{Tool: name, Args: []byte(args)}), nil
	}
	switch n := len(r.Messages); {
	case strings.HasSuffix(r.Run, ".c_1") && n == 1:
		return call("pay", `{"order":1}`)
	case n == 1:
		return call("clerk", `{"input":"Pay order 1."}`)
	case n == 3 && !strings.HasSuffix(r.Run, ".c_1"):
		return call("refund", `{"order":2}`)
	}
	return pawl.Say("Done."), nil
})

func TestKillEverywhere(t *testing.T) {
	log := pawltest.KillEverywhere(t, func() pawl.Agent { return desk(teller) }, "Pay.", nil)
	if last, ok := log[len(log)-1].Event.(pawl.RunStopped); !ok || last.Status != pawl.StatusSuccess {
		t.Errorf("the log ends with %+v", log[len(log)-1].Event)
	}
}

// The flag -rewrite is there in a test that imports nothing else that has it.
func TestRewrite(t *testing.T) {
	file := filepath.Join(t.TempDir(), "new", "pay.txt")
	for _, rewrite := range []string{"true", "false"} {
		if err := flag.Set("rewrite", rewrite); err != nil {
			t.Fatal(err)
		}
		pawltest.Transcript(t, file, desk(teller), "Pay.", nil)
	}
}

// A run may ask a question while the outcome of a Write is unknown.
func TestKillWithQuestion(t *testing.T) {
	pay := func(context.Context, order) (string, error) { return "paid", nil }
	model := pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
		if len(r.Messages) > 1 {
			return pawl.Say("Done."), nil
		}
		return pawl.Do(pawl.Call{Tool: "pay", Args: []byte(`{"order":1}`)}, pawl.Call{Tool: "ask_human", Args: []byte(`{"question":"Which?"}`)}), nil
	})
	pawltest.KillEverywhere(t, func() pawl.Agent {
		tools := []pawl.Tool{tool.AskHuman(), tool.Func("pay", "Pays.", pay, pawl.Write)}
		return pawl.Agent{Name: "asker", Model: model, Tools: tools, Policies: []pawl.Policy{approval.For("pay")}}
	}, "Pay.", &engine.Options{Approver: pawltest.Person{
		Approves: func(context.Context, engine.Request) (engine.Decision, error) {
			return engine.Decision{Approve: true}, nil
		},
		Answers: func(pawl.Pending) string { return "This one." },
	}})
}

// TestBroken is run by TestKillEverywhereNotices: agents that do not survive.
func TestBroken(t *testing.T) {
	switch os.Getenv("PAWLTEST_BROKEN") {
	case "":
		t.Skip("see TestKillEverywhereNotices")
	case "forgetful": // its model replies by what it was asked before
		pawltest.KillEverywhere(t, func() pawl.Agent {
			asked := 0
			return desk(pawl.ModelFunc(func(context.Context, pawl.Request) (pawl.Reply, error) {
				asked++
				if asked > 1 {
					return pawl.Say(fmt.Sprintf("I was asked %d times.", asked)), nil
				}
				return pawl.Do(pawl.Call{Tool: "refund", Args: []byte(`{"order":2}`)}), nil
			}))
		}, "Pay.", nil)
	case "lying": // its tool says of a call that it did not take place
		pay := func(context.Context, order) (string, error) { return "paid", nil }
		deny := func(context.Context, pawl.Invocation) (pawl.Output, bool, error) { return pawl.Output{}, false, nil }
		pawltest.KillEverywhere(t, func() pawl.Agent {
			model := pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
				if len(r.Messages) > 1 {
					return pawl.Say("Paid."), nil
				}
				return pawl.Do(pawl.Call{Tool: "refund", Args: []byte(`{"order":2}`)}), nil
			})
			refund := tool.FuncWith("refund", "Refunds.", pay, pawl.Write, &tool.Options{Reconcile: deny})
			return pawl.Agent{Name: "desk", Model: model, Tools: []pawl.Tool{refund}}
		}, "Pay.", nil)
	}
}

func TestKillEverywhereNotices(t *testing.T) {
	for broken, want := range map[string]string{"forgetful": "it came out differently", "lying": "the Write refund ran 2 times"} {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestBroken$")
		cmd.Env = append(os.Environ(), "PAWLTEST_BROKEN="+broken)
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: %v, want %q\n%s", broken, err, want, out)
		}
	}
}
