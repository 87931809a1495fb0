// Package hook has ready-made hooks for an engine: [Log] and [Records] log what a
// run does, for people and for machines, and [Retry] sends unusable replies back to
// the model.
//
//	eng := engine.New(journal, &engine.Options{Hooks: []engine.Hook{
//		hook.Records(slog.Default(), nil),
//		hook.Retry(3, nil),
//	}})
//
// Logged text is redacted, as all text that leaves a run is. A hook keeps no state
// between calls, so one hook serves any number of runs. When a run is resumed, it
// sees the entries of the run's last step again.
//
// Traces and metrics come from package telemetry, requests to other services from
// package webhook.
package hook
