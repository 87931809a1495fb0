package fakeprovider

import (
	"strings"

	"github.com/pawl-run/pawl"
)

func (a *answer) chatReason() string {
	words := map[pawl.StopReason]string{pawl.StopCalls: "tool_calls", pawl.StopLength: "length"}
	if a.count(saying) == 0 {
		words[pawl.StopRefusal] = "content_filter"
	}
	return a.because("stop", words)
}

func (a *answer) chatUsage() any {
	if a.silent {
		return nil
	}
	u := a.usage
	in := object{"cached_tokens": u.CacheRead, "audio_tokens": 0}
	if u.CacheWrite > 0 {
		in["cache_write_tokens"] = u.CacheWrite
	}
	return object{
		"prompt_tokens": u.Input, "completion_tokens": u.Output, "total_tokens": u.Input + u.Output,
		"prompt_tokens_details":     in,
		"completion_tokens_details": object{"reasoning_tokens": u.Reasoning, "audio_tokens": 0, "accepted_prediction_tokens": 0, "rejected_prediction_tokens": 0},
	}
}

func (it *item) toolCall() object {
	fn := object{"name": it.name, "arguments": it.text}
	if it.bare {
		delete(fn, "arguments")
	}
	call := object{"id": it.id, "type": "function", "function": fn}
	if it.noID {
		delete(call, "id")
	}
	return call
}

// chatSources are the sources of a text, with their fields within.
func (it *item) chatSources() (list []any) {
	for _, c := range it.cites {
		list = append(list, object{"type": "url_citation", "url_citation": object{"url": c.URL, "title": c.Title, "start_index": 0, "end_index": len(it.text)}})
	}
	return list
}

// said is the key that text goes under: a refusal has its own.
func (a *answer) said() string {
	if a.stop == pawl.StopRefusal {
		return "refusal"
	}
	return "content"
}

// rememberReasoning keeps what calls have to come back with.
func (in *inbound) rememberReasoning(a *answer) {
	var calls fingerprint
	var text strings.Builder
	for _, it := range a.items {
		switch it.kind {
		case thinking:
			text.WriteString(it.text)
		case calling:
			calls.add(it.name, it.text)
		}
	}
	in.memory.lead("chat "+calls.String(), text.String())
}

func wholeChat(in *inbound, a *answer) any {
	in.rememberReasoning(a)
	msg := object{"role": "assistant", "content": nil, "refusal": nil, "annotations": []any{}}
	var calls []any
	sources := []any{}
	text, thought := "", ""
	for i := range a.items {
		it := &a.items[i]
		switch it.kind {
		case saying:
			text += it.text
			msg[a.said()] = text
			sources = append(sources, it.chatSources()...)
			msg["annotations"] = sources
		case thinking:
			thought += it.text
			msg["reasoning_content"] = thought
		case calling:
			calls = append(calls, it.toolCall())
			msg["tool_calls"] = calls
		}
	}
	doc := in.chatDoc(a, "chat.completion", []any{object{"index": 0, "message": msg, "logprobs": nil, "finish_reason": a.chatReason()}})
	doc["usage"] = a.chatUsage()
	return doc
}

func (in *inbound) chatDoc(a *answer, kind string, choices []any) object {
	return object{
		"id": a.id("chatcmpl-", 0), "object": kind, "created": in.At.Unix(), "model": in.Model,
		"service_tier": "default", "system_fingerprint": "fp_fake", "choices": choices,
	}
}

func streamChat(in *inbound, a *answer) []frame {
	in.rememberReasoning(a)
	var list []frame
	add := func(p part, item int, choices ...any) {
		doc := in.chatDoc(a, "chat.completion.chunk", append([]any{}, choices...))
		if in.usage {
			doc["usage"] = nil
		}
		if len(choices) == 0 || a.early {
			doc["usage"] = a.chatUsage()
		}
		list = append(list, frame{part: p, item: item, data: doc})
	}
	delta := func(p part, item int, d object, reason any) {
		add(p, item, object{"index": 0, "delta": d, "logprobs": nil, "finish_reason": reason})
	}
	delta(opening, -1, object{"role": "assistant", "content": "", "refusal": nil}, nil)
	calls := 0
	for i := range a.items {
		it := &a.items[i]
		switch it.kind {
		case saying, thinking:
			key := a.said()
			if it.kind == thinking {
				key = "reasoning_content"
			}
			for _, text := range a.pieces(it.text) {
				delta(piece, i, object{key: text}, nil)
			}
			if sources := it.chatSources(); len(sources) > 0 {
				delta(end, i, object{"annotations": sources}, nil)
			}
		case calling:
			first := it.toolCall()
			first["index"] = calls
			if !it.bare {
				first["function"] = object{"name": it.name, "arguments": ""}
			}
			delta(begin, i, object{"tool_calls": []any{first}}, nil)
			for _, text := range a.pieces(it.text) {
				if !it.bare {
					delta(piece, i, object{"tool_calls": []any{object{"index": calls, "function": object{"arguments": text}}}}, nil)
				}
			}
			calls++
		}
	}
	delta(finish, -1, object{}, a.chatReason())
	if in.usage && !a.silent {
		add(aside, -1)
	}
	return append(list, frame{part: closing, item: -1, data: "[DONE]"})
}

func refuseOpenAI(r *refusal) any {
	e := object{"message": r.message, "type": r.kind, "param": nil, "code": nil}
	if r.param != "" {
		e["param"] = r.param
	}
	if r.code != "" {
		e["code"] = r.code
	}
	return object{"error": e}
}

func failChat(r *refusal) []frame {
	return []frame{{part: closing, item: -1, data: refuseOpenAI(r)}}
}

var openAIWords = words{
	pawl.ClassRateLimit:  {429, "requests", "rate_limit_exceeded", "Rate limit reached for requests in organization org-fake on requests per min (RPM): Limit 3, Used 3, Requested 1."},
	pawl.ClassOverloaded: {503, "server_error", "", "The server is currently overloaded with other requests. Sorry about that! You can retry your request, or contact us if the error persists."},
	pawl.ClassQuota:      {429, "insufficient_quota", "insufficient_quota", "You exceeded your current quota, please check your plan and billing details."},
	pawl.ClassAuth:       {401, "invalid_request_error", "invalid_api_key", "Incorrect API key provided."},
	pawl.ClassNotFound:   {404, "invalid_request_error", "model_not_found", ""},
	pawl.ClassRefused:    {400, "invalid_request_error", "content_policy_violation", "Your request was rejected as a result of our safety system."},
	pawl.ClassTooLong:    {400, "invalid_request_error", "context_length_exceeded", "This model's maximum context length is 128000 tokens. However, your messages resulted in 131372 tokens. Please reduce the length of the messages."},
	pawl.ClassInvalid:    {400, "invalid_request_error", "", "Bad request"},
	pawl.ClassUnknown:    {500, "server_error", "", "The server had an error while processing your request. Sorry about that!"},
}
