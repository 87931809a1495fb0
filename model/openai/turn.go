package openai

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/model/internal/provider"
)

// state is the state of a stream:
//
//	writing   a delta                  → writing
//	writing   a finish reason          → stopping
//	stopping  usage, or an empty delta → stopping
//	stopping  [DONE]                   → finished
//
// An error object ends it in any state. An orderly end of the stream counts as
// [DONE] in state stopping; before, the stream is truncated.
type state int

const (
	writing state = iota
	stopping
	finished
)

// A turn builds one reply from the events of its stream.
type turn struct {
	provider.Turn
	state  state
	parts  []*part
	stop   string
	refuse strings.Builder
}

// A part is a part of the reply being received: text, thinking or a call.
type part struct {
	kind      string // "text", "call", or the key of the thinking
	index     *int
	id, name  string
	text      strings.Builder
	announced bool
	ready     bool // it was handed out complete
}

// An event is the content of a chunk.
type event struct {
	Choices []struct {
		Index        int     `json:"index"`
		Delta        delta   `json:"delta"`
		FinishReason *string `json:"finish_reason"`
	} `json:"choices"`
	Usage *usage `json:"usage"`
}

type delta struct {
	Content          string     `json:"content"`
	Refusal          string     `json:"refusal"`
	Reasoning        string     `json:"reasoning"`
	ReasoningContent string     `json:"reasoning_content"`
	Calls            []fragment `json:"tool_calls"`
}

func (d delta) says() bool {
	return d.Content != "" || d.Refusal != "" || d.Reasoning != "" || d.ReasoningContent != "" || len(d.Calls) > 0
}

