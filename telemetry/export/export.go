// Package export sends telemetry to a collector by OTLP over HTTP, as the
// environment has it, and shows metrics to Prometheus. It is what the command
// line uses; a program with OpenTelemetry of its own gives its providers to
// [telemetry.New] and needs nothing of this.
package export

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/exemplar"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/pawl-run/pawl/telemetry"
)

// Options are what may be said of exporting. The zero value is right.
type Options struct {
	// Version of the program, for the resource. Empty: unknown.
	Version string
	// Metrics makes a handler for Prometheus, also when nothing is sent anywhere.
	Metrics bool
	// Failed is told once that something cannot be sent; the runs go on. Nil:
	// nobody is.
	Failed func(error)
}

// An Export is telemetry on its way out.
type Export struct {
	// Telemetry watches engines.
	Telemetry *telemetry.Telemetry
	// Metrics answers Prometheus; nil: it was not asked for.
	Metrics http.Handler
	// Log sends records beside the traces; nil: logs are sent nowhere.
	Log *slog.Logger

	ends []func(context.Context) error
}

// Open sets up what the variables of OpenTelemetry say: OTEL_EXPORTER_OTLP_ENDPOINT
// and those beside it. It returns nil when nothing is to be sent or shown. What is
// wrong with the variables is the error; the rest is set up all the same.
func Open(getenv func(string) string, o *Options) (*Export, error) {
	if o == nil {
		o = &Options{}
	}
	s := settings{getenv: getenv, client: &http.Client{CheckRedirect: noRedirects}}
	toTraces, err1 := s.place("traces")
	toMetrics, err2 := s.place("metrics")
	toLogs, err3 := s.place("logs")
	wrong := join(err1, err2, err3)
	if toTraces == nil && toMetrics == nil && toLogs == nil && !o.Metrics {
		return nil, wrong
	}
	from, err := s.resource(o.Version)
	wrong = join(wrong, err)
	e := &Export{}
	var tracing trace.TracerProvider
	if toTraces != nil {
		p := sdktrace.NewTracerProvider(sdktrace.WithResource(from), sdktrace.WithIDGenerator(telemetry.IDs{}),
			sdktrace.WithBatcher(&spans{toTraces}, sdktrace.WithBlocking())) // who blocks is telemetry's own goroutine
		tracing = p
		e.ends = append(e.ends, p.Shutdown)
	}
	var metering metric.MeterProvider
	if toMetrics != nil || o.Metrics {
		opts := []sdkmetric.Option{sdkmetric.WithResource(from), sdkmetric.WithExemplarFilter(exemplar.AlwaysOffFilter)}
		if toMetrics != nil {
			opts = append(opts, sdkmetric.WithReader(sdkmetric.NewPeriodicReader(&readings{toMetrics})))
		}
		if o.Metrics {
			reader := sdkmetric.NewManualReader()
			opts = append(opts, sdkmetric.WithReader(reader))
			e.Metrics = &scraped{reader: reader}
		}
		p := sdkmetric.NewMeterProvider(opts...)
		metering = p
		e.ends = append(e.ends, p.Shutdown)
	}
	told := telemetry.Options{Content: s.contents()}
	if toLogs != nil {
		r := &records{to: toLogs, from: from}
		e.Log = slog.New(&handler{to: r})
		told.Log = e.Log
		e.ends = append(e.ends, r.shutdown)
	}
	e.Telemetry = telemetry.New(tracing, metering, &told)
	var once sync.Once
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { // the SDK's own prints
		if o.Failed != nil {
			once.Do(func() { o.Failed(err) })
		}
	}))
	return e, wrong
}

// Shutdown sends what is left, as far as ctx lets it.
func (e *Export) Shutdown(ctx context.Context) error {
	if err := e.Telemetry.Shutdown(ctx); err != nil {
		return fmt.Errorf("telemetry: %w", err)
	}
	errs := make(chan error, len(e.ends)) // beside each other, since they share the time
	for _, end := range e.ends {
		go func() { errs <- end(ctx) }()
	}
	var all error
	for range e.ends {
		all = join(all, <-errs)
	}
	return all
}
