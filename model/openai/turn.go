package openai

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/model/internal/provider"
)

// A turn builds one reply from the events of a stream of Chat Completions. The reply ends with
// [DONE], which cannot be mistaken: some servers send a finish reason with every event. Without
// [DONE] a reply with a finish reason ends with its stream. An error object ends it at any time.
type turn struct {
	provider.Turn
	tools  []pawl.ToolInfo
	parts  []*part
	stop   string // the last finish reason
	early  bool   // the reply went on after one
	done   bool
	refuse strings.Builder
	cited  []pawl.Part
}

// A part is a part of the reply being received: text, thinking or a call.
type part struct {
	kind      string // "text", "call", "thinking", or the key under which the thinking goes back
	index     *int
	id, name  string
	text      strings.Builder
	details   []json.RawMessage // of thinking, in pieces
	extra     map[string]json.RawMessage
	announced bool

	depth           int // of the arguments so far
	quoted, escaped bool
	whole           bool // the arguments are complete
}

// An event is the content of an event.
type event struct {
	Choices []struct {
		Index        int             `json:"index"`
		Delta        delta           `json:"delta"`
		Message      *delta          `json:"message"` // in place of a delta
		FinishReason json.RawMessage `json:"finish_reason"`
		Usage        *usage          `json:"usage"`
	} `json:"choices"`
	Usage *usage `json:"usage"`
	Groq  struct {
		Usage *usage `json:"usage"`
	} `json:"x_groq"`
}

