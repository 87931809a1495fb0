// Package telemetry translates the logs of runs into OpenTelemetry: traces, metrics and logs
// by the semantic conventions for generative AI. It uses the API of OpenTelemetry only; the
// program sets up the exporters. The package export below sets up those of the command line.
//
//	tel := telemetry.New(tracerProvider, meterProvider, nil)
//	defer tel.Shutdown(ctx)
//	eng := engine.New(journal, &engine.Options{Watchers: []engine.Watcher{tel}})
//
// A run is one trace, whichever processes drive it and however often it is resumed. For that,
// its ids derive from the run's, so give the tracer provider the generator [IDs]:
//
//	sdktrace.NewTracerProvider(sdktrace.WithIDGenerator(telemetry.IDs{}), …)
//
// Spans begin and end at the times of entries: a span is derived from the log. Texts of
// people, models and tools are left out unless [Options] include them.
package telemetry
