package fakeprovider

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pawl-run/pawl"
)

// block is the content block of an item, whole.
func (it *item) block(in *inbound, a *answer) object {
	switch it.kind {
	case saying:
		if cited := it.citations(in); len(cited) > 0 {
			return object{"type": "text", "text": it.text, "citations": cited}
		}
		return object{"type": "text", "text": it.text}
	case thinking:
		var given object
		if json.Unmarshal(it.opaque, &given) == nil && (given["type"] == "thinking" || given["type"] == "redacted_thinking") {
			return given
		}
		switch {
		case a.unsigned:
			return object{"type": "thinking", "thinking": it.text}
		case it.text == "":
			return object{"type": "redacted_thinking", "data": in.memory.token(fmt.Sprint(in.n))}
		}
		if in.omits { // what it thought is in the signature alone
			return object{"type": "thinking", "thinking": "", "signature": in.memory.token(it.text)}
		}
		return object{"type": "thinking", "thinking": it.text, "signature": in.memory.sign(it.text)}
	}
	b := object{"type": "tool_use", "id": it.id, "name": it.name, "input": rawOr(it.text)}
	if it.noID {
		delete(b, "id")
	}
	if it.bare {
		delete(b, "input")
	}
	return b
}

// rememberThinking keeps what of a reply has to come back as it was.
func (in *inbound) rememberThinking(blocks []object) {
	var list []node
	for _, block := range blocks {
		b, _ := parse(marshal(block))
		list = append(list, b)
		switch b.at("type").text() {
		case "thinking":
			in.memory.pass(b.at("signature").text(), b.at("thinking").text())
		case "redacted_thinking":
			in.memory.pass(b.at("data").text(), "")
		}
		if in.prefix != nil {
			if proof := b.at("signature").text() + b.at("data").text(); proof != "" {
				in.memory.stand(proof, in.prefix.digest())
			}
			in.prefix.add("assistant", b)
		}
	}
	in.memory.lead(thought(list))
}

func (a *answer) anthropicUsage(output int) object {
	if a.silent {
		return object{}
	}
	u := a.usage
	doc := object{
		"input_tokens":                max(0, u.Input-u.CacheRead-u.CacheWrite),
		"cache_creation_input_tokens": u.CacheWrite,
		"cache_read_input_tokens":     u.CacheRead,
		"cache_creation":              object{"ephemeral_5m_input_tokens": u.CacheWrite - u.CacheLong, "ephemeral_1h_input_tokens": u.CacheLong},
		"output_tokens":               output,
		"output_tokens_details":       object{"thinking_tokens": min(u.Reasoning, output)},
		"service_tier":                "standard",
	}
	return doc
}

func (a *answer) anthropicReason() string {
	return a.because("end_turn", map[pawl.StopReason]string{
		pawl.StopCalls: "tool_use", pawl.StopLength: "max_tokens", pawl.StopRefusal: "refusal", pawl.StopPause: "pause_turn",
	})
}

// anthropicDetails says why the provider stopped a reply.
func (a *answer) anthropicDetails() any {
	if a.stop != pawl.StopRefusal {
		return nil
	}
	doc := object{"type": "refusal", "category": nil, "explanation": nil}
	if category, words, _ := strings.Cut(a.filter, ": "); category != "" {
		doc["category"], doc["explanation"] = category, words
	}
	return doc
}

// citations are those of a text, as the API sends them.
func (it *item) citations(in *inbound) (list []object) {
	for i, c := range it.cites {
		var given object
		if json.Unmarshal(c.Opaque, &given) != nil || given["type"] == nil {
			given = object{"type": "web_search_result_location", "cited_text": c.Quote, "title": c.Title, "url": c.URL, "encrypted_index": in.memory.token(fmt.Sprint(it.text, i))}
		}
		list = append(list, given)
	}
	return list
}

func (a *answer) anthropicMessage(in *inbound, content []object, reason, details any, output int) object {
	return object{
		"id": a.id("msg_01", 0), "type": "message", "role": "assistant", "model": in.Model, "content": content,
		"stop_reason": reason, "stop_sequence": nil, "stop_details": details, "usage": a.anthropicUsage(output),
	}
}

