package fakeprovider

import (
	"encoding/base64"
	"slices"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/sheet"
)

func readGoogle(in *inbound) {
	doc, problem := parse(in.Body)
	if problem != "" {
		in.wrong("", "Invalid JSON payload received. %s", problem)
		return
	}
	r := &in.Decoded
	r.System = doc.at("systemInstruction").at("parts").all()
	config := doc.at("generationConfig")
	r.MaxTokens = config.at("maxOutputTokens").whole()
	traits := in.traits()
	if traits.Sampling != sheet.NeverSample { // else it is ignored
		r.Sampling.Temperature = config.at("temperature").number()
	}
	rules := rulesGoogle{in, traits}
	r.Sampling.Effort = rules.effort(config.at("thinkingConfig"))
	in.thinks, in.hides = traits.Thinks(r.Sampling.Effort), !config.at("thinkingConfig").at("includeThoughts").flag()
	r.Output = config.at("responseJsonSchema").raw()
	rules.tools(doc)
	in.resume(doc)
	for _, t := range doc.at("tools").list("[%d]") {
		for _, fn := range t.at("functionDeclarations").list("[%d]") {
			r.Tools = append(r.Tools, pawl.ToolInfo{
				Name: fn.at("name").text(), Description: fn.at("description").text(),
				Input: fn.at("parametersJsonSchema").raw(),
			})
		}
	}
	if doc.at("toolConfig").at("functionCallingConfig").at("mode").text() == "NONE" {
		r.ToolChoice = "none"
	}
	list := doc.at("contents").list("[%d]")
	c := checkGoogle{inbound: in}
	for _, msg := range list {
		c.content(msg)
		role := pawl.RoleUser
		if msg.at("role").text() == "model" {
			role = pawl.RoleAssistant
		}
		for _, p := range msg.at("parts").list("[%d]") {
			in.say(role, in.googleParts(p)...)
		}
	}
	c.done(list)
	if traits.Sampling == sheet.NeverSample && c.role == "model" { // refused since the models that ignore a temperature
		in.wrong("", "Requests ending with a model turn are not supported.")
	}
}

// inlineTypes are those that the API's guides to images, documents and audio name.
var inlineTypes = []string{
	"image/png", "image/jpeg", "image/webp", "image/heic", "image/heif", "application/pdf", "text/plain",
	"audio/wav", "audio/mp3", "audio/aiff", "audio/aac", "audio/ogg", "audio/flac",
}

func (in *inbound) googleParts(p node) []pawl.Part {
	var parts []pawl.Part
	signature := p.at("thoughtSignature")
	opaque := func() []byte { return marshal(object{"thoughtSignature": signature.text()}) }
	call, result := p.at("functionCall"), p.at("functionResponse")
	inline := p.at("inlineData")
	switch {
	case call.has():
		if signature.has() {
			parts = append(parts, pawl.Thinking{Opaque: opaque()})
		}
		args := call.at("args").raw()
		if args == nil {
			args = []byte("{}")
		}
		id := call.at("id").text()
		return append(parts, pawl.Call{ID: id, Ref: id, Tool: call.at("name").text(), Args: args})
	case result.has():
		id := result.at("id").text()
		response := result.at("response")
		r := pawl.ToolResult{Call: id, Ref: id, Tool: result.at("name").text(), Content: response.raw(), Failed: response.at("error").has()}
		for _, each := range result.at("parts").list("[%d]") { // Gemini 3 has the pictures of results there
			for _, p := range in.googleParts(each) {
				if img, ok := p.(pawl.File); ok {
					r.Images = append(r.Images, img)
				}
			}
		}
		for _, key := range []string{"output", "result", "error"} {
			if v := response.at(key); v.has() {
				r.Content = v.raw()
				break
			}
		}
		return append(parts, r)
	case inline.has():
		data, err := base64.StdEncoding.DecodeString(inline.at("data").text())
		if err != nil {
			in.wrong(p.path+".inline_data.data", "Base64 decoding failed")
		}
		kind := inline.at("mimeType").text()
		if !slices.Contains(inlineTypes, kind) {
			in.wrong(p.path+".inline_data.mime_type", "Unsupported MIME type: %s", kind)
		}
		return append(parts, pawl.File{Type: kind, Data: data})
	case p.at("thought").flag():
		t := pawl.Thinking{Text: p.at("text").text()}
		if signature.has() {
			t.Opaque = opaque()
		}
		return append(parts, t)
	case p.at("text").text() != "":
		if signature.has() {
			parts = append(parts, pawl.Thinking{Opaque: opaque()})
		}
		return append(parts, pawl.Text{Text: p.at("text").text()})
	}
	return nil
}
