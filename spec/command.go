package spec

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/tool"
)

// The defaults of commands that observe or measure, equal to those of tools.
const (
	commandTime   = 60 * time.Second
	commandOutput = 16 << 10
)

// command is a program that observes or measures.
type command struct {
	argv []string
	dir  string
	env  []string
	cage *tool.Cage // nil: none
}

func (s *Spec) command(argv []string) command { return command{argv, s.dir, s.Env, s.cage} }

// run returns what the program prints, as data if that is JSON.
func (c command) run(ctx context.Context) (text string, data json.RawMessage, truncated bool, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, commandTime, fmt.Errorf("no result within %v: %w", commandTime, context.DeadlineExceeded))
	defer cancel()
	program := tool.Command("command", "It observes or measures.", c.argv, &tool.CommandOptions{Dir: c.dir, Secrets: c.env, Cage: c.cage, MaxOutput: commandOutput})
	out, err := program.Run(ctx, pawl.Invocation{})
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
	text, data, _, err := c.run(ctx)
	return pawl.Observation{Text: text, Data: data}, err
}

// measure parses the command's output: a number, or {"value": N, "open": ["id", …]}.
func (c command) measure(ctx context.Context, _ pawl.Observation) (pawl.Measured, error) {
	out, _, truncated, err := c.run(ctx)
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
