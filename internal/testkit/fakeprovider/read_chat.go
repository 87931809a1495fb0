package fakeprovider

import (
	"encoding/base64"
	"strings"

	"github.com/pawl-run/pawl"
)

func readChat(in *inbound) {
	doc, ok := in.openAI()
	if !ok {
		return
	}
	r := &in.Decoded
	in.usage = doc.at("stream_options").at("include_usage").flag()
	if doc.at("stream_options").has() && !in.Stream {
		in.wrong("stream_options", "The 'stream_options' parameter is only allowed when 'stream' is enabled.")
	}
	r.MaxTokens = max(doc.at("max_completion_tokens").whole(), doc.at("max_tokens").whole())
	r.Output = doc.at("response_format").at("json_schema").at("schema").raw()
	for _, t := range doc.at("tools").list("[%d]") {
		fn := t.at("function")
		r.Tools = append(r.Tools, pawl.ToolInfo{Name: fn.at("name").text(), Description: fn.at("description").text(), Input: fn.at("parameters").raw()})
	}
	in.rulesOfOpenAI(doc, doc.at("reasoning_effort"))
	list := doc.at("messages").list(".[%d]")
	if len(list) == 0 {
		in.wrong("messages", "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.")
	}
	c := checkChat{inbound: in, seen: map[string]bool{}}
	for i, msg := range list {
		c.message(i, msg)
		in.chatMessage(msg)
	}
	c.answered()
}

// openAI reads what both wires of OpenAI begin with.
func (in *inbound) openAI() (node, bool) {
	doc, problem := parse(in.Body)
	if problem != "" {
		in.wrong("", "We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP library correctly. The OpenAI API expects a JSON payload, but what was sent was not valid JSON: %s.)", problem)
		return doc, false
	}
	in.Model, in.Stream = doc.at("model").text(), doc.at("stream").flag()
	in.Decoded.Sampling.Temperature = doc.at("temperature").number()
	in.Decoded.ToolChoice = doc.at("tool_choice").text()
	if in.Model == "" {
		in.wrong("", "you must provide a model parameter")
	}
	return doc, true
}

func (in *inbound) chatMessage(msg node) {
	switch role := msg.at("role").text(); role {
	case "system", "developer":
		in.Decoded.System += msg.at("content").all()
	case "user":
		in.say(pawl.RoleUser, in.chatParts(msg.at("content"))...)
	case "assistant":
		var parts []pawl.Part
		for _, key := range []string{"reasoning_content", "reasoning"} {
			if text := msg.at(key).text(); text != "" {
				parts = append(parts, pawl.Thinking{Text: text, Opaque: marshal(object{key: text})})
			}
		}
		parts = append(parts, in.chatParts(msg.at("content"))...)
		for _, call := range msg.at("tool_calls").list("[%d]") {
			id, fn := call.at("id").text(), call.at("function")
			parts = append(parts, pawl.Call{ID: id, Ref: id, Tool: fn.at("name").text(), Args: rawOr(fn.at("arguments").text())})
		}
		in.say(pawl.RoleAssistant, parts...)
	case "tool":
		id := msg.at("tool_call_id").text()
		in.say(pawl.RoleUser, pawl.ToolResult{Call: id, Ref: id, Tool: in.called(id), Content: quoted(msg.at("content").all())})
	}
}

func (in *inbound) chatParts(content node) []pawl.Part {
	if text := content.text(); text != "" {
		return []pawl.Part{pawl.Text{Text: text}}
	}
	var parts []pawl.Part
	for _, p := range content.list("[%d]") {
		switch kind := p.at("type").text(); kind {
		case "text":
			parts = append(parts, pawl.Text{Text: p.at("text").text()})
		case "refusal":
			parts = append(parts, pawl.Text{Text: p.at("refusal").text()})
		case "image_url":
			parts = append(parts, in.openAIImage(p.at("image_url").at("url")))
		case "input_audio":
			parts = append(parts, in.openAISound(p.at("input_audio")))
		case "file":
			parts = append(parts, in.openAIFile(p.at("file"))...)
		default:
			in.wrong(p.path, "Invalid value: '%s'. Supported values are: 'text', 'image_url', 'input_audio', 'refusal', and 'file'.", kind)
		}
	}
	return parts
}

func (in *inbound) openAISound(sound node) pawl.File {
	kind, known := map[string]string{"wav": "audio/wav", "mp3": "audio/mpeg"}[sound.at("format").text()]
	data, err := base64.StdEncoding.DecodeString(sound.at("data").text())
	switch {
	case !known:
		in.wrong(sound.path+".format", "Invalid value: '%s'. Supported values are: 'wav' and 'mp3'.", sound.at("format").text())
	case err != nil || len(data) == 0:
		in.wrong(sound.path+".data", "Invalid '%s.data': expected base64-encoded audio.", sound.path)
	}
	return pawl.File{Type: kind, Data: data}
}

// openAIFile reads what has filename and file_data, which both wires have.
func (in *inbound) openAIFile(n node) []pawl.Part {
	if n.at("file_id").has() || n.at("file_url").has() {
		return nil // not fetched
	}
	file, ok := dataURL(n.at("file_data").text())
	file.Name = n.at("filename").text()
	switch {
	case file.Name == "":
		in.wrong(n.path+".filename", "Missing required parameter: '%s.filename'.", n.path)
	case !ok:
		in.wrong(n.path+".file_data", "Invalid '%s.file_data'. Expected a base64-encoded data URL with a MIME type (e.g. 'data:application/pdf;base64,aW1nIGJ5dGVzIGhlcmU='), but got a value without the 'data:' prefix.", n.path)
	case file.Type != "application/pdf":
		in.wrong(n.path+".file_data", "Invalid file data: '%s.file_data'. Expected a base64-encoded data URL with an application/pdf MIME type, but got unsupported MIME type '%s'.", n.path, file.Type)
	}
	return []pawl.Part{file}
}

func (in *inbound) openAIImage(url node) pawl.File {
	if strings.HasPrefix(url.text(), "http") {
		return pawl.File{} // not fetched
	}
	img, ok := dataURL(url.text())
	if !ok {
		in.wrong(url.path, "Invalid '%s'. Expected a base64-encoded data URL with an image MIME type (e.g. 'data:image/png;base64,aW1nIGJ5dGVzIGhlcmU='), but got a value without the 'data:' prefix.", url.path)
	}
	return img
}
