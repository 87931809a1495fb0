// Package runs is what the command line and the HTTP server know about the runs of a
// journal: the status of a run as a caller sees it, what of its log may be shown, which
// call a signal is for ([Addressee]), which run resumes after a signal ([Forward]), and
// whether a run can be resumed or cancelled ([Resumable], [Cancel]).
package runs