type fragment struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	PromptHit  int `json:"prompt_cache_hit_tokens"` // some servers' name for cached_tokens
	PromptHas  struct {
		Cached  int `json:"cached_tokens"`
		Written int `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionHas struct {
		Reasoning int `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

func (t *turn) Event(data []byte) ([]pawl.Chunk, error) {
	if string(data) == "[DONE]" {
		if t.state != stopping {
			return nil, t.Failed(pawl.ClassTruncated, "the stream ended without a finish reason")
		}
		t.state = finished
		return nil, nil
	}
	var ev event
	if err := t.Decode(data, &ev, isError); err != nil {
		return nil, err
	}
	if u := ev.Usage; u != nil {
		// Some servers send the totals in every chunk, so they are assigned and
		// not added.
		t.Told = true
		t.Usage = pawl.Usage{
			Input: u.Prompt, Output: u.Completion,
			CacheRead: max(u.PromptHas.Cached, u.PromptHit), CacheWrite: u.PromptHas.Written,
			Reasoning: u.CompletionHas.Reasoning,
		}
	}
	var chunks []pawl.Chunk
	for _, c := range ev.Choices {
		if c.Index != 0 {
			continue
		}
		if t.state == stopping && c.Delta.says() {
			return nil, t.Failed(pawl.ClassUnknown, "the reply went on after its finish reason")
		}
		chunks = append(chunks, t.grow(c.Delta)...)
		if c.FinishReason != nil && *c.FinishReason != "" {
			t.stop, t.state, t.Ended = *c.FinishReason, stopping, true
			chunks = append(chunks, t.ready(t.parts)...)
		}
	}
	return chunks, nil
}

func (t *turn) grow(d delta) []pawl.Chunk {
	var chunks []pawl.Chunk
	for _, th := range []struct{ key, text string }{{"reasoning_content", d.ReasoningContent}, {"reasoning", d.Reasoning}} {
		// Servers that send both keys send the same text twice.
		if th.text != "" && (th.key == "reasoning_content" || d.ReasoningContent == "") {
			t.last(th.key).text.WriteString(th.text)
			chunks = append(chunks, pawl.Chunk{Thinking: th.text})
		}
	}
	if d.Content != "" {
		t.last("text").text.WriteString(d.Content)
		chunks = append(chunks, pawl.Chunk{Text: d.Content})
	}
	if d.Refusal != "" {
		t.refuse.WriteString(d.Refusal)
		chunks = append(chunks, pawl.Chunk{Text: d.Refusal})
	}
	for _, f := range d.Calls {
		before := len(t.parts)
		p := t.call(f)
		if len(t.parts) > before { // the calls before it are complete
			chunks = append(chunks, t.ready(t.parts[:before])...)
		}
		if p.id == "" {
			p.id = f.ID
		}
		if p.name == "" {
			p.name = f.Function.Name
		}
		p.text.WriteString(f.Function.Arguments)
		if !p.announced && p.name != "" {
			p.announced = true
			chunks = append(chunks, pawl.Chunk{Call: p.name})
		}
	}
	return chunks
}

// ready returns the calls that are complete and were not handed out.
func (t *turn) ready(parts []*part) (chunks []pawl.Chunk) {
	for _, p := range parts {
		if p.kind == "call" && !p.ready {
			p.ready = true
			chunks = append(chunks, pawl.Chunk{Ready: p.call()})
		}
	}
	return chunks
}

func (p *part) call() *pawl.Call {
	return &pawl.Call{Ref: p.id, Tool: p.name, Args: provider.Args(p.text.String())}
}

// last returns the part being written if it has the kind, else a new one.
func (t *turn) last(kind string) *part {
	if n := len(t.parts); n > 0 && t.parts[n-1].kind == kind {
		return t.parts[n-1]
	}
	p := &part{kind: kind}
	t.parts = append(t.parts, p)
	return p
}

// call returns the call of a fragment: by index, otherwise by id, otherwise the
// last. Some servers number every call 0 or not at all, so a new id also starts
// a new call, and so does another name without an id, and a name with arguments
// after complete arguments.
func (t *turn) call(f fragment) *part {
	var found *part
	for _, p := range t.parts {
		switch {
		case p.kind != "call":
		case f.Index != nil && p.index != nil:
			if *f.Index == *p.index {
				found = p
			}
		case f.Index == nil && f.ID != "":
			if f.ID == p.id {
				found = p
			}
		default:
			found = p
		}
	}
	if found != nil {
		other := f.ID != "" && found.id != "" && f.ID != found.id
		renamed := f.ID == "" && f.Function.Name != "" && found.name != "" && f.Function.Name != found.name
		again := f.Function.Name != "" && f.Function.Arguments != "" && found.text.Len() > 0 && json.Valid([]byte(found.text.String()))
		if !other && !renamed && !again {
			return found
		}
	}
	p := &part{kind: "call", index: f.Index}
	t.parts = append(t.parts, p)
	return p
}

func (t *turn) Reply() (*pawl.Reply, error) {
	var parts []pawl.Part
	torn := false
	for _, p := range t.parts {
		text := p.text.String()
		switch p.kind {
		case "text":
			parts = append(parts, pawl.Text{Text: text})
		case "call":
			if p.name == "" {
				return nil, t.Broken("a call without a name")
			}
			torn = !json.Valid([]byte(text)) // an empty text may be truncated, too
			parts = append(parts, *p.call())
		default:
			opaque := provider.Marshal(map[string]string{p.kind: text})
			parts = append(parts, pawl.Thinking{Text: text, Opaque: opaque, Model: t.Model})
		}
	}
	if t.refuse.Len() > 0 {
		return t.Stop(append(parts, pawl.Text{Text: t.refuse.String()}), pawl.StopRefusal)
	}
	switch t.stop {
	case "stop", "tool_calls", "function_call":
		return t.Finish(parts, torn)
	case "length", "model_length":
		return t.Cut(parts)
	case "content_filter":
		return t.Stop(parts, pawl.StopRefusal)
	case "insufficient_system_resource", "error":
		return nil, t.Failed(pawl.ClassOverloaded, "the provider gave up on the reply: "+t.stop)
	}
	return nil, t.Failed(pawl.ClassUnknown, fmt.Sprintf("finish reason %q is unknown here", provider.Clip(t.stop)))
}

func (t *turn) Ends(err error) bool { return t.state == finished || err != nil && t.state == stopping }
