package telemetry

import (
	"cmp"
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/redact"
	"github.com/pawl-run/pawl/internal/web"
)

// A life is the time during which this process drives a run.
type life struct {
	t     *Telemetry
	run   string
	agent string
	talk  string // the conversation: a thread, or the run
	decl  pawl.Declaration

	root trace.Span
	at   trace.SpanContext // of root
	own  bool              // spans get the ids that derive from the run

	mu     sync.Mutex
	chat   *span            // the model call in progress, including retries
	calls  map[string]*span // the tool calls in progress
	waits  map[string]*span // what the run waits for
	usage  pawl.Usage       // of this life
	ending *ending          // how the run will be released; nil: it continues
}

// ending is the content of the last run.stopped or run.paused.
type ending struct {
	time   time.Time
	status pawl.Status
	state  *pawl.State
	stop   pawl.RunStopped
}

// begin begins the span of a run, at the entry with which it was started or resumed.
func (t *Telemetry) begin(ctx context.Context, s *pawl.State, e pawl.Entry) {
	start, ok := s.Start()
	if !ok {
		return
	}
	t.Left(ctx, e.Run, nil) // a life that ended and continues at once
	l := &life{
		t: t, run: e.Run, agent: start.Declaration.Agent, talk: cmp.Or(start.Thread, e.Run), decl: start.Declaration,
		calls: map[string]*span{}, waits: map[string]*span{},
	}
	traced := web.ParseParent(start.Traceparent, web.ParentFrom(ctx).State)
	parent, id := spanContext(traced), traceOf(e.Run)
	if c := start.Continues; c != nil && len(c.Legs) > 0 && !parent.IsValid() { // a leg is part of the first leg's trace
		parent = trace.NewSpanContext(trace.SpanContextConfig{
			TraceID: traceOf(c.Legs[0]), SpanID: spanOf(c.Legs[0], 1), TraceFlags: trace.FlagsSampled, Remote: true,
		})
	}
	opts := []trace.SpanStartOption{
		trace.WithTimestamp(e.Time), trace.WithSpanKind(trace.SpanKindInternal), trace.WithLinks(l.links(ctx, e, parent)...),
	}
	if parent.IsValid() {
		id = parent.TraceID()
	} else {
		opts = append(opts, trace.WithNewRoot())
	}
	ctx = trace.ContextWithRemoteSpanContext(context.WithoutCancel(ctx), parent)
	ctx = wishing(ctx, id, spanOf(e.Run, e.Seq))
	operation, named := opAgent, keyAgent
	if l.decl.Loop == "workflow" || l.decl.Loop == "graph" {
		operation, named = t.words.workflow, t.words.workflowName
	}
	info := l.decl.ModelInfo
	provider, model := nameOf(info.Name)
	attrs := []attribute.KeyValue{
		text(keyOperation, operation), text(named, l.agent), text(keyConversation, l.talk),
		text(keyModel, model), text(keyRun, e.Run), text(keyLoop, l.decl.Loop),
	}
	if t.opt.Earlier {
		attrs = append(attrs, text(keyProvider, provider))
	}
	if start.Parent != "" {
		attrs = append(attrs, text(keyParent, start.Parent))
	}
	if c := start.Continues; c != nil && c.By != "" {
		attrs = append(attrs, text(keyHandedBy, c.By))
	}
	if t.opt.Content {
		attrs = append(attrs, written(keyInstructions, []part{{Type: "text", Content: l.decl.Prompt}}), said(keyInputMessages, "user", s.Input()))
	}
	_, l.root = t.tracer.Start( //nolint:spancheck // the span ends with the life
		ctx, operation+" "+l.agent, append(opts, trace.WithAttributes(attrs...))...)
	l.at = l.root.SpanContext()
	l.own = l.at.SpanID() == spanOf(e.Run, e.Seq) && l.at.TraceID() == id
	t.meters.active.Add(ctx, 1, measured(text(keyAgent, l.agent)))
	t.mu.Lock()
	t.lives[e.Run] = l
	t.mu.Unlock()
}

