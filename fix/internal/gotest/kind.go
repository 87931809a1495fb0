package gotest

import "github.com/pawl-run/pawl/internal/names"

// Kind says in which way something fails.
type Kind int

const (
	// KindTest is a test that ran to its end and said no.
	KindTest Kind = iota + 1
	// KindBuild is code that does not compile, link or pass go test's vet.
	KindBuild
	// KindPanic is a test binary that died: a panic, a fatal error of the
	// runtime, an os.Exit. Tests after it did not run.
	KindPanic
	// KindTimeout is a test still running when go test's -timeout struck.
	KindTimeout
	// KindRace is a data race that the race detector reported.
	KindRace
	// KindSetup is a package that failed outside of any test: it could not be
	// loaded, or its TestMain gave up.
	KindSetup
	// KindUnfinished is a package without a verdict: the stream was cut.
	KindUnfinished
)

var kindNames = names.Make[Kind]("kind of failure", []string{"test", "build", "panic", "timeout", "race", "setup", "unfinished"})

func (k Kind) String() string { return kindNames.String(k) }

// MarshalText writes the kind's name.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText accepts what MarshalText writes.
func (k *Kind) UnmarshalText(b []byte) error { return kindNames.Unmarshal(k, b) }

// Status is the verdict on a test or package.
type Status int

const (
	// StatusPass is a test that passed, or a package whose tests all did.
	StatusPass Status = iota + 1
	// StatusFail is a test or package that failed.
	StatusFail
	// StatusSkip is a skipped test, or a package without test files.
	StatusSkip
	// StatusUnfinished is a test without a verdict.
	StatusUnfinished
)

var statusNames = names.Make[Status]("status", []string{"pass", "fail", "skip", "unfinished"})

func (s Status) String() string { return statusNames.String(s) }

// MarshalText writes the status's name.
func (s Status) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText accepts what MarshalText writes.
func (s *Status) UnmarshalText(b []byte) error { return statusNames.Unmarshal(s, b) }
