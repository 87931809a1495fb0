package fakeprovider

import (
	"context"
	"encoding/json"
	"fmt"
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
	if text, ok := follow("gemini-4-hydrogen", func(c []any) []any { return c }); !ok || !strings.Contains(text, "Blue.") {
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
		text, ok := follow("gemini-4-hydrogen", change)
		text = strings.ReplaceAll(text, `\n`, "")
		if ok || !strings.Contains(text, want) {
			t.Errorf("%s, want %s", text, want)
		}
	}
	// Older models ask for no signature.
	if text, ok := follow("gemini-2.5-flash-lite", unsigned); !ok {
		t.Errorf("%s", text)
	}
}

// What Gemini refuses beside the contents of a request, by the model sheet.
func TestGoogleRules(t *testing.T) {
	const hi = `"contents":[{"role":"user","parts":[{"text":"Hi."}]}]`
	const own, search = `{"functionDeclarations":[{"name":"now"}]}`, `{"googleSearch":{}}`
	think := func(config string) string {
		return `"generationConfig":{"maxOutputTokens":9000,"thinkingConfig":{` + config + `}}`
	}
	for _, c := range []struct{ model, fields, want string }{ // want: the error, or else what the brain is asked to think with
		{"gemini-4-hydrogen", think(`"thinkingBudget":1024`), "Thinking budget is not supported for this model."},
		{"gemini-9-of-tomorrow", think(`"thinkingBudget":1024`), "Thinking budget is not supported for this model."},
		{"house", think(`"thinkingBudget":1024`), "Thinking budget is not supported for this model."},
		{"gemini-4-hydrogen", think(`"thinkingLevel":"XHIGH"`), "effort xhigh"},
		{"gemini-4-argon", think(`"thinkingLevel":"XHIGH"`), "Thinking level XHIGH is not supported for this model."},
		{"gemini-3.8-flash", think(`"thinkingLevel":"minimal"`), "Thinking level MINIMAL is not supported for this model."},
		{"gemini-3.6-flash", think(`"thinkingLevel":"minimal"`), "effort minimal"},
		{"gemini-4-hydrogen", think(`"thinkingLevel":"HUGE"`), "Invalid value at 'generation_config.thinking_config.thinking_level'"},
		{"gemini-4-hydrogen", think(`"thinkingLevel":"LOW","thinkingBudget":600`), "You can only set only one of thinking budget and thinking level."},
		{"gemini-2.5-flash-lite", think(`"thinkingLevel":"LOW"`), "Thinking level is not supported for this model."},
		{"gemini-2.5-flash-lite", think(`"thinkingBudget":4500`), "effort high"}, // of 9000 tokens
		{"gemini-2.5-flash-lite", think(`"thinkingBudget":1024`), "effort low"},
		{"gemini-2.5-flash-lite", think(`"thinkingBudget":-1`), "effort "},
		{"gemini-2.5-flash-lite", think(`"thinkingBudget":0`), "effort none"},
		{"gemini-2.5-flash-lite", think(`"thinkingBudget":99`), "The thinking budget 99 is invalid."},
		{"gemini-4-hydrogen", `"tools":[` + own + `,` + search + `]`, "Please enable tool_config.include_server_side_tool_invocations"},
		{"gemini-4-hydrogen", `"tools":[` + own + `,` + search + `],"toolConfig":{"includeServerSideToolInvocations":true}`, "effort "},
		{"gemini-2.5-flash-lite", `"tools":[` + own + `,` + search + `]`, "Tool use with function calling is unsupported"},
		{"gemini-2.5-flash-lite", `"tools":[` + own + `],"generationConfig":{"responseMimeType":"application/json"}`, "Function calling with a response mime type: 'application/json' is unsupported"},
		{"gemini-4-hydrogen", `"tools":[` + own + `],"generationConfig":{"responseMimeType":"application/json"}`, "effort "},
		{"gemini-4-hydrogen", `"generationConfig":{"candidateCount":2}`, "Multiple candidates is not enabled for this model"},
		{"gemini-4-hydrogen", `"cachedContent":"cachedContents/x","systemInstruction":{"parts":[{"text":"x"}]}`, "CachedContent can not be used with GenerateContent request setting system_instruction"},
		{"gemini-4-hydrogen", `"continuationToken":"YQ=="`, "Invalid continuation token"},
		{"gemini-4-hydrogen", `"contents":[{"role":"user","parts":[{"text":"Hi."}]},{"role":"model","parts":[{"text":"{"}]}]`, "Requests ending with a model turn are not supported."},
		{"gemini-3.1-pro-preview", `"contents":[{"role":"user","parts":[{"text":"Hi."}]},{"role":"model","parts":[{"text":"{"}]}]`, "effort "},
	} {
		fake, url := serve(t, pawl.ModelFunc(func(context.Context, pawl.Request) (pawl.Reply, error) { return pawl.Say("Yes."), nil }), nil)
		body := "{" + hi + "," + c.fields + "}"
		if strings.HasPrefix(c.fields, `"contents"`) {
			body = "{" + c.fields + "}"
		}
		res, text := send(t, url, "/v1beta/models/"+c.model+":generateContent", body)
		if effort, fine := strings.CutPrefix(c.want, "effort "); fine {
			if got := fake.Requests()[0].Decoded.Sampling.Effort; res.StatusCode != http.StatusOK || got != effort {
				t.Errorf("%s %s: effort %q, status %d: %s", c.model, c.fields, got, res.StatusCode, text)
			}
		} else if res.StatusCode != http.StatusBadRequest || !strings.Contains(text, c.want) {
			t.Errorf("%s %s: status %d: %s; want %s", c.model, c.fields, res.StatusCode, text, c.want)
		}
	}
}