// goesOn reports whether the life has not ended.
func (l *life) goesOn() bool {
	if l == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ending == nil
}

// links are the causes of this life besides its parent span: the run's first life, the run it
// was forked from, and the present caller.
func (l *life) links(ctx context.Context, e pawl.Entry, parent trace.SpanContext) (all []trace.Link) {
	link := func(run string, seq uint64) {
		id := traceOf(run)
		if parent.IsValid() {
			id = parent.TraceID()
		}
		all = append(all, trace.Link{SpanContext: trace.NewSpanContext(trace.SpanContextConfig{
			TraceID: id, SpanID: spanOf(run, seq), TraceFlags: trace.FlagsSampled, Remote: true,
		})})
	}
	switch ev := e.Event.(type) {
	case pawl.RunForked:
		link(ev.From, 1)
	case pawl.RunResumed:
		link(l.run, 1)
	}
	asks := spanContext(web.ParentFrom(ctx))
	if asks.IsValid() && asks.SpanID() != parent.SpanID() {
		all = append(all, trace.Link{SpanContext: asks})
	}
	return all
}

// entry handles an entry of the run.
func (l *life) entry(s *pawl.State, e pawl.Entry) {
	switch ev := e.Event.(type) {
	case pawl.RunStopped:
		l.ending = &ending{time: e.Time, status: ev.Status, state: s.Clone(), stop: ev}
		return
	case pawl.RunPaused:
		l.ending = &ending{time: e.Time, status: ev.Status, state: s.Clone()}
		return
	}
	l.ending = nil // the run was not released after all: this process has decided
	switch ev := e.Event.(type) {
	case pawl.ModelCalled, pawl.ModelDelta, pawl.ModelReplied, pawl.ModelFailed:
		l.model(e)
	case pawl.PlanRejected:
		l.note(e, eventRejected, attribute.Int(keyAttempt, ev.Rejection))
	case pawl.RunExtended:
		l.note(e, eventExtended)
	case pawl.CancelRequested:
		l.note(e, eventCancel)
	default:
		l.tool(s, e)
		l.wait(s, e)
	}
}

// note adds an event to the run's span.
func (l *life) note(e pawl.Entry, name string, attrs ...attribute.KeyValue) {
	root, attrs := l.root, append(attrs, attribute.Int64(keySeq, int64(e.Seq)))
	l.t.relay.do(func() { root.AddEvent(name, trace.WithTimestamp(e.Time), trace.WithAttributes(attrs...)) })
}

// place returns the span of an intent.
func (l *life) place(intent uint64) (trace.SpanContext, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.at.IsValid() {
		return l.at, false
	}
	if !l.own { // callees get the nearest recorded span
		return l.at, true
	}
	if l.chat != nil && (l.chat.seq == intent || l.chat.latest == intent) {
		return l.at.WithSpanID(spanOf(l.run, l.chat.seq)), true
	}
	for _, c := range l.calls {
		if c.seq == intent {
			return l.at.WithSpanID(spanOf(l.run, c.seq)), true
		}
	}
	return l.at, true
}

// end ends the run's span and all open spans in it.
func (l *life) end(err error) {
	end, broke := l.ending, err != nil
	if end == nil {
		end = &ending{time: time.Now()}
		broke = true
	}
	why := cutShort(end.status, broke)
	if l.chat != nil {
		l.finishChat(l.chat, end.time, why)
	}
	for _, c := range l.calls {
		c.fail(why)
		l.emit(c, end.time)
	}
	l.chat, l.calls = nil, nil
	spent := l.usage
	if !l.t.opt.Earlier { // that of its model calls is on their spans
		spent.CacheRead, spent.CacheWrite = 0, 0
	}
	attrs := append(l.t.words.usage(spent), attribute.String(keyStatus, status(end.status, broke)))
	if !broke {
		attrs = append(attrs, l.outcome(end)...)
	}
	root := l.root
	failed := errorOf(end.status, broke)
	l.t.relay.must(func() {
		root.SetAttributes(attrs...)
		if failed != "" {
			root.SetAttributes(text(keyErrorType, failed))
			root.SetStatus(codes.Error, "")
		}
		root.End(trace.WithTimestamp(end.time))
	})
	ctx := context.Background()
	l.t.meters.active.Add(ctx, -1, measured(text(keyAgent, l.agent)))
	l.t.meters.runs.Add(ctx, 1, measured(text(keyAgent, l.agent), text(keyStatus, status(end.status, broke))))
	if l.t.meters.agent != nil && !broke {
		of := measured(text(keyAgent, l.agent))
		l.t.meters.agent.Record(ctx, end.state.Elapsed().Seconds(), of)
		l.t.meters.inferences.Record(ctx, int64(end.state.ModelCalls()), of)
		l.t.meters.calls.Record(ctx, int64(end.state.ToolCalls()), of)
	}
	l.logEnd(end, err)
}

