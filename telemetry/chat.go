package telemetry

import (
	"context"
	"log/slog"
	"net/url"
	"slices"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/redact"
)

// model handles the events of a model call. Retries of a call are one span, as in the
// conventions; a failed attempt is an event of the span.
func (l *life) model(e pawl.Entry) {
	switch ev := e.Event.(type) {
	case pawl.ModelCalled:
		l.called(&ev, e)
	case pawl.ModelDelta:
		if l.chat != nil && l.chat.latest == e.At && l.chat.first.IsZero() {
			l.chat.first = e.Time
		}
	case pawl.ModelReplied:
		l.replied(&ev, e)
	case pawl.ModelFailed:
		l.failed(&ev, e)
	}
}

func (l *life) called(ev *pawl.ModelCalled, e pawl.Entry) {
	info := l.asked(ev)
	if c := l.chat; c != nil {
		if c.info.Name == info.Name && c.purpose == ev.Purpose {
			c.latest, c.first = e.Seq, time.Time{}
			c.attempts++
			return
		}
		l.finishChat(c, e.Time, c.failed) // another model gets the request
	}
	provider, model := nameOf(info.Name)
	p := &span{
		name: opChat + " " + model, kind: trace.SpanKindClient, seq: e.Seq, begin: e.Time,
		info: info, purpose: ev.Purpose, latest: e.Seq, attempts: 1,
	}
	p.add(text(keyOperation, opChat), text(keyProvider, provider), text(keyModel, model), text(keyAgent, l.agent),
		text(keyConversation, l.talk), text(keyRun, l.run), text(keyPurpose, string(ev.Purpose)),
		attribute.Int(keyMaxTokens, ev.MaxTokens), attribute.Int(keyIteration, e.Iteration), attribute.Int64(keySeq, int64(e.Seq)))
	p.add(where(info.Endpoint)...)
	if at := l.decl.Sampling.Temperature; ev.Model == "" && at != 0 {
		p.add(attribute.Float64(keyTemperature, max(0, at))) // below zero is exactly zero
	}
	if effort := l.decl.Sampling.Effort; ev.Model == "" && effort != "" {
		p.add(text(keyEffort, effort))
	}
	l.chat = p
}

// asked returns the model that a call goes to.
func (l *life) asked(ev *pawl.ModelCalled) pawl.ModelInfo {
	if i := slices.IndexFunc(l.decl.Auxiliary, func(m pawl.ModelInfo) bool { return m.Name == ev.Model }); ev.Model != "" && i >= 0 {
		return l.decl.Auxiliary[i]
	}
	if n := ev.Fallback; n > 0 && n <= len(l.decl.Fallback) {
		return l.decl.Fallback[n-1]
	}
	return l.decl.ModelInfo
}

// where returns the address of an endpoint.
func where(endpoint string) []attribute.KeyValue {
	u, err := url.Parse(endpoint)
	if err != nil || u.Hostname() == "" {
		return nil
	}
	attrs := []attribute.KeyValue{text(keyServer, u.Hostname())}
	port, err := strconv.Atoi(u.Port())
	switch {
	case err == nil:
	case u.Scheme == "https":
		port = 443
	case u.Scheme == "http":
		port = 80
	default:
		return attrs
	}
	return append(attrs, attribute.Int(keyPort, port))
}

func (l *life) replied(ev *pawl.ModelReplied, e pawl.Entry) {
	c := l.chat
	if c == nil {
		return
	}
	c.failed = "" // an earlier attempt may have failed
	l.spend(c, ev.Reply.Usage, ev.Cost)
	c.add(l.t.words.usage(ev.Reply.Usage)...)
	c.add(attribute.StringSlice(keyFinish, []string{finish(ev.Reply)}))
	if ev.Priced {
		c.add(attribute.Float64(keyCost, ev.Cost))
	}
	if ev.Estimated {
		c.add(attribute.Bool(keyEstimated, true))
	}
	if !c.first.IsZero() {
		took := c.first.Sub(c.begin).Seconds()
		c.add(attribute.Float64(keyFirstChunk, took))
		l.t.meters.firstChunk.Record(context.Background(), took, measured(c.of()...))
	}
	if l.t.opt.Content {
		c.add(spoken(ev.Reply))
	}
	l.finishChat(c, e.Time, "")
	l.chat = nil
}

func (l *life) failed(ev *pawl.ModelFailed, e pawl.Entry) {
	c := l.chat
	if c == nil {
		return
	}
	class := ev.Class.String()
	attrs := []attribute.KeyValue{text(keyClass, class), attribute.Int(keyAttempt, ev.Attempt)}
	if l.t.opt.Content {
		c.text = redact.Text(ev.Message)
		attrs = append(attrs, text("exception.message", c.text))
	}
	c.events = append(c.events, happened{eventAttempt, e.Time, attrs})
	l.spend(c, ev.Usage, ev.Cost)
	c.failed = class
	if !ev.RetryAt.IsZero() {
		l.t.meters.retries.Add(context.Background(), 1, measured(append(c.of(), text(keyErrorType, class))...))
		return // the next attempt is part of this call
	}
	l.log(slog.LevelWarn, "model call failed", slog.String("run", l.run), slog.String("agent", l.agent),
		slog.String("model", c.info.Name), slog.String("class", class), slog.Int("attempt", ev.Attempt))
	l.finishChat(c, e.Time, class)
	l.chat = nil
}

// spend adds the cost of an attempt.
func (l *life) spend(c *span, u pawl.Usage, dollars float64) {
	l.usage = l.usage.Add(u)
	l.t.meters.spent(l.t.words, u, c.of())
	if dollars > 0 {
		l.t.meters.cost.Add(context.Background(), dollars, measured(append(c.of(), text(keyAgent, l.agent))...))
	}
}

func (l *life) finishChat(c *span, end time.Time, why string) {
	attrs := c.of()
	if why != "" {
		c.fail(why)
		attrs = append(attrs, text(keyErrorType, why))
	}
	c.add(attribute.Int(keyAttempts, c.attempts))
	l.t.meters.operation.Record(context.Background(), end.Sub(c.begin).Seconds(), measured(attrs...))
	l.emit(c, end)
}

// of returns the attributes by which a model call is counted.
func (p *span) of() []attribute.KeyValue {
	provider, model := nameOf(p.info.Name)
	return []attribute.KeyValue{text(keyOperation, opChat), text(keyProvider, provider), text(keyModel, model)}
}

// finish returns why a reply ended, in the words of most providers.
func finish(r pawl.Reply) string {
	switch r.Stop {
	case pawl.StopLength:
		return "length"
	case pawl.StopRefusal:
		return "content_filter"
	case pawl.StopPause:
		return "pause"
	case pawl.StopCalls:
		return "tool_call"
	}
	for _, p := range r.Parts {
		if _, ok := p.(pawl.Call); ok {
			return "tool_call"
		}
	}
	return "stop"
}
