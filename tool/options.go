package tool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
)

// Options are the optional parts of a function's tool. The zero value is valid.
type Options struct {
	// Timeout is the deadline of one attempt; zero is 60 s.
	Timeout time.Duration
	// MaxOutput is how many bytes of the result the model gets, head and tail;
	// zero is 16 KiB.
	MaxOutput int
	// MaxCalls is how often the tool may run in one run; zero: no limit.
	MaxCalls int
	// MaxParallel is how many calls of the tool may run at once in one run; zero: as many
	// as the agent allows. A Write runs alone.
	MaxParallel int
	// External says that a call starts a process or a request to a server. Ten such calls
	// run at once unless the agent sets another limit.
	External bool
	// Alone lets nothing else run during a call, as with a Write.
	Alone bool
	// Exempt says that equal calls do not count as being stuck, as when polling.
	Exempt bool
	// OnDoubt says what to do about a Write with an unknown outcome; zero asks a person.
	OnDoubt pawl.OnDoubt
	// Reconcile finds out whether an interrupted call took place; see
	// [pawl.Reconciler]. Nil: only a person can find out.
	Reconcile func(context.Context, pawl.Invocation) (out pawl.Output, happened bool, err error)
	// Version must change when the function behind the same declaration does something
	// else, so that older runs do not resume with it unnoticed.
	Version string
	// Trust is the trust in the results; zero is [pawl.Trusted]. Text that strangers may
	// have written, such as mail or web pages, is [pawl.Untrusted].
	Trust pawl.Trust
	// Reaches names the arguments that say where a call goes, and Content those that
	// are prose for a reader; see [pawl.ToolInfo].
	Reaches, Content []string
	// Witness names files, relative to the working directory of this process, that the
	// approver of a call relies on. When one of them has changed, an approval is void and
	// requested again.
	Witness []string
}

// declared is the part that all tools of this package have in common. It is immutable.
type declared struct {
	info    pawl.ToolInfo
	err     error
	witness []string
}

// declare records the problems of a declaration for [pawl.Checker]. The machine checks what all
// tools have in common: the name, the schema, negative numbers.
func declare(info pawl.ToolInfo, witness []string, problems ...error) declared {
	problems = append(problems, checkWitnesses(witness)...)
	if strings.TrimSpace(info.Description) == "" {
		problems = append(problems, errors.New("it has no description; say what it does and when to use it"))
	}
	if info.Effect < 0 || info.Effect > pawl.Write {
		problems = append(problems, fmt.Errorf("effect %v does not exist; use Read, Idempotent or Write", int(info.Effect)))
	}
	if info.OnDoubt < 0 || info.OnDoubt > pawl.DoubtTell {
		problems = append(problems, fmt.Errorf("OnDoubt %v does not exist; use AskDoubt, FailDoubt or TellDoubt", int(info.OnDoubt)))
	}
	var errs []error
	for _, p := range problems {
		if p == nil {
			continue
		}
		parts := []error{p}
		if joined, ok := p.(interface{ Unwrap() []error }); ok {
			parts = joined.Unwrap()
		}
		for _, part := range parts { // each on its line, and each line names the tool
			errs = append(errs, fmt.Errorf("tool %q: %w", info.Name, part))
		}
	}
	return declared{info, errors.Join(errs...), slices.Clone(witness)}
}

// Info returns the declaration.
func (d declared) Info() pawl.ToolInfo { return d.info }

// Check returns what is wrong with the declaration, one problem a line.
func (d declared) Check(pawl.Agent) error { return d.err }
