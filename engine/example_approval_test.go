package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/approval"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/sqlite"
	"github.com/pawl-run/pawl/model/script"
	"github.com/pawl-run/pawl/tool"
)

// treasurer is an agent whose payments a person approves.
func treasurer() pawl.Agent {
	type payment struct {
		To  string `json:"to"`
		EUR int    `json:"eur"`
	}
	pay := func(_ context.Context, p payment) (string, error) {
		return fmt.Sprintf("paid %d to %s", p.EUR, p.To), nil
	}
	return pawl.Agent{
		Name: "treasurer",
		Model: script.Replies(
			pawl.Do(pawl.Call{Tool: "pay", Args: json.RawMessage(`{"to": "ada", "eur": 5}`)},
				pawl.Call{Tool: "pay", Args: json.RawMessage(`{"to": "bob", "eur": 500}`)}),
			pawl.Say("Done."),
		),
		Tools:    []pawl.Tool{tool.Func("pay", "Pay somebody.", pay, pawl.Write)},
		Policies: []pawl.Policy{approval.When("pay", "args.eur > 100")},
	}
}

func openJournal() (*sqlite.Journal, func(), error) {
	dir, err := os.MkdirTemp("", "approval")
	if err != nil {
		return nil, nil, err
	}
	j, err := sqlite.Open(context.Background(), filepath.Join(dir, "runs.db"), nil)
	return j, func() { _ = j.Close(); _ = os.RemoveAll(dir) }, err
}

// A call that needs approval holds nothing else up. The run waits in no
// process; a decision may come from any, for this call or with other arguments.
func ExampleEngine_Approve() {
	ctx := context.Background()
	journal, done, err := openJournal()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer done()
	run, err := engine.New(journal, nil).Start(ctx, treasurer(), "Pay ada 5 and bob 500.", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := run.Wait(ctx)
	fmt.Println(result.Status, err)
	for _, p := range result.Pending {
		fmt.Printf("%s %s%s\n", p.Kind, p.Tool, p.Args)
	}

	elsewhere := engine.New(journal, nil)
	held := result.Pending[0]
	err = elsewhere.Approve(ctx, held.Run, held.Call, "cara", &engine.ApproveOptions{Token: held.Token, Args: json.RawMessage(`{"to": "bob", "eur": 50}`)})
	fmt.Println(err)
	run, err = elsewhere.Resume(ctx, treasurer(), held.Run, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for e, err := range run.Entries(ctx) {
		if f, ok := e.Event.(pawl.ToolFinished); ok && err == nil {
			fmt.Println(f.Call, string(f.Result))
		}
	}
	// Output:
	// waiting_approval <nil>
	// approval pay{"to":"bob","eur":500}
	// <nil>
	// c_1 "paid 5 to ada"
	// c_2 "paid 50 to bob"
}

// A program that knows what is allowed, or has somebody to ask, decides where
// the run is driven.
func ExampleApprover() {
	ctx := context.Background()
	journal, done, err := openJournal()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer done()
	cautious := engine.ApproverFunc(func(_ context.Context, r engine.Request) (engine.Decision, error) {
		fmt.Printf("%s%s: %s\n", r.Tool, r.Args, r.Reason)
		return engine.Decision{Reason: "that is too much"}, nil
	})
	eng := engine.New(journal, &engine.Options{Approver: cautious})
	run, err := eng.Start(ctx, treasurer(), "Pay ada 5 and bob 500.", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := run.Wait(ctx)
	fmt.Println(result.Status, result.Answer, err)
	for _, c := range result.Steps[0].Calls {
		fmt.Println(c.Call, c.Status)
	}
	// Output:
	// pay{"to":"bob","eur":500}: pay needs approval when args.eur > 100
	// success Done. <nil>
	// c_1 ok
	// c_2 refused
}
