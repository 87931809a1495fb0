package telemetry

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// meters are the instruments. Their attributes are bounded: agents, models, tools and
// statuses, never a run.
type meters struct {
	from       metric.Meter
	tokens     metric.Int64Histogram
	operation  metric.Float64Histogram
	firstChunk metric.Float64Histogram
	tool       metric.Float64Histogram
	wait       metric.Float64Histogram
	runs       metric.Int64Counter
	toolErrors metric.Int64Counter
	retries    metric.Int64Counter
	dropped    metric.Int64Counter
	cost       metric.Float64Counter
	active     metric.Int64UpDownCounter
	pending    pending
}

func (m *meters) open(from metric.Meter) {
	m.from = from
	seconds := func(name, about string, buckets []float64) metric.Float64Histogram {
		h, _ := from.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(about), metric.WithExplicitBucketBoundaries(buckets...))
		return h // with an error there is one that counts nothing
	}
	counter := func(name, unit, about string) metric.Int64Counter {
		c, _ := from.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(about))
		return c
	}
	m.tokens, _ = from.Int64Histogram(meterTokens, metric.WithUnit("{token}"), metric.WithDescription("Number of input and output tokens used."),
		metric.WithExplicitBucketBoundaries(tokenBuckets...))
	m.operation = seconds(meterOperation, "GenAI operation duration.", durationBuckets)
	m.firstChunk = seconds(meterFirstChunk, "Time to receive the first chunk of a reply.", durationBuckets)
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
