package telemetry

import (
	"context"
	"log/slog"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	nometric "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/web"
)

// Options are the options of telemetry. The zero value is valid.
type Options struct {
	// Content includes texts in spans: the prompt, the input, replies, arguments and
	// results, with secrets removed. Without it no text is included.
	Content bool
	// Earlier uses the names of version 1.41.0 of the semantic conventions in place of those of
	// semantic-conventions-genai 0.1.0.
	Earlier bool
	// Log gets the endings of runs and errors, with the trace in the context of each
	// record, where OpenTelemetry's bridges find it. Nil: nothing is logged.
	Log *slog.Logger
	// Queue is how many spans and records may wait for a slow exporter. Beyond that they
	// are dropped, and counted in pawl.telemetry.dropped. Zero: 4096.
	Queue int
}

// Telemetry watches the runs of engines and reports them. It is an engine.Watcher, safe for
// concurrent use, and never delays a run: metrics are counted at once; spans and records go
// to a goroutine of its own.
type Telemetry struct {
	tracer trace.Tracer
	meters meters
	opt    Options
	words  *wording
	relay  relay

	mu    sync.Mutex
	lives map[string]*life
}

const scope = "github.com/pawl-run/pawl/telemetry"

// New returns telemetry for two providers, either of which may be nil.
func New(t trace.TracerProvider, m metric.MeterProvider, o *Options) *Telemetry {
	tel := &Telemetry{lives: map[string]*life{}, words: &current}
	if o != nil {
		tel.opt = *o
	}
	if tel.opt.Earlier {
		tel.words = &earlier
	}
	if t == nil {
		t = noop.NewTracerProvider()
	}
	if m == nil {
		m = nometric.NewMeterProvider()
	}
	tel.tracer = t.Tracer(scope)
	tel.meters.open(m.Meter(scope), tel.words)
	if tel.opt.Queue <= 0 {
		tel.opt.Queue = 4096
	}
	tel.relay.begin(tel.opt.Queue, func() { tel.meters.dropped.Add(context.Background(), 1) })
	return tel
}

// Entry handles an entry. It does not block.
func (t *Telemetry) Entry(ctx context.Context, s *pawl.State, e pawl.Entry) {
	switch e.Event.(type) {
	case pawl.RunStarted, pawl.RunForked:
		t.begin(ctx, s, e)
		return
	case pawl.RunResumed:
		if !t.life(e.Run).goesOn() { // a fork resumes as soon as it is made
			t.begin(ctx, s, e)
		}
		return
	}
	if l := t.life(e.Run); l != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.entry(s, e)
	}
}

// Within returns ctx with the span of an intent, for other users of OpenTelemetry, and for
// adapters to pass on.
func (t *Telemetry) Within(ctx context.Context, run string, intent uint64) context.Context {
	if intent == 0 { // the run is about to begin: its caller is in the context
		if sc := trace.SpanContextFromContext(ctx); sc.IsValid() && web.ParentFrom(ctx).ID == "" {
			return placed(ctx, sc)
		}
		return ctx
	}
	l := t.life(run)
	if l == nil {
		return ctx
	}
	sc, ok := l.place(intent)
	if !ok {
		return ctx
	}
	return placed(trace.ContextWithSpanContext(ctx, sc), sc)
}

// Left ends the span of a run that this process has released.
func (t *Telemetry) Left(ctx context.Context, run string, err error) {
	t.mu.Lock()
	l := t.lives[run]
	delete(t.lives, run)
	t.mu.Unlock()
	if l != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.end(err)
	}
}

// Flush waits until all earlier entries have been passed to the providers.
func (t *Telemetry) Flush(ctx context.Context) error { return t.relay.flush(ctx) }

// Shutdown is Flush, and drops everything after it. It does not shut down the providers: they
// belong to the caller.
func (t *Telemetry) Shutdown(ctx context.Context) error { return t.relay.end(ctx) }

func (t *Telemetry) life(run string) *life {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.lives[run]
}

// placed returns a context with a span's place in the trace.
func placed(ctx context.Context, sc trace.SpanContext) context.Context {
	return web.WithParent(ctx, web.ParentOf(sc.TraceID(), sc.SpanID(), byte(sc.TraceFlags()), sc.TraceState().String()))
}

// spanContext returns the span of a place in a trace.
func spanContext(p web.Parent) trace.SpanContext {
	id, span, flags, ok := p.Split()
	if !ok {
		return trace.SpanContext{}
	}
	state, err := trace.ParseTraceState(p.State)
	if err != nil {
		state = trace.TraceState{}
	}
	return trace.NewSpanContext(trace.SpanContextConfig{TraceID: id, SpanID: span, TraceFlags: trace.TraceFlags(flags), TraceState: state, Remote: true})
}

func text(key, value string) attribute.KeyValue { return attribute.String(key, value) }
