package server

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"mime"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/server/client"
)

// chatPart is a part of a message's content: of OpenAI's API, with image_url and file, or of
// AG-UI, with source.
type chatPart struct {
	Type     string
	Text     string
	ImageURL struct {
		URL string
	} `json:"image_url"`
	File struct {
		Name string `json:"filename"`
		Data string `json:"file_data"`
	}
	Source struct {
		Type, Value, MimeType string
	}
}

// conversationOf reads the messages of a request.
func conversationOf(in *client.ChatRequest) (conversation, error) {
	switch {
	case in.Model == "":
		return nil, invalid("model is missing: it is the name of an agent; see GET /v1/agents")
	case in.N > 1:
		return nil, invalid("n is above 1, and an agent gives one answer")
	case len(in.Tools) > 0:
		return nil, invalid("the request has tools, and an agent has its own; leave them out")
	case len(in.Messages) == 0 || in.Messages[len(in.Messages)-1].Role != "user":
		return nil, invalid("the last message must have the role user")
	}
	var out conversation
	for i, m := range in.Messages {
		t, err := turnOf(m)
		if err != nil {
			return nil, invalid(fmt.Sprintf("messages[%d]: %v", i, err))
		}
		out = append(out, t)
	}
	if last := out.last(); strings.TrimSpace(last.text) == "" && len(last.files) == 0 {
		return nil, invalid("the last message is empty")
	}
	return out, nil
}

func turnOf(m client.ChatMessage) (turn, error) {
	t := turn{role: m.Role}
	switch m.Role {
	case "system", "developer", "user", "assistant":
	default:
		return t, fmt.Errorf("role is %q; write system, developer, user or assistant", m.Role)
	}
	if m.Content == nil || json.Unmarshal(m.Content, &t.text) == nil {
		return t, nil
	}
	var parts []chatPart
	if json.Unmarshal(m.Content, &parts) != nil {
		return t, fmt.Errorf("content is neither a text nor a list of parts")
	}
	var texts []string
	for _, p := range parts {
		switch p.Type {
		case "text":
			texts = append(texts, p.Text)
			continue
		case "image_url":
			p.File.Data = p.ImageURL.URL
		case "image", "audio", "document":
			if p.File.Data = p.Source.Value; p.Source.Type == "data" {
				p.File.Data = "data:" + p.Source.MimeType + ";base64," + p.Source.Value
			}
		case "file":
		default:
			return t, fmt.Errorf("a part has the type %q, which is not taken", p.Type)
		}
		f, err := fileOf(p.File.Name, p.File.Data)
		if err != nil {
			return t, err
		}
		t.files = append(t.files, f)
	}
	t.text = strings.Join(texts, "\n\n")
	return t, nil
}

// fileOf reads a file from a data URL (RFC 2397).
func fileOf(name, url string) (pawl.File, error) {
	head, data, ok := strings.Cut(url, ",")
	media, isData := strings.CutPrefix(head, "data:")
	media, is64 := strings.CutSuffix(media, ";base64")
	if !ok || !isData || !is64 {
		return pawl.File{}, fmt.Errorf("files by URL are not fetched; send the content as data:TYPE;base64,…")
	}
	kind, _, err := mime.ParseMediaType(media)
	if err != nil {
		return pawl.File{}, fmt.Errorf("the data URL has the type %.40q", media)
	}
	content, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return pawl.File{}, fmt.Errorf("the data URL is not in base64: %w", err)
	}
	return pawl.File{Name: name, Type: kind, Data: content}, nil
}
