package fakeprovider

import (
	"cmp"
	"maps"

	"github.com/pawl-run/pawl"
)

// status of a response, and why it is incomplete.
func (a *answer) responseStatus() (status string, reason any) {
	switch {
	case a.reason != "":
		return "incomplete", a.reason
	case a.stop == pawl.StopLength:
		return "incomplete", "max_output_tokens"
	case a.stop == pawl.StopRefusal && a.count(saying) == 0:
		return "incomplete", "content_filter"
	}
	return "completed", nil
}

func (a *answer) responseUsage() any {
	if a.silent {
		return nil
	}
	u := a.usage
	return object{
		"input_tokens": u.Input, "input_tokens_details": object{
			"cached_tokens": u.CacheRead, "cache_write_tokens": u.CacheWrite,
			"cache_write_tokens_details": object{"ttl_30m_tokens": u.CacheWrite - u.CacheLong, "ttl_12h_tokens": u.CacheLong},
		},
		"output_tokens": u.Output, "output_tokens_details": object{"reasoning_tokens": u.Reasoning},
		"total_tokens": u.Input + u.Output,
	}
}

func (in *inbound) response(a *answer, status string, output []any) object {
	doc := object{
		"id": a.id("resp_", 0), "object": "response", "created_at": in.At.Unix(), "status": status, "model": in.Model,
		"output": output, "error": nil, "incomplete_details": nil, "usage": nil, "parallel_tool_calls": true,
		"tool_choice": "auto", "tools": []any{}, "metadata": object{},
	}
	if status != "in_progress" || a.early {
		doc["usage"] = a.responseUsage()
	}
	return doc
}

// outputItem is an item of the output, whole.
func (in *inbound) outputItem(a *answer, i int, status string) object {
	it := &a.items[i]
	switch it.kind {
	case saying:
		return object{"id": a.id("msg_", i), "type": "message", "status": status, "role": "assistant", "content": []any{a.outputText(it, it.text)}}
	case thinking:
		doc := object{"id": a.id("rs_", i), "type": "reasoning", "summary": []any{}}
		if it.text != "" && in.summary {
			doc["summary"] = []any{object{"type": "summary_text", "text": it.text}}
		}
		if in.encrypted && !a.unsigned {
			doc["encrypted_content"] = in.memory.token(a.id("rs_", i))
		}
		return doc
	}
	doc := object{"id": a.id("fc_", i), "type": "function_call", "status": status, "arguments": it.text, "call_id": it.id, "name": it.name}
	if it.noID {
		delete(doc, "call_id")
	}
	if it.bare {
		delete(doc, "arguments")
	}
	return doc
}

// outputText is a text with its sources, or the beginning of one without.
func (a *answer) outputText(it *item, text string) object {
	if a.stop == pawl.StopRefusal {
		return object{"type": "refusal", "refusal": text}
	}
	sources := []any{}
	if text == it.text {
		for _, c := range it.cites {
			sources = append(sources, annotation(c, text))
		}
	}
	return object{"type": "output_text", "text": text, "annotations": sources, "logprobs": []any{}}
}

// annotation is a source as OpenAI names it.
func annotation(c pawl.Citation, text string) any {
	if c.Opaque != nil {
		return c.Opaque
	}
	return object{"type": "url_citation", "url": c.URL, "title": c.Title, "start_index": 0, "end_index": len(text)}
}

// output is all items, and remembers which of them belong together.
func (in *inbound) output(a *answer) []any {
	output := []any{}
	in.memory.mu.Lock()
	defer in.memory.mu.Unlock()
	for i := range a.items {
		output = append(output, in.outputItem(a, i, "completed"))
		if i > 0 && a.items[i-1].kind == thinking && a.items[i].kind != thinking {
			in.memory.needs[output[i].(object)["id"].(string)] = a.id("rs_", i-1)
		}
	}
	return output
}

func (in *inbound) finished(a *answer) (event string, doc object) {
	status, reason := a.responseStatus()
	doc = in.response(a, status, in.output(a))
	if reason != nil {
		doc["incomplete_details"] = object{"reason": reason}
	}
	return "response." + status, doc
}

func wholeResponses(in *inbound, a *answer) any {
	_, doc := in.finished(a)
	return doc
}

func streamResponses(in *inbound, a *answer) []frame {
	var list []frame
	add := func(p part, item int, event string, data object) {
		data["type"], data["sequence_number"] = event, len(list)
		list = append(list, frame{part: p, item: item, event: event, data: data})
	}
	add(opening, -1, "response.created", object{"response": in.response(a, "in_progress", []any{})})
	add(aside, -1, "response.in_progress", object{"response": in.response(a, "in_progress", []any{})})
	for i := range a.items {
		it := &a.items[i]
		item := in.outputItem(a, i, "in_progress")
		id := item["id"]
		// events of one text: its announcement, its pieces, its end
		text := func(name string, at object, key string, part func(text string) object) {
			with := func(more object) object {
				doc := object{"item_id": id, "output_index": i}
				for _, m := range []object{at, more} {
					maps.Copy(doc, m)
				}
				return doc
			}
			partName := "response.content_part"
			if it.kind == thinking {
				partName = "response.reasoning_summary_part"
			}
			if part != nil {
				add(begin, i, partName+".added", with(object{"part": part("")}))
			}
			for _, p := range a.pieces(it.text) {
				add(piece, i, name+".delta", with(object{"delta": p}))
			}
			add(end, i, name+".done", with(object{key: it.text}))
			if part != nil {
				add(end, i, partName+".done", with(object{"part": part(it.text)}))
			}
		}
		switch it.kind {
		case saying:
			item["content"] = []any{}
			add(begin, i, "response.output_item.added", object{"output_index": i, "item": item})
			part := func(text string) object { return a.outputText(it, text) }
			if a.stop == pawl.StopRefusal {
				text("response.refusal", object{"content_index": 0}, "refusal", part)
			} else {
				text("response.output_text", object{"content_index": 0}, "text", part)
			}
		case thinking:
			item["summary"] = []any{}
			add(begin, i, "response.output_item.added", object{"output_index": i, "item": item})
			if it.text != "" && in.summary {
				text("response.reasoning_summary_text", object{"summary_index": 0}, "text", func(text string) object {
					return object{"type": "summary_text", "text": text}
				})
			}
		case calling:
			if !it.bare {
				item["arguments"] = ""
			}
			add(begin, i, "response.output_item.added", object{"output_index": i, "item": item})
			if !it.bare {
				text("response.function_call_arguments", nil, "arguments", nil)
			}
		}
		add(end, i, "response.output_item.done", object{"output_index": i, "item": in.outputItem(a, i, "completed")})
	}
	event, doc := in.finished(a)
	add(closing, -1, event, object{"response": doc})
	return list
}

func failResponses(r *refusal) []frame {
	code := r.code
	code = cmp.Or(code, "server_error")
	return []frame{{part: closing, item: -1, event: "error", data: object{"type": "error", "code": code, "message": r.message, "param": nil, "sequence_number": 0}}}
}
