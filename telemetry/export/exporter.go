package export

import (
	"context"

	sdklog "go.opentelemetry.io/otel/sdk/log"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// The exporters of the signals. OpenTelemetry's own link gRPC or the reflection of protocol
// buffers, which they hardly use.
type (
	spans    struct{ to *outlet }
	readings struct {
		to    *outlet
		since sdkmetric.TemporalitySelector
	}
	records struct{ to *outlet }
)

// ExportSpans sends a batch.
func (s spans) ExportSpans(ctx context.Context, batch []sdktrace.ReadOnlySpan) error {
	s.to.send(ctx, tracesOf(batch))
	return nil
}

func (spans) Shutdown(context.Context) error { return nil }

// Temporality says what metrics of a kind count from.
func (m readings) Temporality(kind sdkmetric.InstrumentKind) metricdata.Temporality {
	return m.since(kind)
}

// Aggregation is the usual one.
func (readings) Aggregation(kind sdkmetric.InstrumentKind) sdkmetric.Aggregation {
	return sdkmetric.DefaultAggregationSelector(kind)
}

// Export sends the collected metrics.
func (m readings) Export(ctx context.Context, all *metricdata.ResourceMetrics) error {
	m.to.send(ctx, metricsOf(all))
	return nil
}

func (readings) ForceFlush(context.Context) error { return nil }
func (readings) Shutdown(context.Context) error   { return nil }

// Export sends a batch.
func (l records) Export(ctx context.Context, batch []sdklog.Record) error {
	l.to.send(ctx, logsOf(batch))
	return nil
}

func (records) ForceFlush(context.Context) error { return nil }
func (records) Shutdown(context.Context) error   { return nil }
