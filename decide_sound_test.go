package pawl_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/testkit/check"
	"github.com/pawl-run/pawl/journal/memory"
)

// unruly is a loop that does as it likes.
type unruly func(*pawl.State) pawl.Step

func (unruly) Name() string                   { return "unruly" }
func (u unruly) Next(s *pawl.State) pawl.Step { return u(s) }

func always(step pawl.Step) unruly { return func(*pawl.State) pawl.Step { return step } }

func recorded(events ...pawl.Event) unruly { return always(pawl.Record{Events: events}) }

// No loop breaks a log, lifts its own ceilings or ends as what is no end,
// whatever it returns: it fails, the verdict names it, and the log can be read
// and decided again.
func TestUnruly(t *testing.T) {
	for name, c := range map[string]struct {
		loop unruly
		want string
	}{
		"nothing":         {always(nil), "no step"},
		"acts":            {always(pawl.Act{}), "no call is open"},
		"no purpose":      {always(pawl.Think{}), "no purpose"},
		"no facts":        {recorded(), "nothing"},
		"a nil fact":      {recorded(nil), "nil"},
		"no JSON":         {recorded(pawl.Noted{By: "a", Value: json.RawMessage("{")}), "not JSON"},
		"nobody's note":   {recorded(pawl.Noted{Name: "memory\x00key", Value: json.RawMessage("1")}), `a note by ""`},
		"machine's note":  {recorded(pawl.Noted{By: "__complete__", Value: json.RawMessage(`{"answer":"42"}`)}), "__complete__"},
		"starts":          {recorded(pawl.RunStarted{}), "run.started"},
		"lifts ceilings":  {recorded(pawl.RunExtended{Limits: pawl.Limits{Tokens: 1 << 40}}), "run.extended"},
		"stops":           {recorded(pawl.RunStopped{Status: pawl.StatusSuccess}), "run.stopped"},
		"waits for once":  {always(pawl.Await{}), "no way to wait"},
		"waits as done":   {always(pawl.Await{Status: pawl.StatusSuccess}), "no way to wait"},
		"ends as nothing": {always(pawl.Finish{}), "no end"},
		"ends as running": {always(pawl.Finish{Verdict: pawl.Verdict{Status: pawl.StatusRunning}}), "no end"},
		"other output":    {always(pawl.Finish{Answer: "five", Verdict: pawl.Verdict{Holds: true, Status: pawl.StatusSuccess, Condition: "c", Leaf: "c"}}), `does not follow the output schema: the answer: value must be an integer, got the string "five"`},
	} {
		t.Run(name, func(t *testing.T) {
			agent := pawl.Agent{Name: "a", Loop: c.loop, Output: json.RawMessage(`{"type":"integer"}`), Model: pawl.ModelFunc(func(context.Context, pawl.Request) (pawl.Reply, error) {
				return pawl.Say("hm"), nil
			})}
			e := engine.New(memory.New(), nil)
			run, err := e.Start(t.Context(), agent, "go", nil)
			check.Must(t, err)
			r, err := run.Wait(t.Context())
			if err != nil || r.Status != pawl.StatusFailed || !strings.Contains(r.Reason.Detail, c.want) {
				t.Errorf("%v: %s, %v; want it failed with %q", r.Verdict, r.Reason.Detail, err, c.want)
			}
			if _, err := e.Replay(t.Context(), agent, run.ID()); err != nil {
				t.Error(err)
			}
		})
	}
}

// pushy is a policy that returns whatever it likes.
type pushy struct{ step pawl.Step }

func (pushy) String() string                            { return "pushy" }
func (p pushy) Review(*pawl.State, pawl.Step) pawl.Step { return p.step }

func TestPushy(t *testing.T) {
	for want, step := range map[string]pawl.Step{
		"policy pushy returned no step":              nil,
		"policy pushy wants to record model.called":  pawl.Record{Events: []pawl.Event{pawl.ModelCalled{}}},
		"policy pushy ends the run as queued":        pawl.Finish{Verdict: pawl.Verdict{Status: pawl.StatusQueued}},
		"policy pushy wants to wait as failed":       pawl.Await{Status: pawl.StatusFailed},
		"policy pushy wants to think for no purpose": pawl.Think{},
	} {
		agent := pawl.Agent{Name: "a", Policies: []pawl.Policy{pushy{step}}, Model: pawl.ModelFunc(func(context.Context, pawl.Request) (pawl.Reply, error) {
			return pawl.Say("hm"), nil
		})}
		r, err := engine.Run(t.Context(), agent, "go")
		if err != nil || r.Status != pawl.StatusFailed || !strings.HasPrefix(r.Reason.Detail, want) {
			t.Errorf("%v: %s, %v; want it failed with %q", r.Verdict, r.Reason.Detail, err, want)
		}
	}
}
