// Package pipeline is a loop written outside of Pawl: known steps in a known
// order, each one model call with a prompt of its own. There is nothing for a
// model to decide but what it is asked.
package pipeline

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
)

// A Stage is one model call. In its Prompt, {{input}} stands for the run's
// input and {{NAME}} for the result of an earlier stage.
type Stage struct {
	Name   string // its tag in the log; none of the machine's own
	Prompt string
}

// Loop takes its stages one after the other. The last one is a turn of the
// conversation, so its reply is the run's answer; no other stage sees more
// than its prompt.
type Loop []Stage

const by = "pipeline"

// Name is "pipeline(extract,answer)" for a loop with these two stages: what a
// run does depends on them, and it must not be resumed under others unawares.
func (l Loop) Name() string {
	names := make([]string, len(l))
	for i, stage := range l {
		names[i] = stage.Name
	}
	return by + "(" + strings.Join(names, ",") + ")"
}

// Check refuses stages that cannot be told apart, and an agent with tools.
func (l Loop) Check(a pawl.Agent) error {
	taken := []string{"", "input", string(pawl.PurposeTurn), string(pawl.PurposeJudge), string(pawl.PurposeSummary), string(pawl.PurposeFinal)}
	var errs []error
	for _, stage := range l {
		if slices.Contains(taken, stage.Name) {
			errs = append(errs, fmt.Errorf("pipeline: a stage may not be called %q, or there are two of that name", stage.Name))
		}
		taken = append(taken, stage.Name)
	}
	if len(l) == 0 {
		errs = append(errs, errors.New("pipeline: it has no stages; the last one answers"))
	}
	if len(a.Tools) > 0 {
		errs = append(errs, fmt.Errorf("pipeline: its stages call no tools, but the agent has %d", len(a.Tools)))
	}
	return errors.Join(errs...)
}

// Next is the first stage nothing has come of yet. What comes of a stage is
// noted, so that the log shows what went from one to the next.
func (l Loop) Next(s *pawl.State) pawl.Step {
	known := []string{"{{input}}", s.Input()}
	for _, stage := range l[:len(l)-1] {
		if note, ok := s.Note(by, stage.Name); ok {
			var text string
			if err := json.Unmarshal(note, &text); err != nil {
				return finish(pawl.StatusFailed, stage.Name, err.Error())
			}
			known = append(known, "{{"+stage.Name+"}}", text)
			continue
		}
		reply, ok := s.Replied(pawl.Purpose(stage.Name))
		switch {
		case !ok:
			return stage.think(pawl.Purpose(stage.Name), known)
		case reply.Stop != pawl.StopEnd:
			return finish(pawl.StatusFailed, stage.Name, fmt.Sprintf("the reply ended with %v", reply.Stop))
		}
		value, err := json.Marshal(strings.TrimSpace(reply.Text()))
		if err != nil {
			return finish(pawl.StatusFailed, stage.Name, err.Error())
		}
		return pawl.Record{Events: []pawl.Event{pawl.Noted{By: by, Name: stage.Name, Value: value}}}
	}
	if s.Done() {
		return finish(pawl.StatusSuccess, "pipeline", fmt.Sprintf("all %d stages are done", len(l)))
	}
	return l[len(l)-1].think(pawl.PurposeTurn, known)
}

// think asks the model what the stage asks, and nothing else. Names are
// replaced all at once: the result of a stage is not a template.
func (stage Stage) think(purpose pawl.Purpose, known []string) pawl.Step {
	prompt := strings.NewReplacer(known...).Replace(stage.Prompt)
	return pawl.Think{Purpose: purpose, View: pawl.View{Prompt: prompt, Alone: true, Bare: true}}
}

func finish(status pawl.Status, leaf, detail string) pawl.Step {
	return pawl.Finish{Verdict: pawl.Verdict{Holds: true, Status: status, Condition: leaf, Leaf: leaf, Detail: detail}}
}