func wholeAnthropic(in *inbound, a *answer) any {
	content := []object{}
	for i := range a.items {
		content = append(content, a.items[i].block(in, a))
	}
	in.rememberThinking(content)
	return a.anthropicMessage(in, content, a.anthropicReason(), a.anthropicDetails(), a.usage.Output)
}

func streamAnthropic(in *inbound, a *answer) []frame {
	var list []frame
	add := func(p part, item int, event string, data object) {
		data["type"] = event
		list = append(list, frame{part: p, item: item, event: event, data: data})
	}
	first := min(1, a.usage.Output) // what it counts before it knows
	if a.early {
		first = a.usage.Output
	}
	add(opening, -1, "message_start", object{"message": a.anthropicMessage(in, []object{}, nil, nil, first)})
	var content []object
	for i := range a.items {
		it := &a.items[i]
		whole := it.block(in, a)
		content = append(content, whole)
		start := object{"index": i}
		delta := func(kind, key, text string) {
			add(piece, i, "content_block_delta", object{"index": i, "delta": object{"type": kind, key: text}})
		}
		var deltas func()
		switch whole["type"] {
		case "text":
			start["content_block"] = object{"type": "text", "text": ""}
			deltas = func() {
				for _, text := range a.pieces(it.text) {
					delta("text_delta", "text", text)
				}
				for _, c := range it.citations(in) {
					add(piece, i, "content_block_delta", object{"index": i, "delta": object{"type": "citations_delta", "citation": c}})
				}
			}
		case "thinking":
			start["content_block"] = object{"type": "thinking", "thinking": "", "signature": ""}
			deltas = func() {
				text, _ := whole["thinking"].(string)
				for _, text := range a.pieces(text) {
					delta("thinking_delta", "thinking", text)
				}
				if signature, ok := whole["signature"].(string); ok {
					delta("signature_delta", "signature", signature)
				}
			}
		case "tool_use", "server_tool_use":
			call := object{"type": whole["type"], "id": it.id, "name": whole["name"], "input": object{}}
			if it.noID {
				delete(call, "id")
			}
			start["content_block"] = call
			deltas = func() {
				if it.bare {
					return
				}
				delta("input_json_delta", "partial_json", "")
				for _, text := range a.pieces(it.text) {
					delta("input_json_delta", "partial_json", text)
				}
			}
		default:
			start["content_block"] = whole
			deltas = func() {}
		}
		add(begin, i, "content_block_start", start)
		if i == 0 {
			add(aside, -1, "ping", object{})
		}
		deltas()
		add(end, i, "content_block_stop", object{"index": i})
	}
	in.rememberThinking(content)
	add(finish, -1, "message_delta", object{
		"delta": object{"stop_reason": a.anthropicReason(), "stop_sequence": nil, "stop_details": a.anthropicDetails()},
		"usage": a.anthropicUsage(a.usage.Output),
	})
	add(closing, -1, "message_stop", object{})
	return list
}

func refuseAnthropic(r *refusal) any {
	doc := object{"type": "error", "error": object{"type": r.kind, "message": r.message}}
	if r.id != "" {
		doc["request_id"] = r.id
	}
	return doc
}

func failAnthropic(r *refusal) []frame {
	return []frame{{part: closing, item: -1, event: "error", data: object{"type": "error", "error": object{"type": r.kind, "message": r.message}}}}
}

var anthropicWords = words{
	pawl.ClassRateLimit:  {429, "rate_limit_error", "", "This request would exceed your organization's rate limit of 50 requests per minute. Please reduce the prompt length or the maximum tokens requested, or try again later."},
	pawl.ClassOverloaded: {529, "overloaded_error", "", "Overloaded"},
	pawl.ClassQuota:      {400, "invalid_request_error", "", "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits."},
	pawl.ClassAuth:       {401, "authentication_error", "", "invalid x-api-key"},
	pawl.ClassNotFound:   {404, "not_found_error", "", ""},
	pawl.ClassRefused:    {400, "invalid_request_error", "", "Output blocked by content filtering policy"},
	pawl.ClassTooLong:    {400, "invalid_request_error", "", "prompt is too long: 208310 tokens > 200000 maximum"},
	pawl.ClassInvalid:    {400, "invalid_request_error", "", "Bad request"},
	pawl.ClassUnknown:    {500, "api_error", "", "Internal server error"},
}
