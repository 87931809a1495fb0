// Package sabotage breaks promises of the journals and the engine, one at a
// time, to verify that a test notices. It has no effect in a normal build:
// there [On] is constant false, and the compiler removes the code that depends
// on it. A build with the tag sabotage breaks the promise named in the
// environment:
// the environment names:
//
//	go test -tags sabotage -c -o engine.test ./engine
//	cd engine && PAWL_SABOTAGE=intent ../engine.test -test.run TestAppendFails
//
// Mutation tools do not fit: several lines together keep most of the promises,
// and a mutant without an effect shows nothing.
package sabotage

// A Switch names a promise; PAWL_SABOTAGE holds the name of the one to break.
type Switch string

// Promises of the journals.
const (
	Fsync   Switch = "fsync"   // an append is on the disk when it returns
	Records Switch = "records" // a damaged record is not returned
	Pages   Switch = "pages"   // a damaged page is detected
	Epoch   Switch = "epoch"   // an owner without the lease cannot append
	After   Switch = "after"   // a batch is appended only at its expected seq
	Letters Switch = "letters" // one signal for each request; the first counts
	Lease   Switch = "lease"   // a run with a live owner is not taken over
)

// Promises of the engine.
const (
	Intent    Switch = "intent"    // no tool runs before the log records it
	Request   Switch = "request"   // no model is called before the log records it
	Booking   Switch = "booking"   // a model call lost in flight is booked at its reservation
	Repeat    Switch = "repeat"    // a lost Write is not driven again
	Key       Switch = "key"       // a further attempt has the same idempotency key
	Reuse     Switch = "reuse"     // an equal call that succeeded is answered from the log
	Consume   Switch = "consume"   // a decision applies to one call
	Stale     Switch = "stale"     // a signal applies only to its request
	Witness   Switch = "witness"   // the preconditions of an approval still hold at the start
	Heartbeat Switch = "heartbeat" // a live owner keeps its run
	Change    Switch = "change"    // a run does not continue with a changed agent
	Newer     Switch = "newer"     // a newer build's log is not continued
	Sum       Switch = "sum"       // a changed export is not imported
	Torn      Switch = "torn"      // a run whose end is missing does not continue
	Scrub     Switch = "scrub"     // the log contains no secret
)

// All returns every switch.
func All() []Switch {
	return []Switch{
		Fsync, Records, Pages, Epoch, After, Letters, Lease,
		Intent, Request, Booking, Repeat, Key, Reuse, Consume, Stale, Witness, Heartbeat, Change, Newer, Sum, Torn, Scrub,
	}
}
