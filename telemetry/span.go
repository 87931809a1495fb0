package telemetry

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/pawl-run/pawl"
)

// A span is built from entries.
type span struct {
	name   string
	kind   trace.SpanKind
	seq    uint64 // of the entry that begins it, which gives it its id
	begin  time.Time
	attrs  []attribute.KeyValue
	events []happened
	failed string // its error type; empty: it went well
	text   string // the error message, if contents are included

	// Of a model call:
	info     pawl.ModelInfo
	purpose  pawl.Purpose
	latest   uint64 // the model.called of the latest attempt
	attempts int
	first    time.Time // when the latest attempt's reply began

	// Of a tool call or a wait:
	tool string
}

type happened struct {
	name  string
	at    time.Time
	attrs []attribute.KeyValue
}

func (p *span) add(attrs ...attribute.KeyValue) { p.attrs = append(p.attrs, attrs...) }

func (p *span) fail(why string) {
	p.failed = why
	p.add(text(keyErrorType, why))
}

// emit passes on a complete span.
func (l *life) emit(p *span, end time.Time) {
	tracer, at, run := l.t.tracer, l.at, l.run
	l.t.relay.do(func() {
		ctx := trace.ContextWithSpanContext(context.Background(), at)
		ctx = wishing(ctx, at.TraceID(), spanOf(run, p.seq))
		_, s := tracer.Start(ctx, p.name, trace.WithTimestamp(p.begin), trace.WithSpanKind(p.kind), trace.WithAttributes(p.attrs...))
		for _, h := range p.events {
			s.AddEvent(h.name, trace.WithTimestamp(h.at), trace.WithAttributes(h.attrs...))
		}
		if p.failed != "" {
			s.SetStatus(codes.Error, p.text)
		}
		s.End(trace.WithTimestamp(end))
	})
}

// usage returns a usage as attributes.
func (w *wording) usage(u pawl.Usage) []attribute.KeyValue {
	attrs := []attribute.KeyValue{attribute.Int(keyInputTokens, u.Input), attribute.Int(keyOutputTokens, u.Output)}
	for key, n := range map[string]int{keyCacheRead: u.CacheRead, w.cacheWrite: u.CacheWrite, keyReasoning: u.Reasoning, keySearches: u.Searches, keySessions: u.Sessions} {
		if n > 0 {
			attrs = append(attrs, attribute.Int(key, n))
		}
	}
	return attrs
}
