package telemetry_test

import (
	"context"
	"fmt"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/telemetry"
	"github.com/pawl-run/pawl/tool"
)

// Give the engine a watcher, and the tracer provider ids that derive from runs.
func ExampleNew() {
	spans := tracetest.NewInMemoryExporter() // in the place of an exporter to a collector
	provider := sdktrace.NewTracerProvider(sdktrace.WithIDGenerator(telemetry.IDs{}), sdktrace.WithSyncer(spans))
	tel := telemetry.New(provider, nil, nil)

	eng := engine.New(memory.New(), &engine.Options{Watchers: []engine.Watcher{tel}})
	greet := func(_ context.Context, in struct{ Name string }) (string, error) { return "Hello, " + in.Name, nil }
	agent := pawl.Agent{
		Name:  "host",
		Model: replies(pawl.Do(pawl.Call{Tool: "greet", Args: []byte(`{"Name":"Ada"}`)}), pawl.Say("done")),
		Tools: []pawl.Tool{tool.Func("greet", "Greet somebody.", greet, pawl.Read)},
	}
	run, err := eng.Start(context.Background(), agent, "Greet Ada.", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, _ = run.Wait(context.Background())
	_ = tel.Shutdown(context.Background()) // before the provider's
	for _, s := range spans.GetSpans() {
		fmt.Println(s.SpanKind, s.Name)
	}
	// Output:
	// client chat func
	// internal execute_tool greet
	// client chat func
	// internal invoke_agent host
}

// replies is a model that gives these replies, turn by turn.
func replies(all ...pawl.Reply) pawl.Model {
	return pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) { return all[r.Turn-1], nil })
}
