package anthropic

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/model/internal/provider"
)

// state is the state of a stream. A complete stream passes through all of them:
//
//	waiting   message_start        → writing
//	writing   content_block_*      → writing
//	writing   message_delta with a stop reason → stopping
//	stopping  message_stop         → finished
//
// Any other relevant event is an error; pings and unknown kinds of events
// change nothing. The reply is complete in state finished.
type state int

const (
	waiting state = iota
	writing
	stopping
	finished
)

// A turn builds one reply from the events of its stream.
type turn struct {
	provider.Turn
	state  state
	blocks []*block
	open   map[int]*block // those of them that grow, by index
	stop   string
	filter string // of a refusal, in the provider's words
	fresh  int    // input tokens neither read from nor written to a cache
}

// A block is a content block being received.
type block struct {
	content
	index           int
	first           json.RawMessage // the block as it began
	open            bool
	text, signature strings.Builder
	later           map[string]json.RawMessage // fields that came whole in a delta
}

// A content is the start of a block.
type content struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	Of        string          `json:"tool_use_id"` // of a hosted call's result
	Content   json.RawMessage `json:"content"`

	Citations []json.RawMessage `json:"citations"`
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

	Citation  json.RawMessage `json:"citation"`
	Content   json.RawMessage `json:"content"`           // of a compaction
	Encrypted json.RawMessage `json:"encrypted_content"` // of a compaction

	Details struct {
		Category    string `json:"category"`
		Explanation string `json:"explanation"`
	} `json:"stop_details"`
}

// filter returns the provider's words for what stopped the reply; empty: nothing did.
func (d *delta) filter() string {
	category, words := d.Details.Category, d.Details.Explanation
	if category != "" && words != "" {
		return category + ": " + words
	}
	return category + words
}

type usage struct {
	Input      int `json:"input_tokens"`
	CacheRead  int `json:"cache_read_input_tokens"`
	CacheWrite int `json:"cache_creation_input_tokens"`
	Written    struct {
		Hour int `json:"ephemeral_1h_input_tokens"`
	} `json:"cache_creation"`
	Output    *int `json:"output_tokens"`
	OutputHas struct {
		Thinking int `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
	Hosted struct {
		Searches int `json:"web_search_requests"`
	} `json:"server_tool_use"`
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
		t.state, t.open = writing, map[int]*block{}
		t.count(e.Message.Usage)
	case "content_block_start":
		if t.state != writing {
			return nil, t.Broken("content_block_start out of place")
		}
		return t.begin(e.Index, e.Block)
	case "content_block_delta":
		b := t.open[e.Index]
		if b == nil || t.state != writing {
			return nil, t.Broken(fmt.Sprintf("a delta for block %d, which is not open", e.Index))
		}
		return t.grow(b, e.Delta)
	case "content_block_stop":
		b := t.open[e.Index]
		if b == nil || t.state != writing {
			return nil, t.Broken(fmt.Sprintf("the end of block %d, which is not open", e.Index))
		}
		b.open = false
		delete(t.open, e.Index)
	case "message_delta":
		if t.state == waiting {
			return nil, t.Broken("message_delta before message_start")
		}
		t.Told = t.Told || e.Usage.Output != nil
		t.count(e.Usage)
		if e.Delta.StopReason != "" {
			t.stop, t.filter, t.state, t.Ended = e.Delta.StopReason, e.Delta.filter(), stopping, true
		}
	case "message_stop":
		if t.state != stopping {
			return nil, t.Broken("message_stop without a stop reason")
		}
		for _, b := range t.blocks {
			// A block may stay open only if the reply reached its limit.
			if b.open && t.stop != "max_tokens" {
				return nil, t.Broken(fmt.Sprintf("message_stop inside block %d", b.index))
			}
		}
		t.state = finished
	}
	return nil, nil
}

// count sets the usage from an event. The numbers are totals of the message, so
// they are not added; a missing one changes nothing.
func (t *turn) count(u usage) {
	set := func(n *int, v int) {
		if v > 0 {
			*n = v
		}
	}
	set(&t.fresh, u.Input)
	set(&t.Usage.CacheRead, u.CacheRead)
	set(&t.Usage.CacheWrite, u.CacheWrite)
	set(&t.Usage.CacheLong, u.Written.Hour)
	if u.Output != nil {
		set(&t.Usage.Output, *u.Output)
	}
	set(&t.Usage.Reasoning, u.OutputHas.Thinking)
	set(&t.Usage.Searches, u.Hosted.Searches)
	t.Usage.Input = t.fresh + t.Usage.CacheRead + t.Usage.CacheWrite
}

func (t *turn) begin(index int, raw json.RawMessage) ([]pawl.Chunk, error) {
	if t.open[index] != nil {
		return nil, t.Broken(fmt.Sprintf("block %d begun twice", index))
	}
	b := &block{index: index, first: raw, open: true}
	_ = json.Unmarshal(raw, &b.content) // an unknown kind of block is sent back unchanged
	t.blocks, t.open[index] = append(t.blocks, b), b
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
	case "server_tool_use":
		return []pawl.Chunk{{Call: hostedName(b.Name)}}, nil
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
	case "tool_use input_json_delta", "server_tool_use input_json_delta", "mcp_tool_use input_json_delta":
		b.text.WriteString(d.Partial)
		return nil, nil
	case "text citations_delta":
		b.Citations = append(b.Citations, d.Citation)
		return nil, nil
	case "compaction compaction_delta":
		b.later = map[string]json.RawMessage{"content": d.Content}
		if d.Encrypted != nil {
			b.later["encrypted_content"] = d.Encrypted
		}
		return nil, nil
	}
	// Losing a part of the reply would change every later request.
	return nil, t.Failed(pawl.ClassUnknown, fmt.Sprintf("a %s in a %s block is unknown here", d.Type, b.Type))
}
