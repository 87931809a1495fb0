package fakeprovider

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/sheet"
)

func readAnthropic(in *inbound) {
	if in.Header.Get("Anthropic-Version") == "" {
		in.wrong("", "anthropic-version: header is required")
	}
	doc, problem := parse(in.Body)
	if problem != "" {
		in.wrong("", "The request body is not valid JSON: %s", problem)
		return
	}
	in.Model, in.Stream = doc.at("model").text(), doc.at("stream").flag()
	r := &in.Decoded
	r.MaxTokens = doc.at("max_tokens").whole()
	for _, key := range []string{"model", "max_tokens", "messages"} {
		if !doc.at(key).has() {
			in.wrong(key, "Field required")
		}
	}
	if r.MaxTokens < 1 && doc.at("max_tokens").has() {
		in.wrong("max_tokens", "Input should be greater than or equal to 1")
	}
	c := checkAnthropic{inbound: in, model: in.traits()}
	c.takes(doc)
	if think := doc.at("thinking"); in.manual {
		if budget := think.at("budget_tokens").whole(); budget < 1024 {
			in.wrong("thinking.enabled.budget_tokens", "Input should be greater than or equal to 1024")
		} else if budget >= r.MaxTokens {
			in.wrong("", "`max_tokens` must be greater than `thinking.budget_tokens`. Please consult our documentation on extended thinking.")
		}
	}
	if t := doc.at("temperature"); t.has() {
		r.Sampling.Temperature = t.number()
		if in.thinks && t.number() != 1 && c.model.Sampling != sheet.NeverSample {
			in.wrong("", "`temperature` may only be set to 1 when thinking is enabled. Please consult our documentation on extended thinking.")
		}
	}
	r.Output = doc.at("output_config").at("format").at("schema").raw()
	r.System = doc.at("system").all()
	for _, b := range doc.at("system").list(".%d") {
		c.text(b)
	}
	for _, t := range doc.at("tools").list(".%d") {
		c.mark(t)
		r.Tools = append(r.Tools, pawl.ToolInfo{Name: t.at("name").text(), Description: t.at("description").text(), Input: t.at("input_schema").raw()})
	}
	c.tools(r.Tools)
	list := doc.at("messages").list(".%d")
	for _, msg := range list {
		in.anthropicMessage(&c, msg)
	}
	c.done(list)
	c.behind(doc)
}

func (in *inbound) anthropicMessage(c *checkAnthropic, msg node) {
	role := pawl.RoleUser
	switch msg.at("role").text() {
	case "assistant":
		role = pawl.RoleAssistant
	case "user":
	default:
		in.wrong(msg.path+".role", "Input should be 'user' or 'assistant'")
	}
	content := msg.at("content")
	if text, ok := content.v.(string); ok {
		content.v = []any{object{"type": "text", "text": text}}
	}
	c.message(msg, role, content.list(".%d"))
	for _, b := range content.list(".%d") {
		in.say(role, in.anthropicBlock(c, b)...)
	}
}

func (in *inbound) anthropicBlock(c *checkAnthropic, b node) []pawl.Part {
	switch kind := b.at("type").text(); kind {
	case "text":
		return in.anthropicText(b)
	case "thinking", "redacted_thinking":
		raw, _ := b.object()
		return []pawl.Part{pawl.Thinking{Text: b.at("thinking").text(), Opaque: marshal(raw)}}
	case "tool_use":
		id := b.at("id").text()
		return []pawl.Part{pawl.Call{ID: id, Ref: id, Tool: b.at("name").text(), Args: b.at("input").raw()}}
	case "tool_result":
		id := b.at("tool_use_id").text()
		r := pawl.ToolResult{Call: id, Ref: id, Tool: in.called(id), Failed: b.at("is_error").flag(), Content: quoted(b.at("content").all())}
		for _, p := range b.at("content").list(".%d") {
			c.text(p)
			if img, ok := in.anthropicImage(p); ok {
				r.Images = append(r.Images, img)
			}
		}
		return []pawl.Part{r}
	case "image":
		img, _ := in.anthropicImage(b)
		return []pawl.Part{img}
	case "document":
		return in.anthropicDocument(b)
	case "search_result", "server_tool_use", "web_search_tool_result", "bash_code_execution_tool_result", "text_editor_code_execution_tool_result", "container_upload":
		return nil // taken, but nothing to a brain
	default:
		in.wrong(b.path, "Input tag '%s' found using 'type' does not match any of the expected tags: 'document', 'image', 'redacted_thinking', 'text', 'thinking', 'tool_result', 'tool_use'", kind)
	}
	return nil
}

