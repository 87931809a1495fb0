package google

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/model/internal/provider"
)

// A turn builds one reply from the events of its stream. The end of the stream
// is orderly after a finish reason or a blocked prompt. Some models send a
// finish reason in every event, so parts and usage may follow one; the last
// reason counts.
type turn struct {
	provider.Turn
	pieces   []*piece
	stopping bool              // a finish reason or a blocked prompt was received
	stop     string            // the finish reason; empty: the prompt was blocked
	why      string            // the provider's explanation
	queries  []string          // of web searches
	found    []json.RawMessage // by them
}

// A piece is a part of the reply being received.
type piece struct {
	kind string // "text", "thought", "functionCall" or "part"
	text strings.Builder
	call call
	rest map[string]json.RawMessage // the part's other fields
}

type call struct {
	ID           string          `json:"id"`
	Name         string          `json:"name"`
	Args         json.RawMessage `json:"args"`
	WillContinue bool            `json:"willContinue"`
}

// An event is the content of a chunk.
type event struct {
	Candidates     []candidate `json:"candidates"`
	PromptFeedback struct {
		BlockReason string `json:"blockReason"`
	} `json:"promptFeedback"`
	Usage *usage `json:"usageMetadata"`
}

type candidate struct {
	Index   int `json:"index"`
	Content struct {
		Parts []json.RawMessage `json:"parts"`
	} `json:"content"`
	Grounding struct {
		Queries []string          `json:"webSearchQueries"`
		Chunks  []json.RawMessage `json:"groundingChunks"`
	} `json:"groundingMetadata"`
	FinishReason  string `json:"finishReason"`
	FinishMessage string `json:"finishMessage"`
}

type usage struct {
	Prompt   int `json:"promptTokenCount"` // including cached tokens
	Cached   int `json:"cachedContentTokenCount"`
	ToolUse  int `json:"toolUsePromptTokenCount"`
	Answer   int `json:"candidatesTokenCount"` // excluding thoughts
	Thoughts int `json:"thoughtsTokenCount"`
}

func (t *turn) Ends(err error) bool { return t.stopping && errors.Is(err, io.EOF) }

func (t *turn) Event(data []byte) ([]pawl.Chunk, error) {
	var ev event
	if err := t.Decode(data, &ev, isError); err != nil {
		return nil, err
	}
	if u := ev.Usage; u != nil {
		// Each event has the totals, so they are assigned and not added.
		t.Told = true
		t.Usage = pawl.Usage{
			Input: u.Prompt + u.ToolUse, CacheRead: u.Cached,
			Output: u.Answer + u.Thoughts, Reasoning: u.Thoughts,
		}
	}
	if ev.PromptFeedback.BlockReason != "" && len(ev.Candidates) == 0 {
		t.stopping = true
	}
	var chunks []pawl.Chunk
	for _, c := range ev.Candidates {
		if c.Index != 0 {
			continue
		}
		for _, raw := range c.Content.Parts {
			chunk, err := t.grow(raw)
			if err != nil {
				return chunks, err
			}
			if chunk != (pawl.Chunk{}) {
				chunks = append(chunks, chunk)
			}
		}
		if len(c.Grounding.Queries) > 0 { // each event that has them has all
			t.queries, t.found = c.Grounding.Queries, c.Grounding.Chunks
		}
		if c.FinishReason != "" && c.FinishReason != "FINISH_REASON_UNSPECIFIED" {
			t.stop, t.why, t.stopping = c.FinishReason, c.FinishMessage, true
		}
	}
	return chunks, nil
}

// grow adds a part. Consecutive parts of one kind form one piece, unless one of
// them has fields other than its text, which belong to it alone.
func (t *turn) grow(raw json.RawMessage) (pawl.Chunk, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return pawl.Chunk{}, t.Failed(pawl.ClassUnknown, "a part is unknown here: "+provider.Clip(string(raw)))
	}
	if len(fields) == 0 {
		return pawl.Chunk{}, nil
	}
	p := &piece{kind: "part", rest: fields}
	if fields["functionCall"] != nil {
		if err := json.Unmarshal(fields["functionCall"], &p.call); err != nil || p.call.WillContinue {
			return pawl.Chunk{}, t.Failed(pawl.ClassUnknown, "a call is unknown here: "+provider.Clip(string(raw)))
		}
		if p.call.Name == "" {
			return pawl.Chunk{}, t.Broken("a call without a name")
		}
		p.kind = "functionCall"
		delete(fields, "functionCall")
		t.pieces = append(t.pieces, p)
		return pawl.Chunk{Call: p.call.Name, Ready: p.made()}, nil
	}
	if fields["text"] == nil && fields["thoughtSignature"] != nil && len(fields) == 1 {
		fields["text"] = json.RawMessage(`""`) // an empty text is omitted on the wire
	}
	var text string
	if json.Unmarshal(fields["text"], &text) != nil {
		t.pieces = append(t.pieces, p)
		return pawl.Chunk{}, nil
	}
	p.kind = "text"
	if string(fields["thought"]) == "true" {
		p.kind = "thought"
	}
	delete(fields, "text")
	delete(fields, "thought")
	if n := len(t.pieces); n > 0 && len(fields) == 0 && t.pieces[n-1].kind == p.kind && len(t.pieces[n-1].rest) == 0 {
		p = t.pieces[n-1]
	} else if text != "" || len(fields) > 0 {
		t.pieces = append(t.pieces, p)
	}
	p.text.WriteString(text)
	if p.kind == "thought" {
		return pawl.Chunk{Thinking: text}, nil
	}
	return pawl.Chunk{Text: text}, nil
}

