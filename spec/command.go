package spec

import (
	"bytes"
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

// observer is observe: {command: …}.
type observer struct{ command }

// Observe returns the command's output, also as data if it is JSON.
func (o observer) Observe(ctx context.Context) (pawl.Observation, error) {
	text, data, _, err := o.run(ctx)
	return pawl.Observation{Text: text, Data: data}, err
}

// metric is goal: {metric: {command: …}}.
type metric struct{ command }

// Measure parses the command's output: a number, or {"value": N, "open": ["id",
// …]}.
func (m metric) Measure(ctx context.Context, _ pawl.Observation) (pawl.Measured, error) {
	out, _, truncated, err := m.run(ctx)
	if err != nil {
		return pawl.Measured{}, err
	}
	if truncated {
		return pawl.Measured{}, fmt.Errorf("%s printed more than %d bytes; print a number, or {\"value\": N, \"open\": [\"id\", …]}", m.argv[0], commandOutput)
	}
	measure, err := parseMeasure(out)
	if err != nil {
		return pawl.Measured{}, fmt.Errorf("%s: %w", m.argv[0], err)
	}
	return measure, nil
}

func parseMeasure(out string) (pawl.Measured, error) {
	out = strings.TrimSpace(out)
	if v, err := strconv.ParseFloat(out, 64); err == nil && !math.IsNaN(v) && !math.IsInf(v, 0) {
		return pawl.Measured{Value: v}, nil
	}
	var both struct {
		Value *float64 `json:"value"`
		Open  []string `json:"open"`
	}
	dec := json.NewDecoder(bytes.NewReader([]byte(out)))
	dec.DisallowUnknownFields()
	err := dec.Decode(&both)
	if err == nil && dec.More() {
		err = errors.New("something follows the object")
	}
	if err == nil && both.Value == nil {
		err = errors.New("there is no value")
	}
	if err != nil {
		const most = 200
		shown, _ := display.Cut(out, most)
		if !strings.HasPrefix(out, "{") {
			return pawl.Measured{}, fmt.Errorf("it printed %q; print a number, or {\"value\": N, \"open\": [\"id\", …]}", shown)
		}
		return pawl.Measured{}, fmt.Errorf("it printed %q: %w; print a number, or {\"value\": N, \"open\": [\"id\", …]}", shown, err)
	}
	return pawl.Measured{Value: *both.Value, Open: both.Open}, nil
}
