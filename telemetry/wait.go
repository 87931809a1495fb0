package telemetry

import (
	"cmp"
	"context"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/pawl-run/pawl"
)

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
