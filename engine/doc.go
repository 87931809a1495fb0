// Package engine performs the steps that package pawl decides: it calls
// models, runs tools, looks at the world, and appends what comes of it to a
// journal. It appends before it acts, and a run that is resumed takes the same
// way as one that just began.
//
// [Run] is the shortest way: one run, in memory, to its end. An [Engine] on a
// journal starts runs that outlive the process: [Engine.Start], [Engine.Resume],
// [Engine.Fork]. A [Handle] is watched through [Handle.Entries] and awaited through
// [Handle.Wait].
//
// A run has one owner at a time, by a lease with a fencing epoch. Everybody
// else writes letters: [Engine.Answer], [Engine.Approve], [Engine.Deny],
// [Engine.Submit], [Engine.Happened], [Engine.DidNotHappen], [Engine.Cancel].
// A letter is durable before it is acknowledged, and the owner reads it within
// a second.
//
// # Goroutines
//
// Each live run has one goroutine, which alone touches the run's state; every
// model call and every tool call has one of its own, so that one that ignores
// the end of its context can be left behind. One more goroutine for the whole
// engine keeps the leases and reads the mail.
//
// # Panics
//
// Code of the caller that panics does not end the process. A loop, condition,
// policy, observer, metric or filter that panics ends its run as failed, with
// [pawl.PanicLeaf] as the reason's leaf; the detail names the code, the line, and
// what it said. Options.Log gets the stack. Once the code is fixed, the run can be
// resumed. The same holds for such code that ends its goroutine with
// runtime.Goexit, as a failing assertion of a test does. A tool that panics has failed, and the model is told so; a model that
// panics has failed with [pawl.ClassPanic]; an approver that panics has denied; a
// hook that panics directs nothing, and a watcher that panics is logged. A panic
// before a run has its first entry is an error of Start, and one while a run is
// claimed is an error of Resume or Fork.
//
// A panic in a goroutine that such code starts itself ends the process, as Go has it.
package engine
