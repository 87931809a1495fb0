package anthropic

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/provider"
)

// state is how far a stream has come. It must pass through all of them:
//
//	waiting   message_start        → writing
//	writing   content_block_*      → writing
//	writing   message_delta with a stop reason → stopping
//	stopping  message_stop         → finished
//
// Anything else that matters is an error; pings and events of kinds unknown
// here change nothing. Only finished is a reply.
type state int

const (
	waiting state = iota
	writing
	stopping
	finished
)

// A turn gathers one reply from the events of its stream.
type turn struct {
	model  string
	limit  int // the most tokens the request allowed
	state  state
	blocks []*block
	stop   sdk.StopReason
	usage  pawl.Usage
	fresh  int // input tokens that no cache had a part in

	told     bool // the usage of the whole message came
	repaired bool // an event was not UTF-8
}

// A block is one content block on its way.
type block struct {
	index int64
	kind  string
	first string // the block as it was announced
	open  bool

	id, name        string
	input           string // what the announcement already had of the arguments
	text, signature strings.Builder
}

// read takes one event; a chunk that is nil is no sign of life.
func (t *turn) read(data []byte) (*pawl.Chunk, error) {
	data, broken := provider.Repair(data)
	t.repaired = t.repaired || broken
	var e sdk.MessageStreamEventUnion
	if err := json.Unmarshal(data, &e); err != nil {
		return nil, t.broken(provider.Clip(err.Error()))
	}
	switch e.Type {
	case "ping":
		return nil, nil
	case "error", "":
		err := classified(0, http.Header{}, data)
		err.Usage = t.usage
		return nil, err
	}
	chunk, err := t.on(e)
	return &chunk, err
}

func (t *turn) on(e sdk.MessageStreamEventUnion) (pawl.Chunk, error) {
	none := pawl.Chunk{}
	switch e.Type {
	case "message_start":
		if t.state != waiting {
			return none, t.broken("a second message_start")
		}
		t.state = writing
		u := e.Message.Usage
		t.count(u.InputTokens, u.CacheReadInputTokens, u.CacheCreationInputTokens, u.OutputTokens, u.OutputTokensDetails.ThinkingTokens)
	case "content_block_start":
		if t.state != writing {
			return none, t.broken("content_block_start out of place")
		}
		return t.begin(e.Index, e.ContentBlock)
	case "content_block_delta":
		b := t.block(e.Index)
		if b == nil || t.state != writing {
			return none, t.broken(fmt.Sprintf("a delta for block %d, which is not open", e.Index))
		}
		return t.grow(b, e.Delta)
	case "content_block_stop":
		b := t.block(e.Index)
		if b == nil || t.state != writing {
			return none, t.broken(fmt.Sprintf("the end of block %d, which is not open", e.Index))
		}
		b.open = false
	case "message_delta":
		if t.state == waiting {
			return none, t.broken("message_delta before message_start")
		}
		u := e.Usage
		t.told = t.told || u.JSON.OutputTokens.Valid()
		t.count(u.InputTokens, u.CacheReadInputTokens, u.CacheCreationInputTokens, u.OutputTokens, u.OutputTokensDetails.ThinkingTokens)
		if e.Delta.StopReason != "" {
			t.stop, t.state = e.Delta.StopReason, stopping
		}
	case "message_stop":
		if t.state != stopping {
			return none, t.broken("message_stop without a stop reason")
		}
		for _, b := range t.blocks {
			// A block may be left open when the reply met its limit, but no other way.
			if b.open && t.stop != sdk.StopReasonMaxTokens {
				return none, t.broken(fmt.Sprintf("message_stop inside block %d", b.index))
			}
		}
		t.state = finished
	}
	return none, nil
}

// count assigns what an event says of usage. The numbers are totals of the
// whole message, so they are never added up; one that is left out says nothing.
func (t *turn) count(fresh, read, write, output, thinking int64) {
	set := func(n *int, v int64) {
		if v > 0 {
			*n = int(v)
		}
	}
	set(&t.fresh, fresh)
	set(&t.usage.CacheRead, read)
	set(&t.usage.CacheWrite, write)
	set(&t.usage.Output, output)
	set(&t.usage.Reasoning, thinking)
	t.usage.Input = t.fresh + t.usage.CacheRead + t.usage.CacheWrite
}

func (t *turn) block(index int64) *block {
	for _, b := range t.blocks {
		if b.index == index && b.open {
			return b
		}
	}
	return nil
}

func (t *turn) begin(index int64, c sdk.ContentBlockStartEventContentBlockUnion) (pawl.Chunk, error) {
	if t.block(index) != nil {
		return pawl.Chunk{}, t.broken(fmt.Sprintf("block %d begun twice", index))
	}
	b := &block{index: index, kind: c.Type, first: c.RawJSON(), open: true, id: c.ID, name: c.Name}
	t.blocks = append(t.blocks, b)
	switch c.Type {
	case "text":
		b.text.WriteString(c.Text)
		return pawl.Chunk{Text: c.Text}, nil
	case "thinking":
		b.text.WriteString(c.Thinking)
		b.signature.WriteString(c.Signature)
		return pawl.Chunk{Thinking: c.Thinking}, nil
	case "tool_use":
		b.input = c.JSON.Input.Raw()
		return pawl.Chunk{Call: c.Name}, nil
	}
	return pawl.Chunk{}, nil
}

