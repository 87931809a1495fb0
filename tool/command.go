package tool

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/process"
	"github.com/pawl-run/pawl/internal/redact"
	"github.com/pawl-run/pawl/internal/retry"
	"github.com/pawl-run/pawl/internal/web"
	"github.com/pawl-run/pawl/internal/wire"
)

// CommandOptions are the optional parts of a command. The zero value is right for a command
// without arguments that must not run twice.
type CommandOptions struct {
	// Input is the JSON Schema of the arguments, an object. Arguments that it does not
	// name are refused unless it sets additionalProperties. Nil: no arguments.
	Input json.RawMessage `key:"input" usual:"no arguments" about:"arguments, an object"`
	// Effect is what repeating the command would do; zero is [pawl.Write].
	Effect pawl.Effect `key:"effect" enum:"read,idempotent,write" usual:"write" about:"effect of a repeated call: nothing, nothing more, or another effect"`
	// Timeout is the deadline of one attempt; zero is 60 s.
	Timeout time.Duration `key:"timeout" with:"command" usual:"60s" about:"time of one attempt"`
	// MaxOutput is how many bytes of stdout, and of stderr, are kept, head and tail, in
	// memory and in the result; zero is 16 KiB.
	MaxOutput int `key:"max_output" with:"command" format:"size" usual:"16KB" about:"size of the result that the model sees: its beginning and its end"`
	// MaxCalls is how often the tool may run in one run; zero: no limit.
	MaxCalls int `key:"max_calls" with:"command" usual:"no limit" about:"calls in a run"`
	// MaxParallel is how many calls of the tool may run at once in one run; zero: as many
	// as the agent allows. A Write runs alone.
	MaxParallel int `key:"max_parallel" with:"command" usual:"as many as the agent's" about:"calls at once; a write runs alone"`
	// Trust is the trust in the results; zero is [pawl.Trusted]. Text that strangers may
	// have written, such as mail or web pages, is [pawl.Untrusted].
	Trust pawl.Trust `key:"trust" enum:"trusted,untrusted" usual:"trusted" about:"trust in the results, for the [data-flow guard](governance.md#data-flow)"`
	// Reaches names the arguments that say where a call goes, and Content those that
	// are prose for a reader; see [pawl.ToolInfo].
	Reaches []string `key:"reaches" such:"[recipient]" usual:"values that are only a place" about:"arguments that say where a call goes, for the data-flow guard"`
	Content []string `key:"content" such:"[body]" about:"arguments that are prose, for the data-flow guard"`
	// Alone lets nothing else run during a call, as with a Write.
	Alone bool `key:"parallel" with:"command" usual:"true" about:"run beside other calls; a write never does"`
	// Exempt says that equal calls do not count as being stuck, as when polling.
	Exempt bool `key:"stuck" enum:"exempt" about:"equal calls do not count as being stuck, as when polling"`
	// OnDoubt says what to do about a Write with an unknown outcome; zero asks a person.
	OnDoubt pawl.OnDoubt `key:"on_doubt" with:"command" enum:"ask,fail,tell" usual:"ask" about:"when the outcome of a write is unknown: ask a person, end the run, or tell the model"`
	// Version must change when the same declaration does something else, so that older
	// runs do not resume with it unnoticed. Argv, Dir and Env are not part of the
	// declaration.
	Version string
	// Witness names files, relative to Dir, that the approver of a call relies on. When
	// one of them has changed, or the program or a script among its operands, an approval
	// is void and requested again.
	Witness []string `key:"witness" unique:"true" such:"[ledger.csv]" about:"files that the approver relied on, relative to 'dir'"`

	// Dir is the working directory; empty: that of this process.
	Dir string
	// Env names the environment variables of this process that the command gets, besides
	// PATH, HOME, LANG and TMPDIR. A variable that is not set is not passed on.
	Env []string
	// Secrets names further variables, whose values are secret. In the command's output a
	// value, plain or encoded, becomes {{secret:NAME}}, and in the arguments that
	// placeholder becomes the value. Values that other parts of the agent can see belong
	// in the engine's Secrets too.
	Secrets []string
	// Credentials are variables with the tokens of the run's user; see [Credentials.Token].
	Credentials map[string]*Credentials
	// Grace is the time between SIGTERM and SIGKILL; zero is 5 s.
	Grace time.Duration
	// Cage restricts the command; nil: it may do whatever the user may.
	Cage *Cage
}

