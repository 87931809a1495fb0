package bedrock

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/model/internal/provider"
)

// A turn builds one reply from the events of its stream. The usage comes after the reason for
// stopping, so the reply ends with the stream.
type turn struct {
	provider.Turn

	blocks []*block
	open   map[int]*block
	stop   string
}

// A block is a part of the reply being received.
type block struct {
	kind      string // "text", "toolUse" or "reasoning"
	id, name  string // of a call
	text      strings.Builder
	signature strings.Builder
	redacted  []byte
	citations []pawl.Part
}

// A frame is an event of the stream: one of its fields is set.
type frame struct {
	Start *struct {
		Index int `json:"contentBlockIndex"`
		Start struct {
			ToolUse *struct {
				ID   string `json:"toolUseId"`
				Name string `json:"name"`
			} `json:"toolUse"`
		} `json:"start"`
	} `json:"contentBlockStart"`
	Delta *struct {
		Index int   `json:"contentBlockIndex"`
		Delta delta `json:"delta"`
	} `json:"contentBlockDelta"`
	Stop *struct {
		Index int `json:"contentBlockIndex"`
	} `json:"contentBlockStop"`
	MessageStop *struct {
		Reason string `json:"stopReason"`
	} `json:"messageStop"`
	Metadata *struct {
		Usage usage `json:"usage"`
	} `json:"metadata"`
}

type delta struct {
	Text    *string `json:"text"`
	ToolUse *struct {
		Input string `json:"input"`
	} `json:"toolUse"`
	Reasoning *struct {
		Text      string `json:"text"`
		Signature string `json:"signature"`
		Redacted  []byte `json:"redactedContent"`
	} `json:"reasoningContent"`
	Citation *struct {
		Title   string `json:"title"`
		Content []struct {
			Text string `json:"text"`
		} `json:"sourceContent"`
	} `json:"citation"`
}

type usage struct {
	Input      int `json:"inputTokens"` // what was neither read from a cache nor written to it
	Output     int `json:"outputTokens"`
	CacheRead  int `json:"cacheReadInputTokens"`
	CacheWrite int `json:"cacheWriteInputTokens"`
	Details    []struct {
		Tokens int    `json:"inputTokens"`
		TTL    string `json:"ttl"`
	} `json:"cacheDetails"`
}

func (t *turn) Ends(err error) bool { return t.stop != "" && errors.Is(err, io.EOF) }

func (t *turn) Event(data []byte) ([]pawl.Chunk, error) {
	var ev frame
	if err := t.Decode(data, &ev, told); err != nil {
		return nil, err
	}
	switch {
	case ev.Metadata != nil:
		u := ev.Metadata.Usage
		t.Told, t.Ended = true, t.stop != ""
		t.Usage = pawl.Usage{Input: u.Input + u.CacheRead + u.CacheWrite, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite}
		for _, d := range u.Details {
			if d.TTL == "1h" {
				t.Usage.CacheLong += d.Tokens
			}
		}
	case t.stop != "":
		return nil, t.Broken("an event after messageStop")
	case ev.Start != nil:
		return t.begin(ev.Start.Index, ev.Start.Start.ToolUse)
	case ev.Delta != nil:
		return t.grow(ev.Delta.Index, ev.Delta.Delta)
	case ev.Stop != nil:
		delete(t.open, ev.Stop.Index)
	case ev.MessageStop != nil:
		if t.stop = ev.MessageStop.Reason; t.stop == "" {
			return nil, t.Broken("messageStop without a reason")
		}
		if len(t.open) > 0 && t.stop != "max_tokens" {
			return nil, t.Broken("messageStop inside a block")
		}
	}
	return nil, nil
}

func (t *turn) add(index int, kind string) *block {
	b := &block{kind: kind}
	if t.open == nil {
		t.open = map[int]*block{}
	}
	t.open[index] = b
	t.blocks = append(t.blocks, b)
	return b
}

