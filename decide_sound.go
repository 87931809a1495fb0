package pawl

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-run/pawl/internal/usercode"
	"github.com/pawl-run/pawl/internal/wire"
)

// unsound says why a step of a loop's or a policy's cannot be taken; empty: it can.
func unsound(step Step) string {
	switch step := step.(type) {
	case nil:
		return "returned no step"
	case Think:
		if step.Purpose == "" {
			return "wants to think for no purpose; PurposeTurn is a turn of the conversation"
		}
	case Record:
		if len(step.Events) == 0 {
			return "wants to record nothing"
		}
		for _, e := range step.Events {
			if why := unfit(e); why != "" {
				return "wants to record " + why
			}
		}
	case Await:
		if step.Status != StatusPaused && !step.Status.Waiting() {
			return fmt.Sprintf("wants to wait as %v, which is no way to wait", step.Status)
		}
	case Finish:
		if v := step.Verdict; !v.Status.Ended() {
			return fmt.Sprintf("ends the run as %v, which is no end", v.Status)
		}
	}
	return ""
}

// Given reports whether the note comes from a hook, a signal, a board, a budget or a model, not from a step.
func (n Noted) Given() bool {
	return n.Signal != 0 || strings.HasPrefix(n.By, "hook ") || n.By == "__board__" || n.By == "__budget__" || n.By == modelNotes
}

// External reports whether an event comes from outside the run: from an owner, a person, a client, a hook or
// a limit. Every other event is decided by the machine, or recorded by the engine as it performs a step.
func External(event Event) bool {
	switch e := event.(type) {
	case RunStarted, RunResumed, RunExtended, RunForked, CancelRequested, HookDirected, ClientToolReturned, ApprovalDecided, ToolSettled:
		return true
	case InputGiven:
		return e.Call != "" || e.Signal != 0 // a message for later is decided in its turn
	case RunPaused: // a shutdown, queued, or by the engine for a rate
		return (e.Status == StatusPaused || e.Status == StatusQueued) && (e.WakeAt.IsZero() || e.Rate != "")
	case RunStopped:
		return e.Leaf == usercode.PanicLeaf // the machine could not decide
	}
	return false
}

// modelNotes is the author of notes about what adapters changed in requests; see [Reply.Notes].
const modelNotes = "__model__"

// Adapted returns the note to record for a reply whose adapter changed what the model refuses, and
// whether the run's notes lack any of that. The note has all changes so far.
func (s *State) Adapted(r Reply) (Noted, bool) {
	var all []string
	if before, ok := s.notes[modelNotes+"\x00adapted"]; ok {
		_ = json.Unmarshal(before, &all) // which is the engine's own
	}
	known := len(all)
	for _, text := range r.Notes {
		if text = wire.Text(text); !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	value, _ := json.Marshal(all)
	return Noted{By: modelNotes, Name: "adapted", Value: value}, len(all) > known
}

// unfit says why only the engine may record an event; empty: a loop or policy may, too.
func unfit(e Event) string {
	switch e := e.(type) {
	case nil:
		return "an event that is nil"
	case Noted:
		if e.By == "" || strings.HasPrefix(e.By, "__") || e.Given() {
			return fmt.Sprintf("a note by %q; it is to name itself, and names that begin with __ or \"hook \" are reserved", e.By)
		}
		if e.Value != nil && !json.Valid(e.Value) {
			return fmt.Sprintf("the note %s.%s, whose value is not JSON", e.By, e.Name)
		}
		return ""
	case Reflected, Grounded, CausesFound, ProgressJudged, ContextCompacted, InputRequested:
		return ""
	}
	return e.event() + ", which only the machine and the engine may; a loop's own facts are Noted"
}
