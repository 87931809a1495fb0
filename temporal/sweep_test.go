package temporal

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"testing"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"google.golang.org/grpc"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/tool"
)

// fickle is a server of Temporal that may be away.
type fickle struct {
	client.Client
	away bool
	woke []string
}

func (f *fickle) WorkflowService() workflowservice.WorkflowServiceClient { return fickleService{of: f} }

type fickleService struct {
	workflowservice.WorkflowServiceClient
	of *fickle
}

func (f *fickle) DescribeWorkflowExecution(context.Context, string, string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	if f.away {
		return nil, errors.New("not now")
	}
	return &workflowservice.DescribeWorkflowExecutionResponse{}, nil
}

func (f fickleService) SignalWithStartWorkflowExecution(_ context.Context, in *workflowservice.SignalWithStartWorkflowExecutionRequest, _ ...grpc.CallOption) (*workflowservice.SignalWithStartWorkflowExecutionResponse, error) {
	f.of.woke = append(f.of.woke, in.GetWorkflowId())
	return nil, nil
}

// A signal that comes while Temporal is away wakes its run once Temporal is back.
func TestSignalWhileAway(t *testing.T) {
	j := struct{ *memory.Journal }{memory.New()} // which outlives the engine
	agent := pawl.Agent{Name: "picker", Tools: []pawl.Tool{tool.Client("pick", "Pick.", nil, nil)}, Model: pawl.ModelFunc(func(context.Context, pawl.Request) (pawl.Reply, error) {
		return pawl.Do(pawl.Call{Tool: "pick", Args: json.RawMessage(`{}`)}), nil
	})}
	e := engine.New(j, nil)
	h, err := e.Start(t.Context(), agent, "go", &engine.StartOptions{ID: "r"})
	must(t, err)
	if r, err := h.Wait(t.Context()); err != nil || !r.Status.Waiting() {
		t.Fatal(r.Status, err)
	}
	server := &fickle{}
	s := &sweeper{told: map[string]bool{}, retries: map[string]*wakening{}, waker: &waker{
		client: &Client{sdk: server, data: converter.GetDefaultDataConverter()}, journal: j, host: &house{agent: agent}, log: slog.New(slog.DiscardHandler),
	}}
	look := func() error { return s.look(t.Context(), time.Minute) }
	if err := look(); err != nil || server.woke != nil {
		t.Fatal(server.woke, err)
	}
	must(t, e.Submit(t.Context(), "r", "c_1", "client", json.RawMessage(`1`)))
	server.away = true
	if err := look(); err == nil {
		t.Error("Temporal is away, and nobody notices")
	}
	server.away = false
	for range 2 { // the second time it is left alone
		if err := look(); err != nil || len(server.woke) != 1 {
			t.Errorf("it was woken %d times, %v", len(server.woke), err)
		}
	}
}
