package fakeprovider

import (
	"github.com/pawl-run/pawl"
)

func readResponses(in *inbound) {
	doc, ok := in.openAI()
	if !ok {
		return
	}
	r := &in.Decoded
	r.System = doc.at("instructions").text()
	r.MaxTokens = doc.at("max_output_tokens").whole()
	if m := doc.at("max_output_tokens"); m.has() && m.whole() < 16 {
		in.wrong("max_output_tokens", "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got %d instead.", m.whole())
	}
	r.Output = doc.at("text").at("format").at("schema").raw()
	for _, t := range doc.at("tools").list("[%d]") {
		if t.at("name").text() == "" {
			in.wrong(t.path+".name", "Missing required parameter: '%s.name'.", t.path)
		}
		r.Tools = append(r.Tools, pawl.ToolInfo{Name: t.at("name").text(), Description: t.at("description").text(), Input: t.at("parameters").raw()})
	}
	in.rulesOfOpenAI(doc, doc.at("reasoning").at("effort"))
	in.summary = doc.at("reasoning").at("summary").has()
	for _, v := range doc.at("include").list("[%d]") {
		in.encrypted = in.encrypted || v.text() == "reasoning.encrypted_content"
	}
	input := doc.at("input")
	if text := input.text(); text != "" {
		input.v = []any{object{"role": "user", "content": text}}
	}
	if !input.has() {
		in.wrong("input", "Missing required parameter: 'input'.")
	}
	list := input.list("[%d]")
	c := checkResponses{inbound: in}
	c.items(list)
	for _, it := range list {
		in.responsesItem(it)
	}
}

func (in *inbound) responsesItem(it node) {
	switch kind := it.at("type").text(); kind {
	case "", "message":
		parts := in.responsesParts(it.at("content"))
		switch role := it.at("role").text(); role {
		case "system", "developer":
			in.Decoded.System += pawl.Message{Parts: parts}.Text()
		case "user":
			in.say(pawl.RoleUser, parts...)
		case "assistant":
			in.say(pawl.RoleAssistant, parts...)
		default:
			in.wrong(it.path+".role", "Invalid value: '%s'. Supported values are: 'assistant', 'system', 'developer', and 'user'.", role)
		}
	case "reasoning":
		in.say(pawl.RoleAssistant, pawl.Thinking{Text: it.at("summary").all(), Opaque: it.raw()})
	case "function_call":
		id := it.at("call_id").text()
		in.say(pawl.RoleAssistant, pawl.Call{ID: id, Ref: id, Tool: it.at("name").text(), Args: rawOr(it.at("arguments").text())})
	case "function_call_output":
		id := it.at("call_id").text()
		r := pawl.ToolResult{Call: id, Ref: id, Tool: in.called(id), Content: quoted(it.at("output").all())}
		for _, p := range in.responsesParts(it.at("output")) {
			if img, ok := p.(pawl.File); ok {
				r.Images = append(r.Images, img)
			}
		}
		in.say(pawl.RoleUser, r)
	case "web_search_call", "code_interpreter_call": // taken, but nothing to a brain
	default:
		in.wrong(it.path, "Invalid value: '%s'. Supported values are: 'function_call', 'function_call_output', 'message', and 'reasoning'.", kind)
	}
}

func (in *inbound) responsesParts(content node) []pawl.Part {
	if text := content.text(); text != "" {
		return []pawl.Part{pawl.Text{Text: text}}
	}
	var parts []pawl.Part
	for _, p := range content.list("[%d]") {
		switch kind := p.at("type").text(); kind {
		case "input_text", "output_text":
			if p.at("text").text() == "" {
				in.wrong(p.path+".text", "Invalid '%s.text': empty string. Expected a string with minimum length 1, but got an empty string instead.", p.path)
			}
			parts = append(parts, pawl.Text{Text: p.at("text").text()})
			for _, a := range p.at("annotations").list("[%d]") {
				parts = append(parts, pawl.Citation{Title: a.at("title").text(), URL: a.at("url").text(), Opaque: a.raw()})
			}
		case "refusal":
			parts = append(parts, pawl.Text{Text: p.at("refusal").text()})
		case "input_image":
			parts = append(parts, in.openAIImage(p.at("image_url")))
		case "input_file":
			parts = append(parts, in.openAIFile(p)...)
		default:
			in.wrong(p.path, "Invalid value: '%s'. Supported values are: 'input_text', 'input_image', 'output_text', 'refusal', and 'input_file'.", kind)
		}
	}
	return parts
}