// outcome is how a run has ended, or why it is suspended.
func (l *life) outcome(end *ending) []attribute.KeyValue {
	s := end.state
	attrs := []attribute.KeyValue{
		attribute.Int(keyIterations, s.Iterations()), attribute.Int(keyToolCalls, s.ToolCalls()),
	}
	if dollars, known := s.Cost(); known {
		attrs = append(attrs, attribute.Float64(keyRunCost, dollars))
	}
	if end.stop.Condition != "" {
		attrs = append(attrs, text(keyCondition, redact.Text(end.stop.Condition)))
	}
	if end.stop.Leaf != "" {
		attrs = append(attrs, text(keyLeaf, redact.Text(end.stop.Leaf)))
	}
	if answer := s.Answer(); l.t.opt.Content && end.status == pawl.StatusSuccess && answer != "" {
		attrs = append(attrs, said(keyOutputMessages, "assistant", answer))
	}
	return attrs
}

// logEnd logs how the run ended.
func (l *life) logEnd(end *ending, err error) {
	attrs := []slog.Attr{slog.String("run", l.run), slog.String("agent", l.agent)}
	level, message := slog.LevelInfo, "run ended"
	switch {
	case err != nil:
		level, message = slog.LevelError, "run was let go of"
		attrs = append(attrs, slog.String("error", redact.Text(err.Error())))
	case !end.status.Ended():
		message = "run is parked"
	case end.status != pawl.StatusSuccess:
		level = slog.LevelWarn
	}
	attrs = append(attrs, slog.String("status", status(end.status, err != nil)))
	if end.stop.Leaf != "" {
		attrs = append(attrs, slog.String("leaf", redact.Text(end.stop.Leaf)))
	}
	l.log(level, message, attrs...)
}

// log logs a record with the run's span in its context.
func (l *life) log(level slog.Level, message string, attrs ...slog.Attr) {
	to := l.t.opt.Log
	if to == nil {
		return
	}
	ctx := trace.ContextWithSpanContext(context.Background(), l.at)
	l.t.relay.do(func() { to.LogAttrs(ctx, level, message, attrs...) })
}

// status is the run's reported status. A broken run can be resumed.
func status(s pawl.Status, broke bool) string {
	if broke {
		return pawl.StatusInterrupted.String()
	}
	return s.String()
}

// errorOf is the error type of a run; empty: it succeeded, or waits.
func errorOf(s pawl.Status, broke bool) string {
	switch {
	case broke:
		return pawl.StatusInterrupted.String()
	case s == pawl.StatusSuccess || !s.Ended():
		return ""
	}
	return s.String()
}

// cutShort is the error type of what was in progress when a run was released.
func cutShort(s pawl.Status, broke bool) string {
	switch {
	case broke:
		return "lost"
	case s.Ended():
		return "cancelled"
	}
	return "parked"
}

// providers are the providers that the conventions name differently.
var providers = map[string]string{"google": "gcp.gemini"}

// nameOf splits a model's name into its provider and its own name.
func nameOf(name string) (provider, model string) {
	provider, model, ok := strings.Cut(name, "/")
	if !ok { // such as mechanic, which is both in one
		return name, name
	}
	return cmp.Or(providers[provider], provider), model
}
