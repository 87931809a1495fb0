package export

import (
	"context"
	"math"

	"go.opentelemetry.io/otel/attribute"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// readings sends metrics. It is an Exporter of the SDK.
type readings struct{ to *place }

// Temporality is cumulative, as is the default of the specification.
func (*readings) Temporality(sdk.InstrumentKind) metricdata.Temporality {
	return metricdata.CumulativeTemporality
}

// Aggregation is the default of the SDK.
func (*readings) Aggregation(k sdk.InstrumentKind) sdk.Aggregation {
	return sdk.DefaultAggregationSelector(k)
}

// Export sends what was collected.
func (m *readings) Export(ctx context.Context, r *metricdata.ResourceMetrics) error {
	if len(r.ScopeMetrics) == 0 {
		return nil
	}
	return m.to.send(ctx, collected(r))
}

// ForceFlush has nothing to do: everything was sent when it came.
func (*readings) ForceFlush(context.Context) error { return nil }

// Shutdown has nothing to do either.
func (*readings) Shutdown(context.Context) error { return nil }

// collected writes an ExportMetricsServiceRequest.
func collected(r *metricdata.ResourceMetrics) (w wire) {
	w.message(1, func(w *wire) {
		w.message(1, func(w *wire) { w.resource(r.Resource) })
		for _, s := range r.ScopeMetrics {
			w.message(2, func(w *wire) {
				w.message(1, func(w *wire) { w.scope(s.Scope) })
				for _, m := range s.Metrics {
					w.message(2, func(w *wire) { w.metric(m) })
				}
			})
		}
	})
	return w
}

func (w *wire) metric(m metricdata.Metrics) {
	w.text(1, m.Name)
	w.text(2, m.Description)
	w.text(3, m.Unit)
	switch d := m.Data.(type) {
	case metricdata.Gauge[int64]:
		w.message(5, func(w *wire) { points(w, d.DataPoints) })
	case metricdata.Gauge[float64]:
		w.message(5, func(w *wire) { points(w, d.DataPoints) })
	case metricdata.Sum[int64]:
		w.message(7, func(w *wire) { sum(w, d) })
	case metricdata.Sum[float64]:
		w.message(7, func(w *wire) { sum(w, d) })
	case metricdata.Histogram[int64]:
		w.message(9, func(w *wire) { histogram(w, d) })
	case metricdata.Histogram[float64]:
		w.message(9, func(w *wire) { histogram(w, d) })
	}
}

// cumulative is the number of that temporality on the wire.
const cumulative = 2

func sum[N int64 | float64](w *wire, s metricdata.Sum[N]) {
	points(w, s.DataPoints)
	w.uint(2, cumulative)
	if s.IsMonotonic {
		w.uint(3, 1)
	}
}

func points[N int64 | float64](w *wire, list []metricdata.DataPoint[N]) {
	for _, p := range list {
		w.message(1, func(w *wire) {
			w.time(2, p.StartTime)
			w.time(3, p.Time)
			switch n := any(p.Value).(type) {
			case float64:
				w.set(4, math.Float64bits(n))
			case int64:
				w.set(6, uint64(n))
			}
			w.attributes(7, listed(p.Attributes))
		})
	}
}

func histogram[N int64 | float64](w *wire, h metricdata.Histogram[N]) {
	for _, p := range h.DataPoints {
		w.message(1, func(w *wire) {
			w.time(2, p.StartTime)
			w.time(3, p.Time)
			w.fixed(4, p.Count)
			w.set(5, math.Float64bits(float64(p.Sum)))
			packed(w, 6, p.BucketCounts)
			packed(w, 7, p.Bounds)
			w.attributes(9, listed(p.Attributes))
			if v, ok := p.Min.Value(); ok {
				w.set(11, math.Float64bits(float64(v)))
			}
			if v, ok := p.Max.Value(); ok {
				w.set(12, math.Float64bits(float64(v)))
			}
		})
	}
	w.uint(2, cumulative)
}

func listed(s attribute.Set) []attribute.KeyValue { return s.ToSlice() }
