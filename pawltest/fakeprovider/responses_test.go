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

const (
	responsesAsk = `{"model":"gpt-6.2-sol","instructions":"Be brief.","include":["reasoning.encrypted_content"],"reasoning":{"summary":"auto"},"stream":true,"max_output_tokens":100,
		"tools":[{"type":"function","name":"weather","parameters":{"type":"object"}}],"input":[{"role":"user","content":[{"type":"input_text","text":"Weather?"}]}]}`
	googleAsk = `{"systemInstruction":{"parts":[{"text":"Be brief."}]},"generationConfig":{"maxOutputTokens":100,"thinkingConfig":{"includeThoughts":true}},
		"tools":[{"functionDeclarations":[{"name":"weather","parameters":{"type":"object"}}]}],"contents":[{"role":"user","parts":[{"text":"Weather?"}]}]}`
	googleStream = "/v1beta/models/gemini-4-hydrogen:streamGenerateContent?alt=sse"
)

func TestResponsesWire(t *testing.T) {
	fake, url := serve(t, script.Replies(lookup(), pawl.Say("Blue.")), nil)
	_, text := send(t, url, "/v1/responses", responsesAsk)
	docs := events(t, text)
	end := docs[len(docs)-1]["response"]
	output := dig(end, "output").([]any)

	// What came goes back, with the results.
	follow := func(change func(output []any) []any) (string, bool) {
		var items []any
		copied, _ := json.Marshal(output)
		if err := json.Unmarshal(copied, &items); err != nil {
			t.Fatal(err)
		}
		input := append([]any{map[string]any{"role": "user", "content": "Weather?"}}, items...)
		for _, i := range []int{2, 3} {
			input = append(input, map[string]any{"type": "function_call_output", "call_id": dig(output, i, "call_id"), "output": "fine"})
		}
		body, _ := json.Marshal(map[string]any{"model": "gpt-6.2-sol", "input": change(input)})
		res, text := send(t, url, "/v1/responses", string(body))
		return text, res.StatusCode == http.StatusOK
	}
	if text, ok := follow(func(in []any) []any { return in }); !ok || !strings.Contains(text, "Blue.") {
		t.Errorf("%s", text)
	}
	got := fake.Requests()[1].Decoded.Messages
	if len(got) != 3 || got[1].Parts[0].(pawl.Thinking).Text != "They want the weather, for which there is a tool." || got[2].Parts[0].(pawl.ToolResult).Tool != "weather" {
		t.Errorf("decoded %+v", got)
	}
	id := func(i int) string { return dig(output, i, "id").(string) }
	for want, change := range map[string]func(in []any) []any{
		"Item '" + id(0) + "' of type 'reasoning' was provided without its required following item.":                  func(in []any) []any { return in[:2] },
		"Item '" + id(1) + "' of type 'message' was provided without its required 'reasoning' item: '" + id(0) + "'.": func(in []any) []any { return slices.Delete(in, 1, 2) },
		"No tool output found for function call ":                                                                     func(in []any) []any { return in[:len(in)-1] },
		"No tool call found for function call output with call_id ":                                                   func(in []any) []any { return slices.Delete(in, 4, 5) },
		"Duplicate item found with id ":                                                                               func(in []any) []any { return slices.Insert(in, 4, in[3]) },
		"Duplicate function call output found for call_id ":                                                           func(in []any) []any { return append(in, in[len(in)-1]) },
		"Missing required parameter: 'input[3].name'.":                                                                func(in []any) []any { delete(in[3].(map[string]any), "name"); return in },
		"Invalid 'input[3].arguments': expected the JSON of an object":                                                func(in []any) []any { in[3].(map[string]any)["arguments"] = "[1]"; return in },
		"could not be verified":                                                                                       func(in []any) []any { in[1].(map[string]any)["encrypted_content"] = "gAAAA"; return in },
		"Invalid value: 'odd'.":                                                                                       func(in []any) []any { return append(in, map[string]any{"type": "odd"}) },
		"Invalid 'input[0].content[0].text': empty string.": func(in []any) []any {
			in[0].(map[string]any)["content"] = []any{map[string]any{"type": "input_text", "text": ""}}
			return in
		},
	} {
		if text, ok := follow(change); ok || !strings.Contains(text, want) {
			t.Errorf("%s, want %s", text, want)
		}
	}
}
