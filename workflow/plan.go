package workflow

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/jsonin"
)

// PlanExecute is a loop in which the model plans the steps itself: it makes a plan, carries it out
// step by step, and judges whether the task is done; if not, it plans again. Each step of a plan
// takes as many turns as the model needs, with its tools. The model's text at the end of the last
// step is the run's answer. A task that no plan does ends as no_progress.
//
// The loop has no state of its own: the plan and its progress are a note in the log.
type PlanExecute struct {
	Plans int // how many plans at most; zero: 3
}

const (
	planName   = "plan-execute"
	usualPlans = 3
)

func (l PlanExecute) plans() int { return cmp.Or(l.Plans, usualPlans) }

// Name returns "plan-execute(3)" for three plans.
func (l PlanExecute) Name() string { return fmt.Sprintf("%s(%d)", planName, l.plans()) }

// Check refuses an invalid number of plans, and an output.
func (l PlanExecute) Check(a pawl.Agent) error {
	switch {
	case l.plans() < 1 || l.plans() > MaxRounds:
		return fmt.Errorf("plan-execute: %d plans (say how many at most, from 1 to %d)", l.Plans, MaxRounds)
	case a.Output != nil:
		return errors.New("plan-execute: an output is for one answer, and each step of a plan has one (leave output out)")
	}
	return nil
}

// Next continues with the plan in the log.
func (l PlanExecute) Next(s *pawl.State) pawl.Step {
	var c course
	if note, ok := s.Note(planName, "course"); ok {
		if err := json.Unmarshal(note, &c); err != nil {
			return planned(pawl.StatusFailed, "note", err.Error())
		}
	}
	switch {
	case len(c.Steps) == 0:
		return c.plan(s)
	case c.Done < len(c.Steps):
		return c.execute(s)
	}
	return c.reflect(s, l.plans())
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
		return planned(pawl.StatusFailed, "note", err.Error())
	}
	return pawl.Record{Events: []pawl.Event{pawl.Noted{By: planName, Name: "course", Value: value}}}
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
	steps, listed := []string(nil), false
	if s.Machine() > 4 {
		steps, listed = elements(reply.Text())
	}
	for line := range strings.Lines(reply.Text()) {
		if step := bullet.ReplaceAllString(strings.TrimSpace(line), ""); step != "" && !listed {
			steps = append(steps, step)
		}
	}
	if len(steps) == 0 || reply.Stop != pawl.StopEnd {
		return planned(pawl.StatusPlanFailed, string(tag), "the model made no plan")
	}
	return course{Round: round, Steps: steps, Turn: s.Iteration()}.note()
}

// elements reads a plan that is a JSON array, or the only array in an object. It may stand in a
// code fence, unless there are steps outside the fence.
func elements(text string) (steps []string, ok bool) {
	doc := []byte(text)
	if before, rest, fenced := strings.Cut(text, "```"); fenced && !json.Valid(doc) {
		body, after, _ := strings.Cut(rest, "```")
		for line := range strings.Lines(before + after) {
			if bullet.MatchString(strings.TrimSpace(line)) {
				return nil, false
			}
		}
		_, body, _ = strings.Cut(body, "\n") // after the name of the language
		doc = []byte(body)
	}
	var list []json.RawMessage
	var object map[string]json.RawMessage
	if json.Unmarshal(doc, &object) == nil {
		arrays := 0
		for _, member := range object {
			if member[0] == '[' {
				arrays++
				doc = member
			}
		}
		if arrays != 1 {
			return nil, false
		}
	}
	if json.Unmarshal(doc, &list) != nil {
		return nil, false
	}
	for _, element := range list {
		if step := strings.TrimSpace(jsonin.Plain(element)); step != "" {
			steps = append(steps, step)
		}
	}
	return steps, true
}

var (
	bullet = regexp.MustCompile(`^([-*]|[0-9]+[.)])\s*`)
	yes    = regexp.MustCompile(`(?i)^\W*yes\b`)
)

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
func (c course) reflect(s *pawl.State, most int) pawl.Step {
	tag := tagged("reflect", c.Round)
	reply, ok := s.Replied(tag)
	switch said := reply.Text(); {
	case !ok:
		const prompt = "Is the task done? Answer YES, or what is missing."
		return pawl.Think{Purpose: tag, View: pawl.View{Prompt: prompt, Bare: true}}
	case yes.MatchString(said):
		return planned(pawl.StatusSuccess, "reflect", fmt.Sprintf("the model judges the task done after plan %d", c.Round))
	case c.Round >= most:
		return planned(pawl.StatusNoProgress, "reflect", fmt.Sprintf("%d plans did not do: %s", c.Round, said))
	}
	return course{Round: c.Round + 1}.note()
}

func tagged(what string, round int) pawl.Purpose {
	return pawl.Purpose(fmt.Sprintf("%s-%d", what, round))
}

func planned(status pawl.Status, leaf, detail string) pawl.Step {
	return pawl.Finish{Verdict: pawl.Verdict{Holds: true, Status: status, Condition: leaf, Leaf: leaf, Detail: detail}}
}