// Command makes a tool of a program. Argv is the program and its arguments, passed unchanged:
// there is no shell. A program with a slash is relative to Dir; one without is looked up in PATH.
//
// The command reads the call's arguments from stdin, one line with a JSON object. Its environment
// is PATH, HOME, LANG, TMPDIR, the variables that Env names, and
//
//	PAWL_RUN              the run's id
//	PAWL_CALL             the call's id
//	PAWL_ATTEMPT          the number of this attempt at the call, from 1
//	PAWL_IDEMPOTENCY_KEY  the same for every attempt, see [pawl.Invocation]
//	PAWL_FILES            an empty directory for the files that the command returns
//	TRACEPARENT           where telemetry is on: the span of the call, and TRACESTATE
//
// If it exits with 0, stdout is the result: as JSON if it is JSON, else as a text without its
// trailing line ends; stderr is ignored. Output longer than MaxOutput is always a text, in which a
// note replaces the middle. The regular files in PAWL_FILES are files of the result. If the command
// exits with another code, the model reads that and what it wrote to stderr or, if that is empty, to
// stdout; if a signal ends it, both. Bytes that are not UTF-8 are replaced.
//
// The command has its own process group and session. When ctx ends, the whole session gets
// SIGTERM, and SIGKILL after Grace; Run returns within a second of that, with an error that wraps
// both the context's error and its cause. Processes that the command leaves behind are ended in
// the same way, so a tool cannot start a service in the background.
//
// In a program that calls [Supervise], a command runs in a wrapper that outlives this process, and
// the tool can determine the outcome of a call after a crash. A Write that a signal ended which Pawl
// did not send has an unknown outcome.
//
// Commands run on Linux and macOS. Problems with the declaration are reported when the agent is
// prepared, and by Run.
func Command(name, description string, argv []string, o *CommandOptions) pawl.Tool {
	o = cmp.Or(o, &CommandOptions{})
	c := &command{argv: slices.Clone(argv), dir: o.Dir, env: slices.Concat(o.Env, o.Secrets), secrets: slices.Clone(o.Secrets), credentials: maps.Clone(o.Credentials), grace: o.Grace, cage: o.Cage.Inner()}
	c.grace = cmp.Or(c.grace, process.DefaultGrace)
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

	credentials map[string]*Credentials
	grace       time.Duration
	cage        *process.Cage // nil: none
	chosen      bool          // the model chose argv
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

// Grace is how long Run may take after its context ended. A caller that abandons tools must wait
// this long, or the processes are left running.
func (c *command) Grace() time.Duration { return c.grace + process.Settling }

// Run runs the command once.
func (c *command) Run(ctx context.Context, inv pawl.Invocation) (pawl.Output, error) {
	if c.err != nil {
		return pawl.Output{}, c.err
	}
	j, err := c.job(inv)
	if err != nil {
		return pawl.Output{}, err
	}
	for variable, of := range c.credentials {
		token, err := of.Token(ctx)
		if err != nil {
			return pawl.Output{}, err
		}
		j.Env = append(j.Env, variable+"="+token)
		if j.Secrets == nil {
			j.Secrets = map[string]string{}
		}
		j.Secrets[of.name] = token
	}
	return c.perform(ctx, j, inv)
}

// perform runs a job, in a wrapper if the program has them.
func (c *command) perform(ctx context.Context, j *job, inv pawl.Invocation) (pawl.Output, error) {
	j.Env, j.Grace = web.ParentFrom(ctx).Into(j.Env), process.Within(ctx, j.Grace)
	var o *process.Outcome
	var err error
	switch {
	case ctx.Err() != nil:
		err = tooLate(ctx)
	case supervision.on() && inv.Run != "" && inv.Call != "": // else the file could not be found again
		o, err = c.wrapped(ctx, j, inv)
	case inv.Supervised != "":
		err = notRun("the log says that the command is supervised, and it would not be")
	default:
		o = j.perform(ctx, nil)
	}
	if err != nil {
		return pawl.Output{}, err
	}
	return result(o, func(what error) error {
		if ctx.Err() == nil && o.Cut == process.Late { // the wrapper was faster than the caller
			return timedOut(cmp.Or(c.info.Timeout, defaultTimeout), what)
		}
		return stopped(ctx, what)
	})
}

// job describes one attempt at the command.
func (c *command) job(inv pawl.Invocation) (*job, error) {
	stdin, err := line(inv.Args)
	if err != nil {
		return nil, err
	}
	caged, err := c.caged()
	if err != nil {
		return nil, err
	}
	j := &job{Argv: c.argv, Dir: c.dir, Env: c.environment(inv), Grace: c.grace, MaxOutput: c.info.MaxOutput, Cage: caged, Chosen: c.chosen, Returns: true}
	if len(c.secrets) > 0 {
		j.Secrets = map[string]string{}
		for _, name := range c.secrets {
			j.Secrets[name] = os.Getenv(name)
		}
	}
	// The engine reports secrets that are too short; New leaves them out.
	secrets, _ := redact.New(j.Secrets)
	j.Stdin = redact.Strings(stdin, secrets.Restore)
	return j, nil
}

// Waits reports that the run may have to wait for a person, who gives access.
func (c *command) Waits() bool { return len(c.credentials) > 0 }

func (c *command) environment(inv pawl.Invocation) []string {
	return process.CleanEnv(slices.Concat(c.env, []string{
		"PAWL_RUN=" + inv.Run,
		"PAWL_CALL=" + inv.Call,
		"PAWL_ATTEMPT=" + strconv.Itoa(inv.Attempt),
		"PAWL_IDEMPOTENCY_KEY=" + inv.Key,
	})...)
}

// line returns the arguments as one line with its line end, for programs that read lines.
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

// output makes an output of stdout, as JSON if it is JSON.
func output(stdout process.Printed) (pawl.Output, error) {
	text := strings.TrimRight(stdout.Text, "\r\n")
	if !stdout.Truncated && wire.Valid([]byte(text), mostNested) {
		return pawl.Output{JSON: json.RawMessage(strings.TrimSpace(text))}, nil
	}
	out, err := encode(text)
	out.Truncated = stdout.Truncated
	return out, err
}

// stopped returns the error of a command that was ended because its context ended. The text
// has the cause and how the command ended. The error wraps both the context's error and the
// cause, since the cause need not wrap the context's error.
func stopped(ctx context.Context, what error) error {
	if ctx.Err() == nil { // something else ended it
		return &retry.UnknownError{Err: fmt.Errorf("stopped from outside: %w", what)}
	}
	return &stopError{text: fmt.Sprintf("stopped: %v; %v", context.Cause(ctx), what), partial: what.Error(), is: []error{ctx.Err(), context.Cause(ctx)}}
}

type stopError struct {
	text    string
	partial string
	is      []error
}

// Partial says how a command was stopped and what it had printed, for an engine that says itself
// why it was.
func (e *stopError) Partial() string { return e.partial }

func (e *stopError) Error() string   { return e.text }
func (e *stopError) Unwrap() []error { return e.is }
