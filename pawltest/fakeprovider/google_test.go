package fakeprovider

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/model/script"
)

func TestGoogleWire(t *testing.T) {
	fake, url := serve(t, script.Replies(lookup(), pawl.Say("Blue.")), nil)
	_, text := send(t, url, googleStream, googleAsk)
	var parts []any
	for _, doc := range events(t, text) {
		if part := dig(doc, "candidates", 0, "content", "parts", 0); dig(part, "functionCall") != nil {
			parts = append(parts, part)
		}
	}
	follow := func(model string, change func(contents []any) []any) (string, bool) {
		var call []any
		copied, _ := json.Marshal(parts)
		if err := json.Unmarshal(copied, &call); err != nil {
			t.Fatal(err)
		}
		result := func(i int) any {
			return map[string]any{"functionResponse": map[string]any{"id": dig(parts, i, "functionCall", "id"), "name": dig(parts, i, "functionCall", "name"), "response": map[string]any{"output": "fine"}}}
		}
		turn := func(role string, parts ...any) any { return map[string]any{"role": role, "parts": parts} }
		contents := []any{turn("user", map[string]any{"text": "Weather?"}), turn("model", call...), turn("user", result(0), result(1))}
		body, _ := json.Marshal(map[string]any{"contents": change(contents)})
		res, text := send(t, url, "/v1beta/models/"+model+":generateContent", string(body))
		return text, res.StatusCode == http.StatusOK
	}
	if text, ok := follow("gemini-3-pro", func(c []any) []any { return c }); !ok || !strings.Contains(text, "Blue.") {
		t.Errorf("%s", text)
	}
	if got := fake.Requests()[1].Decoded.Messages; len(got) != 3 || got[2].Parts[0].(pawl.ToolResult).Text() != "fine" {
		t.Errorf("decoded %+v", got)
	}
	part := func(c []any, turn, i int) map[string]any { return dig(c, turn, "parts", i).(map[string]any) }
	unsigned := func(c []any) []any { delete(part(c, 1, 0), "thoughtSignature"); return c }
	for want, change := range map[string]func(c []any) []any{
		"Function call is missing a thought_signature in functionCall parts.": unsigned,
		"Corrupted thought signature.":                                        func(c []any) []any { part(c, 1, 0)["thoughtSignature"] = "AAAA"; return c },
		"Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.": func(c []any) []any { return slices.Delete(c, 2, 3) },
		"Please ensure that function response turn comes immediately after a function call turn.":                                           func(c []any) []any { return slices.Delete(c, 1, 2) },
		"Please ensure that function call turn comes immediately after a user turn or after a function response turn.":                      func(c []any) []any { return c[1:] },
		"Please use a valid role: user, model.": func(c []any) []any { c[0].(map[string]any)["role"] = "assistant"; return c },
		"GenerateContentRequest.contents[0].parts[0].data: required oneof field 'data' must have one initialized field":                       func(c []any) []any { part(c, 0, 0)["text"] = ""; return c },
		"Invalid value at 'contents[1].parts[0].function_call.args' (type.googleapis.com/google.protobuf.Struct), expected an object":         func(c []any) []any { part(c, 1, 0)["functionCall"].(map[string]any)["args"] = "x"; return c },
		"Invalid value at 'contents[2].parts[0].function_response.response' (type.googleapis.com/google.protobuf.Struct), expected an object": func(c []any) []any { part(c, 2, 0)["functionResponse"].(map[string]any)["response"] = "x"; return c },
		"contents is not specified": func([]any) []any { return nil },
	} {
		text, ok := follow("gemini-3-pro", change)
		text = strings.ReplaceAll(text, `\n`, "")
		if ok || !strings.Contains(text, want) {
			t.Errorf("%s, want %s", text, want)
		}
	}
	// Older models ask for no signature.
	if text, ok := follow("gemini-2.5-flash", unsigned); !ok {
		t.Errorf("%s", text)
	}
}
