package pawl

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/pawl-run/pawl/internal/wire"
)

// ModelCalled is the intent to send a request, with what is reserved for it.
// View says by reference what the model sees, so that any request can be
// rebuilt from the log.
type ModelCalled struct {
	Purpose   Purpose
	Attempt   int
	Reserved  int     // tokens: estimated input plus MaxTokens
	Cost      float64 // dollars reserved; zero without a price
	MaxTokens int
	Bytes     int    // of the request, as they are counted for an estimate; zero: an earlier build's log
	Fallback  int    // which of the agent's fallbacks is asked; zero: its model
	Model     string // the name of the adviser that is asked; empty: none is
	View      View
}

// says reports whether the prompt of the view becomes part of the conversation,
// as it must when the reply to it does. Further attempts do not say it again.
func (e *ModelCalled) says() bool {
	return e.View.Prompt != "" && e.Purpose == PurposeTurn && e.Attempt == 1 && !e.View.Alone
}

// reservation is what is set aside for the call.
func (e *ModelCalled) reservation() reservation {
	v := &e.View
	return reservation{
		made: true, usage: Usage{Input: e.Reserved - e.MaxTokens, Output: e.MaxTokens}, cost: e.Cost,
		adviser: e.Model, fallback: e.Fallback, bytes: max(0, e.Bytes), talk: e.Purpose == PurposeTurn && !v.Alone && !v.Bare && v.System == "",
	}
}

// ModelReplied is a whole reply. Malformed says why a JSON-strategy reply
// is rejected. Estimated says that the provider reported no usage.
type ModelReplied struct {
	Purpose   Purpose
	Reply     Reply
	Cost      float64
	Priced    bool
	Malformed string
	Estimated bool
}

// ModelFailed is an attempt that brought no reply. Usage is what it cost or,
// when nobody knows, at most. RetryAt is chosen by the engine, jitter included.
type ModelFailed struct {
	Purpose Purpose
	Class   Class
	Message string
	Attempt int
	RetryAt time.Time
	Usage   Usage
	Cost    float64
}

// PlanRejected rejects a reply: none of its calls is valid, it was cut off,
// or it does not follow the output schema. Feedback is what the model is told.
type PlanRejected struct {
	Reasons  []string
	Feedback string
	Strike   int // which rejection of this iteration it is
}

// Observed is what the agent's observer saw.
type Observed struct {
	Text   string
	Data   json.RawMessage
	Failed bool // nothing was seen or measured; Text says why
}

// Measured is the goal metric. Open names what is still wrong, by identity, so
// that mending one thing and breaking another shows.
type Measured struct {
	Value float64
	Open  []string
}

// ContextCompacted replaces part of what the model sees, from the entry From to
// the entry To. With a Summary, that stands for all but the latest Kept replies
// and what followed them. Without Why it is what the machine itself does about a
// conversation that is too long.
type ContextCompacted struct {
	From    uint64
	To      uint64
	Masked  []string // calls whose results are shown as left out
	Summary string
	Kept    int
	Why     string // such as "price", "pause" or "limit"
}

// Type returns "model.called".
func (ModelCalled) Type() string { return "model.called" }

// Type returns "model.replied".
func (ModelReplied) Type() string { return "model.replied" }

// Type returns "model.failed".
func (ModelFailed) Type() string { return "model.failed" }

// Type returns "plan.rejected".
func (PlanRejected) Type() string { return "plan.rejected" }

// Type returns "observed".
func (Observed) Type() string { return "observed" }

// Type returns "measured".
func (Measured) Type() string { return "measured" }

// Type returns "context.compacted".
func (ContextCompacted) Type() string { return "context.compacted" }

func (e *ModelCalled) code(c *wire.Coder) {
	c.String("purpose", (*string)(&e.Purpose))
	c.Int("attempt", &e.Attempt)
	c.Int("reserved_tokens", &e.Reserved)
	c.OptFloat("reserved_usd", &e.Cost)
	c.Int("max_tokens", &e.MaxTokens)
	c.OptInt("bytes", &e.Bytes)
	c.OptInt("fallback", &e.Fallback)
	c.OptString("model", &e.Model)
	e.View.code(c)
}

func (e *ModelReplied) code(c *wire.Coder) {
	c.OptString("purpose", (*string)(&e.Purpose))
	e.Reply.code(c)
	c.Object("usage", e.Reply.Usage.code)
	c.NullFloat("cost_usd", &e.Cost, &e.Priced)
	c.OptString("malformed", &e.Malformed)
	c.OptBool("estimated", &e.Estimated)
}

func (e *ModelFailed) code(c *wire.Coder) {
	c.OptString("purpose", (*string)(&e.Purpose))
	wire.Enum(c, "class", &e.Class, classes)
	c.String("message", &e.Message)
	c.Int("attempt", &e.Attempt)
	c.OptTime("retry_at", &e.RetryAt)
	if c.Decoding() || e.Usage != (Usage{}) {
		c.OptObject("usage", e.Usage.code)
	}
	c.OptFloat("cost_usd", &e.Cost)
}

