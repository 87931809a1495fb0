package lessons

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/progress"
	"github.com/pawl-run/pawl/stop"
)

// A course is what turns do, one after the other: what is called with which
// number, or said, and what the goal's measure is then.
type course struct {
	name string
	turn func(n int) (reply pawl.Reply, metric float64)
	sees func(n, call int) (string, error) // what comes of the nth call; nil: the same as ever for the same number
	want pawl.Status
}

// stuck drives a course for twenty turns at most, and returns how many it took.
func (c course) drive(t *testing.T) pawl.Result {
	t.Helper()
	m := new(metric)
	var replies []pawl.Reply
	for n := range 25 {
		reply, _ := c.turn(n)
		replies = append(replies, reply)
	}
	calls := 0
	agent := pawl.Agent{
		Name: "worker", Model: says(t, replies...), Goal: &pawl.Goal{Metric: m, Success: stop.Metric(">=", 100)},
		Limits: pawl.Limits{ToolErrors: 50},
		Tools: []pawl.Tool{does("try", pawl.Write, func(_ context.Context, n int) (string, error) {
			calls++
			_, value := c.turn(calls - 1)
			m.set(value)
			if c.sees != nil {
				return c.sees(calls, n)
			}
			return fmt.Sprintf("tried %d", n), nil
		})},
	}
	res, _ := inMemory(t, agent, c.want)
	return res
}

// blindSpots: what gets nowhere is noticed, in whatever way it does, and what
// gets somewhere is left alone.
func blindSpots(t *testing.T) {
	alike := func(period int) func(int) (pawl.Reply, float64) {
		return func(n int) (pawl.Reply, float64) { return do("try", n%period), 0 }
	}
	measured := func(value func(n int) float64) func(int) (pawl.Reply, float64) {
		return func(n int) (pawl.Reply, float64) { return do("try", n), value(n) }
	}
	for _, c := range []course{
		{"talk only", func(n int) (pawl.Reply, float64) { return pawl.Say(fmt.Sprintf("I am at it, %d", n)), 0 }, nil, pawl.NoProgress},
		{"the same", alike(1), nil, pawl.NoProgress},
		{"a, b, a, b", alike(2), nil, pawl.NoProgress},
		{"in threes", alike(3), nil, pawl.NoProgress},
		{"in fours", alike(4), nil, pawl.NoProgress},
		{"one fault, other arguments", measured(func(int) float64 { return 0 }), func(_, _ int) (string, error) { return "", errors.New("no such file") }, pawl.NoProgress},
		{"worse and worse", measured(func(n int) float64 { return float64(-n) }), nil, pawl.NoProgress},
		{"up and down", measured(func(n int) float64 { return float64(n % 2) }), nil, pawl.NoProgress},
		{"nowhere", measured(func(int) float64 { return 7 }), nil, pawl.NoProgress},
		{"better and better", measured(func(n int) float64 { return float64(n) }), nil, pawl.Exhausted},
		{"the same call, something new", alike(1), func(n, _ int) (string, error) { return fmt.Sprintf("%d%%", n), nil }, pawl.Exhausted},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name == "the same call, something new" { // which the measure must show as well
				turn := c.turn
				c.turn = func(n int) (pawl.Reply, float64) { r, _ := turn(n); return r, float64(n) }
			}
			if res := c.drive(t); c.want == pawl.NoProgress && (res.Iterations >= 20 || res.Reason.Detail == "") {
				t.Errorf("it took %d turns to notice: %v", res.Iterations, res.Reason)
			}
		})
	}
}

// rightBlame: the approach that failed is the one that made it worse.
func rightBlame(t *testing.T) {
	m := new(metric)
	m.set(-1, "a")
	turn := func(name string, value float64, open ...string) pawl.Tool {
		return does(name, pawl.Write, func(context.Context, int) (string, error) { m.set(value, open...); return "done", nil })
	}
	agent := pawl.Agent{
		Name: "mender", Model: says(t, do("spoil", 1), do("revert", 1), do("mend", 1)),
		Goal:  &pawl.Goal{Metric: m, Success: stop.Metric(">=", 0)},
		Tools: []pawl.Tool{turn("spoil", -2, "a", "b"), turn("revert", -1, "a"), turn("mend", 0)},
	}
	model := agent.Model.(*ear)
	_, j := inMemory(t, agent, pawl.Success)
	failed := progress.Of(state(t, j)).Failed()
	if len(failed) != 1 || failed[0].Iteration != 1 || !strings.Contains(strings.Join(failed[0].Calls, " "), "spoil") || !slices.Equal(failed[0].Broke, []string{"b"}) {
		t.Errorf("the failed approaches are %+v", failed)
	}
	// And whatever the model is told of it names that one.
	for _, p := range events[pawl.ProgressJudged](t, j) {
		if p.Judgement == pawl.Regressed && (!strings.Contains(p.Detail, "spoil") || strings.Contains(p.Detail, "revert")) {
			t.Errorf("it is held to be %+v", p)
		}
	}
	if told := told(model.last()); strings.Contains(told, "revert({") && strings.Contains(told, "made it worse") {
		t.Errorf("the model is told\n%s", told)
	}
}
