package telemetry_test

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/testkit/check"
	"github.com/pawl-run/pawl/internal/web"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/telemetry"
)

// stuck is an exporter that takes nothing until it is let go.
type stuck struct{ free chan struct{} }

func (s stuck) ExportSpans(context.Context, []sdktrace.ReadOnlySpan) error {
	<-s.free
	return nil
}

func (stuck) Shutdown(context.Context) error { return nil }

// With an exporter that hangs, ten thousand entries hold no run, and what waits
// does not grow: it is dropped, and counted.
func TestExporterHangs(t *testing.T) {
	s := stuck{make(chan struct{})}
	reader := metric.NewManualReader()
	tel := telemetry.New(sdktrace.NewTracerProvider(sdktrace.WithIDGenerator(telemetry.IDs{}), sdktrace.WithSyncer(s)),
		metric.NewMeterProvider(metric.WithReader(reader)), &telemetry.Options{Queue: 100})
	start := pawl.RunStarted{Declaration: pawl.Declaration{Agent: "a", ModelInfo: pawl.ModelInfo{Name: "x/y"}}}
	state := new(pawl.State)
	first := pawl.Entry{Run: "r", Seq: 1, Time: time.Now(), Event: start}
	state.Fold(first)
	tel.Entry(t.Context(), state, first)
	text := strings.Repeat("x", 16<<10)
	heap := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := heap()
	for i := range uint64(5000) {
		tel.Entry(t.Context(), state, pawl.Entry{Run: "r", Seq: 2 * i, Time: time.Now(), Event: pawl.ModelCalled{Purpose: pawl.PurposeTurn, Attempt: 1}})
		tel.Entry(t.Context(), state, pawl.Entry{Run: "r", Seq: 2*i + 1, Time: time.Now(), Event: pawl.ModelReplied{Reply: pawl.Say(text + string(rune(i)))}})
	}
	if grown := heap() - before; grown > 4<<20 {
		t.Errorf("%d bytes are kept", grown)
	}
	short, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := tel.Flush(short); err == nil {
		t.Error("it is flushed through an exporter that hangs")
	}
	var got metricdata.ResourceMetrics
	must(t, reader.Collect(t.Context(), &got))
	counts := map[string]int64{}
	for _, m := range got.ScopeMetrics[0].Metrics {
		switch d := m.Data.(type) {
		case metricdata.Sum[int64]:
			counts[m.Name] = d.DataPoints[0].Value
		case metricdata.Histogram[float64]:
			counts[m.Name] = int64(d.DataPoints[0].Count)
		}
	}
	if counts["pawl.telemetry.dropped"] < 4800 || counts["gen_ai.client.inference.duration"] != 5000 {
		t.Errorf("counted is %v", counts)
	}
	close(s.free)
	tel.Left(t.Context(), "r", nil)
	must(t, tel.Shutdown(t.Context()))
}

// Without IDs the spans have ids of the provider's own, and what a tool is told is
// still a span that there is. A caller's span is what the run is below.
func TestForeignIDsAndCaller(t *testing.T) {
	spans := tracetest.NewInMemoryExporter()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))
	tel := telemetry.New(provider, nil, nil)
	var told string
	model := pawl.ModelFunc(func(ctx context.Context, _ pawl.Request) (pawl.Reply, error) {
		told = web.ParentFrom(ctx).ID
		return pawl.Say("done"), nil
	})
	ctx, caller := provider.Tracer("test").Start(t.Context(), "caller")
	journal := memory.New()
	eng := engine.New(journal, &engine.Options{Watchers: []engine.Watcher{tel}})
	run, err := eng.Start(ctx, pawl.Agent{Name: "a", Model: model}, "go", &engine.StartOptions{ID: "r"})
	must(t, err)
	_, err = run.Wait(t.Context())
	must(t, err)
	must(t, tel.Shutdown(t.Context()))
	var root trace.SpanContext
	parents := map[string]string{}
	for _, s := range spans.GetSpans() {
		parents[s.Name] = s.Parent.SpanID().String()
		if s.Name == "invoke_agent a" {
			root = s.SpanContext
		}
	}
	if d := cmp.Diff(map[string]string{"invoke_agent a": caller.SpanContext().SpanID().String(), "chat func": root.SpanID().String()}, parents); d != "" {
		t.Errorf("parents (-want +got):\n%s", d)
	}
	if want := "00-" + root.TraceID().String() + "-" + root.SpanID().String() + "-01"; told != want {
		t.Errorf("the model is told %q, want %q", told, want)
	}
	state, err := engine.Load(t.Context(), journal, "r")
	must(t, err)
	start, _ := state.Start()
	if !strings.Contains(start.Traceparent, caller.SpanContext().SpanID().String()) {
		t.Errorf("the log says it was asked for by %q", start.Traceparent)
	}
}

// What a sampler leaves out is left out for tools, too: they are told so.
func TestUnsampled(t *testing.T) {
	spans := tracetest.NewInMemoryExporter()
	tel := telemetry.New(sdktrace.NewTracerProvider(sdktrace.WithIDGenerator(telemetry.IDs{}), sdktrace.WithSyncer(spans),
		sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.NeverSample()))), nil, nil)
	var flags trace.TraceFlags
	model := pawl.ModelFunc(func(ctx context.Context, _ pawl.Request) (pawl.Reply, error) {
		flags = trace.SpanContextFromContext(ctx).TraceFlags() | 0x80
		return pawl.Say("done"), nil
	})
	eng := engine.New(memory.New(), &engine.Options{Watchers: []engine.Watcher{tel}})
	run, err := eng.Start(t.Context(), pawl.Agent{Name: "a", Model: model}, "go", nil)
	must(t, err)
	_, _ = run.Wait(t.Context())
	_ = tel.Shutdown(t.Context())
	if len(spans.GetSpans()) != 0 || flags != 0x80 {
		t.Errorf("there are %d spans, the flags are %v", len(spans.GetSpans()), flags)
	}
}

var must = check.Must
