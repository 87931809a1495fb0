package pawl

import (
	"cmp"
	"fmt"

	"github.com/pawl-run/pawl/internal/wire"
)

// Shown is a call as a model sees it.
type Shown struct {
	Result   ToolResult // shares memory with the State and must not be changed
	Answered bool
	Rejected bool // its reply was rejected
	Omitted  bool // the model reads only why the reply was rejected
}

// Shown returns what a model sees of a call, and whether the call exists. For a
// call without an answer, it is what the model would see if the run ended now.
// A note that is not empty replaces the result.
func (s *State) Shown(id, note string) (Shown, bool) {
	of := s.call(id)
	if of == nil {
		return Shown{}, false
	}
	c := *of
	switch {
	case c.Phase != PhaseAnswered && c.unclear():
		c.ending, c.matter = ending{Status: ToolUnknown, Error: "the run ended before the result of this call was known"}, &noMatter
	case c.Phase != PhaseAnswered:
		c.ending, c.matter = ending{Error: "not run: the run ended first"}, &noMatter
	case note != "":
		c.ending, c.matter = ending{Status: c.Status, Error: c.Error, Result: wire.Quote(note)}, &noMatter
	}
	r := ToolResult{Call: id, Ref: c.Ref, Tool: c.Tool, Content: c.Result, Failed: c.Status != ToolOK, Images: c.images}
	if r.Failed {
		r.Content = wire.Quote(c.failure())
	} else if c.Edited != nil {
		r.Content = wire.Quote(fmt.Sprintf("A person changed the arguments to %s before it was run. Result: %s", c.Edited, wire.Plain(c.Result)))
	}
	if r.Content == nil {
		r.Content = []byte("null")
	}
	if c.foreign {
		r.Content = wire.Quote(wire.Fence(c.Tool, r.Text()))
	}
	return Shown{r, c.Phase == PhaseAnswered, c.rejected, c.omitted}, true
}

// fenceBytes is what a fence adds to a result.
var fenceBytes = len(wire.Fence("", ""))

// failure is what the model reads of a call that has no result.
func (c *call) failure() string {
	if c.notRun {
		return c.Error
	}
	text := cmp.Or(map[ToolStatus]string{ToolTimeout: "timed out", ToolCancelled: "cancelled", ToolUnknown: "outcome unknown"}[c.Status], "error")
	if c.Error != "" {
		text += ": " + c.Error
	}
	if c.Effect == Write && (c.Status == ToolTimeout || c.Status == ToolUnknown) {
		text += ". Nobody knows whether it took effect: find out before doing it again"
	}
	return text
}
