// Package hook has hooks that many programs want: a log of what a run does, for
// people or for machines, and another try for replies that are of no use.
//
//	eng := engine.New(journal, &engine.Options{Hooks: []engine.Hook{
//		hook.Records(slog.Default(), nil),
//		hook.Retry(3, nil),
//	}})
//
// What they log leaves the run: it goes through the same redaction as everything
// that does. A hook keeps nothing between calls, so that one of them serves any
// number of runs, and is shown the entries of a run's last step once more when
// the run is resumed.
package hook
