// Package planexecute is a loop written outside of Pawl: the model makes a plan, carries it
// out step by step, and then judges whether the task is done; if not, it plans again.
//
// The loop has no state of its own. It remembers the plan and its progress in the log, as one note.
package planexecute

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/pawl-run/pawl"
)

const (
	name       = "plan-execute-reflect"
	maxReplans = 2
)

// Loop plans, executes, reflects, and plans again at most twice. Each step of a plan takes
// as many turns as the model needs. The model's text at the end of the last step is the
// run's answer.
type Loop struct{}

// Name returns "plan-execute-reflect".
func (Loop) Name() string { return name }

// Next continues with the plan in the log.
func (Loop) Next(s *pawl.State) pawl.Step {
	var c course
	if note, ok := s.Note(name, "course"); ok {
		if err := json.Unmarshal(note, &c); err != nil {
			return finish(pawl.StatusFailed, "note", err.Error())
		}
	}
	switch {
	case len(c.Steps) == 0:
		return c.plan(s)
	case c.Done < len(c.Steps):
		return c.execute(s)
	}
	return c.reflect(s)
}

// A course is the progress of the run.
type course struct {
	Round int      `json:"round"`           // the number of the plan, from 1
	Steps []string `json:"steps,omitempty"` // steps of that plan; none: it is not made yet
	Done  int      `json:"done"`            // how many of them are done
	Turn  int      `json:"turn"`            // the iteration in which the latest of them was done
}

func (c course) note() pawl.Step {
	value, err := json.Marshal(c)
	if err != nil {
		return finish(pawl.StatusFailed, "note", err.Error())
	}
	return pawl.Record{Events: []pawl.Event{pawl.Noted{By: name, Name: "course", Value: value}}}
}

// plan requests a plan and reads it. Every plan has its own purpose, so that the reply for
// the previous plan is not taken for this one's.
func (c course) plan(s *pawl.State) pawl.Step {
	round := max(c.Round, 1)
	tag := tagged("plan", round)
	reply, ok := s.Replied(tag)
	if !ok {
		prompt := "Make a plan for the task: one step a line, nothing else. The last step gives the answer."
		if critique, ok := s.Replied(tagged("reflect", round-1)); ok {
			prompt += "\nWhat was done so far did not do: " + critique.Text()
		}
		return pawl.Think{Purpose: tag, View: pawl.View{Prompt: prompt, Bare: true}}
	}
	var steps []string
	for line := range strings.Lines(reply.Text()) {
		if step := bullet.ReplaceAllString(strings.TrimSpace(line), ""); step != "" {
			steps = append(steps, step)
		}
	}
	if len(steps) == 0 || reply.Stop != pawl.StopEnd {
		return finish(pawl.StatusPlanFailed, string(tag), "the model made no plan")
	}
	return course{Round: round, Steps: steps, Turn: s.Iteration()}.note()
}

var bullet = regexp.MustCompile(`^([-*]|[0-9]+[.)])\s*`)

// execute takes turns at a step until a turn ends without a call. A final answer of an
// earlier iteration ended an earlier step.
func (c course) execute(s *pawl.State) pawl.Step {
	if s.Done() && s.Iteration() > c.Turn {
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
func (c course) reflect(s *pawl.State) pawl.Step {
	tag := tagged("reflect", c.Round)
	reply, ok := s.Replied(tag)
	switch said := reply.Text(); {
	case !ok:
		const prompt = "Is the task done? Answer YES, or what is missing."
		return pawl.Think{Purpose: tag, View: pawl.View{Prompt: prompt, Bare: true}}
	case strings.HasPrefix(strings.ToUpper(said), "YES"):
		return finish(pawl.StatusSuccess, "reflect", fmt.Sprintf("the model judges the task done after plan %d", c.Round))
	case c.Round > maxReplans:
		return finish(pawl.StatusNoProgress, "reflect", fmt.Sprintf("%d plans did not do: %s", c.Round, said))
	}
	return course{Round: c.Round + 1}.note()
}

func tagged(what string, round int) pawl.Purpose {
	return pawl.Purpose(fmt.Sprintf("%s-%d", what, round))
}

func finish(status pawl.Status, leaf, detail string) pawl.Step {
	return pawl.Finish{Verdict: pawl.Verdict{Holds: true, Status: status, Condition: leaf, Leaf: leaf, Detail: detail}}
}
