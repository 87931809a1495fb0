package openai_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/testkit/modeltest"
	"github.com/pawl-run/pawl/internal/testkit/wiretest"
	"github.com/pawl-run/pawl/model/openai"
)

// chunked is a stream of Chat Completions whose events have these choices, each a delta or, if it
// has one of its keys, an event.
func chunked(deltas ...string) string {
	var b strings.Builder
	for _, d := range deltas {
		switch {
		case d == "[DONE]":
		case strings.HasPrefix(d, `{"choices"`), strings.HasPrefix(d, `{"usage"`):
		default:
			d = `{"choices":[{"index":0,"delta":` + d + `,"finish_reason":null}]}`
		}
		b.WriteString("data: " + d + "\n\n")
	}
	return b.String()
}

func ended(reason string) string {
	return `{"choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}],"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}}`
}

func fragments(list ...string) string { return `{"tool_calls":[` + strings.Join(list, ",") + `]}` }

// streaming returns a model whose server answers every request with a stream.
func streaming(name, stream string, o openai.Options) *openai.Model {
	o.APIKey = "key"
	o.HTTPClient = &http.Client{Transport: served{http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", map[bool]string{true: "application/json", false: "text/event-stream"}[stream[0] == '{'])
		_, _ = io.WriteString(w, stream)
	})}}
	return openai.New(name, &o)
}

var twoTools = pawl.Request{
	Messages: []pawl.Message{wiretest.User(pawl.Text{Text: "Look."})},
	Tools:    []pawl.ToolInfo{{Name: "look"}, {Name: "now"}},
}

