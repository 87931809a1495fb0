package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/process"
	"github.com/pawl-run/pawl/internal/redact"
)

// CommandOptions are the optional parts of a server's program. The zero value is right for a
// program that needs no environment variables.
type CommandOptions struct {
	// Dir is the working directory; empty: that of this process.
	Dir string
	// Env names the environment variables of this process that the program gets, besides
	// PATH, HOME, LANG and TMPDIR.
	Env []string
	// Secrets names further variables, whose values are secret. Where the arguments of a
	// call have {{secret:NAME}}, the server gets the value.
	Secrets []string
	// Cage restricts the program and everything that it starts; nil: it may do what the
	// user may. The cage's files are relative to Dir.
	Cage Cage
}

// A Cage restricts a program. [github.com/pawl-run/pawl/tool.Cage] is the only implementation; see
// there for its requirements.
type Cage interface {
	// Inner is called once. Nil is no cage.
	Inner() *process.Cage
}

// Command is a server that is a program and communicates by its standard input and output.
// It is started when the server is connected, and again if it has died. There is no shell.
// A program with a slash is relative to Dir; one without is looked up in PATH.
//
// The program has its own session. When the connection is closed, its input ends; a second
// later the whole session gets SIGTERM, and two seconds after that SIGKILL. The last 8 KiB
// of its output that are not messages are kept for errors. It runs on Linux and macOS.
func Command(argv []string, o *CommandOptions) Transport {
	o = cmp.Or(o, &CommandOptions{})
	c := &command{argv: slices.Clone(argv), dir: o.Dir, env: slices.Clone(o.Env), secrets: slices.Clone(o.Secrets)}
	if o.Cage != nil {
		c.cage = o.Cage.Inner()
	}
	return c
}

type command struct {
	argv         []string
	dir          string
	env, secrets []string
	cage         *process.Cage // nil: none
}

func (c *command) is() (identity, held string) {
	if c.cage != nil {
		held = c.cage.Describe()
	}
	return strings.Join(c.argv, "\x00"), held
}

func (c *command) check() error {
	if len(c.argv) == 0 || c.argv[0] == "" {
		return errors.New("its command is empty; the first element names a program")
	}
	for _, name := range slices.Concat(c.env, c.secrets) {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			return fmt.Errorf("env has %q; give the name of a variable, whose value is taken from the environment", name)
		}
	}
	if c.cage == nil {
		return nil
	}
	return errors.Join(append(c.cage.Wrong(), c.cage.Missing())...)
}

// enter makes the program run in its cage, if it has one. The caller calls leave when the
// program has ended.
func (c *command) enter(run *process.Command) (leave func(), err error) {
	if c.cage == nil {
		return func() {}, nil
	}
	in, err := c.cage.Of(c.argv, c.dir)
	if err != nil {
		return nil, err
	}
	o, err := in.Open(true)
	if err != nil {
		return nil, err
	}
	run.Env = o.Env(run.Env)
	run.Through = &process.Through{Argv: o.Argv, Attr: o.Attr, Explain: process.Explain}
	return func() { _ = o.Close() }, nil // a directory that cannot be removed is a temporary one
}

// hint returns an error about the cage, which may be why the program failed; nil: no cage.
func (c *command) hint() error {
	if c.cage == nil {
		return nil
	}
	return fmt.Errorf("it is in a cage of %v", *c.cage)
}

func (c *command) known() *redact.Secrets {
	values := map[string]string{}
	for _, name := range c.secrets {
		values[name] = os.Getenv(name)
	}
	known, _ := redact.New(values) // the engine reports values that are too short
	return known
}

func (c *command) prepare(_ context.Context, args []byte) (token string, filled []byte, err error) {
	if len(c.secrets) > 0 {
		args = redact.Strings(args, c.known().Restore)
	}
	return "", args, nil
}

const (
	patience = time.Second     // between the end of input and SIGTERM
	grace    = 2 * time.Second // between SIGTERM and SIGKILL
	tail     = 8 << 10         // bytes kept of a program's output besides messages
)

func (c *command) open(string) (line, error) {
	ctx, cancel := context.WithCancel(context.Background()) // the program runs until the line is closed
	feed := newFeed()
	out, put := io.Pipe()
	said := &noise{kept: display.NewBuffer(tail)}
	said.to = c.known().Writer(said.kept)
	run := process.Command{
		Argv: c.argv, Dir: c.dir, Env: process.CleanEnv(slices.Concat(c.env, c.secrets)...),
		Feed: feed.serve, Stdout: &lines{to: put, noise: said}, Stderr: said, Grace: grace,
	}
	leave, err := c.enter(&run)
	if err != nil {
		cancel()
		return line{}, err
	}
	done := make(chan struct{})
	var ended error
	go func() {
		defer close(done)
		defer cancel()
		exit, err := process.Run(ctx, run)
		leave()
		if ended = err; err == nil {
			ended = fmt.Errorf("the program ended: %v", exit)
		}
		close(feed.ended)
		put.Close()
	}()
	return line{
		transport: fateTransport{&sdk.IOTransport{Reader: out, Writer: feed, MaxLineLength: mostMessage + 1}},
		close: func() {
			feed.Close()
			out.Close()
			select {
			case <-done:
			case <-time.After(patience):
				cancel()
				<-done
			}
		},
		why: func() error {
			select {
			case <-done:
				return and(and(ended, said.error()), c.hint())
			case <-time.After(patience / 4):
				return and(said.error(), c.hint())
			}
		},
	}, nil
}

// noise keeps the end of a program's output that is not messages.
type noise struct {
	mu   sync.Mutex
	kept *display.Buffer
	to   io.Writer
}

func (n *noise) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.to.Write(p)
}

func (n *noise) error() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if text := strings.TrimSpace(visible(n.kept.String())); text != "" {
		return fmt.Errorf("it printed: %s", text)
	}
	return nil
}