func (t *turn) begin(index int, call *struct {
	ID   string `json:"toolUseId"`
	Name string `json:"name"`
}) ([]pawl.Chunk, error) {
	if t.open[index] != nil {
		return nil, t.Broken(fmt.Sprintf("block %d begun twice", index))
	}
	if call == nil { // the first delta tells its kind
		return nil, nil
	}
	b := t.add(index, "toolUse")
	b.id, b.name = call.ID, call.Name
	return []pawl.Chunk{{Call: b.name}}, nil
}

func (t *turn) grow(index int, d delta) ([]pawl.Chunk, error) {
	var kind string
	switch {
	case d.Text != nil:
		kind = "text"
	case d.ToolUse != nil:
		kind = "toolUse"
	case d.Reasoning != nil:
		kind = "reasoning"
	case d.Citation != nil:
		if b := t.open[index]; b != nil && b.kind == "text" {
			c := pawl.Citation{Title: d.Citation.Title}
			for _, piece := range d.Citation.Content {
				c.Quote += piece.Text
			}
			b.citations = append(b.citations, c)
		}
		return nil, nil
	default:
		// Losing a part of the reply would change every later request.
		return nil, t.Failed(pawl.ClassUnknown, "a part of the reply is of a kind that is unknown here")
	}
	b := t.open[index]
	if b == nil && kind != "toolUse" {
		b = t.add(index, kind)
	}
	if b == nil || b.kind != kind {
		return nil, t.Broken(fmt.Sprintf("a piece of %s in block %d, which has none", kind, index))
	}
	switch kind {
	case "text":
		b.text.WriteString(*d.Text)
		return []pawl.Chunk{{Text: *d.Text}}, nil
	case "toolUse":
		b.text.WriteString(d.ToolUse.Input)
		return nil, nil
	}
	b.text.WriteString(d.Reasoning.Text)
	b.signature.WriteString(d.Reasoning.Signature)
	b.redacted = append(b.redacted, d.Reasoning.Redacted...)
	return []pawl.Chunk{{Thinking: d.Reasoning.Text}}, nil
}

func (t *turn) Reply() (*pawl.Reply, error) {
	var parts []pawl.Part
	torn := false
	for _, b := range t.blocks {
		text := b.text.String()
		switch b.kind {
		case "text":
			if text != "" {
				parts = append(append(parts, pawl.Text{Text: text}), b.citations...)
			}
		case "toolUse":
			parts = append(parts, pawl.Call{Ref: b.id, Tool: b.name, Args: provider.Args(text)})
			torn = !json.Valid([]byte(text)) // an empty text may be truncated, too
		case "reasoning":
			parts = append(parts, pawl.Thinking{Text: text, Opaque: b.opaque(), Model: t.Model, Account: t.Account})
		}
	}
	switch t.stop {
	case "end_turn", "stop_sequence", "tool_use":
		return t.Finish(parts, torn)
	case "max_tokens":
		return t.Cut(parts)
	case "guardrail_intervened", "content_filtered":
		return t.Stop(parts, pawl.StopRefusal)
	case "malformed_model_output", "malformed_tool_use":
		return nil, t.Failed(pawl.ClassEmpty, "the model's output is malformed ("+t.stop+")")
	case "model_context_window_exceeded":
		return nil, t.Failed(pawl.ClassTooLong, "the reply met the end of the context window")
	}
	return nil, t.Failed(pawl.ClassUnknown, fmt.Sprintf("stop reason %q is unknown here", provider.Clip(t.stop)))
}

// opaque is the block to send back. Reasoning without a signature was cut off, or is of a
// model that does not want it back.
func (b *block) opaque() json.RawMessage {
	var content map[string]any
	switch {
	case len(b.redacted) > 0:
		content = map[string]any{"redactedContent": b.redacted}
	case b.signature.Len() > 0:
		content = map[string]any{"reasoningText": map[string]any{"text": b.text.String(), "signature": b.signature.String()}}
	default:
		return nil
	}
	return provider.Marshal(map[string]any{"reasoningContent": content})
}
