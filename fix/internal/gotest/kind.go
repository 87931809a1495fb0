package gotest

import "fmt"

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

var kindNames = []string{"", "test", "build", "panic", "timeout", "race", "setup", "unfinished"}

func (k Kind) String() string { return name(kindNames, int(k), "Kind") }

// MarshalText writes the kind's name.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText accepts what MarshalText writes.
func (k *Kind) UnmarshalText(b []byte) error {
	n, err := parse(kindNames, string(b), "kind of failure")
	*k = Kind(n)
	return err
}

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

var statusNames = []string{"", "pass", "fail", "skip", "unfinished"}

func (s Status) String() string { return name(statusNames, int(s), "Status") }

// MarshalText writes the status's name.
func (s Status) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText accepts what MarshalText writes.
func (s *Status) UnmarshalText(b []byte) error {
	n, err := parse(statusNames, string(b), "status")
	*s = Status(n)
	return err
}

func name(names []string, n int, typ string) string {
	if n < 1 || n >= len(names) {
		return fmt.Sprintf("%s(%d)", typ, n)
	}
	return names[n]
}

func parse(names []string, s, what string) (int, error) {
	for i := 1; i < len(names); i++ {
		if names[i] == s {
			return i, nil
		}
	}
	return 0, fmt.Errorf("unknown %s %q: want one of %q", what, s, names[1:])
}
