package window

import (
	"cmp"
	"fmt"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/wire"
)

// shown returns the result of a call as a model sees it. For a call without an answer, it is what the
// model would see if the run ended now. A note that is not empty replaces the result.
func shown(c *pawl.CallState, note string) pawl.ToolResult {
	answer := *c
	switch {
	case c.Phase.Unclear():
		answer = pawl.CallState{Call: c.Call, Effect: c.Effect, Status: pawl.ToolUnknown, Error: "the run ended before the result of this call was known"}
	case c.Phase != pawl.PhaseAnswered:
		answer = pawl.CallState{Call: c.Call, Error: "not run: the run ended first"}
	case note != "":
		answer = pawl.CallState{Call: c.Call, Effect: c.Effect, Status: c.Status, Error: c.Error, Result: wire.Quote(note)}
	}
	r := pawl.ToolResult{Call: c.ID, Ref: c.Ref, Tool: c.Tool, Content: answer.Result, Failed: answer.Status != pawl.ToolOK}
	for _, f := range answer.Files {
		if display.Picture(f.Type) {
			r.Images = append(r.Images, f)
		}
	}
	if r.Failed {
		r.Content = wire.Quote(failure(&answer))
	} else if answer.Edited != nil {
		r.Content = wire.Quote(fmt.Sprintf("A person changed the arguments to %s before it was run. Result: %s", answer.Edited, wire.Plain(answer.Result)))
	}
	if r.Content == nil {
		r.Content = []byte("null")
	}
	if answer.Trust == pawl.Untrusted {
		r.Content = wire.Quote(wire.Fence(c.Tool, r.Text()))
	}
	return r
}

// returned are the parts that follow the results of a turn for a call that returned files: all but
// the pictures, which stand in the result.
func returned(c *pawl.CallState) (parts []pawl.Part) {
	for _, f := range c.Files {
		if !display.Picture(f.Type) {
			parts = append(parts, f)
		}
	}
	if parts == nil {
		return nil
	}
	return append([]pawl.Part{pawl.Text{Text: display.Returned(c.Tool, c.Trust == pawl.Untrusted)}}, parts...)
}

// failure is what the model reads of a call that has no result.
func failure(c *pawl.CallState) string {
	if c.NotRun {
		return c.Error
	}
	text := cmp.Or(map[pawl.ToolStatus]string{pawl.ToolTimeout: "timed out", pawl.ToolCancelled: "cancelled", pawl.ToolUnknown: "outcome unknown"}[c.Status], "error")
	if c.Error != "" {
		text += ": " + c.Error
	}
	if c.Effect == pawl.Write && (c.Status == pawl.ToolTimeout || c.Status == pawl.ToolUnknown) {
		text += ". Nobody knows whether it took effect: find out before doing it again"
	}
	return text
}
