// Package hook has common hooks: a log of what a run does, for people or for machines, and
// retries of useless replies.
//
//	eng := engine.New(journal, &engine.Options{Hooks: []engine.Hook{
//		hook.Records(slog.Default(), nil),
//		hook.Retry(3, nil),
//	}})
//
// Logged text is redacted like everything that leaves a run. A hook keeps no state between
// calls, so one hook serves any number of runs; when a run is resumed it sees the entries of the
// run's last step again.
package hook
