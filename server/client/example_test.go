package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/approval"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/sqlite"
	"github.com/pawl-run/pawl/model/script"
	"github.com/pawl-run/pawl/runs/worker"
	"github.com/pawl-run/pawl/server"
	"github.com/pawl-run/pawl/server/client"
	"github.com/pawl-run/pawl/tool"
)

type payment struct {
	EUR int `json:"eur"`
}

// clerk pays, once somebody has allowed it.
var clerk = pawl.Agent{
	Name:  "clerk",
	Model: script.Replies(pawl.Do(pawl.Call{Tool: "pay", Args: json.RawMessage(`{"eur":500}`)}), pawl.Say("It is paid.")),
	Tools: []pawl.Tool{tool.Func("pay", "Pay.", func(_ context.Context, p payment) (string, error) {
		return fmt.Sprintf("paid %d", p.EUR), nil
	}, pawl.Write)},
	Policies: []pawl.Policy{approval.For("pay")},
}

// office is a host with one agent.
type office struct{ engine *engine.Engine }

func (o office) Agents(context.Context) ([]client.Agent, error) {
	return []client.Agent{{Name: clerk.Name, Loop: "react", Tools: []string{"pay"}}}, nil
}

func (o office) Start(_ context.Context, name string, spec json.RawMessage) (worker.Work, error) {
	if name != clerk.Name || spec != nil {
		return worker.Work{}, &client.Problem{Type: "about:blank", Title: "Unprocessable Entity", Status: 422, Detail: "there is no agent " + name}
	}
	return worker.Work{Agent: clerk, Engine: o.engine}, nil
}

func (o office) Again(context.Context, *pawl.State, *server.Change) (worker.Work, error) {
	return worker.Work{Agent: clerk, Engine: o.engine}, nil
}

func (o office) Desk(*pawl.State) *engine.Engine { return o.engine }

// open starts a server of the office, and gives its address.
func open() (address string, shut func()) {
	dir, err := os.MkdirTemp("", "office")
	if err != nil {
		panic(err)
	}
	journal, err := sqlite.Open(context.Background(), filepath.Join(dir, "runs.db"), nil)
	if err != nil {
		panic(err)
	}
	s, err := server.New(journal, office{engine.New(journal, nil)}, []server.Key{{Token: "office-token"}}, nil)
	if err != nil {
		panic(err)
	}
	web := httptest.NewServer(s)
	return web.URL, func() {
		web.Close()
		_ = s.Close()
		_ = journal.Close()
		_ = os.RemoveAll(dir)
	}
}

// A run is started, and decided about when it waits.
func ExampleClient_Approve() {
	address, shut := open()
	defer shut()
	ctx := context.Background()
	c, err := client.New(address, "office-token", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	run, err := c.StartAndWait(ctx, client.StartRun{Agent: "clerk", Input: "Pay the invoice.", IdempotencyKey: "invoice-7"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(run.Status)
	for _, p := range run.Pending {
		fmt.Println(p.Tool, string(p.Args))
		if err := c.Approve(ctx, p.Run, p.Call, "ann", &engine.ApproveOptions{Args: json.RawMessage(`{"eur":50}`)}); err != nil {
			fmt.Println(err)
			return
		}
	}
	run, err = c.Wait(ctx, run.Run)
	fmt.Println(run.Status, run.Answer, err)
	err = c.Deny(ctx, run.Run, "c_1", "", "too late", nil)
	problem, _ := errors.AsType[*client.Problem](err)
	fmt.Println(problem.Status)
	// Output:
	// waiting_approval
	// pay {"eur":500}
	// success It is paid. <nil>
	// 409
}

// A run is followed to its end, whatever process drives it and however often the
// connection breaks.
func ExampleClient_Follow() {
	address, shut := open()
	defer shut()
	ctx := context.Background()
	c, err := client.New(address, "office-token", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	run, err := c.Start(ctx, client.StartRun{Agent: "clerk", Input: "Pay the invoice."})
	if err != nil {
		fmt.Println(err)
		return
	}
	for entry, err := range c.Follow(ctx, run.Run, 0) {
		if err != nil {
			fmt.Println(err)
			return
		}
		switch e := entry.Event.(type) {
		case pawl.ApprovalRequested:
			fmt.Println("may it", e.Tool, string(e.Args))
		case pawl.RunPaused:
			if err := c.Deny(ctx, run.Run, "c_1", "", "ask for the receipt first", nil); err != nil {
				fmt.Println(err)
				return
			}
		case pawl.RunStopped:
			fmt.Println(e.Status)
		}
	}
	report, err := c.Explain(ctx, run.Run)
	fmt.Println(report.Answer, len(report.Decisions) > 0, err)
	// Output:
	// may it pay {"eur":500}
	// success
	// It is paid. true <nil>
}

// Runs are listed a page at a time; what is not asked for is not fetched.
func ExampleClient_Runs() {
	address, shut := open()
	defer shut()
	ctx := context.Background()
	c, err := client.New(address, "office-token", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, invoice := range []string{"6", "7"} {
		if _, err := c.StartAndWait(ctx, client.StartRun{Agent: "clerk", Input: "Pay it.", Labels: map[string]string{"invoice": invoice}}); err != nil {
			fmt.Println(err)
			return
		}
	}
	for line, err := range c.Runs(ctx, client.Query{Status: pawl.StatusWaitingApproval}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(line.Agent, line.Status, line.Labels)
	}
	// Output:
	// clerk waiting_approval map[invoice:7]
	// clerk waiting_approval map[invoice:6]
}
