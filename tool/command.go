package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/cage"
	"github.com/pawl-run/pawl/internal/process"
	"github.com/pawl-run/pawl/internal/redact"
	"github.com/pawl-run/pawl/internal/spool"
	"github.com/pawl-run/pawl/internal/traceparent"
	"github.com/pawl-run/pawl/internal/wire"
)

// CommandOptions is what a command may say beyond what is required. Its zero
// value is right for a command without arguments that must not be run twice.
type CommandOptions struct {
	// Input is the JSON Schema of the arguments, an object. Arguments it does not
	// name are refused unless it sets additionalProperties. Nil is no arguments.
	Input json.RawMessage
	// Effect is what repeating the command would do; zero is [pawl.Write].
	Effect pawl.Effect
	// Timeout is the deadline of one attempt; zero is 60 s.
	Timeout time.Duration
	// MaxOutput is how many bytes of stdout, and of stderr, are kept, head and
	// tail; zero is 16 KiB. It is also what they need in memory.
	MaxOutput int
	// MaxCalls is how often the tool may run in a run; zero is without limit.
	MaxCalls int
	// MaxParallel is how many calls of it may run at once in a run; zero: as many
	// as the agent allows. A Write runs alone.
	MaxParallel int
	// Trust says whose words the results are; zero is [pawl.Trusted]. What anybody
	// may have written, such as a mail or a page, is [pawl.Untrusted].
	Trust pawl.Trust
	// Reaches names the arguments that say where a call goes, and Content those that
	// are prose for a reader; see [pawl.ToolInfo].
	Reaches, Content []string
	// Alone makes the tool run while nothing else does, as a Write always does.
	Alone bool
	// Exempt says that equal calls are no sign of being stuck, as when polling.
	Exempt bool
	// OnDoubt says what to do about a Write with an unknown outcome; zero asks.
	OnDoubt pawl.OnDoubt
	// Version is to be changed when the same declaration comes to do something
	// else, so that older runs are not resumed with it unnoticed. What argv, Dir
	// and Env say is not part of the declaration.
	Version string

	// Witness names files, relative to Dir, that the approver of a call relies on. When
	// one of them has changed, or the program or a script among its operands, an approval
	// is void and requested again.
	Witness []string

	// Dir is the working directory; empty is the caller's.
	Dir string
	// Env names the variables that the command gets of those of this process,
	// besides PATH, HOME, LANG and TMPDIR. One that is not set is not passed on.
	Env []string
	// Secrets names further ones, whose values are secrets. In the command's output a
	// value, plain or encoded, becomes {{secret:NAME}}, and in the arguments that
	// placeholder becomes the value. Set the engine's Secrets for values that can be
	// seen elsewhere.
	Secrets []string
	// Grace is the time between SIGTERM and SIGKILL; zero is 5 s.
	Grace time.Duration
	// Cage restricts the command by the kernel; nil: it may do what the user may.
	Cage *Cage
}

// Command makes a tool of a program. Argv is the program and its arguments,
// handed over as they are: there is no shell. A program with a slash is relative
// to Dir, one without is looked up in PATH.
//
// The command gets the call's arguments as one line on stdin, a JSON object, and
// an environment of PATH, HOME, LANG, TMPDIR, what Env names, and
//
//	PAWL_RUN              the run's id
//	PAWL_CALL             the call's id
//	PAWL_ATTEMPT          which attempt at the call this is, from 1
//	PAWL_IDEMPOTENCY_KEY  the same for every attempt, see [pawl.Invocation]
//	TRACEPARENT           where telemetry is on: the span of the call, and TRACESTATE
//
// When it exits with 0, stdout is the result: as JSON if it is JSON, else as a
// text, without the line ends that it ends with; stderr is ignored. A longer
// output than MaxOutput is a text whatever it was, of which the middle is left
// out and said to be. When it exits with another code or by a signal, the model
// is told so and given stderr or, if nothing is there, stdout. Bytes that are
// not UTF-8 are replaced.
//
// The command has a process group and a session of its own. When ctx ends the
// whole session gets SIGTERM and after Grace SIGKILL; Run returns within a second
// of that, with an error that wraps both the context's error and its cause.
// Whatever the command has started and left behind is ended in the same way, so
// a tool cannot start a service in the background.
//
// Where the program calls [Supervise], a command runs under a supervisor that
// outlives this process, and the tool is able to tell what came of it.
//
// Commands run on Linux and macOS. What is wrong with the declaration is told
// when the agent is prepared, and by Run.
func Command(name, description string, argv []string, o *CommandOptions) pawl.Tool {
	if o == nil {
		o = &CommandOptions{}
	}
	c := &command{argv: slices.Clone(argv), dir: o.Dir, env: slices.Concat(o.Env, o.Secrets), secrets: slices.Clone(o.Secrets), grace: o.Grace, cage: o.Cage.Inner()}
	if c.grace == 0 {
		c.grace = process.DefaultGrace
	}
	c.declared = declare(pawl.ToolInfo{
		Name: name, Description: description, Input: slices.Clone(o.Input), Effect: o.Effect,
		Timeout: o.Timeout, MaxOutput: o.MaxOutput, MaxCalls: o.MaxCalls,
		MaxParallel: o.MaxParallel, External: true, Alone: o.Alone, Exempt: o.Exempt, OnDoubt: o.OnDoubt, Version: o.Version, Trust: o.Trust,
		Reaches: slices.Clone(o.Reaches), Content: slices.Clone(o.Content),
	}, o.Witness, c.problems()...)
	return c
}

type command struct {
	declared
	argv    []string
	dir     string
	env     []string
	secrets []string // those of env whose values are
	grace   time.Duration
	cage    *cage.Cage // nil: none
	chosen  bool       // argv is of the model's choice
}