func (t *turn) Reply() (*pawl.Reply, error) {
	t.Ended = true
	var parts []pawl.Part
	for _, p := range t.pieces {
		parts = append(parts, p.parts(t.Model)...)
	}
	t.hosted()
	switch t.stop {
	case "STOP":
		return t.Finish(parts, false)
	case "MAX_TOKENS":
		return t.Cut(parts)
	case "", "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE",
		"IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION":
		return t.Stop(parts, pawl.StopRefusal)
	case "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "MALFORMED_RESPONSE":
		return nil, t.Failed(pawl.ClassEmpty, "the reply cannot be used: "+provider.Clip(cmp.Or(t.why, t.stop)))
	case "MISSING_THOUGHT_SIGNATURE":
		return nil, t.Failed(pawl.ClassInvalid, "the provider misses a thought signature in the request")
	case "OTHER", "IMAGE_OTHER", "NO_IMAGE":
		return nil, t.Failed(pawl.ClassUnknown, "the provider gave up on the reply: "+provider.Clip(cmp.Or(t.why, t.stop)))
	}
	return nil, t.Failed(pawl.ClassUnknown, fmt.Sprintf("finish reason %q is unknown here", provider.Clip(t.stop)))
}

// hosted adds what the provider ran: code, and the web searches as one call, because the
// API does not say which of them found what.
func (t *turn) hosted() {
	for _, p := range t.pieces {
		if code := p.rest["executableCode"]; code != nil {
			t.Hosted = append(t.Hosted, pawl.HostedCall{Call: pawl.Call{Tool: provider.CodeExecution, Args: code}})
		}
		var ran struct{ Outcome, Output string }
		if json.Unmarshal(p.rest["codeExecutionResult"], &ran) != nil || len(t.Hosted) == 0 {
			continue
		}
		h := &t.Hosted[len(t.Hosted)-1]
		if h.Result = provider.Marshal(ran.Output); ran.Outcome != "OUTCOME_OK" {
			h.Result, h.Error = nil, cmp.Or(ran.Output, ran.Outcome)
		}
	}
	if len(t.queries) == 0 {
		return
	}
	// Models before Gemini 3 are charged for a prompt with searches, later ones for each search.
	if t.Usage.Searches = 1; !beforeThree.MatchString(t.Model[strings.LastIndexByte(t.Model, '/')+1:]) {
		t.Usage.Searches = len(t.queries)
	}
	t.Hosted = append(t.Hosted, pawl.HostedCall{
		Call:   pawl.Call{Tool: provider.WebSearch, Args: provider.Marshal(map[string]any{"queries": t.queries})},
		Result: provider.Readable(provider.Marshal(t.found)),
	})
}

// made returns the piece as a call.
func (p *piece) made() *pawl.Call {
	return &pawl.Call{Ref: p.call.ID, Tool: p.call.Name, Args: provider.Args(string(p.call.Args))}
}

// parts returns the piece in the form of the log; see the package comment.
func (p *piece) parts(model string) []pawl.Part {
	opaque := func(key, text string) pawl.Thinking {
		return pawl.Thinking{Text: text, Opaque: provider.Marshal(map[string]any{key: p.rest}), Model: model}
	}
	var list []pawl.Part
	text := p.text.String()
	switch {
	case p.kind == "functionCall":
		if len(p.rest) > 0 {
			list = append(list, opaque(p.kind, ""))
		}
		return append(list, *p.made())
	case p.kind == "thought":
		p.rest["thought"], p.rest["text"] = json.RawMessage("true"), provider.Marshal(text)
		return append(list, opaque("part", text))
	case p.kind == "part":
		return append(list, opaque("part", ""))
	case len(p.rest) == 0:
		return append(list, pawl.Text{Text: text})
	case strings.TrimSpace(text) == "": // the log keeps no empty text
		p.rest["text"] = provider.Marshal(text)
		return append(list, opaque("part", ""))
	}
	return append(list, opaque("text", ""), pawl.Text{Text: text})
}
