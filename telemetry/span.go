package telemetry

import (
	"cmp"
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

// wait records that a run waits for a person, and that the answer has come. The wait is a span
// of its own; if the run was suspended meanwhile, it belongs to the life that reads the answer,
// so that there is one span and not two halves.
func (l *life) wait(s *pawl.State, e pawl.Entry) {
	switch ev := e.Event.(type) {
	case pawl.ApprovalRequested:
		l.asks(e, ev.Call, ev.Tool, "approval")
		l.t.meters.pending.add(l.run, ev.Call, l.agent, ev.Expires)
	case pawl.InputRequested:
		l.asks(e, ev.Call, "", "input")
	case pawl.ClientToolRequested:
		l.asks(e, ev.Call, ev.Tool, "client_tool")
	case pawl.ToolDoubted:
		l.asks(e, ev.Call, ev.Tool, "doubt")
	case pawl.ApprovalDecided:
		decision := "deny"
		if ev.Approved {
			decision = "approve"
		}
		l.answered(s, e, ev.Call, "approval", decision)
	case pawl.ApprovalExpired:
		l.answered(s, e, ev.Call, "approval", "expired")
	case pawl.ApprovalInvalidated:
		l.answered(s, e, ev.Call, "approval", "invalidated")
	case pawl.InputGiven:
		if ev.Call != "" { // else nobody asked
			l.answered(s, e, ev.Call, "input", "given")
		}
	case pawl.ClientToolReturned:
		l.answered(s, e, ev.Call, "client_tool", "returned")
	case pawl.ToolSettled:
		l.answered(s, e, ev.Call, "doubt", "settled")
	}
}

func (l *life) asks(e pawl.Entry, call, tool, kind string) {
	l.waits[call] = &span{seq: e.Seq, begin: e.Time, tool: tool}
	l.note(e, eventAwait, text(keyKind, kind), text(keyCall, call))
}

func (l *life) answered(s *pawl.State, e pawl.Entry, call, kind, decision string) {
	p := l.waits[call]
	delete(l.waits, call)
	if kind == "approval" {
		l.t.meters.pending.remove(l.run, call)
	}
	was, _ := s.Call(call)
	if p == nil { // the question is from an earlier life, perhaps of another process
		if p = l.before(was, kind); p == nil {
			return
		}
	}
	tool := cmp.Or(p.tool, was.Tool)
	p.name, p.kind = spanAwait+" "+kind, trace.SpanKindInternal
	p.add(text(keyKind, kind), text(keyDecision, decision), text(keyCall, call), text(keyAgent, l.agent), text(keyConversation, l.talk), text(keyRun, l.run))
	if tool != "" {
		p.add(text(keyTool, tool))
	}
	if kind == "approval" {
		l.t.meters.wait.Record(context.Background(), e.Time.Sub(p.begin).Seconds(), measured(text(keyTool, tool), text(keyDecision, decision)))
	}
	l.emit(p, e.Time)
}

// before returns the span of an approval that was requested in an earlier life. The expiry
// tells when.
func (l *life) before(was pawl.CallState, kind string) *span {
	if kind != "approval" || was.Expires.IsZero() || was.Requested == 0 {
		return nil
	}
	ttl := cmp.Or(l.decl.Approvals.TTL, 24*time.Hour)
	return &span{seq: was.Requested, begin: was.Expires.Add(-ttl), tool: was.Tool}
}
