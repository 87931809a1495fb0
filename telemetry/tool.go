package telemetry

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/redact"
)

// tool handles the events of a tool call.
func (l *life) tool(s *pawl.State, e pawl.Entry) {
	switch ev := e.Event.(type) {
	case pawl.ToolStarted:
		l.calls[ev.Call] = l.started(&ev, e)
	case pawl.ChildStarted:
		l.delegated(s, &ev, e)
	case pawl.ToolFinished:
		l.finished(&ev, e)
	case pawl.ToolDoubted:
		l.close(ev.Call, e.Time, pawl.ToolUnknown.String())
	case pawl.ToolSettled: // often a call of an earlier owner
	case pawl.InputRequested:
		l.close(ev.Call, e.Time, "")
	case pawl.ChildStopped:
		c := l.calls[ev.Call]
		if c == nil {
			return
		}
		c.add(text(keyStatus, ev.Status.String()))
		if !ev.Status.Ended() {
			l.close(ev.Call, e.Time, "")
		}
	case pawl.ToolReused:
		l.note(e, eventReused, text(keyTool, ev.Tool), text(keyToolCall, ev.Call))
	case pawl.ToolRefused:
		l.note(e, eventRefused, text(keyTool, ev.Tool), text(keyToolCall, ev.Call))
	}
}

func (l *life) started(ev *pawl.ToolStarted, e pawl.Entry) *span {
	p := &span{name: opTool + " " + ev.Tool, kind: trace.SpanKindInternal, seq: e.Seq, begin: e.Time, tool: ev.Tool}
	p.add(text(keyOperation, opTool), text(keyTool, ev.Tool), text(keyToolCall, ev.Call), text(keyToolType, "function"),
		text(keyAgent, l.agent), text(keyConversation, l.talk), text(keyRun, l.run), text(keyEffect, ev.Effect.String()),
		attribute.Int(keyAttempt, ev.Attempt), attribute.Int(keyIteration, e.Iteration), attribute.Int64(keySeq, int64(e.Seq)))
	if l.t.opt.Content {
		p.add(text(keyToolArguments, string(redact.JSON(ev.Args))))
	}
	return p
}

// delegated records that a call continues as a run of its own, whose span is below the call's.
// In a later life of the parent there is no tool.started.
func (l *life) delegated(s *pawl.State, ev *pawl.ChildStarted, e pawl.Entry) {
	c := l.calls[ev.Call]
	if c == nil {
		was, _ := s.Call(ev.Call)
		c = l.started(&pawl.ToolStarted{Call: ev.Call, Tool: was.Tool, Args: was.Args, Effect: was.Effect, Attempt: max(1, was.Attempt)}, e)
		l.calls[ev.Call] = c
	}
	c.seq = e.Seq // the child gets this entry as its parent
	c.add(text(keyChild, ev.Child))
}

func (l *life) finished(ev *pawl.ToolFinished, e pawl.Entry) {
	c := l.calls[ev.Call]
	if c == nil {
		return
	}
	delete(l.calls, ev.Call)
	attrs := []attribute.KeyValue{text(keyTool, ev.Tool), text(keyToolStatus, ev.Status.String())}
	c.add(text(keyToolStatus, ev.Status.String()))
	if ev.Truncated {
		c.add(attribute.Bool(keyTruncated, true))
	}
	if l.t.opt.Content && ev.Status == pawl.ToolOK {
		c.add(text(keyToolResult, string(redact.JSON(ev.Result))))
	}
	if ev.Status != pawl.ToolOK {
		c.fail(ev.Status.String())
		attrs = append(attrs, text(keyErrorType, ev.Status.String()))
		if l.t.opt.Content {
			c.text = redact.Text(ev.Error)
		}
		l.t.meters.toolErrors.Add(context.Background(), 1, measured(attrs...))
	}
	l.t.meters.tool.Record(context.Background(), e.Time.Sub(c.begin).Seconds(), measured(attrs...))
	l.emit(c, e.Time)
}

// close ends the span of a call without a result.
func (l *life) close(call string, end time.Time, why string) {
	c := l.calls[call]
	if c == nil {
		return
	}
	delete(l.calls, call)
	if why != "" {
		c.fail(why)
	}
	l.emit(c, end)
}
