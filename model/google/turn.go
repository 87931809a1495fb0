package google

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/model/internal/provider"
)

// A turn builds one reply from the events of one response, or of several that go on with each
// other. The end of a response is orderly after a finish reason, a blocked prompt, or a token to
// go on with. Some models send a finish reason in every event, so parts and usage may follow one;
// the last reason counts.
type turn struct {
	provider.Turn
	once     bool // all searches of a request cost what one costs
	pieces   []*piece
	sources  []sources // of each response
	stopping bool      // a finish reason or a blocked prompt was received
	stop     string    // the finish reason; empty: none
	blocked  string    // why the prompt was blocked; empty: it was not
	why      string    // the provider's explanation

	again func(token string, limit int) ([]byte, error) // makes the request for the rest
	token string                                        // to go on with
	from  string                                        // that this response goes on from
	first pawl.Usage                                    // of the first response
	all   pawl.Usage                                    // of those before this one
	now   pawl.Usage                                    // of this one
}

// An event is the content of a chunk. Only what a reply is made of is read, and not the ratings,
// log probabilities and versions.
type event struct {
	Candidates     []candidate `json:"candidates"`
	PromptFeedback struct {
		BlockReason string `json:"blockReason"`
	} `json:"promptFeedback"`
	Usage *usage `json:"usageMetadata"`
}

// usage has the counts. The others are their total and what they consist of.
type usage struct {
	Prompt   int `json:"promptTokenCount"` // including cached tokens
	Cached   int `json:"cachedContentTokenCount"`
	ToolUse  int `json:"toolUsePromptTokenCount"`
	Answer   int `json:"candidatesTokenCount"` // excluding thoughts
	Thoughts int `json:"thoughtsTokenCount"`
}

func (t *turn) Ends(err error) bool {
	return (t.stopping || t.token != "") && errors.Is(err, io.EOF)
}

func (t *turn) Event(data []byte) ([]pawl.Chunk, error) {
	var ev event
	if err := t.Decode(data, &ev, isError); err != nil {
		return nil, err
	}
	if u := ev.Usage; u != nil {
		// Each event has the totals of its response, so they are assigned and not added.
		t.Told = true
		t.now = pawl.Usage{
			Input: u.Prompt + u.ToolUse, CacheRead: u.Cached,
			Output: u.Answer + u.Thoughts, Reasoning: u.Thoughts,
		}
		t.Usage = t.all.Add(t.now)
	}
	if why := ev.PromptFeedback.BlockReason; why != "" && len(ev.Candidates) == 0 {
		t.stopping, t.blocked = true, why
	}
	var chunks []pawl.Chunk
	for i := range ev.Candidates {
		c := &ev.Candidates[i]
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
		if len(t.sources) == 0 {
			t.sources = append(t.sources, sources{})
		}
		t.sources[len(t.sources)-1].add(c)
		if c.FinishReason != "" && c.FinishReason != "FINISH_REASON_UNSPECIFIED" {
			t.stop, t.why, t.stopping = c.FinishReason, c.FinishMessage, true
		}
		if c.Token != "" {
			t.token = c.Token
		} else if t.stop != "" && t.stop != "CONTINUATION" {
			t.token = ""
		}
	}
	return chunks, nil
}

// Continue implements provider.Continuer: it returns the request for the rest of a reply that the
// provider stopped at the most tokens of one response. That is the same request with the token.
// It reads the prompt and the reply so far again, which is billed: the request is only made if
// that still fits into the tokens that the reply may spend.
func (t *turn) Continue() ([]byte, error) {
	if t.stop != "" && t.stop != "CONTINUATION" || t.blocked != "" || t.token == "" || t.token == t.from || !t.Told {
		return nil, nil
	}
	if t.from == "" {
		t.first = t.now
	}
	again := t.Usage.Input - t.first.Input + t.now.Input + t.now.Output
	if t.Usage.Output+again >= t.Limit {
		return nil, nil
	}
	t.all, t.now = t.Usage, pawl.Usage{}
	t.from, t.token, t.stop, t.stopping = t.token, "", "", false
	t.sources = append(t.sources, sources{from: len(t.pieces)})
	return t.again(t.from, t.Limit-again)
}

func (t *turn) Reply() (*pawl.Reply, error) {
	t.Ended = true
	cited := t.citations()
	var parts []pawl.Part
	for i, p := range t.pieces {
		parts = append(append(parts, p.parts(t.Model, t.Account)...), cited[i]...)
	}
	t.hosted()
	if t.blocked != "" {
		return t.Filtered(parts, t.blocked)
	}
	switch t.stop {
	case "STOP":
		return t.Finish(parts, false)
	case "MAX_TOKENS", "CONTINUATION":
		return t.Cut(parts)
	case "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE",
		"IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION":
		return t.Filtered(parts, t.stop)
	case "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "MALFORMED_RESPONSE":
		return nil, t.Failed(pawl.ClassEmpty, "the reply cannot be used: "+provider.Clip(cmp.Or(t.why, t.stop)))
	case "MISSING_THOUGHT_SIGNATURE":
		return nil, t.Failed(pawl.ClassInvalid, "the provider misses a thought signature in the request")
	case "OTHER", "IMAGE_OTHER", "NO_IMAGE":
		return nil, t.Failed(pawl.ClassUnknown, "the provider gave up on the reply: "+provider.Clip(cmp.Or(t.why, t.stop)))
	case "":
		t.Ended = false
		return nil, t.Failed(pawl.ClassTruncated, "the stream ended before the reply did")
	}
	return nil, t.Failed(pawl.ClassUnknown, fmt.Sprintf("finish reason %q is unknown here", provider.Clip(t.stop)))
}
