// Package planexecute is a loop written outside of Pawl: the model makes a plan, carries it
// out step by step, and judges whether the task is done; if not, it plans again.
package planexecute

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/pawl-run/pawl"
)

// Loop makes at most Plans plans. Each step of a plan takes as many turns as the model needs,
// with its tools. The model's text at the end of the last step is the run's answer.
//
// The loop has no state of its own: the plan and its progress are a note in the log.
type Loop struct {
	Plans int // at least one
}

const by = "plan-execute"

// Name returns "plan-execute(3)" for three plans.
func (l Loop) Name() string { return fmt.Sprintf("%s(%d)", by, l.Plans) }

// Check refuses an invalid number of plans.
func (l Loop) Check(pawl.Agent) error {
	if l.Plans < 1 {
		return fmt.Errorf("%s: %d plans; it takes one", by, l.Plans)
	}
	return nil
}

// A course is the plan and its progress, as they stand in the log.
type course struct {
	Round int      `json:"round"` // the number of the plan, from 1
	Steps []string `json:"steps"` // of that plan; none: it is not made yet
	Done  int      `json:"done"`  // how many of them are done
	Turn  int      `json:"turn"`  // the iteration in which the latest of them was done
}

// Next continues with the course in the log.
func (l Loop) Next(s *pawl.State) pawl.Step {
	c := course{Round: 1}
	if note, ok := s.Note(by, "course"); ok {
		if err := json.Unmarshal(note, &c); err != nil {
			return end(pawl.StatusFailed, err.Error())
		}
	}
	switch {
	case len(c.Steps) == 0:
		return c.plan(s)
	case c.Done < len(c.Steps):
		return c.execute(s)
	}
	return c.reflect(s, l.Plans)
}

// plan asks for a plan and notes it. Each plan has a purpose of its own, so that the reply for
// the previous plan is not read again.
func (c course) plan(s *pawl.State) pawl.Step {
	reply, ok := s.Replied(purpose("plan", c.Round))
	if !ok {
		prompt := "Make a plan for the task: one step a line, nothing else. The last step gives the answer."
		if critique, ok := s.Replied(purpose("reflect", c.Round-1)); ok {
			prompt += "\nWhat is missing so far: " + critique.Text()
		}
		return pawl.Think{Purpose: purpose("plan", c.Round), View: pawl.View{Prompt: prompt, Bare: true}}
	}
	for line := range strings.Lines(reply.Text()) {
		if step := bullet.ReplaceAllString(strings.TrimSpace(line), ""); step != "" {
			c.Steps = append(c.Steps, step)
		}
	}
	if len(c.Steps) == 0 {
		return end(pawl.StatusPlanFailed, "the model made no plan")
	}
	c.Turn = s.Iteration()
	return c.note()
}

// execute takes turns at a step until a turn ends without a call.
func (c course) execute(s *pawl.State) pawl.Step {
	if s.Done() && s.Iteration() > c.Turn { // a final answer of an earlier iteration ended an earlier step
		c.Done, c.Turn = c.Done+1, s.Iteration()
		return c.note()
	}
	var view pawl.View
	if s.Iteration() == c.Turn { // the step has not begun; later turns see it in the conversation
		view.Prompt = fmt.Sprintf("Carry out step %d of %d: %s\nThen report the result.", c.Done+1, len(c.Steps), c.Steps[c.Done])
	}
	return pawl.Think{Purpose: pawl.PurposeTurn, View: view}
}

// reflect asks the model whether the plan has completed the task.
func (c course) reflect(s *pawl.State, plans int) pawl.Step {
	reply, ok := s.Replied(purpose("reflect", c.Round))
	switch {
	case !ok:
		return pawl.Think{Purpose: purpose("reflect", c.Round), View: pawl.View{Prompt: "Is the task done? Answer YES, or what is missing.", Bare: true}}
	case yes.MatchString(reply.Text()):
		return end(pawl.StatusSuccess, fmt.Sprintf("the model judges the task done after plan %d", c.Round))
	case c.Round >= plans:
		return end(pawl.StatusNoProgress, fmt.Sprintf("the task is not done after %d plans: %s", c.Round, reply.Text()))
	}
	return course{Round: c.Round + 1}.note()
}

var (
	bullet = regexp.MustCompile(`^([-*]|[0-9]+[.)])\s*`)
	yes    = regexp.MustCompile(`(?i)^\W*yes\b`)
)

func purpose(what string, round int) pawl.Purpose {
	return pawl.Purpose(fmt.Sprintf("%s-%d", what, round))
}

func (c course) note() pawl.Step {
	value, err := json.Marshal(c)
	if err != nil {
		return end(pawl.StatusFailed, err.Error())
	}
	return pawl.Record{Events: []pawl.Event{pawl.Noted{By: by, Name: "course", Value: value}}}
}

func end(status pawl.Status, detail string) pawl.Step {
	return pawl.Finish{Verdict: pawl.Verdict{Holds: true, Status: status, Condition: by, Leaf: by, Detail: detail}}
}
