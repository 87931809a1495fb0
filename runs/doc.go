// Package runs reports on the runs of a journal from outside: the status of a run
// as a caller sees it, the run it descends from, the call that a caller means, and
// what of a log may be shown. It drives nothing and writes nothing.
package runs