// anthropicText reads a text with its citations, which must be such as were sent.
func (in *inbound) anthropicText(b node) []pawl.Part {
	parts := []pawl.Part{pawl.Text{Text: b.at("text").text()}}
	for _, c := range b.at("citations").list(".%d") {
		if c.at("file_id").has() {
			in.wrong(c.path+".file_id", "Extra inputs are not permitted")
		}
		if index := c.at("encrypted_index"); index.has() && !in.memory.genuine(index.text()) {
			in.wrong(c.path+".encrypted_index", "Invalid `encrypted_index` in `citations`")
		}
		parts = append(parts, pawl.Citation{Title: c.at("title").text(), URL: c.at("url").text(), Quote: c.at("cited_text").text(), Opaque: c.raw()})
	}
	return parts
}

func (in *inbound) anthropicDocument(b node) []pawl.Part {
	src := b.at("source")
	if kind := src.at("type").text(); kind != "base64" {
		if !slices.Contains([]string{"text", "content", "url", "file"}, kind) {
			in.wrong(src.path, "Input tag '%s' found using 'type' does not match any of the expected tags: 'base64', 'content', 'text', 'url', 'file'", kind)
		}
		return nil // not fetched
	}
	data, err := base64.StdEncoding.DecodeString(src.at("data").text())
	kind := src.at("media_type").text()
	switch {
	case kind != "application/pdf":
		in.wrong(src.path+".base64.media_type", "Input should be 'application/pdf'")
	case err != nil:
		in.wrong(src.path+".base64.data", "Input should be a valid base64 string")
	case !strings.HasPrefix(string(data), "%PDF-"):
		in.wrong(src.path+".base64.data", "The PDF specified was not valid.")
	}
	return []pawl.Part{pawl.File{Type: kind, Data: data, Name: b.at("title").text()}}
}

func (in *inbound) anthropicImage(b node) (pawl.File, bool) {
	if b.at("type").text() != "image" {
		return pawl.File{}, false
	}
	src := b.at("source")
	if src.at("type").text() == "url" {
		return pawl.File{}, true // not fetched
	}
	data, err := base64.StdEncoding.DecodeString(src.at("data").text())
	kind := src.at("media_type").text()
	switch {
	case !slices.Contains([]string{"image/jpeg", "image/png", "image/gif", "image/webp"}, kind):
		in.wrong(src.path+".base64.media_type", "Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'")
	case err != nil:
		in.wrong(src.path+".base64.data", "Input should be a valid base64 string")
	case len(src.at("data").text()) > 5<<20:
		in.wrong(src.path+".base64", "image exceeds 5 MB maximum: %d bytes > 5242880 bytes", len(src.at("data").text()))
	}
	return pawl.File{Type: kind, Data: data}, true
}

// thought is what a message thought, in the form in which it is remembered.
func thought(blocks []node) (calls string, text string) {
	var f fingerprint
	var b strings.Builder
	for _, n := range blocks {
		switch n.at("type").text() {
		case "thinking":
			fmt.Fprintf(&b, "thinking %s\n", n.at("thinking").text())
		case "redacted_thinking":
			fmt.Fprintf(&b, "redacted %s\n", n.at("data").text())
		case "tool_use":
			args, _ := json.Marshal(n.at("input").v)
			f.add(n.at("name").text(), string(args))
		}
	}
	return f.String(), b.String()
}