func (t *turn) grow(b *block, d sdk.MessageStreamEventUnionDelta) (pawl.Chunk, error) {
	switch b.kind + " " + d.Type {
	case "text text_delta":
		b.text.WriteString(d.Text)
		return pawl.Chunk{Text: d.Text}, nil
	case "thinking thinking_delta":
		b.text.WriteString(d.Thinking)
		return pawl.Chunk{Thinking: d.Thinking}, nil
	case "thinking signature_delta":
		b.signature.WriteString(d.Signature)
		return pawl.Chunk{}, nil
	case "tool_use input_json_delta":
		b.text.WriteString(d.PartialJSON)
		return pawl.Chunk{}, nil
	case "text citations_delta":
		return pawl.Chunk{}, nil
	}
	// A part of the reply that cannot be kept would be missing from every later request.
	return pawl.Chunk{}, t.failed(pawl.ClassUnknown, fmt.Sprintf("a %s in a %s block is unknown here", d.Type, b.kind))
}

// reply is the whole of a finished turn.
func (t *turn) reply() (*pawl.Reply, error) {
	r := &pawl.Reply{Usage: t.usage, Repaired: t.repaired}
	says, torn := false, false
	for _, b := range t.blocks {
		switch b.kind {
		case "text":
			if b.text.Len() > 0 {
				r.Parts = append(r.Parts, pawl.Text{Text: b.text.String()})
				says = says || strings.TrimSpace(b.text.String()) != ""
			}
		case "tool_use":
			text := b.text.String()
			if text == "" {
				text = b.input // some servers announce a call whole
			}
			r.Parts = append(r.Parts, pawl.Call{Ref: b.id, Tool: b.name, Args: provider.Args(text)})
			says, torn = true, !json.Valid([]byte(text)) // nothing at all may be what is left of something
		case "thinking":
			r.Parts = append(r.Parts, pawl.Thinking{Text: b.text.String(), Opaque: b.thinking(), Model: t.model})
		default:
			// Redacted thinking, and whatever else arrives in one piece, is not
			// for reading but has to be sent back in its place.
			r.Parts = append(r.Parts, pawl.Thinking{Opaque: json.RawMessage(b.first), Model: t.model})
		}
	}
	switch t.stop {
	case sdk.StopReasonEndTurn, sdk.StopReasonStopSequence, sdk.StopReasonToolUse:
		r.Stop = pawl.StopEnd
		for _, p := range r.Parts {
			if _, ok := p.(pawl.Call); ok {
				r.Stop = pawl.StopCalls
			}
		}
		// Some servers call it finished when the ceiling cut the last call off.
		if torn && t.usage.Output >= t.limit {
			r.Stop = pawl.StopLength
		}
		if !says {
			return nil, t.failed(pawl.ClassEmpty, provider.Nothing(t.usage.Output))
		}
	case sdk.StopReasonMaxTokens:
		if !says {
			return nil, t.failed(pawl.ClassEmpty, provider.Silent(t.limit))
		}
		r.Stop = pawl.StopLength
	case sdk.StopReasonRefusal:
		r.Stop = pawl.StopRefusal
	case sdk.StopReasonPauseTurn:
		r.Stop = pawl.StopPause
	case sdk.StopReasonModelContextWindowExceeded:
		return nil, t.failed(pawl.ClassTooLong, "the reply met the end of the context window")
	default:
		return nil, t.failed(pawl.ClassUnknown, fmt.Sprintf("stop reason %q is unknown here", provider.Clip(string(t.stop))))
	}
	return r, nil
}

// thinking is the block as it goes back: as announced, with what the deltas
// added. The announcement is kept where deltas have nothing to say, so that a
// key unknown here goes back too. Thinking that was cut off before its
// signature would be refused, so it does not go back.
func (b *block) thinking() json.RawMessage {
	if b.signature.Len() == 0 {
		return nil
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal([]byte(b.first), &fields) != nil || fields == nil {
		fields = map[string]json.RawMessage{"type": json.RawMessage(`"thinking"`)}
	}
	fields["thinking"] = provider.Marshal(b.text.String())
	fields["signature"] = provider.Marshal(b.signature.String())
	return provider.Marshal(fields)
}

func (t *turn) broken(what string) error {
	return t.failed(pawl.ClassTruncated, "the stream is broken: "+what)
}

func (t *turn) failed(class pawl.Class, message string) error {
	return &pawl.ModelError{Class: class, Message: message, Usage: t.usage, Billed: t.told && t.state >= stopping}
}
