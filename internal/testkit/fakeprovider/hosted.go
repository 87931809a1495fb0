package fakeprovider

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pawl-run/pawl"
)

// The tools that the providers run themselves.
const (
	webSearch     = "web_search"
	codeExecution = "code_execution"
)

// host makes items of what the provider runs while it replies. Anthropic has a block for a
// call and one for its result, and refuses more searches than a request allows.
func (a *answer) host(in *inbound, list []pawl.HostedCall) {
	left := map[string]int{}
	for _, t := range in.Decoded.Tools {
		left[t.Name] = t.MaxCalls
	}
	for i := range list {
		h := list[i]
		if left[h.Call.Tool]--; in.Wire == Anthropic && h.Call.Tool == webSearch && left[webSearch] < 0 {
			h.Result, h.Error = nil, "max_uses_exceeded"
		}
		if h.Call.Tool == webSearch && h.Error == "" {
			a.searches++
		}
		it := item{kind: hosting, name: h.Call.Tool, text: written(h.Call.Args), id: in.id("srvtoolu_01", i), hosted: &h}
		a.items = append(a.items, it)
		if in.Wire == Anthropic && (h.Result != nil || h.Error != "") {
			it.kind = hosted
			a.items = append(a.items, it)
		}
	}
}

// anthropicHosted is the block of a hosted call, or of its result.
func (it *item) anthropicHosted(in *inbound) object {
	name := it.name
	if name == codeExecution {
		name = "bash_" + codeExecution
	}
	if it.kind == hosting {
		return object{"type": "server_tool_use", "id": it.id, "name": name, "input": rawOr(it.text)}
	}
	block := object{"type": name + "_tool_result", "tool_use_id": it.id}
	switch {
	case it.hosted.Error != "":
		block["content"] = object{"type": name + "_tool_result_error", "error_code": it.hosted.Error}
	case it.name == webSearch:
		pages := []object{}
		_ = json.Unmarshal(it.hosted.Result, &pages)
		for n, page := range pages {
			page["type"], page["encrypted_content"] = "web_search_result", in.memory.token(fmt.Sprint(it.id, n))
		}
		block["content"] = pages
	default:
		content := object{"stdout": "", "stderr": "", "return_code": 0}
		_ = json.Unmarshal(it.hosted.Result, &content)
		content["type"], content["content"] = name+"_result", []any{}
		block["content"] = content
	}
	return block
}

// responsesHosted is the item of a hosted call.
func (it *item) responsesHosted(a *answer, i int, status string) object {
	if it.hosted.Error != "" && status == "completed" {
		status = "failed"
	}
	if it.name == webSearch {
		action := object{}
		_ = json.Unmarshal([]byte(it.text), &action)
		action["type"] = "search"
		if it.hosted.Error == "" {
			pages := []object{}
			_ = json.Unmarshal(it.hosted.Result, &pages)
			for _, page := range pages {
				page["type"] = "url"
			}
			action["sources"] = pages
		}
		return object{"id": a.id("ws_", i), "type": "web_search_call", "status": status, "action": action}
	}
	ran := object{}
	_ = json.Unmarshal([]byte(it.text), &ran)
	return object{
		"id": a.id("ci_", i), "type": "code_interpreter_call", "status": status, "container_id": a.id("cntr_", 0), "code": ran["code"],
		"outputs": []any{object{"type": "logs", "logs": string(it.hosted.Result)}},
	}
}

// googleHosted are the parts of a hosted call; a search has some only where it is to be told from
// other tools.
func (it *item) googleHosted(in *inbound) []any {
	if it.name == webSearch && !in.named {
		return nil
	}
	if it.name == webSearch {
		var asked struct{ Query string }
		_ = json.Unmarshal([]byte(it.text), &asked)
		return []any{
			object{"toolCall": object{"id": it.id, "toolType": "GOOGLE_SEARCH_WEB", "args": object{"queries": []any{asked.Query}}}, "thoughtSignature": in.memory.token(it.id)},
			object{"toolResponse": object{"id": it.id, "toolType": "GOOGLE_SEARCH_WEB", "response": object{}}},
		}
	}
	outcome, output := "OUTCOME_OK", string(it.hosted.Result)
	if it.hosted.Error != "" {
		outcome, output = "OUTCOME_FAILED", it.hosted.Error
	}
	return []any{
		object{"executableCode": rawOr(it.text)},
		object{"codeExecutionResult": object{"outcome": outcome, "output": output}},
	}
}

// grounding says what was searched for and found, and what the reply relies on.
func (a *answer) grounding() object {
	queries, chunks, supports := []any{}, []any{}, []any{}
	for _, it := range a.items {
		for _, c := range it.cites {
			supports = append(supports, object{"segment": object{"text": c.Quote}, "groundingChunkIndices": []any{len(chunks)}})
			chunks = append(chunks, object{"web": object{"uri": c.URL, "title": c.Title}})
		}
	}
	for _, it := range a.items {
		if it.kind != hosting || it.name != webSearch {
			continue
		}
		var asked struct{ Query string }
		_ = json.Unmarshal([]byte(it.text), &asked)
		queries = append(queries, asked.Query)
		var pages []struct{ URL, Title string }
		_ = json.Unmarshal(it.hosted.Result, &pages)
		for _, page := range pages {
			chunks = append(chunks, object{"web": object{"uri": page.URL, "title": page.Title}})
		}
	}
	if len(queries)+len(chunks) == 0 {
		return nil
	}
	return object{"webSearchQueries": queries, "groundingChunks": chunks, "groundingSupports": supports}
}

// offered is a hosted tool as a request offers it.
func offered(name string, most int) pawl.ToolInfo {
	return pawl.ToolInfo{Name: name, MaxCalls: most, Hosted: pawl.Usage{Searches: most, Sessions: 1}}
}

// hosted checks the blocks of hosted calls in a message: each call has its result, unless that
// is still to come, and pages are as they were sent.
func (c *checkAnthropic) hosted(list []node) {
	type use struct{ path, name string }
	open := map[string]use{}
	for i, msg := range list {
		last := true
		for _, later := range list[i+1:] {
			last = last && later.at("role").text() != "assistant"
		}
		for _, b := range msg.at("content").list(".%d") {
			kind, of := b.at("type").text(), b.at("tool_use_id").text()
			switch {
			case kind == "server_tool_use":
				if !strings.HasPrefix(b.at("id").text(), "srvtoolu_") {
					c.wrong(b.path+".server_tool_use.id", "String should match pattern '^srvtoolu_[a-zA-Z0-9_]+$'")
				}
				open[b.at("id").text()] = use{msg.path, b.at("name").text()}
			case kind != "tool_result" && strings.HasSuffix(kind, "_tool_result"):
				if _, is := open[of]; !is {
					c.wrong(b.path, "unexpected `tool_use_id` found in `%s` blocks: %s. Each `%s` block must have a corresponding `server_tool_use` block before it.", kind, of, kind)
				}
				delete(open, of)
				for _, page := range b.at("content").list(".%d") {
					if !c.memory.genuine(page.at("encrypted_content").text()) {
						c.wrong(page.path+".encrypted_content", "Invalid `encrypted_content` in `search_result` block")
					}
				}
			}
		}
		for id, u := range open {
			if !last && msg.at("role").text() == "user" {
				c.wrong(u.path, "`%s` tool use with id `%s` was found without a corresponding `%s_tool_result` block", u.name, id, u.name)
			}
		}
	}
}
