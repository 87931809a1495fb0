// Package pipeline is a loop written outside of Pawl: fixed steps in a fixed order, each
// one model call with its own prompt. The model decides nothing about the order.
package pipeline

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
)

// A Stage is one model call. In its Prompt, {{input}} is replaced by the run's input and
// {{NAME}} by the result of an earlier stage.
type Stage struct {
	Name   string // its purpose in the log; not one of the machine's own
	Prompt string
}

// Loop performs its stages one after the other. The last one is a turn of the conversation,
// so its reply is the run's answer. The other stages see only their prompt.
type Loop []Stage

const by = "pipeline"

// Name returns "pipeline(extract,answer)" for a loop with these two stages. A run depends
// on its stages, so it must not be resumed with others unnoticed.
func (l Loop) Name() string {
	names := make([]string, len(l))
	for i, stage := range l {
		names[i] = stage.Name
	}
	return by + "(" + strings.Join(names, ",") + ")"
}

// Check refuses stages with equal names, and an agent with tools.
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

// Next performs the first stage without a result. Each result is noted, so that the log
// shows what went from one stage to the next.
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

// think sends a stage's prompt to the model, and nothing else. All names are replaced at
// once, since the result of a stage is not a template.
func (stage Stage) think(purpose pawl.Purpose, known []string) pawl.Step {
	prompt := strings.NewReplacer(known...).Replace(stage.Prompt)
	return pawl.Think{Purpose: purpose, View: pawl.View{Prompt: prompt, Alone: true, Bare: true}}
}

func finish(status pawl.Status, leaf, detail string) pawl.Step {
	return pawl.Finish{Verdict: pawl.Verdict{Holds: true, Status: status, Condition: leaf, Leaf: leaf, Detail: detail}}
}