// The reader follows what the fragments of calls can mean.
func TestCallsOfCompatibleServers(t *testing.T) {
	for name, c := range map[string]struct {
		deltas []string
		want   string // the calls, in order
	}{
		"the head of the second call at the first index": {[]string{
			fragments(`{"index":0,"id":"a","function":{"name":"look","arguments":""}}`), fragments(`{"index":0,"function":{"arguments":"{\"q\":\"1\"}"}}`),
			fragments(`{"index":0,"id":"b","function":{"name":"look","arguments":""}}`), fragments(`{"index":1,"function":{"arguments":"{\"q\":\"2\"}"}}`),
		}, `a look {"q":"1"}, b look {"q":"2"}`},
		"the same, its arguments in pieces at the first index": {[]string{
			fragments(`{"index":0,"id":"a","function":{"name":"look","arguments":"{\"q\":\"1\"}"}}`),
			fragments(`{"index":1,"id":"b","function":{"name":"look"}}`), fragments(`{"index":0,"function":{"arguments":"{\"q\":"}}`), fragments(`{"index":0,"function":{"arguments":"\"2\"}"}}`),
		}, `a look {"q":"1"}, b look {"q":"2"}`},
		"every call is number 0": {[]string{
			fragments(`{"index":0,"id":"a","function":{"name":"look","arguments":"{}"}}`), fragments(`{"index":0,"id":"b","function":{"name":"now","arguments":"{}"}}`),
		}, `a look {}, b now {}`},
		"no index and no id": {[]string{
			fragments(`{"function":{"name":"look","arguments":"{\"q\":1}"}}`, `{"function":{"name":"look","arguments":"{\"q\":2}"}}`),
		}, `look {"q":1}, look {"q":2}`},
		"ids that change": {[]string{
			fragments(`{"index":0,"id":"a","function":{"name":"look","arguments":""}}`), fragments(`{"index":0,"id":"b","function":{"arguments":"{\"q\":"}}`), fragments(`{"index":0,"id":"c","function":{"arguments":"1}"}}`),
		}, `a look {"q":1}`},
		"ids and names that are repeated": {[]string{
			fragments(`{"index":0,"id":"a","function":{"name":"look","arguments":"{\"q\""}}`), fragments(`{"index":0,"id":"a","function":{"name":"look","arguments":":1}"}}`),
		}, `a look {"q":1}`},
		"calls by turns": {[]string{
			fragments(`{"index":0,"id":"a","function":{"name":"look"}}`, `{"index":1,"id":"b","function":{"name":"now"}}`),
			fragments(`{"index":0,"function":{"arguments":"{\"q\":"}}`), fragments(`{"index":1,"function":{"arguments":"{"}}`), fragments(`{"index":0,"function":{"arguments":"1}"}}`), fragments(`{"index":1,"function":{"arguments":"}"}}`),
		}, `a look {"q":1}, b now {}`},
		"a name in two pieces": {[]string{
			fragments(`{"index":0,"id":"a","function":{"name":"lo"}}`), fragments(`{"index":0,"function":{"name":"ok"}}`), fragments(`{"index":0,"function":{"arguments":"{}"}}`),
		}, `a look {}`},
		"two calls without arguments": {[]string{
			fragments(`{"index":0,"function":{"name":"look"}}`), fragments(`{"index":0,"function":{"name":"now"}}`),
		}, `look {}, now {}`},
		"a name behind its id": {[]string{
			fragments(`{"index":0,"id":"a"}`), fragments(`{"index":0,"function":{"name":"look","arguments":"{}"}}`),
		}, `a look {}`},
		"arguments as an object": {[]string{
			fragments(`{"index":0,"id":"a","function":{"name":"look","arguments":{"q":1}}}`),
		}, `a look {"q":1}`},
		"an empty object in the place of arguments to come": {[]string{
			fragments(`{"index":0,"id":"a","function":{"name":"look","arguments":"{}"}}`), fragments(`{"index":0,"function":{"arguments":"{\"q\":1}"}}`),
		}, `a look {"q":1}`},
		"arguments that are null": {[]string{
			fragments(`{"index":0,"id":"a","function":{"name":"now","arguments":null}}`), fragments(`{"index":0,"id":null,"function":{"name":null,"arguments":"{}"}}`),
		}, `a now {}`},
		"an id that is a number": {[]string{fragments(`{"index":0,"id":7,"function":{"name":"now","arguments":"{}"}}`)}, `7 now {}`},
		"the older form":         {[]string{`{"function_call":{"name":"look","arguments":"{\"q\":"}}`, `{"function_call":{"arguments":"1}"}}`}, `look {"q":1}`},
		"a whole message":        {[]string{`{"choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"now","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`}, `a now {}`},
	} {
		t.Run(name, func(t *testing.T) {
			m := streaming("house", chunked(append(c.deltas, ended("tool_calls"), "[DONE]")...), openai.Options{API: openai.Chat})
			var got []string
			r, err := modeltest.Ask(t, m, twoTools)
			must(t, err)
			for _, p := range r.Parts {
				if call, ok := p.(pawl.Call); ok {
					got = append(got, strings.TrimSpace(fmt.Sprintf("%s %s %s", call.Ref, call.Tool, call.Args)))
				}
			}
			if d := cmp.Diff(c.want, strings.Join(got, ", ")); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// Text, thinking and ends come in several forms.
func TestRepliesOfCompatibleServers(t *testing.T) {
	for name, c := range map[string]struct {
		deltas []string
		want   string
	}{
		"a finish reason in every event": {[]string{
			`{"choices":[{"index":0,"delta":{"content":"hel"},"finish_reason":"stop"}]}`, `{"choices":[{"index":0,"delta":{"content":"lo"},"finish_reason":"stop"}]}`, ended("stop"), "[DONE]",
		}, `end: text "hello"`},
		"the same, broken off": {[]string{
			`{"choices":[{"index":0,"delta":{"content":"hel"},"finish_reason":"stop"}]}`, `{"choices":[{"index":0,"delta":{"content":"lo"},"finish_reason":"stop"}]}`,
		}, "truncated"},
		"the word null as a reason":  {[]string{`{"choices":[{"index":0,"delta":{"content":"hello"},"finish_reason":"null"}]}`, ended("stop"), "[DONE]"}, `end: text "hello"`},
		"no [DONE]":                  {[]string{`{"content":"hello"}`, ended("stop")}, `end: text "hello"`},
		"no reason":                  {[]string{`{"content":"hello"}`, "[DONE]"}, "truncated"},
		"end_turn":                   {[]string{`{"content":"hello"}`, ended("end_turn"), "[DONE]"}, `end: text "hello"`},
		"STOP":                       {[]string{`{"content":"hello"}`, ended("STOP"), "[DONE]"}, `end: text "hello"`},
		"COMPLETE":                   {[]string{`{"content":"hello"}`, ended("COMPLETE"), "[DONE]"}, `end: text "hello"`},
		"eos":                        {[]string{`{"content":"hello"}`, ended("eos"), "[DONE]"}, `end: text "hello"`},
		"stop_sequence":              {[]string{`{"content":"hello"}`, ended("stop_sequence"), "[DONE]"}, `end: text "hello"`},
		"MAX_TOKENS":                 {[]string{`{"content":"hello"}`, ended("MAX_TOKENS"), "[DONE]"}, `length: text "hello"`},
		"SAFETY":                     {[]string{`{"content":"hello"}`, ended("SAFETY"), "[DONE]"}, `refusalSAFETY: text "hello"`},
		"a call that cannot be read": {[]string{`{"content":"hello"}`, ended("MALFORMED_FUNCTION_CALL"), "[DONE]"}, "empty"},
		"content as a list":          {[]string{`{"content":[{"type":"text","text":"hel"}]}`, `{"content":["lo"]}`, ended("stop"), "[DONE]"}, `end: text "hello"`},
		"content that is null":       {[]string{`{"content":null,"refusal":null,"reasoning":null,"tool_calls":null}`, `{"content":"hello"}`, ended("stop"), "[DONE]"}, `end: text "hello"`},
		"thinking in a list": {[]string{
			`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"Hm."}]}]}`, `{"content":[{"type":"text","text":"hello"}]}`, ended("stop"), "[DONE]",
		}, `end: thinking "Hm." ; text "hello"`},
		"thinking with details": {[]string{
			`{"reasoning":"H","reasoning_details":[{"type":"reasoning.text","text":"H","index":0}]}`, `{"reasoning":"m","reasoning_details":[{"type":"reasoning.text","text":"m","signature":"S","index":0}]}`,
			`{"reasoning_details":[{"type":"reasoning.encrypted","data":"ENC","index":1}]}`, `{"content":"hello"}`, ended("stop"), "[DONE]",
		}, `end: thinking "Hm" {"reasoning":"Hm","reasoning_details":[{"index":0,"signature":"S","text":"Hm","type":"reasoning.text"},{"data":"ENC","index":1,"type":"reasoning.encrypted"}]}; text "hello"`},
		"sources": {[]string{`{"content":"hello"}`, `{"annotations":[{"type":"url_citation","url_citation":{"url":"http://a","title":"A"}}]}`, ended("stop"), "[DONE]"}, `end: text "hello"; "A" http://a`},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			for chunk, err := range streaming("house", chunked(c.deltas...), openai.Options{API: openai.Chat}).Stream(t.Context(), twoTools) {
				if err != nil {
					got = class(err).String()
				} else if chunk.Reply != nil {
					var parts []string
					for _, p := range chunk.Reply.Parts {
						switch p := p.(type) {
						case pawl.Text:
							parts = append(parts, fmt.Sprintf("text %q", p.Text))
						case pawl.Thinking:
							parts = append(parts, fmt.Sprintf("thinking %q %s", p.Text, p.Opaque))
						case pawl.Citation:
							parts = append(parts, fmt.Sprintf("%q %s", p.Title, p.URL))
						}
					}
					got = chunk.Reply.Stop.String() + chunk.Reply.Filter + ": " + strings.Join(parts, "; ")
				}
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// Nothing is booked below what the server says anywhere.
func TestUsageOfCompatibleServers(t *testing.T) {
	for name, c := range map[string]struct {
		usage string
		want  pawl.Usage
	}{
		"OpenAI's":                   {`{"prompt_tokens":100,"completion_tokens":50,"total_tokens":150,"prompt_tokens_details":{"cached_tokens":60,"cache_write_tokens":30},"completion_tokens_details":{"reasoning_tokens":40}}`, pawl.Usage{Input: 100, Output: 50, CacheRead: 60, CacheWrite: 30, Reasoning: 40}},
		"reasoning beside":           {`{"prompt_tokens":100,"completion_tokens":10,"total_tokens":3110,"completion_tokens_details":{"reasoning_tokens":3000}}`, pawl.Usage{Input: 100, Output: 3010, Reasoning: 3000}},
		"reasoning beside, no total": {`{"prompt_tokens":100,"completion_tokens":10,"completion_tokens_details":{"reasoning_tokens":3000}}`, pawl.Usage{Input: 100, Output: 3010, Reasoning: 3000}},
		"a total that has more":      {`{"prompt_tokens":100,"completion_tokens":10,"total_tokens":200}`, pawl.Usage{Input: 100, Output: 100}},
		"more cached than sent":      {`{"prompt_tokens":5,"completion_tokens":10,"prompt_cache_hit_tokens":90}`, pawl.Usage{Input: 90, Output: 10, CacheRead: 90}},
		"the names of others":        {`{"input_tokens":7,"output_tokens":8}`, pawl.Usage{Input: 7, Output: 8}},
		"numbers as texts":           {`{"prompt_tokens":"7","completion_tokens":8.0}`, pawl.Usage{Input: 7, Output: 8}},
		"nothing":                    {`{}`, pawl.Usage{}},
		"no output beside an input":  {`{"prompt_tokens":70,"completion_tokens":null}`, pawl.Usage{Input: 70, Output: 1}},
		"all is null":                {`{"prompt_tokens":null,"completion_tokens":null,"total_tokens":null}`, pawl.Usage{}},
	} {
		for where, event := range map[string]string{
			"of the event":  `{"usage":` + c.usage + `}`,
			"of the choice": `{"choices":[{"index":0,"delta":{},"finish_reason":"stop","usage":` + c.usage + `}]}`,
		} {
			stream := chunked(`{"content":"hello"}`, `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`, event, `{"usage":null,"choices":[]}`, "[DONE]")
			r, err := modeltest.Ask(t, streaming("house", stream, openai.Options{API: openai.Chat}), twoTools)
			must(t, err)
			if d := cmp.Diff(c.want, r.Usage); d != "" {
				t.Errorf("%s, %s (-want +got):\n%s", name, where, d)
			}
		}
	}
	// An input that is missing, or cannot be, is estimated from the bytes that were sent.
	for _, input := range []string{"null", "-7", "0", `"many"`} {
		stream := chunked(`{"content":"hello"}`, strings.Replace(ended("stop"), `"prompt_tokens":10,`, `"prompt_tokens":`+input+`,`, 1), "[DONE]")
		r, err := modeltest.Ask(t, streaming("house", stream, openai.Options{API: openai.Chat}), twoTools)
		must(t, err)
		if r.Usage.Input < 50 || r.Usage.Input > 500 || r.Usage.Output != 5 {
			t.Errorf("an input of %s is estimated as %+v", input, r.Usage)
		}
	}
}

func TestAReplyThatIsNotStreamed(t *testing.T) {
	const whole = `{"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}], "usage": {"completion_tokens": 8}}`
	r, err := modeltest.Ask(t, streaming("house", whole, openai.Options{API: openai.Chat}), twoTools)
	must(t, err)
	if r.Text() != "hi" || r.Usage.Output != 8 {
		t.Errorf("%+v", r)
	}
}

// A reply whose first event has an unknown form has begun all the same, so it is not free.
func TestAnUnreadableReplyHasBegun(t *testing.T) {
	for _, api := range []openai.API{openai.Chat, openai.Responses} {
		chunks := 0
		for _, err := range streaming("house", "data: {\"type\":[1],\"choices\":7}\n\n", openai.Options{API: api}).Stream(t.Context(), twoTools) {
			if err == nil {
				chunks++
			} else if class(err) != pawl.ClassUnknown {
				t.Errorf("%s: %v", api, err)
			}
		}
		if chunks == 0 {
			t.Errorf("%s: nothing says that the provider has begun", api)
		}
	}
}

// A long thought comes in thousands of pieces. What is held of it is not written again at each of them.
func TestThinkingInManyPieces(t *testing.T) {
	piece := `{"reasoning_details":[{"type":"reasoning.text","index":0,"text":"thought"}]}`
	stream := chunked(append(slices.Repeat([]string{piece}, 3000), `{"content":"so"}`, ended("stop"))...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	must(t, last(t.Context(), streaming("house", stream, openai.Options{API: openai.Chat}), twoTools))
	if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > 60<<20 {
		t.Errorf("%d bytes were allocated for %d that came", after.TotalAlloc-before.TotalAlloc, len(stream))
	}
}

// What a server wants back with a call goes back with it, to the model that sent it.
func TestWhatComesBackWithACall(t *testing.T) {
	stream := chunked(
		`{"reasoning":"let me","reasoning_details":[{"type":"reasoning.encrypted","data":"ENC","index":0}],"extra_content":{"of":"message"}}`,
		fragments(`{"index":0,"id":"a1","type":"function","extra_content":{"google":{"thought_signature":"SIG"}},"function":{"name":"look","arguments":"{}"}}`),
		fragments(`{"index":1,"id":"a2","type":"function","function":{"name":"now","arguments":"{}"}}`),
		ended("tool_calls"), "[DONE]")
	reply, err := modeltest.Ask(t, streaming("house", stream, openai.Options{API: openai.Chat}), twoTools)
	must(t, err)
	results := wiretest.User(pawl.ToolResult{Ref: "a1", Tool: "look", Content: json.RawMessage(`"x"`)}, pawl.ToolResult{Ref: "a2", Tool: "now", Content: json.RawMessage(`"y"`)})
	r := pawl.Request{Messages: []pawl.Message{twoTools.Messages[0], wiretest.Assistant(reply.Parts...), results}}
	for model, want := range map[string]string{
		"house": `{"extra_content":{"of":"message"},"reasoning":"let me","reasoning_details":[{"data":"ENC","index":0,"type":"reasoning.encrypted"}],"role":"assistant","tool_calls":[` +
			`{"extra_content":{"google":{"thought_signature":"SIG"}},"function":{"arguments":"{}","name":"look"},"id":"a1","type":"function"},{"function":{"arguments":"{}","name":"now"},"id":"a2","type":"function"}]}`,
		"other": `{"role":"assistant","tool_calls":[{"function":{"arguments":"{}","name":"look"},"id":"a1","type":"function"},{"function":{"arguments":"{}","name":"now"},"id":"a2","type":"function"}]}`,
	} {
		_, b := body(t, model, openai.Options{API: openai.Chat}, r)
		got, _ := json.Marshal(b["messages"].([]any)[1]) //nolint:forcetypeassert // it is always a list
		if d := cmp.Diff(want, string(got)); d != "" {
			t.Errorf("%s (-want +got):\n%s", model, d)
		}
	}
}

// A provider that cannot parse what its model wrote as a call has an empty reply, which is asked
// for again.
func TestACallThatTheProviderCannotParse(t *testing.T) {
	for _, refusal := range []string{
		`400 {"error":{"message":"Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.","type":"invalid_request_error","code":"tool_use_failed","failed_generation":"<x>"}}`,
		`500 {"error":{"message":"error parsing tool call: raw='{', err=unexpected end of JSON input","type":"api_error"}}`,
		`500 {"error":{"code":500,"message":"Failed to parse input at pos 12: <tool_call>","type":"server_error"}}`,
	} {
		status, text, _ := strings.Cut(refusal, " ")
		m := openai.New("house", &openai.Options{API: openai.Chat, APIKey: "key", HTTPClient: &http.Client{Transport: served{http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(map[string]int{"400": 400, "500": 500}[status])
			_, _ = io.WriteString(w, text)
		})}}})
		if err := last(t.Context(), m, twoTools); class(err) != pawl.ClassEmpty {
			t.Errorf("%s: %v", refusal, err)
		}
	}
}
