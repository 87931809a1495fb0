// Package webhook sends an HTTP request when a run waits, pauses or ends. Requests are signed by
// the Standard Webhooks specification.
//
//	out, err := webhook.New(journal, webhook.Always(webhook.Hook{
//		URL: "https://hooks.example.org/pawl", Secret: os.Getenv("HOOK_SECRET"),
//	}), nil)
//	…
//	result, err := run.Wait(ctx)
//
//	left, err := out.Deliver(ctx, result) // until all is delivered, or ctx ends
//
// The log of a run is the outbox: it has the events to notify of, and the run's inbox records
// the deliveries. A notice is delivered at least once, always with the same id. Each hook gets
// the notices of a run in order. A long-running program calls [Outbox.Serve], which also delivers
// for runs that other processes drove.
//
// A receiver checks a notice with [Verify].
package webhook
