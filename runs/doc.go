// Package runs is what a command line and a server need around an engine. It works
// on a journal and drives no run itself; package engine does.
//
//   - [List] lists runs, and [Report] explains one without what looks like a secret.
//   - [Address] finds the call that a signal (an approval, an answer, a result) is
//     for, and [Forward] resumes the run that the signal woke.
//   - [Resumable] says whether a run can be resumed, and if not, why.
//   - [Calling] makes a run of a single tool call, and [Record] a script of a run.
//
// The command pawl and package server share it.
package runs
