// Package telemetry translates the logs of runs into OpenTelemetry: traces,
// metrics and logs by the semantic conventions for generative AI. It knows the
// API of OpenTelemetry only; who exports, and where to, is the program's business.
// The package export below it sets up what the command line uses.
//
//	tel := telemetry.New(tracerProvider, meterProvider, nil)
//	defer tel.Shutdown(ctx)
//	eng := engine.New(journal, &engine.Options{Watchers: []engine.Watcher{tel}})
//
// A run is one trace, whoever drives it and how often it is resumed. For that,
// its ids derive from the run's, so give the tracer provider the generator [IDs]:
//
//	sdktrace.NewTracerProvider(sdktrace.WithIDGenerator(telemetry.IDs{}), …)
//
// Begin and end of every span are the times of entries: a span is made of the log
// and says what the log says. What people, models and tools said is left out
// unless [Options] ask for it.
package telemetry
