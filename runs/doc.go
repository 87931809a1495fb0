// Package runs lists the runs of a journal ([List]), reports on one ([Report]), and
// removes from its log what must not be shown. It finds the call that a signal is for
// ([Addressee]) and the run that resumes after a signal ([Forward]), and decides whether
// a run can be resumed or cancelled ([Resumable], [Cancel]). The command line and the
// HTTP server share it.
package runs
