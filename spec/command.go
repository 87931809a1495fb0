package spec

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/expr"
	"github.com/pawl-run/pawl/tool"
)

// The defaults of commands that are no tools, equal to those of tools.
const (
	commandTime   = 60 * time.Second
	commandOutput = 16 << 10
)

// command is a program that is no tool: it observes, measures, instructs, or gets a credential.
type command struct {
	argv []string
	dir  string
	env  []string
	cage *tool.Cage // nil: none
}

func (s *Spec) command(argv []string) command { return command{argv, s.dir, s.Env, s.cage} }

func (c command) options() *tool.CommandOptions {
	return &tool.CommandOptions{Dir: c.dir, Secrets: c.env, Cage: c.cage, MaxOutput: commandOutput}
}

// run returns what the program prints for its arguments, as data if that is JSON.
func (c command) run(ctx context.Context, o *tool.CommandOptions, args json.RawMessage) (text string, data json.RawMessage, truncated bool, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, commandTime, fmt.Errorf("no result within %v: %w", commandTime, context.DeadlineExceeded))
	defer cancel()
	program := tool.Command("command", "A command of the spec.", c.argv, o)
	out, err := program.Run(ctx, pawl.Invocation{Args: args})
	if err != nil {
		return "", nil, false, fmt.Errorf("%s: %w", c.argv[0], err)
	}
	if out.JSON[0] == '"' {
		err = json.Unmarshal(out.JSON, &text)
		return text, nil, out.Truncated, err
	}
	return string(out.JSON), out.JSON, false, nil
}

// observe returns the command's output, also as data if it is JSON.
func (c command) observe(ctx context.Context) (pawl.Observation, error) {
	text, data, _, err := c.run(ctx, c.options(), nil)
	return pawl.Observation{Text: text, Data: data}, err
}

// instruct returns the command's output.
func (c command) instruct(ctx context.Context, _ *pawl.State) (string, error) {
	text, _, _, err := c.run(ctx, c.options(), nil)
	return text, err
}

// measure parses the command's output: a number, or {"value": N, "open": ["id", …]}.
func (c command) measure(ctx context.Context, _ pawl.Observation) (pawl.Measured, error) {
	out, _, truncated, err := c.run(ctx, c.options(), nil)
	if err != nil {
		return pawl.Measured{}, err
	}
	if truncated {
		return pawl.Measured{}, fmt.Errorf("%s printed more than %d bytes; %s", c.argv[0], commandOutput, measures)
	}
	measured, err := parseMeasure(out)
	if err != nil {
		const most = 200
		shown, _ := display.Cut(out, most)
		err = fmt.Errorf("%s: it printed %q; %s: %w", c.argv[0], shown, measures, err)
	}
	return measured, err
}

const measures = `print a number, or {"value": N, "open": ["id", …]}`

func parseMeasure(out string) (pawl.Measured, error) {
	out = strings.TrimSpace(out)
	if v, err := strconv.ParseFloat(out, 64); err == nil && !math.IsNaN(v) && !math.IsInf(v, 0) {
		return pawl.Measured{Value: v}, nil
	}
	var both struct {
		Value *float64 `json:"value"`
		Open  []string `json:"open"`
	}
	dec := json.NewDecoder(strings.NewReader(out))
	dec.DisallowUnknownFields()
	err := dec.Decode(&both)
	switch {
	case err == nil && dec.More():
		err = errors.New("something follows the object")
	case err == nil && both.Value == nil:
		err = errors.New("there is no value")
	}
	if err != nil {
		return pawl.Measured{}, err
	}
	return pawl.Measured{Value: *both.Value, Open: both.Open}, nil
}

// readCredentials makes the credentials of the spec.
func (s *Spec) readCredentials() {
	s.credentials = map[string]*tool.Credentials{}
	for name, c := range s.Credentials {
		s.resolve(c.Command, c.mark)
		s.credentials[name] = tool.NewCredentials(name, c.Labels, s.command(c.Command).credential)
	}
}

// credential returns the credentials of a name that the spec uses.
func (s *Spec) credential(name string, at *node) *tool.Credentials {
	c, ok := s.credentials[name]
	if !ok && len(s.credentials) == 0 {
		s.doc.problem(at, "there is no credential %s (describe it under credentials)", name)
	} else if !ok {
		s.doc.problem(at, "there is no credential %s%s", name, expr.DidYouMean(name, slices.Collect(maps.Keys(s.credentials))))
	}
	return c
}

// credential parses the command's output: an object, or a token.
func (c command) credential(ctx context.Context, labels map[string]string) (got tool.Credential, err error) {
	args, err := json.Marshal(labels)
	if err != nil {
		return got, err
	}
	o := c.options()
	o.Env, o.Secrets = o.Secrets, nil // the token may be one of them, and the output reaches no text
	text, data, _, err := c.run(ctx, o, args)
	switch {
	case err != nil:
		return got, fmt.Errorf("%s failed; what it printed may hold a token and is not shown", c.argv[0])
	case data == nil || data[0] != '{' && data[0] != '[': // it may be digits
		return tool.Credential{Token: text}, nil
	case json.Unmarshal(data, &got) != nil:
		return got, fmt.Errorf("%s did not print an object with a token and when it expires, or with a link", c.argv[0])
	}
	return got, nil
}
