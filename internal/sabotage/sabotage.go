// Package sabotage breaks what the journals and the engine promise, one promise
// at a time, so that it can be seen that a test notices. Nothing of it is in a
// normal build: there [On] is constant false, and the compiler leaves out
// whatever depends on it. A build with the tag sabotage breaks the promise that
// the environment names:
//
//	go test -tags sabotage -c -o engine.test ./engine
//	cd engine && PAWL_SABOTAGE=intent ../engine.test -test.run TestAppendFails
//
// Mutation tools were no way here: most of the promises are kept by several
// lines that must go together, and a mutant that nothing can notice is no news.
package sabotage

// A Switch names a promise and is what PAWL_SABOTAGE says to break it.
type Switch string

// Of the journals.
const (
	Fsync   Switch = "fsync"   // an append is on the disk when it returns
	Records Switch = "records" // a record that is not what was appended is not handed out
	Pages   Switch = "pages"   // bytes that changed on the disk are not taken for what was written
	Epoch   Switch = "epoch"   // who lost the lease appends nothing
	After   Switch = "after"   // a batch goes where its writer believes the end to be
	Letters Switch = "letters" // one letter for each request, whoever is quicker
	Lease   Switch = "lease"   // a run with a live owner is not taken over
)

// Of the engine.
const (
	Intent    Switch = "intent"    // nothing runs before the log says so
	Request   Switch = "request"   // no model is called before the log says so
	Booking   Switch = "booking"   // a model call lost in flight is booked at its reservation
	Repeat    Switch = "repeat"    // a lost Write is not driven again
	Key       Switch = "key"       // an attempt more has the same idempotency key
	Reuse     Switch = "reuse"     // an equal call that succeeded is answered from the log
	Consume   Switch = "consume"   // a decision is about one call
	Stale     Switch = "stale"     // a letter is about the request it was written for
	Witness   Switch = "witness"   // what was approved still is so when it starts
	Heartbeat Switch = "heartbeat" // a live owner keeps its run
	Change    Switch = "change"    // a run does not go on under another agent
	Newer     Switch = "newer"     // a log of a newer build is not gone on with
	Sum       Switch = "sum"       // an export that was changed is not imported
	Torn      Switch = "torn"      // a run whose end is missing does not go on
	Scrub     Switch = "scrub"     // no secret gets into the log
)

// All is every switch there is.
func All() []Switch {
	return []Switch{
		Fsync, Records, Pages, Epoch, After, Letters, Lease,
		Intent, Request, Booking, Repeat, Key, Reuse, Consume, Stale, Witness, Heartbeat, Change, Newer, Sum, Torn, Scrub,
	}
}
