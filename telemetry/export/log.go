package export

import (
	"context"
	"log/slog"

	"go.opentelemetry.io/contrib/bridges/otelslog"
	"go.opentelemetry.io/otel/log"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	"go.opentelemetry.io/otel/sdk/resource"
)

// logProvider returns the provider of log records.
func logProvider(by sdklog.Exporter, from *resource.Resource) *sdklog.LoggerProvider {
	return sdklog.NewLoggerProvider(sdklog.WithResource(from), sdklog.WithProcessor(informing{sdklog.NewBatchProcessor(by)}))
}

// logged returns a provider as a [slog.Logger].
func logged(to log.LoggerProvider) *slog.Logger {
	return otelslog.NewLogger("github.com/pawl-run/pawl", otelslog.WithLoggerProvider(to))
}

// informing drops records below level info: the trace has what a run does.
type informing struct{ *sdklog.BatchProcessor }

// Enabled reports whether records of a severity are sent.
func (informing) Enabled(_ context.Context, p sdklog.EnabledParameters) bool {
	return p.Severity >= log.SeverityInfo
}