func (e *PlanRejected) code(c *wire.Coder) {
	c.Strings("reasons", &e.Reasons)
	c.String("feedback", &e.Feedback)
	c.Int("strike", &e.Strike)
}

func (e *Observed) code(c *wire.Coder) {
	c.String("text", &e.Text)
	c.OptRaw("data", &e.Data)
	c.OptBool("failed", &e.Failed)
}

func (e *Measured) code(c *wire.Coder) {
	c.Float("value", &e.Value)
	c.OptStrings("open", &e.Open)
}

func (e *ContextCompacted) code(c *wire.Coder) {
	c.Uint64("from", &e.From)
	c.Uint64("to", &e.To)
	c.OptStrings("masked", &e.Masked)
	c.OptString("summary", &e.Summary)
	c.OptInt("kept", &e.Kept)
	c.OptString("why", &e.Why)
}

func (u *Usage) code(c *wire.Coder) {
	c.Int("input_tokens", &u.Input)
	c.Int("output_tokens", &u.Output)
	c.OptInt("cache_read_tokens", &u.CacheRead)
	c.OptInt("cache_write_tokens", &u.CacheWrite)
	c.OptInt("reasoning_tokens", &u.Reasoning)
}

// code writes a reply's text, thinking and calls, which others may rely on.
// The order of its parts stands beside them only where it is not the usual one,
// text and then calls: provider parts must go back exactly as they came.
func (r *Reply) code(c *wire.Coder) {
	if c.Decoding() {
		r.decode(c)
		return
	}
	text, thinking := joinText(r.Parts), ""
	calls, seen, usual := 0, 0, true // seen: 1 after text, 2 after a call
	for _, p := range r.Parts {
		switch p := p.(type) {
		case Text:
			usual = usual && seen == 0 && p.Text != ""
			seen = 1
		case Thinking:
			thinking += p.Text
			usual = false
		case Call:
			calls++
			seen = 2
		}
	}
	c.String("text", &text)
	c.String("thinking", &thinking)
	next := 0
	wire.Each(c, "calls", calls, func(c *wire.Coder) {
		for ; ; next++ {
			if call, ok := r.Parts[next].(Call); ok {
				codeCall(c, &call)
				next++
				return
			}
		}
	})
	if !usual {
		wire.OptList(c, "parts", &r.Parts, codePart)
	}
	wire.Enum(c, "stop_reason", &r.Stop, stopReasons)
	c.OptBool("repaired", &r.Repaired)
}

func (r *Reply) decode(c *wire.Coder) {
	var text, thinking string
	var layout []Part
	c.String("text", &text)
	c.String("thinking", &thinking)
	if text != "" {
		r.Parts = append(r.Parts, Text{text})
	}
	wire.Each(c, "calls", 0, func(c *wire.Coder) {
		var call Call
		codeCall(c, &call)
		r.Parts = append(r.Parts, call)
	})
	wire.OptList(c, "parts", &layout, codePart)
	wire.Enum(c, "stop_reason", &r.Stop, stopReasons)
	c.OptBool("repaired", &r.Repaired)
	if layout == nil {
		return
	}
	for i, p := range layout { // the layout names calls; the list has them whole
		if call, ok := p.(Call); ok {
			n := slices.IndexFunc(r.Parts, func(p Part) bool {
				whole, ok := p.(Call)
				return ok && whole.ID == call.ID
			})
			if n < 0 {
				c.Fail("parts", fmt.Errorf("call %q is not among calls", call.ID))
				return
			}
			layout[i] = r.Parts[n]
		}
	}
	r.Parts = layout
}

func codeCall(c *wire.Coder, call *Call) {
	c.String("call", &call.ID)
	c.String("tool", &call.Tool)
	c.Raw("args", &call.Args)
	c.OptString("ref", &call.Ref)
}

func codePart(c *wire.Coder, p *Part) {
	var text, call, model string
	var opaque json.RawMessage
	thinking := false
	if !c.Decoding() {
		switch v := (*p).(type) {
		case Text:
			text = v.Text
		case Thinking:
			text, opaque, model, thinking = v.Text, v.Opaque, v.Model, true
		case Call:
			call = v.ID
		}
	}
	c.OptString("call", &call)
	c.OptBool("thinking", &thinking)
	c.OptString("text", &text)
	c.OptRaw("opaque", &opaque)
	c.OptString("model", &model)
	if c.Decoding() {
		switch {
		case call != "":
			*p = Call{ID: call}
		case thinking:
			*p = Thinking{Text: text, Opaque: opaque, Model: model}
		default:
			*p = Text{text}
		}
	}
}