// A model of today thinks unless it is asked not to; it shows its thoughts where they are asked for, and
// they count for the limit of its reply. A temperature that a model ignores does not reach the brain.
func TestGoogleThinks(t *testing.T) {
	reply := pawl.Reply{Parts: []pawl.Part{pawl.Thinking{Text: strings.Repeat("Hm. ", 20)}, pawl.Text{Text: strings.Repeat("Yes. ", 8)}, pawl.Call{Tool: "now", Args: json.RawMessage(`{}`)}}}
	for _, c := range []struct{ model, config, want string }{
		{"gemini-4-hydrogen", `"thinkingConfig":{"includeThoughts":true}`, "80 thought, 40 said, calls, STOP"},
		{"gemini-4-hydrogen", `"temperature":0.5`, "0 thought, 40 said, calls, STOP"},
		{"gemini-2.5-flash-lite", `"thinkingConfig":{"includeThoughts":true},"temperature":0.5`, "0 thought, 40 said, calls, STOP"}, // it thinks when it is asked to
		{"gemini-2.5-flash-lite", `"thinkingConfig":{"includeThoughts":true,"thinkingBudget":512}`, "80 thought, 40 said, calls, STOP"},
		{"gemini-4-hydrogen", `"thinkingConfig":{"includeThoughts":true},"maxOutputTokens":25`, "80 thought, 18 said, MAX_TOKENS 25"},
		{"gemini-4-hydrogen", `"thinkingConfig":{"includeThoughts":true},"maxOutputTokens":30`, "80 thought, 38 said, MAX_TOKENS 30"},
		{"gemini-4-hydrogen", `"thinkingConfig":{"includeThoughts":true},"maxOutputTokens":5`, "19 thought, 0 said, MAX_TOKENS 5"},
	} {
		fake, url := serve(t, script.Replies(reply), nil)
		_, text := send(t, url, "/v1beta/models/"+c.model+":generateContent", `{"contents":[{"parts":[{"text":"Hi."}]}],"generationConfig":{`+c.config+`}}`)
		var doc map[string]any
		if err := json.Unmarshal([]byte(text), &doc); err != nil {
			t.Fatal(err)
		}
		thought, said, calls := 0, 0, ""
		parts, _ := dig(doc, "candidates", 0, "content", "parts").([]any)
		for _, p := range parts {
			text, _ := dig(p, "text").(string)
			switch {
			case dig(p, "functionCall") != nil:
				calls = "calls, "
			case dig(p, "thought") != nil:
				thought += len(text)
			default:
				said += len(text)
			}
		}
		got := fmt.Sprintf("%d thought, %d said, %s%v", thought, said, calls, dig(doc, "candidates", 0, "finishReason"))
		if strings.HasSuffix(got, "MAX_TOKENS") {
			got += fmt.Sprintf(" %v", dig(doc, "usageMetadata", "candidatesTokenCount"))
		}
		if got != c.want {
			t.Errorf("%s %s: %s, want %s", c.model, c.config, got, c.want)
		}
		if warm := fake.Requests()[0].Decoded.Sampling.Temperature; warm != 0 && c.model == "gemini-4-hydrogen" {
			t.Errorf("the brain has a temperature of %v", warm)
		}
	}
}

// The rest of a reply is for the request that it belongs to.
func TestGoogleContinues(t *testing.T) {
	_, url := serve(t, script.Replies(pawl.Say("One, two, three, four.")), &Options{Faults: []Fault{Must("continuation")}})
	const path = "/v1beta/models/gemini-4-hydrogen:generateContent"
	ask := func(text, more string) (said, reason, token string) {
		_, body := send(t, url, path, `{"contents":[{"role":"user","parts":[{"text":"`+text+`"}]}]`+more+`}`)
		var doc map[string]any
		if err := json.Unmarshal([]byte(body), &doc); err != nil {
			t.Fatal(err)
		}
		said, _ = dig(doc, "candidates", 0, "content", "parts", 0, "text").(string)
		reason, _ = dig(doc, "candidates", 0, "finishReason").(string)
		token, _ = dig(doc, "candidates", 0, "continuationToken").(string)
		if message, refused := dig(doc, "error", "message").(string); refused {
			reason = message
		}
		return said, reason, token
	}
	first, reason, token := ask("Count.", "")
	if reason != "CONTINUATION" || token == "" {
		t.Fatalf("the first response says %q and ends with %s, %q", first, reason, token)
	}
	with := `,"continuationToken":"` + token + `"`
	if _, reason, _ := ask("Count on.", with); !strings.Contains(reason, "Invalid continuation token") {
		t.Errorf("another request goes on: %s", reason)
	}
	rest, reason, token := ask("Count.", with+`,"generationConfig":{"maxOutputTokens":77}`)
	if first+rest != "One, two, three, four." || reason != "STOP" || token != "" {
		t.Errorf("%q and then %q, %s, %q", first, rest, reason, token)
	}
}
