package telemetry

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/pawl-run/pawl"
)

// meters are the instruments. Their attributes are bounded: agents, models, tools and
// statuses, never a run.
type meters struct {
	from       metric.Meter
	tokens     metric.Int64Histogram            // of version 1.41.0
	usage      map[string]metric.Int64Counter   // by the kind of tokens
	each       map[string]metric.Int64Histogram // the same for each model call
	operation  metric.Float64Histogram
	firstChunk metric.Float64Histogram
	tool       metric.Float64Histogram
	agent      metric.Float64Histogram
	inferences metric.Int64Histogram
	calls      metric.Int64Histogram
	wait       metric.Float64Histogram
	runs       metric.Int64Counter
	toolErrors metric.Int64Counter
	retries    metric.Int64Counter
	dropped    metric.Int64Counter
	cost       metric.Float64Counter
	active     metric.Int64UpDownCounter
	pending    pending
}

func (m *meters) open(from metric.Meter, words *wording) {
	m.from = from
	seconds := func(name, about string, buckets []float64) metric.Float64Histogram {
		h, _ := from.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(about), metric.WithExplicitBucketBoundaries(buckets...))
		return h // with an error there is one that counts nothing
	}
	counter := func(name, unit, about string) metric.Int64Counter {
		c, _ := from.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(about))
		return c
	}
	counts := func(name, unit, about string, buckets []float64) metric.Int64Histogram {
		h, _ := from.Int64Histogram(name, metric.WithUnit(unit), metric.WithDescription(about), metric.WithExplicitBucketBoundaries(buckets...))
		return h
	}
	if words.tokens != "" {
		m.tokens = counts(words.tokens, "{token}", "Number of input and output tokens used.", tokenBuckets)
	} else {
		m.usage, m.each = map[string]metric.Int64Counter{}, map[string]metric.Int64Histogram{}
		for _, kind := range tokenKinds {
			m.usage[kind] = counter(meterUsage+kind, "{token}", "Tokens used.")
			m.each[kind] = counts(meterEach+kind, "{token}", "Tokens used by one model call.", tokenBuckets)
		}
		m.agent = seconds(meterAgent, "Duration of runs.", waitBuckets)
		m.inferences = counts(meterInferences, "{call}", "Model calls of a run.", callBuckets)
		m.calls = counts(meterCalls, "{call}", "Tool calls of a run.", callBuckets)
	}
	m.operation = seconds(words.operation, "Duration of model calls.", durationBuckets)
	m.firstChunk = seconds(words.firstChunk, "Time to receive the first chunk of a reply.", durationBuckets)
	m.tool = seconds(meterTool, "Duration of tool calls.", durationBuckets)
	m.wait = seconds(meterWait, "Time from asking for an approval to the decision.", waitBuckets)
	m.runs = counter(meterRuns, "{run}", "Runs that ended or were parked, by status.")
	m.toolErrors = counter(meterToolError, "{call}", "Tool calls that did not succeed.")
	m.retries = counter(meterRetries, "{attempt}", "Model calls that failed and are tried again.")
	m.dropped = counter(meterDropped, "{item}", "Spans, events and records dropped because too many waited.")
	m.cost, _ = from.Float64Counter(meterCost, metric.WithUnit("{USD}"), metric.WithDescription("Dollars spent on model calls."))
	m.active, _ = from.Int64UpDownCounter(meterActive, metric.WithUnit("{run}"), metric.WithDescription("Runs that this process drives."))
	m.pending.calls = map[waiting]waiter{}
	_, _ = from.Int64ObservableGauge(meterWaiting, metric.WithUnit("{call}"), metric.WithDescription("Approvals asked for here and not decided here."),
		metric.WithInt64Callback(m.pending.observe))
}

// spent counts the tokens of an attempt of a model call.
func (m *meters) spent(words *wording, u pawl.Usage, of []attribute.KeyValue) {
	ctx := context.Background()
	if words.tokens != "" {
		for kind, n := range map[string]int{"input": u.Input, "output": u.Output} {
			if n > 0 {
				m.tokens.Record(ctx, int64(n), measured(append(of, text(words.tokenType, kind))...))
			}
		}
		return
	}
	for i, n := range []int{u.Input, u.Output, u.CacheRead, u.CacheWrite, u.Reasoning} {
		if n > 0 {
			m.usage[tokenKinds[i]].Add(ctx, int64(n), measured(of...))
			m.each[tokenKinds[i]].Record(ctx, int64(n), measured(of...))
		}
	}
}

func measured(attrs ...attribute.KeyValue) metric.MeasurementOption {
	return metric.WithAttributes(attrs...)
}

// pending are the approvals requested in this process, until they are decided here or expire:
// a process that decides elsewhere resumes the run there.
type pending struct {
	mu    sync.Mutex
	calls map[waiting]waiter
}

type waiting struct{ run, call string }

type waiter struct {
	agent   string
	expires time.Time
}

// mostPending bounds the memory for requests that are never decided.
const mostPending = 10_000

func (p *pending) add(run, call, agent string, expires time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.calls) < mostPending {
		p.calls[waiting{run, call}] = waiter{agent, expires}
	}
}

func (p *pending) remove(run, call string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.calls, waiting{run, call})
}

func (p *pending) observe(_ context.Context, o metric.Int64Observer) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	now, agents := time.Now(), map[string]int64{}
	for c, w := range p.calls {
		n := agents[w.agent]
		if w.expires.Before(now) {
			delete(p.calls, c)
		} else {
			n++
		}
		agents[w.agent] = n
	}
	for agent, n := range agents {
		o.Observe(n, metric.WithAttributes(text(keyAgent, agent)))
	}
	return nil
}
