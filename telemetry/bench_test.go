package telemetry_test

import (
	"context"
	"testing"

	"go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/telemetry"
	"github.com/pawl-run/pawl/tool"
)

// BenchmarkRun is a run of one tool call in memory, with telemetry and without.
func BenchmarkRun(b *testing.B) {
	agent := pawl.Agent{
		Name:  "host",
		Model: replies(pawl.Do(pawl.Call{Tool: "greet", Args: []byte(`{"Name":"Ada"}`)}), pawl.Say("done")),
		Tools: []pawl.Tool{tool.Func("greet", "Greet.", func(_ context.Context, in struct{ Name string }) (string, error) { return in.Name, nil }, pawl.Read)},
	}
	run := func(b *testing.B, o *engine.Options) {
		b.ReportAllocs()
		eng := engine.New(memory.New(), o)
		for b.Loop() {
			h, err := eng.Start(b.Context(), agent, "go", nil)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := h.Wait(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Run("without", func(b *testing.B) { run(b, nil) })
	b.Run("with", func(b *testing.B) {
		provider := sdktrace.NewTracerProvider(sdktrace.WithIDGenerator(telemetry.IDs{}), sdktrace.WithBatcher(tracetest.NewNoopExporter()))
		tel := telemetry.New(provider, metric.NewMeterProvider(metric.WithReader(metric.NewManualReader())), nil)
		run(b, &engine.Options{Watchers: []engine.Watcher{tel}})
		_ = tel.Shutdown(b.Context())
	})
}
