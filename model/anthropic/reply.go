package anthropic

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/model/internal/provider"
)

// Reply returns the reply that the blocks are.
func (t *turn) Reply() (*pawl.Reply, error) {
	var parts []pawl.Part
	torn := false
	for _, b := range t.blocks {
		switch b.Type {
		case "text":
			parts = append(parts, t.cited(b)...)
		case "tool_use":
			parts = append(parts, *b.call())
			torn = !json.Valid([]byte(b.args())) // an empty text may be truncated, too
		case "thinking":
			parts = append(parts, t.opaque(b.text.String(), b.thinking()))
		case "server_tool_use", "mcp_tool_use":
			if b.open { // cut off within its arguments
				continue
			}
			parts = append(parts, t.opaque("", b.with(map[string]json.RawMessage{"input": provider.Object(json.RawMessage(b.args()))})))
		default:
			// Redacted thinking, markers of a fallback and other blocks that arrive in one
			// piece are not readable, but must be sent back in place.
			parts = append(parts, t.opaque("", b.with(b.later)))
		}
	}
	t.Hosted = t.hosted()
	switch t.stop {
	case "end_turn", "stop_sequence", "tool_use":
		return t.Finish(parts, torn)
	case "max_tokens":
		return t.Cut(parts)
	case "refusal":
		r, err := t.Stop(parts, pawl.StopRefusal)
		r.Filter = t.filter
		return r, err
	case "pause_turn", "compaction":
		return t.Stop(parts, pawl.StopPause)
	case "model_context_window_exceeded":
		return nil, t.Failed(pawl.ClassTooLong, "the reply met the end of the context window")
	}
	return nil, t.Failed(pawl.ClassUnknown, fmt.Sprintf("stop reason %q is unknown here", provider.Clip(t.stop)))
}

// opaque is a block that goes back as it is.
func (t *turn) opaque(text string, block json.RawMessage) pawl.Thinking {
	return pawl.Thinking{Text: text, Opaque: block, Model: t.Model, Account: t.Account}
}

// cited returns a text with its citations.
func (t *turn) cited(b *block) []pawl.Part {
	if b.text.Len() == 0 {
		return nil
	}
	parts := []pawl.Part{pawl.Text{Text: b.text.String()}}
	for _, raw := range b.Citations {
		var c struct {
			Quote    string `json:"cited_text"`
			Title    string `json:"title"`
			Document string `json:"document_title"`
			URL      string `json:"url"`
			Source   string `json:"source"`
		}
		if json.Unmarshal(raw, &c) == nil {
			parts = append(parts, pawl.Citation{Title: cmp.Or(c.Title, c.Document), URL: cmp.Or(c.URL, c.Source), Quote: c.Quote, Opaque: raw, Model: t.Model})
		}
	}
	return parts
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
	switch {
	case b.signature.Len() == 0:
		return nil
	case b.text.String() == b.Thinking && b.signature.String() == b.Signature: // it came in one piece
		return b.first
	}
	return b.with(map[string]json.RawMessage{
		"thinking": provider.Marshal(b.text.String()), "signature": provider.Marshal(b.signature.String()),
	})
}

// with returns the block as it began, with the fields that arrived later.
func (b *block) with(later map[string]json.RawMessage) json.RawMessage {
	if len(later) == 0 {
		return b.first
	}
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
