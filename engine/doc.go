// Package engine performs the steps that package pawl decides: it calls models, runs
// tools, observes the world, and appends the results to a journal. It appends before
// it acts. A resumed run follows the same code path as a new one.
//
// [Run] is the shortest way: one run, in memory, to its end. An [Engine] on a
// journal starts runs that outlive the process: [Engine.Start], [Engine.Resume],
// [Engine.Fork]. [Handle.Entries] watches a run and [Handle.Wait] waits for it.
//
// One engine at a time owns a run. It holds a lease, whose fencing epoch stops a
// former owner from writing. Everyone else sends signals: [Engine.Approve], [Engine.Deny], [Engine.Answer], [Engine.Submit],
// [Engine.Resolve], [Engine.Cancel]. A signal is durable before it is
// acknowledged, and the owner reads it within a second.
//
// # Owners
//
// Each live run has a driver, which decides, thinks, acts and ends; a recorder, which
// appends, folds and shows the log; an inbox for signals; and effects, which are the
// calls in progress with their deadlines. A tool call goes from the driver to an
// effect to the recorder. A time-out is enforced in effect.go, and a signal becomes an
// entry in signal.go. Package pawl decides whether a call needs an approval
// (decide_approve.go). Just before an approved call runs, tool_call.go checks that the
// approval has not expired and that what it relied on has not changed.
//
// # Goroutines
//
// One goroutine drives a run and alone touches its state. A model call, and a tool
// call without siblings, run on it; if one does not return when told to stop, it is
// abandoned together with its goroutine, and another goroutine drives the run. Tool
// calls side by side have goroutines of their own. One heartbeat for the whole engine
// renews leases and reads signals.
//
// # Panics
//
// Code of the caller that panics does not end the process. A loop, condition,
// policy, observer, metric or filter that panics ends its run as failed, with
// panic as the leaf of the stop reason; the detail names the code, the line, and the
// panic's value. Options.Log gets the stack. Once the code is fixed, the run can be
// resumed. The same holds for such code that ends its goroutine with runtime.Goexit,
// as a failing assertion of a test does. A tool that panics has failed, and the model
// reads so; a model that panics has failed with [pawl.ClassPanic]; an approver that
// panics has denied; a hook that panics directs nothing; a watcher that panics is
// logged. A panic before a run has its first entry is an error of Start, and one
// while a run is claimed is an error of Resume or Fork.
//
// A panic in a goroutine that such code starts itself ends the process.
package engine
