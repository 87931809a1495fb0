package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawl-run/pawl/internal/wire"
)

// exactMeta is the metadata key under which readable keeps the structured content of a result as the
// server wrote it, since the SDK reads its numbers as floating-point numbers.
const exactMeta = "pawl/structured"

var (
	digits  = regexp.MustCompile(`^"\d{1,15}"$`)
	nothing = json.RawMessage("null")
)

// readable returns a server's answer in a form that the SDK can read. A server that answered has
// answered: what cannot be read of its answer becomes a note in it. Other messages stay as they are.
func readable(message []byte) []byte {
	var m map[string]json.RawMessage
	if json.Unmarshal(message, &m) != nil || m["method"] != nil {
		return message
	}
	if digits.Match(m["id"]) { // the SDK's ids are numbers
		m["id"] = bytes.Trim(m["id"], `"`)
	}
	switch fault, result := m["error"], m["result"]; {
	case fault != nil && !bytes.Equal(fault, nothing):
		m["error"] = readableError(fault)
	case result != nil:
		delete(m, "error")
		m["result"] = readableResult(result)
	}
	out, err := json.Marshal(m)
	if err != nil {
		return message
	}
	return out
}

// readableError puts the data of an error into its message, which is all that the model reads.
func readableError(raw json.RawMessage) json.RawMessage {
	var e struct {
		Code    int64           `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data,omitempty"`
	}
	if json.Unmarshal(raw, &e) != nil {
		e.Message, e.Code, e.Data = wire.Plain(raw), -32603, nil
	}
	if local(e.Code) { // from the server it is no failure on this side
		e.Message, e.Code = fmt.Sprintf("%s (code %d)", e.Message, e.Code), -32000
	}
	if e.Data != nil && !bytes.Equal(e.Data, nothing) {
		e.Message, e.Data = e.Message+": "+wire.Plain(e.Data), nil
	}
	out, _ := json.Marshal(e) // it was JSON
	return out
}

func readableResult(raw json.RawMessage) json.RawMessage {
	var r map[string]json.RawMessage
	if json.Unmarshal(raw, &r) != nil { // a text, a list, a number
		out, _ := json.Marshal(map[string]any{"content": []any{textBlock(wire.Plain(raw))}})
		return out
	}
	if r == nil {
		return json.RawMessage("{}")
	}
	if r["tools"] != nil {
		r["tools"] = readableTools(r["tools"])
		if next := r["nextCursor"]; next != nil && !bytes.Equal(next, nothing) {
			r["nextCursor"] = wire.Quote(wire.Plain(next))
		}
	}
	structured := r["structuredContent"]
	if r["content"] == nil && structured == nil {
		out, _ := json.Marshal(r)
		return out
	}
	if json.Unmarshal(raw, new(sdk.CallToolResult)) != nil {
		failed := bytes.Equal(bytes.Trim(r["isError"], `"`), []byte("true"))
		r = map[string]json.RawMessage{"content": readableContent(r["content"])}
		if structured != nil {
			r["structuredContent"] = json.RawMessage("{}") // it may be what cannot be read; exactMeta has it
		}
		if failed {
			r["isError"] = json.RawMessage("true")
		}
	}
	if structured != nil && !bytes.Equal(structured, nothing) {
		var meta map[string]json.RawMessage
		if json.Unmarshal(r["_meta"], &meta) != nil || meta == nil {
			meta = map[string]json.RawMessage{}
		}
		meta[exactMeta] = wire.Quote(string(structured))
		r["_meta"], _ = json.Marshal(meta)
	}
	out, _ := json.Marshal(r)
	return out
}

func textBlock(text string) map[string]string { return map[string]string{"type": "text", "text": text} }

// readableTools keeps a tool that cannot be read as one without a usable schema, so that it is named
// when it is left out.
func readableTools(raw json.RawMessage) json.RawMessage {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return raw
	}
	for i, each := range list {
		if json.Unmarshal(each, new(sdk.Tool)) == nil {
			continue
		}
		var t struct {
			Name any `json:"name"`
		}
		_ = json.Unmarshal(each, &t) // what is no object has no name
		name, _ := t.Name.(string)
		list[i], _ = json.Marshal(map[string]any{"name": name, "inputSchema": "a definition that cannot be read"})
	}
	out, _ := json.Marshal(list)
	return out
}

// readableContent keeps each block that can be read, and the text of any other.
func readableContent(raw json.RawMessage) json.RawMessage {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil && raw != nil {
		list = []json.RawMessage{raw} // one block that is in no list
	}
	kept := make([]any, 0, len(list))
	for _, each := range list {
		alone, _ := json.Marshal(map[string]any{"content": []json.RawMessage{each}})
		if json.Unmarshal(alone, new(sdk.CallToolResult)) == nil {
			kept = append(kept, each)
			continue
		}
		var block map[string]any
		_ = json.Unmarshal(each, &block)
		text, is := block["text"].(string)
		switch {
		case is:
		case block == nil:
			text = wire.Plain(each)
		default:
			text = fmt.Sprintf("[content of the type %q left out: it cannot be read]", fmt.Sprint(block["type"]))
		}
		kept = append(kept, textBlock(text))
	}
	out, _ := json.Marshal(kept)
	return out
}

// readableEvents makes the messages in a stream of server-sent events readable, of which each is in one line.
type readableEvents struct {
	io.ReadCloser
	got, ready []byte
	err        error
}

func (e *readableEvents) Read(p []byte) (int, error) {
	for len(e.ready) == 0 {
		end := bytes.IndexByte(e.got, '\n')
		switch {
		case end < 0 && e.err != nil && len(e.got) == 0:
			return 0, e.err
		case end < 0 && e.err != nil:
			end = len(e.got) - 1
		case end < 0 && len(e.got) > mostMessage:
			return 0, fmt.Errorf("it sent an event of more than %d MiB", mostMessage>>20)
		case end < 0:
			part := make([]byte, 32<<10)
			var n int
			n, e.err = e.ReadCloser.Read(part)
			e.got = append(e.got, part[:n]...)
			continue
		}
		line := e.got[:end+1]
		e.got = e.got[end+1:]
		if message, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			line = append(append([]byte("data: "), readable(bytes.TrimSpace(message))...), '\n')
		}
		e.ready = line
	}
	n := copy(p, e.ready)
	e.ready = e.ready[n:]
	return n, nil
}
