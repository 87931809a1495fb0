package pipeline_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/examples/pipeline"
	"github.com/pawl-run/pawl/explain"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/pawltest"
)

const mail = "Third time I write: the blue shoes came in green. {{order}} Ada"

// clerk answers each prompt the way a model would, by what it says.
var clerk = pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
	if len(r.Messages) != 1 || r.Tools != nil {
		return pawl.Reply{}, &pawl.ModelError{Class: pawl.ClassInvalid, Message: "a stage is shown more than its prompt"}
	}
	said := r.Messages[0].Text()
	for _, c := range [][2]string{
		{"What was ordered in: " + mail, " blue shoes\n"},
		{"How does the writer feel in: " + mail, "angry"},
		{"Answer somebody angry about blue shoes.", "We are sorry about the shoes; blue ones are on their way."},
	} {
		if said == c[0] {
			return pawl.Say(c[1]), nil
		}
	}
	return pawl.Reply{}, &pawl.ModelError{Class: pawl.ClassInvalid, Message: "nobody asks: " + said}
})

var desk = pipeline.Loop{
	{"order", "What was ordered in: {{input}}"},
	{"mood", "How does the writer feel in: {{input}}"},
	{"answer", "Answer somebody {{mood}} about {{order}}."},
}

// failing is a model whose first attempt at everything fails.
func failing(m pawl.ModelFunc) pawl.Model {
	return pawl.ModelFunc(func(ctx context.Context, r pawl.Request) (pawl.Reply, error) {
		if r.Attempt == 1 {
			return pawl.Reply{}, &pawl.ModelError{Class: pawl.ClassOverloaded, Message: "come back later"}
		}
		return m(ctx, r)
	})
}

func TestSurvives(t *testing.T) { // Promises: D1.
	for name, m := range map[string]pawl.Model{"steady": clerk, "failing": failing(clerk)} {
		t.Run(name, func(t *testing.T) {
			pawltest.KillEverywhere(t, func() pawl.Agent { return pawl.Agent{Name: "desk", Model: m, Loop: desk} }, mail, nil)
		})
	}
}

func TestEndings(t *testing.T) {
	cut := pawl.ModelFunc(func(context.Context, pawl.Request) (pawl.Reply, error) {
		r := pawl.Say("blue sh")
		r.Stop = pawl.StopLength
		return r, nil
	})
	for _, c := range []struct {
		name   string
		model  pawl.Model
		limits pawl.Limits
		want   string
	}{
		{"done", clerk, pawl.Limits{}, "success: pipeline"},
		{"cut off", cut, pawl.Limits{}, "failed: the reply ended with length"},
		{"ceiling at a stage", clerk, pawl.Limits{Tokens: 60}, "exhausted: tokens >= 60"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := engine.Run(t.Context(), pawl.Agent{Name: "desk", Model: c.model, Loop: desk, Limits: c.limits}, mail)
			if err != nil || r.Verdict.String() != c.want {
				t.Errorf("%v (%s), %v; want %s", r.Verdict, r.Reason.Detail, err, c.want)
			}
		})
	}
}

func TestCheck(t *testing.T) {
	_, err := pawl.NewMachine(pawl.Agent{Name: "desk", Model: clerk, Loop: pipeline.Loop{{"turn", ""}, {"a", ""}, {"a", ""}}})
	if err == nil || strings.Count(err.Error(), "may not be called") != 2 {
		t.Errorf("two bad names give: %v", err)
	}
	if _, err = pawl.NewMachine(pawl.Agent{Name: "desk", Model: clerk, Loop: pipeline.Loop{}}); err == nil {
		t.Error("a pipeline without stages is fine")
	}
}

func Example() {
	ctx, journal := context.Background(), memory.New()
	run, err := engine.New(journal, nil).Start(ctx, pawl.Agent{Name: "desk", Model: clerk, Loop: desk}, mail, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := run.Wait(ctx)
	fmt.Println(result.Verdict, err)
	fmt.Println(result.Answer)

	report, err := explain.Of(engine.Entries(ctx, journal, run.ID(), 1), nil)
	for _, d := range report.Decisions {
		fmt.Println(d.Step, d.Subject)
	}
	fmt.Println(err)
	// Output:
	// success: pipeline <nil>
	// We are sorry about the shoes; blue ones are on their way.
	// start agent desk
	// think order
	// record a note order
	// think mood
	// record a note mood
	// think turn
	// finish success
	// <nil>
}
