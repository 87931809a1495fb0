package anthropic

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/model/internal/provider"
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
	provider.Turn
	state  state
	blocks []*block
	stop   string
	fresh  int // input tokens that no cache had a part in
}

// A block is one content block on its way.
type block struct {
	content
	index           int
	first           json.RawMessage // the block as it was announced
	open            bool
	text, signature strings.Builder
}

// A content is what a block is announced with.
type content struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
}

type event struct {
	Type    string `json:"type"`
	Index   int    `json:"index"`
	Message struct {
		Usage usage `json:"usage"`
	} `json:"message"`
	Block json.RawMessage `json:"content_block"`
	Delta delta           `json:"delta"`
	Usage usage           `json:"usage"`
}

type delta struct {
	Type       string `json:"type"`
	Text       string `json:"text"`
	Thinking   string `json:"thinking"`
	Signature  string `json:"signature"`
	Partial    string `json:"partial_json"`
	StopReason string `json:"stop_reason"`
}

type usage struct {
	Input      int  `json:"input_tokens"`
	CacheRead  int  `json:"cache_read_input_tokens"`
	CacheWrite int  `json:"cache_creation_input_tokens"`
	Output     *int `json:"output_tokens"`
	OutputHas  struct {
		Thinking int `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}

func (t *turn) Ends(error) bool { return t.state == finished }

func (t *turn) Event(data []byte) ([]pawl.Chunk, error) {
	var e event
	err := t.Decode(data, &e, func([]byte) bool { return e.Type == "error" || e.Type == "" })
	if err != nil && (e.Type == "" || e.Type == "error" || strings.HasPrefix(e.Type, "message_") || strings.HasPrefix(e.Type, "content_block_")) {
		return nil, err // events of kinds unknown here may have any form
	}
	switch e.Type {
	case "ping":
		return []pawl.Chunk{}, nil
	case "message_start":
		if t.state != waiting {
			return nil, t.Broken("a second message_start")
		}
		t.state = writing
		t.count(e.Message.Usage)
	case "content_block_start":
		if t.state != writing {
			return nil, t.Broken("content_block_start out of place")
		}
		return t.begin(e.Index, e.Block)
	case "content_block_delta":
		b := t.block(e.Index)
		if b == nil || t.state != writing {
			return nil, t.Broken(fmt.Sprintf("a delta for block %d, which is not open", e.Index))
		}
		return t.grow(b, e.Delta)
	case "content_block_stop":
		b := t.block(e.Index)
		if b == nil || t.state != writing {
			return nil, t.Broken(fmt.Sprintf("the end of block %d, which is not open", e.Index))
		}
		b.open = false
	case "message_delta":
		if t.state == waiting {
			return nil, t.Broken("message_delta before message_start")
		}
		t.Told = t.Told || e.Usage.Output != nil
		t.count(e.Usage)
		if e.Delta.StopReason != "" {
			t.stop, t.state, t.Ended = e.Delta.StopReason, stopping, true
		}
	case "message_stop":
		if t.state != stopping {
			return nil, t.Broken("message_stop without a stop reason")
		}
		for _, b := range t.blocks {
			// A block may be left open when the reply met its limit, but no other way.
			if b.open && t.stop != "max_tokens" {
				return nil, t.Broken(fmt.Sprintf("message_stop inside block %d", b.index))
			}
		}
		t.state = finished
	}
	return nil, nil
}

// count assigns what an event says of usage. The numbers are totals of the
// whole message, so they are never added up; one that is left out says nothing.
func (t *turn) count(u usage) {
	set := func(n *int, v int) {
		if v > 0 {
			*n = v
		}
	}
	set(&t.fresh, u.Input)
	set(&t.Usage.CacheRead, u.CacheRead)
	set(&t.Usage.CacheWrite, u.CacheWrite)
	if u.Output != nil {
		set(&t.Usage.Output, *u.Output)
	}
	set(&t.Usage.Reasoning, u.OutputHas.Thinking)
	t.Usage.Input = t.fresh + t.Usage.CacheRead + t.Usage.CacheWrite
}

func (t *turn) block(index int) *block {
	for _, b := range t.blocks {
		if b.index == index && b.open {
			return b
		}
	}
	return nil
}

func (t *turn) begin(index int, raw json.RawMessage) ([]pawl.Chunk, error) {
	if t.block(index) != nil {
		return nil, t.Broken(fmt.Sprintf("block %d begun twice", index))
	}
	b := &block{index: index, first: raw, open: true}
	_ = json.Unmarshal(raw, &b.content) // what does not fit is of a kind unknown here, and goes back as it came
	t.blocks = append(t.blocks, b)
	switch b.Type {
	case "text":
		b.text.WriteString(b.Text)
		return []pawl.Chunk{{Text: b.Text}}, nil
	case "thinking":
		b.text.WriteString(b.Thinking)
		b.signature.WriteString(b.Signature)
		return []pawl.Chunk{{Thinking: b.Thinking}}, nil
	case "tool_use":
		return []pawl.Chunk{{Call: b.Name}}, nil
	}
	return nil, nil
}

func (t *turn) grow(b *block, d delta) ([]pawl.Chunk, error) {
	switch b.Type + " " + d.Type {
	case "text text_delta":
		b.text.WriteString(d.Text)
		return []pawl.Chunk{{Text: d.Text}}, nil
	case "thinking thinking_delta":
		b.text.WriteString(d.Thinking)
		return []pawl.Chunk{{Thinking: d.Thinking}}, nil
	case "thinking signature_delta":
		b.signature.WriteString(d.Signature)
		return nil, nil
	case "tool_use input_json_delta":
		b.text.WriteString(d.Partial)
		return nil, nil
	case "text citations_delta":
		return nil, nil
	}
	// A part of the reply that cannot be kept would be missing from every later request.
	return nil, t.Failed(pawl.ClassUnknown, fmt.Sprintf("a %s in a %s block is unknown here", d.Type, b.Type))
}

func (t *turn) Reply() (*pawl.Reply, error) {
	var parts []pawl.Part
	torn := false
	for _, b := range t.blocks {
		text := b.text.String()
		switch b.Type {
		case "text":
			if text != "" {
				parts = append(parts, pawl.Text{Text: text})
			}
		case "tool_use":
			if text == "" {
				text = string(b.Input) // some servers announce a call whole
			}
			parts = append(parts, pawl.Call{Ref: b.ID, Tool: b.Name, Args: provider.Args(text)})
			torn = !json.Valid([]byte(text)) // nothing at all may be what is left of something
		case "thinking":
			parts = append(parts, pawl.Thinking{Text: text, Opaque: b.thinking(), Model: t.Model})
		default:
			// Redacted thinking, and whatever else arrives in one piece, is not
			// for reading but has to be sent back in its place.
			parts = append(parts, pawl.Thinking{Opaque: b.first, Model: t.Model})
		}
	}
	switch t.stop {
	case "end_turn", "stop_sequence", "tool_use":
		return t.Finish(parts, torn)
	case "max_tokens":
		return t.Cut(parts)
	case "refusal":
		return t.Stop(parts, pawl.StopRefusal)
	case "pause_turn":
		return t.Stop(parts, pawl.StopPause)
	case "model_context_window_exceeded":
		return nil, t.Failed(pawl.ClassTooLong, "the reply met the end of the context window")
	}
	return nil, t.Failed(pawl.ClassUnknown, fmt.Sprintf("stop reason %q is unknown here", provider.Clip(t.stop)))
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
	if json.Unmarshal(b.first, &fields) != nil || fields == nil {
		fields = map[string]json.RawMessage{"type": json.RawMessage(`"thinking"`)}
	}
	fields["thinking"] = provider.Marshal(b.text.String())
	fields["signature"] = provider.Marshal(b.signature.String())
	return provider.Marshal(fields)
}
