// Package engine runs agents. It performs the steps that package pawl decides: it
// calls models, runs tools, observes the world, and appends the results to a
// journal. It appends before it acts. A resumed run follows the same code path as a
// new one.
//
// [Run] is the shortest way: one run, in memory, to its end. An [Engine] on a
// journal starts runs that outlive the process: [Engine.Start], [Engine.Resume],
// [Engine.Fork]. [Handle.Entries] watches a run and [Handle.Wait] waits for it. The
// examples below show a durable run, threads, approvals, questions and forks.
//
// One engine at a time owns a run. It holds a lease, whose fencing epoch stops a
// former owner from writing. Every other process sends signals:
// [Engine.Approve], [Engine.Deny], [Engine.Answer], [Engine.Submit],
// [Engine.Resolve], [Engine.Cancel]. A signal is durable before it is acknowledged,
// and the owner reads it within a second.
//
// An engine drives the runs that its program starts or resumes, and finds none by
// itself: package runs/worker does that. Package runs lists and reports runs.
//
// # Where things happen
//
// Each live run has a driver, which decides the steps; effects, which perform them and
// keep what is in progress; a recorder, which appends entries, folds them and shows them
// to watchers; and an inbox for signals. Calls go down in this order, and features such
// as budgets hook in (recorder_features.go). A file begins with the name of its part.
//
// A time-out is enforced in effect.go. A signal becomes an entry in request.go. Package
// pawl decides whether a call needs an approval (decide_approve.go); all else about
// approvals of a run is in request_approval.go.
//
// # Goroutines
//
// One goroutine at a time drives a run and alone touches its state. It also performs
// model calls, observations, and tool calls that are made one by one. Calls that run
// in parallel, hooks and approvers have goroutines of their own. What does not return
// when its context ends is abandoned together with its goroutine, and another one
// drives on. One heartbeat for the whole engine renews leases and reads signals.
//
// # Panics
//
// A panic in code that the program supplies does not end the process:
//
//   - A loop, condition, policy, observer, metric or filter that panics ends its run
//     as failed, with panic as the leaf of the stop reason. The detail names the
//     code, the line, and the panic's value. Once the code is fixed, the run can be
//     resumed.
//   - The call of a tool that panics has failed, and the model reads that.
//   - The call of a model that panics has failed with [pawl.ClassPanic].
//   - An approver that panics has denied the call.
//   - A hook that panics directs nothing; a watcher that panics is logged.
//
// The same holds for such code that ends its goroutine with [runtime.Goexit], as a
// failing assertion of a test does. [Options].Log gets the stack. A panic before a
// run has its first entry is an error of Start, and one while a run is claimed is
// an error of Resume or Fork. A panic in a goroutine that such code starts itself
// ends the process.
package engine
