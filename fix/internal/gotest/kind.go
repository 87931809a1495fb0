package gotest

// Kind says in which way something fails.
type Kind string

// The kinds of failures.
const (
	KindTest       Kind = "test"       // a test ran to its end and said no
	KindBuild      Kind = "build"      // code does not compile, link or pass go test's vet
	KindPanic      Kind = "panic"      // a test binary died (panic, fatal error, os.Exit) and ran no further test
	KindTimeout    Kind = "timeout"    // a test still ran when go test's -timeout struck
	KindRace       Kind = "race"       // the race detector reported a data race
	KindSetup      Kind = "setup"      // a package failed outside its tests: while loading, or in TestMain
	KindUnfinished Kind = "unfinished" // a package has no verdict: the stream was cut
)

// Status is the verdict on a test or package.
type Status string

// The verdicts.
const (
	StatusPass       Status = "pass"
	StatusFail       Status = "fail"
	StatusSkip       Status = "skip" // also of a package without test files
	StatusUnfinished Status = "unfinished"
)
