// Package webhook tells others of pauses and endings of runs, by requests that
// are signed as the Standard Webhooks specification has it.
//
//	out := webhook.New(journal, webhook.Always(webhook.Hook{
//		URL: "https://hooks.example.org/pawl", Secret: os.Getenv("HOOK_SECRET"),
//	}), nil)
//	…
//	result, err := run.Wait(ctx)
//	left, err := out.Deliver(ctx, result) // until all is told, or ctx ends
//
// The log of a run is the outbox: what is to be told stands in it, and the
// mailbox of the run keeps the books of what was. A notice is told at least
// once, under the same id each time; those of a run in order, for each hook by
// itself. A program that lives on calls [Outbox.Serve], which also tells of runs
// that other processes drove.
//
// Who receives notices checks them with [Verify].
package webhook
