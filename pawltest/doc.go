// Package pawltest helps to test agents without a network and without waiting.
//
// [Script] is a model that answers from a file and must be used up. [NewServer] is a fake provider
// for programs that speak HTTP to their model. [Transcript] compares the log of a run with a file,
// [KillEverywhere] kills the process of an agent at every entry of its log, and a [Person] answers
// in the place of people meanwhile. [Check] wraps any model and reports requests that no provider
// would accept.
package pawltest
