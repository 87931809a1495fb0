package export

import (
	"context"

	sdklog "go.opentelemetry.io/otel/sdk/log"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// The exporters report errors through us: errors that they return go to OpenTelemetry's global
// error handler.
type (
	spans struct {
		sdktrace.SpanExporter
		to *outlet
	}
	readings struct {
		sdkmetric.Exporter
		to *outlet
	}
	records struct {
		sdklog.Exporter
		to *outlet
	}
)

// ExportSpans sends a batch.
func (s spans) ExportSpans(ctx context.Context, batch []sdktrace.ReadOnlySpan) error {
	s.to.send(ctx, func(ctx context.Context) error { return s.SpanExporter.ExportSpans(ctx, batch) })
	return nil
}

// Export sends the collected metrics.
func (m readings) Export(ctx context.Context, r *metricdata.ResourceMetrics) error {
	m.to.send(ctx, func(ctx context.Context) error { return m.Exporter.Export(ctx, r) })
	return nil
}

// Export sends a batch.
func (l records) Export(ctx context.Context, batch []sdklog.Record) error {
	l.to.send(ctx, func(ctx context.Context) error { return l.Exporter.Export(ctx, batch) })
	return nil
}
