// Package export sends telemetry to a collector by OTLP over HTTP, as the environment
// configures it, and serves metrics to Prometheus. The command line uses it; a program with an
// OpenTelemetry setup of its own passes its providers to [telemetry.New] instead.
package export

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"

	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/exemplar"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/pawl-run/pawl/telemetry"
)

// Options are the options of an export. The zero value is valid.
type Options struct {
	// Version of the program, for the resource. Empty: unknown.
	Version string
	// Metrics makes a handler for Prometheus, even if nothing is sent.
	Metrics bool
	// Failed is called once if something cannot be sent; the runs continue. May be nil.
	Failed func(error)
}

// An Export sends telemetry.
type Export struct {
	// Telemetry watches engines.
	Telemetry *telemetry.Telemetry
	// Metrics answers Prometheus; nil: not requested.
	Metrics http.Handler
	// Log sends records with the traces; nil: logs are not sent.
	Log *slog.Logger

	ends []func(context.Context) error
	end  *end
}

// Open configures exporters by the variables of OpenTelemetry: OTEL_EXPORTER_OTLP_ENDPOINT and
// related ones. It returns nil if nothing is to be sent or served. The error describes invalid
// variables; the rest is configured all the same.
func Open(getenv func(string) string, o *Options) (*Export, error) {
	o = cmp.Or(o, &Options{})
	e := &Export{end: &end{failed: o.Failed, over: make(chan struct{})}}
	s := settings{getenv: getenv, end: e.end}
	toTraces, err1 := s.outlet("traces")
	toMetrics, err2 := s.outlet("metrics")
	toLogs, err3 := s.outlet("logs")
	wrong := errors.Join(slices.CompactFunc([]error{err1, err2, err3}, same)...) // report an error of several signals once
	if toTraces == nil && toMetrics == nil && toLogs == nil && !o.Metrics {
		return nil, wrong
	}
	from, err := s.resource(o.Version)
	wrong = errors.Join(wrong, err)
	metering, err := e.metrics(s, toMetrics, from, o.Metrics)
	wrong = errors.Join(wrong, err)
	e.logs(toLogs, from)
	e.Telemetry = telemetry.New(e.traces(toTraces, from), metering, &telemetry.Options{Content: s.contents(), Earlier: s.earlier(), Log: e.Log})
	return e, wrong
}

func same(a, b error) bool { return a != nil && b != nil && a.Error() == b.Error() }

// traces sends spans; nil: nowhere.
func (e *Export) traces(to *outlet, from *resource.Resource) trace.TracerProvider {
	if to == nil {
		return nil
	}
	p := sdktrace.NewTracerProvider(sdktrace.WithResource(from), sdktrace.WithIDGenerator(telemetry.IDs{}),
		sdktrace.WithBatcher(spans{to}, sdktrace.WithBlocking())) // only telemetry's own goroutine blocks
	e.ends = append(e.ends, p.Shutdown)
	return p
}

// metrics sends metrics, and serves them if shown.
func (e *Export) metrics(s settings, to *outlet, from *resource.Resource, shown bool) (metric.MeterProvider, error) {
	if to == nil && !shown {
		return nil, nil
	}
	opts := []sdkmetric.Option{sdkmetric.WithResource(from), sdkmetric.WithExemplarFilter(exemplar.AlwaysOffFilter)}
	var wrong error
	if to != nil {
		temporality, err := s.temporality()
		if err == nil {
			opts = append(opts, sdkmetric.WithReader(sdkmetric.NewPeriodicReader(readings{to, temporality})))
		}
		wrong = err
	}
	if shown {
		reader, handler := scraped()
		opts = append(opts, sdkmetric.WithReader(reader))
		e.Metrics = handler
	}
	p := sdkmetric.NewMeterProvider(opts...)
	e.ends = append(e.ends, p.Shutdown)
	return p, wrong
}

// logs sends records.
func (e *Export) logs(to *outlet, from *resource.Resource) {
	if to == nil {
		return
	}
	p := logProvider(records{to}, from)
	e.Log = logged(p)
	e.ends = append(e.ends, p.Shutdown)
}

// Shutdown sends the rest until ctx is done, and then stops. It returns no error that Failed
// has reported.
func (e *Export) Shutdown(ctx context.Context) error {
	err := e.Telemetry.Shutdown(ctx)
	if err != nil {
		err = fmt.Errorf("telemetry: %w", err)
	}
	errs := make(chan error, len(e.ends)) // in parallel, since they share the time
	for _, end := range e.ends {
		go func() { errs <- end(ctx) }()
	}
	for range e.ends {
		err = errors.Join(err, <-errs)
	}
	if e.end.close() {
		return nil
	}
	if ctx.Err() != nil {
		return fmt.Errorf("telemetry was not sent in time: %w", ctx.Err())
	}
	return err
}
