package export

import (
	"context"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

// The clients of the signals. OpenTelemetry's own for metrics and logs cannot be had without
// gRPC, which they do not use; see docs/decisions.
type (
	spans    struct{ to *outlet }
	readings struct {
		to    *outlet
		since sdkmetric.TemporalitySelector
	}
	records struct{ to *outlet }
)

var _ otlptrace.Client = spans{}

func (spans) Start(context.Context) error { return nil }
func (spans) Stop(context.Context) error  { return nil }

// UploadTraces sends a batch.
func (s spans) UploadTraces(ctx context.Context, batch []*tracepb.ResourceSpans) error {
	s.to.send(ctx, &tracepb.TracesData{ResourceSpans: batch})
	return nil
}

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
	m.to.send(ctx, &metricspb.MetricsData{ResourceMetrics: []*metricspb.ResourceMetrics{metricsOf(all)}})
	return nil
}

func (readings) ForceFlush(context.Context) error { return nil }
func (readings) Shutdown(context.Context) error   { return nil }

// Export sends a batch.
func (l records) Export(ctx context.Context, batch []sdklog.Record) error {
	l.to.send(ctx, &logspb.LogsData{ResourceLogs: []*logspb.ResourceLogs{logsOf(batch)}})
	return nil
}

func (records) ForceFlush(context.Context) error { return nil }
func (records) Shutdown(context.Context) error   { return nil }
