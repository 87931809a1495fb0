package anthropic

import (
	"encoding/json"
	"fmt"
	"maps"
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
	stop   string
	fresh  int // input tokens neither read from nor written to a cache
}

// A block is a content block being received.
type block struct {
	content
	index           int
	first           json.RawMessage // the block as it began
	open            bool
	text, signature strings.Builder
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
		if b.Type == "tool_use" {
			return []pawl.Chunk{{Ready: b.call()}}, nil
		}
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
	_ = json.Unmarshal(raw, &b.content) // an unknown kind of block is sent back unchanged
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
	case "tool_use input_json_delta", "server_tool_use input_json_delta":
		b.text.WriteString(d.Partial)
		return nil, nil
	case "text citations_delta":
		return nil, nil
	}
	// Losing a part of the reply would change every later request.
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
			parts = append(parts, *b.call())
			torn = !json.Valid([]byte(b.args())) // an empty text may be truncated, too
		case "thinking":
			parts = append(parts, pawl.Thinking{Text: text, Opaque: b.thinking(), Model: t.Model})
		case "server_tool_use":
			if b.open { // cut off within its arguments
				continue
			}
			parts = append(parts, pawl.Thinking{Opaque: b.with(map[string]json.RawMessage{"input": provider.Object(json.RawMessage(b.args()))}), Model: t.Model})
		default:
			// Redacted thinking and other blocks that arrive in one piece are
			// not readable, but must be sent back in place.
			parts = append(parts, pawl.Thinking{Opaque: b.first, Model: t.Model})
		}
	}
	t.Hosted = t.hosted()
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

// args returns the text of a call's arguments.
func (b *block) args() string {
	if b.text.Len() == 0 {
		return string(b.Input) // some servers send a whole call at its start
	}
	return b.text.String()
}

func (b *block) call() *pawl.Call {
	return &pawl.Call{Ref: b.ID, Tool: b.Name, Args: provider.Args(b.args())}
}

// thinking returns the block to send back: as it began, with the deltas added,
// so that unknown keys are kept. Thinking without a signature was cut off and
// would be refused, so it is not sent back.
func (b *block) thinking() json.RawMessage {
	if b.signature.Len() == 0 {
		return nil
	}
	return b.with(map[string]json.RawMessage{
		"thinking": provider.Marshal(b.text.String()), "signature": provider.Marshal(b.signature.String()),
	})
}

// with returns the block as it began, with the fields that arrived later.
func (b *block) with(later map[string]json.RawMessage) json.RawMessage {
	fields := map[string]json.RawMessage{}
	_ = json.Unmarshal(b.first, &fields)
	if fields == nil || fields["type"] == nil {
		fields = map[string]json.RawMessage{"type": provider.Marshal(b.Type)}
	}
	maps.Copy(fields, later)
	return provider.Marshal(fields)
}

// hosted returns the calls that the provider has answered in this reply. One of an earlier
// reply, which had to wait for the results of other calls, is here without its arguments.
func (t *turn) hosted() (list []pawl.HostedCall) {
	calls := map[string]*block{}
	for _, b := range t.blocks {
		kind, result := strings.CutSuffix(b.Type, "_tool_result")
		switch {
		case b.Type == "server_tool_use":
			calls[b.ID] = b
			continue
		case !result || b.Of == "":
			continue
		}
		h := pawl.HostedCall{Call: pawl.Call{Tool: hostedName(kind)}, Result: provider.Readable(b.Content)}
		if call := calls[b.Of]; call != nil {
			h.Call.Args = provider.Args(call.args())
		}
		var failed struct {
			Code string `json:"error_code"`
		}
		if json.Unmarshal(b.Content, &failed) == nil && failed.Code != "" {
			h.Result, h.Error = nil, failed.Code
		}
		list = append(list, h)
	}
	return list
}

// hostedName is the name of a hosted tool, as the run knows it.
func hostedName(name string) string {
	if strings.HasSuffix(name, provider.CodeExecution) {
		return provider.CodeExecution
	}
	return name
}
