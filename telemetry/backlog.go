package telemetry

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/metric"
)

// Backlog is what a journal has of an agent's runs that wait for somebody. Every process
// that watches a journal reports the same.
type Backlog struct {
	Queued  int64         // runs that wait for a worker
	Oldest  time.Duration // how long the first of those has waited
	Unowned int64         // runs in progress whose process is gone
	InDoubt int64         // runs that wait for a person to resolve an unknown outcome
}

// WatchBacklog reports the backlog of each agent whenever metrics are read. look must be
// quick; if it fails, those metrics are left out. Call WatchBacklog at most once.
func (t *Telemetry) WatchBacklog(look func(context.Context) (map[string]Backlog, error)) {
	from := t.meters.from
	gauge := func(name, unit, about string) metric.Int64ObservableGauge {
		g, _ := from.Int64ObservableGauge(name, metric.WithUnit(unit), metric.WithDescription(about))
		return g // with an error there is one that reports nothing
	}
	queued := gauge(meterQueued, "{run}", "Runs in the journal that wait for a worker.")
	unowned := gauge(meterUnowned, "{run}", "Runs in the journal whose process is gone.")
	doubts := gauge(meterInDoubt, "{run}", "Runs in the journal with a write of unknown outcome.")
	oldest, _ := from.Float64ObservableGauge(meterOldest, metric.WithUnit("s"), metric.WithDescription("How long the first run in the queue has waited."))
	_, _ = from.RegisterCallback(func(ctx context.Context, o metric.Observer) error {
		agents, err := look(ctx)
		if err != nil {
			return nil //nolint:nilerr // the probe of the journal reports it
		}
		for agent, b := range agents {
			of := metric.WithAttributes(text(keyAgent, agent))
			o.ObserveInt64(queued, b.Queued, of)
			o.ObserveFloat64(oldest, b.Oldest.Seconds(), of)
			o.ObserveInt64(unowned, b.Unowned, of)
			o.ObserveInt64(doubts, b.InDoubt, of)
		}
		return nil
	}, queued, oldest, unowned, doubts)
}
