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

// Options is what the tool of a function may say beyond what is required. Its
// zero value is right.
type Options struct {
	// Timeout is the deadline of one attempt; zero is 60 s.
	Timeout time.Duration
	// MaxOutput is how many bytes of the result the model gets, head and tail;
	// zero is 16 KiB.
	MaxOutput int
	// MaxCalls is how often the tool may run in a run; zero is without limit.
	MaxCalls int
	// MaxParallel is how many calls of it may run at once in a run; zero: as many
	// as the agent allows. A Write runs alone.
	MaxParallel int
	// External says that a call starts a process or leaves this one, as a request
	// to a server does. Of such calls ten run at once if the agent does not say.
	External bool
	// Alone makes the tool run while nothing else does, as a Write always does.
	Alone bool
	// Exempt says that equal calls are no sign of being stuck, as when polling.
	Exempt bool
	// OnDoubt says what to do about a Write with an unknown outcome; zero asks.
	OnDoubt pawl.OnDoubt
	// Reconcile finds out whether an interrupted call took place; see
	// [pawl.Reconciler]. Nil: only a person can find out.
	Reconcile func(context.Context, pawl.Invocation) (out pawl.Output, happened bool, err error)
	// Version is to be changed when the function behind the same declaration
	// does something else, so that older runs are not resumed with it unnoticed.
	Version string
	// Trust says whose words the results are; zero is [pawl.Trusted]. What anybody
	// may have written, such as a mail or a page, is [pawl.Untrusted].
	Trust pawl.Trust
	// Reaches names the arguments that say where a call goes, and Content those that
	// are prose for a reader; see [pawl.ToolInfo].
	Reaches, Content []string
	// Witness names files, relative to the working directory of this process, that the
	// approver of a call relies on. When one of them has changed, an approval is void and
	// requested again.
	Witness []string
}

// declared is the part that all tools of this package have in common. It is
// immutable.
type declared struct {
	info    pawl.ToolInfo
	err     error
	witness []string
}

// declare notes what is wrong with a declaration, for [pawl.Checker]. What is
// wrong with any tool's (its name, its schema, negative numbers) is left to the
// machine.
func declare(info pawl.ToolInfo, witness []string, problems ...error) declared {
	problems = append(problems, checkWitnesses(witness)...)
	if strings.TrimSpace(info.Description) == "" {
		problems = append(problems, errors.New("it has no description; say what it does and when to use it"))
	}
	if info.Effect < 0 || info.Effect > pawl.Write {
		problems = append(problems, fmt.Errorf("%v is no effect; use Read, Idempotent or Write", int(info.Effect)))
	}
	if info.OnDoubt < 0 || info.OnDoubt > pawl.DoubtTell {
		problems = append(problems, fmt.Errorf("%v is no choice for OnDoubt; use AskDoubt, FailDoubt or TellDoubt", int(info.OnDoubt)))
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