// A usage has the names of Chat Completions, and those that gateways pass on from other APIs.
type usage struct {
	Prompt     figure `json:"prompt_tokens"`
	Completion figure `json:"completion_tokens"`
	Total      figure `json:"total_tokens"`
	Input      figure `json:"input_tokens"`
	Output     figure `json:"output_tokens"`
	PromptHit  figure `json:"prompt_cache_hit_tokens"` // some servers' name for cached_tokens
	PromptHas  struct {
		Cached  figure `json:"cached_tokens"`
		Written figure `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionHas struct {
		Reasoning figure `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

func (u *usage) counts() counts {
	c := counts{
		input: u.Prompt, output: u.Completion, total: u.Total, reasoning: u.CompletionHas.Reasoning,
		read: max(u.PromptHas.Cached.n, u.PromptHit.n), written: u.PromptHas.Written.n,
	}
	if !c.input.told {
		c.input = u.Input
	}
	if !c.output.told {
		c.output = u.Output
	}
	return c
}

func (t *turn) Event(data []byte) ([]pawl.Chunk, error) {
	if string(data) == "[DONE]" {
		if t.stop == "" {
			return nil, t.Failed(pawl.ClassTruncated, "the stream ended without a finish reason")
		}
		t.done = true
		return nil, nil
	}
	var ev event
	if err := t.Decode(data, &ev, isError); err != nil {
		return nil, err
	}
	for _, u := range []*usage{ev.Usage, ev.Groq.Usage} {
		if u != nil {
			u.counts().book(&t.Turn, t.bytes())
		}
	}
	var chunks []pawl.Chunk
	for _, c := range ev.Choices {
		if c.Index != 0 {
			continue
		}
		if c.Message != nil {
			c.Delta = *c.Message
		}
		grown := t.grow(c.Delta)
		t.early = t.early || t.stop != "" && len(grown) > 0
		chunks = append(chunks, grown...)
		if c.Usage != nil {
			c.Usage.counts().book(&t.Turn, t.bytes())
		}
		if reason := plain(c.FinishReason); reason != "" && reason != "null" {
			t.stop = reason
		}
	}
	return chunks, nil
}

// bytes returns how much was received.
func (t *turn) bytes() int {
	n := t.refuse.Len()
	for _, p := range t.parts {
		n += len(p.name) + p.text.Len()
	}
	return n
}

// grow adds what a delta has.
func (t *turn) grow(d delta) (chunks []pawl.Chunk) {
	think := func(kind, text string) {
		if text != "" {
			t.last(kind).text.WriteString(text)
			chunks = append(chunks, pawl.Chunk{Thinking: text})
		}
	}
	// Servers that send both keys send the same text twice, and details repeat it.
	switch {
	case d.ReasoningContent.all() != "":
		think("reasoning_content", d.ReasoningContent.all())
	case d.Reasoning.all() != "":
		think("reasoning", d.Reasoning.all())
	case len(d.Details) > 0:
		think("thinking", detailText(d.Details))
	}
	if len(d.Details) > 0 || d.Extra != nil {
		p := t.thinking()
		p.details = append(p.details, d.Details...)
		if d.Extra != nil {
			p.extra = map[string]json.RawMessage{"extra_content": d.Extra}
		}
	}
	think("thinking", d.Content.thinking)
	if text := d.Content.text; text != "" {
		t.last("text").text.WriteString(text)
		chunks = append(chunks, pawl.Chunk{Text: text})
	}
	if no := d.Refusal.text + d.Content.refusal; no != "" {
		t.refuse.WriteString(no)
		chunks = append(chunks, pawl.Chunk{Text: no})
	}
	for _, raw := range d.Annotations {
		t.cited = append(t.cited, nestedCitation(raw, t.Model))
	}
	if d.Function != nil {
		d.Calls = append(d.Calls, fragment{Function: *d.Function})
	}
	for _, f := range d.Calls {
		p := t.call(f)
		if !p.announced && p.name != "" && (p.text.Len() > 0 || t.offers(p.name)) {
			p.announced = true
			chunks = append(chunks, pawl.Chunk{Call: p.name})
		}
	}
	return chunks
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

// thinking returns the thinking being written, or a new one.
func (t *turn) thinking() *part {
	if n := len(t.parts); n > 0 && t.parts[n-1].kind != "text" && t.parts[n-1].kind != "call" {
		return t.parts[n-1]
	}
	return t.last("thinking")
}

func (p *part) call() *pawl.Call {
	return &pawl.Call{Ref: p.id, Tool: p.name, Args: provider.Args(p.text.String())}
}

// write adds to the arguments of a call. It follows their structure, because to check all of them at each of
// thousands of pieces takes minutes.
func (p *part) write(args string) {
	p.text.WriteString(args)
	for _, c := range []byte(args) {
		switch {
		case p.escaped:
			p.escaped = false
		case p.quoted:
			p.escaped, p.quoted = c == '\\', c != '"'
		case c == '"':
			p.quoted = true
		case c == '{' || c == '[':
			p.depth, p.whole = p.depth+1, false
		case c == '}' || c == ']':
			p.depth, p.whole = p.depth-1, p.depth == 1
		}
	}
}

func (t *turn) Reply() (*pawl.Reply, error) {
	t.Ended = true
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
			if p.extra != nil {
				parts = append(parts, pawl.Thinking{Opaque: provider.Marshal(map[string]any{"call": p.extra}), Model: t.Model, Account: t.Account})
			}
			parts = append(parts, *p.call())
		default:
			parts = append(parts, pawl.Thinking{Text: text, Opaque: p.opaque(), Model: t.Model, Account: t.Account})
		}
	}
	parts = t.cite(parts)
	if t.refuse.Len() > 0 {
		return t.Stop(append(parts, pawl.Text{Text: t.refuse.String()}), pawl.StopRefusal)
	}
	switch strings.ToLower(t.stop) {
	case "stop", "end_turn", "stop_sequence", "eos", "eos_token", "end", "complete", "completed", "done", "finish", "finished", "tool_calls", "tool_call", "tool_use", "function_call":
		return t.Finish(parts, torn)
	case "length", "model_length", "max_tokens", "max_output_tokens", "max_new_tokens", "token_limit", "length_limit":
		return t.Cut(parts)
	case "content_filter", "safety", "refusal", "recitation", "prohibited_content", "blocklist", "spii", "sensitive":
		return t.Filtered(parts, t.stop)
	case "malformed_function_call", "unexpected_tool_call":
		return nil, t.Failed(pawl.ClassEmpty, "the provider could not read the model's call: "+t.stop)
	case "insufficient_system_resource", "error", "network_error", "engine_overloaded", "abort", "cancelled", "canceled":
		return nil, t.Failed(pawl.ClassOverloaded, "the provider gave up on the reply: "+t.stop)
	}
	return nil, t.Failed(pawl.ClassUnknown, fmt.Sprintf("finish reason %q is unknown here", provider.Clip(t.stop)))
}

// opaque returns what goes back of thinking; nil: nothing.
func (p *part) opaque() json.RawMessage {
	back := map[string]any{}
	for name, value := range p.extra {
		back[name] = value
	}
	if p.kind != "thinking" {
		back[p.kind] = p.text.String()
	}
	if len(p.details) > 0 {
		back["reasoning_details"] = merge(p.details)
	}
	if len(back) == 0 {
		return nil
	}
	return provider.Marshal(back)
}

// cite puts the sources behind the last text.
func (t *turn) cite(parts []pawl.Part) []pawl.Part {
	for i, p := range slices.Backward(parts) {
		if _, ok := p.(pawl.Text); ok {
			return slices.Insert(parts, i+1, t.cited...)
		}
	}
	return parts
}

// Ends implements provider.Reader. Of a server that sends its reason too early, only the usage
// tells the end from a broken stream.
func (t *turn) Ends(err error) bool {
	return t.done || err != nil && t.stop != "" && (!t.early || t.Told)
}