func (c *command) problems() (errs []error) {
	if len(c.argv) == 0 || c.argv[0] == "" {
		errs = append(errs, errors.New("its command is empty; the first element names a program"))
	}
	for _, arg := range c.argv {
		if strings.Contains(arg, "\x00") {
			errs = append(errs, fmt.Errorf("its command has a NUL byte in %q, which no system can hand over", arg))
		}
	}
	for _, name := range c.env {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			errs = append(errs, fmt.Errorf("env has %q; give the name of a variable, whose value is taken from the environment", name))
		}
	}
	if c.cage != nil {
		errs = append(errs, c.cage.Wrong()...)
	}
	if c.grace < 0 {
		errs = append(errs, fmt.Errorf("its grace is %v; it must be positive", c.grace))
	}
	return errs
}

// Info returns the declaration.
func (c *command) Info() pawl.ToolInfo {
	info := c.info
	if c.cage != nil {
		info.Cage = c.cage.Describe()
	}
	return info
}

// Check returns what is wrong with the declaration, and which parts of the cage this machine
// cannot enforce.
func (c *command) Check(a pawl.Agent) error {
	err := c.declared.Check(a)
	if c.cage != nil && err == nil {
		if err = c.cage.Missing(); err != nil {
			err = fmt.Errorf("tool %q: %w", c.info.Name, err)
		}
	}
	return err
}

// settling is the most that [process.Run] takes beyond the grace, and some.
const settling = 1500 * time.Millisecond

// Grace is how long Run may take after its context ended. A caller that abandons tools must wait
// this long, or the processes are left running. It includes time for the disk, which records
// whether the command was started.
func (c *command) Grace() time.Duration { return c.grace + settling + 500*time.Millisecond }

// Run runs the command once.
func (c *command) Run(ctx context.Context, inv pawl.Invocation) (pawl.Output, error) {
	if c.err != nil {
		return pawl.Output{}, c.err
	}
	j, err := c.job(inv)
	if err != nil {
		return pawl.Output{}, err
	}
	return c.perform(ctx, j, inv)
}

// perform runs a job, under the supervisor if there is one.
func (c *command) perform(ctx context.Context, j *job, inv pawl.Invocation) (pawl.Output, error) {
	j.Env = traceparent.From(ctx).Into(j.Env)
	var exit *spool.Exit
	var err error
	switch {
	case supervision.on() && inv.Run != "" && inv.Call != "": // else nobody can come to ask
		exit, err = c.supervised(ctx, j, inv)
	case inv.Supervised != "":
		err = notRun("the log says that the command is supervised, and it would not be")
	case ctx.Err() != nil:
		err = tooLate(ctx)
	default:
		exit = j.perform(ctx, nil)
	}
	if err != nil {
		return pawl.Output{}, err
	}
	return outcome(exit, func(what error) error { return stopped(ctx, what) })
}

// job is one attempt at the command, with what it needs to know.
func (c *command) job(inv pawl.Invocation) (*job, error) {
	stdin, err := line(inv.Args)
	if err != nil {
		return nil, err
	}
	caged, err := c.caged()
	if err != nil {
		return nil, err
	}
	j := &job{Argv: c.argv, Dir: c.dir, Env: c.environment(inv), Grace: c.grace, MaxOutput: c.info.MaxOutput, Cage: caged, Chosen: c.chosen}
	if len(c.secrets) > 0 {
		j.Secrets = map[string]string{}
		for _, name := range c.secrets {
			j.Secrets[name] = os.Getenv(name)
		}
	}
	// A secret that is too short is not among them, of which it is the engine's to complain.
	secrets, _ := redact.New(j.Secrets)
	j.Stdin = redact.Strings(stdin, secrets.Restore)
	return j, nil
}

func (c *command) environment(inv pawl.Invocation) []string {
	return process.CleanEnv(slices.Concat(c.env, []string{
		"PAWL_RUN=" + inv.Run,
		"PAWL_CALL=" + inv.Call,
		"PAWL_ATTEMPT=" + strconv.Itoa(inv.Attempt),
		"PAWL_IDEMPOTENCY_KEY=" + inv.Key,
	})...)
}

// line is the arguments as they go to stdin: on one line and with its end, for
// programs that read lines.
func line(args json.RawMessage) ([]byte, error) {
	if len(bytes.TrimSpace(args)) == 0 {
		args = json.RawMessage(`{}`)
	}
	var b bytes.Buffer
	if err := json.Compact(&b, args); err != nil {
		return nil, fmt.Errorf("arguments: %w", err)
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}

// result is what the command printed, as JSON if it is that.
func result(stdout spool.Said) (pawl.Output, error) {
	text := strings.TrimRight(stdout.Text, "\r\n")
	if !stdout.Truncated && wire.Valid([]byte(text), mostNested) {
		return pawl.Output{JSON: json.RawMessage(strings.TrimSpace(text))}, nil
	}
	out, err := encode(text)
	out.Truncated = stdout.Truncated
	return out, err
}

// stopped is the error of a command that its context has ended. It reads as the
// cause and what became of the command, and is both the context's error and
// the cause, which may not wrap it.
func stopped(ctx context.Context, what error) error {
	if ctx.Err() == nil { // somebody else has
		return fmt.Errorf("stopped from outside: %w", what)
	}
	return &stopError{text: fmt.Sprintf("stopped: %v; %v", context.Cause(ctx), what), is: []error{ctx.Err(), context.Cause(ctx)}}
}

type stopError struct {
	text string
	is   []error
}

func (e *stopError) Error() string   { return e.text }
func (e *stopError) Unwrap() []error { return e.is }
