package tool

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
)

// WaitOptions are the optional parts of the tool wait. The zero value is valid.
type WaitOptions struct {
	// Max is the longest wait; zero is 30 days.
	Max time.Duration `key:"max" such:"72h" usual:"720h" about:"the longest wait"`
	// Signals name what may end a wait before its time; see [engine.SayOptions]. A person may answer any
	// wait.
	Signals []string `key:"signals" min:"1" such:"[payment]" about:"names of signals that may end a wait early: of an answer, or of a webhook trigger"`
}

// Wait is the tool wait, with which a model or a workflow suspends the run for a time, until a time or
// until a signal. No process is needed meanwhile, and the wait does not count as time of the run.
// Whatever drives runs (a worker, a server) resumes it.
func Wait(o *WaitOptions) pawl.Tool {
	o = cmp.Or(o, &WaitOptions{})
	properties := map[string]any{
		"for":   map[string]any{"type": "string", "description": "how long, such as 90s, 30m, 36h, 3d or 2w"},
		"until": map[string]any{"type": "string", "description": "a time such as 2027-01-31T09:00:00Z, instead of for"},
	}
	if len(o.Signals) > 0 {
		properties["signal"] = map[string]any{"enum": o.Signals, "description": "what ends the wait early"}
	}
	input, err := json.Marshal(map[string]any{"type": "object", "properties": properties})
	w := &wait{max: cmp.Or(o.Max, 30*24*time.Hour)}
	if w.max < 0 {
		err = errors.Join(err, errors.New("its longest wait is negative"))
	}
	w.declared = declare(pawl.ToolInfo{
		Name: "wait", Input: input, Effect: pawl.Read, Exempt: true, Version: "at most " + w.max.String(),
		Description: "Pause your work until a time has passed, a time has come or a signal arrives. It costs nothing; do not poll instead.",
	}, nil, err)
	return w
}

type wait struct {
	declared
	max time.Duration
}

// Waits reports that the run needs a journal that outlives the process.
func (*wait) Waits() bool { return true }

// Until implements [pawl.Waiter].
func (w *wait) Until(args json.RawMessage, now time.Time) (e pawl.InputRequested, err error) {
	var a struct{ For, Until, Signal string }
	if err := json.Unmarshal(args, &a); err != nil {
		return e, err
	}
	var at time.Time
	switch {
	case a.For != "" && a.Until != "":
		return e, errors.New("give for or until, not both")
	case a.For != "":
		d, err := duration(a.For)
		if err != nil {
			return e, err
		}
		at = now.Add(d)
	case a.Until != "":
		if at, err = time.Parse(time.RFC3339, a.Until); err != nil {
			return e, fmt.Errorf("until: %q is no time; write one such as 2027-01-31T09:00:00Z", a.Until)
		}
	case a.Signal != "":
		at = now.Add(w.max)
	default:
		return e, errors.New("say how long: for or until")
	}
	at = at.UTC()
	if at.Sub(now) > w.max {
		return e, fmt.Errorf("the wait would end at %s; the longest is %v, until %s", at.Format(time.RFC3339), w.max, now.Add(w.max).UTC().Format(time.RFC3339))
	}
	e = pawl.InputRequested{Question: "wait until " + at.Format(time.RFC3339), WakeAt: at, Awaits: a.Signal}
	if a.Signal != "" {
		e.Question += " or " + a.Signal
	}
	return e, nil
}

// duration reads a duration of Go, or days or weeks.
func duration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	for unit, hours := range map[string]int{"d": 24, "w": 7 * 24} {
		if n, ok := strings.CutSuffix(text, unit); ok {
			var count int
			if count, err = strconv.Atoi(n); err == nil && count > 10_000 {
				err = strconv.ErrRange
			}
			d = time.Duration(count*hours) * time.Hour
		}
	}
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("for: %q is no time to wait; write one such as 30m, 36h, 3d or 2w", text)
	}
	return d, nil
}

// Run is not called: the machine suspends the run instead.
func (*wait) Run(context.Context, pawl.Invocation) (pawl.Output, error) {
	return pawl.Output{}, errors.New("wait suspends a run and does nothing by itself")
}
