package fakeprovider

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/model/script"
)

// said is a message of a request.
func said(role string, content any) any { return map[string]any{"role": role, "content": content} }

// always is a brain that says the same each time.
func always(parts ...pawl.Part) pawl.Model {
	return pawl.ModelFunc(func(context.Context, pawl.Request) (pawl.Reply, error) { return pawl.Reply{Parts: parts}, nil })
}

// claude sends a request and returns the answer's document. Its fields win over those of a
// usual one.
func claude(t *testing.T, url string, fields map[string]any) (doc any, ok bool) {
	t.Helper()
	body := map[string]any{"model": "claude-sonnet-5-5", "max_tokens": 100, "messages": []any{said("user", "Hi.")}}
	maps.Copy(body, fields)
	raw, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	res, text := send(t, url, "/v1/messages", string(raw))
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	return doc, res.StatusCode == http.StatusOK
}

// What a server plays decides, whatever the request names; a name that nobody knows is that of
// the provider's default.
func TestPlays(t *testing.T) {
	for _, c := range []struct {
		plays, named string
		want         bool
	}{
		{"", "claude-haiku-4-5", true}, {"", "claude-sonnet-5-5", false}, {"", "m", false},
		{"claude-haiku-4-5", "m", true}, {"claude-opus-5-5", "claude-haiku-4-5", false},
	} {
		_, url := serve(t, script.Replies(pawl.Say("Ho.")), &Options{Plays: c.plays})
		if doc, ok := claude(t, url, map[string]any{"model": c.named, "temperature": 0.5}); ok != c.want {
			t.Errorf("%s that plays %q took a temperature: %v, want %v (%v)", c.named, c.plays, ok, c.want, doc)
		}
	}
	_, url := serve(t, always(pawl.Text{Text: "Ho."}), &Options{Plays: "gpt-6.2-sol"})
	if res, text := send(t, url, "/v1/chat/completions", `{"model":"house","temperature":0.5,"messages":[{"role":"user","content":"Hi."}]}`); res.StatusCode != http.StatusBadRequest {
		t.Errorf("a server that plays OpenAI's took a temperature: %s", text)
	}
}

// How a request asks to think decides whether it gets the text, a signature alone or neither.
func TestShownThinking(t *testing.T) {
	for name, c := range map[string]struct {
		model   string
		think   any
		results bool
		want    string
	}{
		"summarized":    {"claude-sonnet-5-5", map[string]any{"type": "adaptive", "display": "summarized"}, false, "thinking Hm. text"},
		"by default":    {"claude-sonnet-5-5", map[string]any{"type": "adaptive"}, false, "thinking  text"},
		"unasked":       {"claude-sonnet-5-5", nil, false, "thinking  text"},
		"before tools":  {"claude-sonnet-5-5", map[string]any{"type": "between_tools"}, false, "text"},
		"between tools": {"claude-sonnet-5-5", map[string]any{"type": "between_tools"}, true, "thinking Hm. text"},
		"disabled":      {"claude-haiku-5-5", map[string]any{"type": "disabled"}, true, "text"},
		"older":         {"claude-sonnet-4-6", map[string]any{"type": "adaptive"}, false, "thinking Hm. text"},
	} {
		_, url := serve(t, always(pawl.Thinking{Text: "Hm."}, pawl.Text{Text: "Ho."}), nil)
		fields := map[string]any{"model": c.model}
		if c.think != nil {
			fields["thinking"] = c.think
		}
		if c.results {
			fields["tools"] = []any{map[string]any{"name": "f", "input_schema": map[string]any{"type": "object"}}}
			fields["messages"] = []any{
				said("user", "Hi."),
				said("assistant", []any{map[string]any{"type": "tool_use", "id": "t", "name": "f", "input": map[string]any{}}}),
				said("user", []any{map[string]any{"type": "tool_result", "tool_use_id": "t", "content": "ok"}}),
			}
		}
		doc, ok := claude(t, url, fields)
		var got []string
		for i := 0; dig(doc, "content", i) != nil; i++ {
			kind := dig(doc, "content", i, "type").(string)
			if kind == "thinking" {
				kind += " " + dig(doc, "content", i, "thinking").(string)
			}
			got = append(got, kind)
		}
		if got := strings.Join(got, " "); !ok || got != c.want {
			t.Errorf("%s: %s, want %s (%v)", name, got, c.want, doc)
		}
	}
}

// A reply ends at the most tokens of its request, as the brain or the server counts them.
func TestMostTokens(t *testing.T) {
	long := strings.Repeat("word ", 100)
	_, url := serve(t, always(pawl.Text{Text: long}), nil)
	doc, _ := claude(t, url, map[string]any{"max_tokens": 10})
	if text, why, n := dig(doc, "content", 0, "text"), dig(doc, "stop_reason"), dig(doc, "usage", "output_tokens"); text != long[:40] || why != "max_tokens" || n != 10.0 {
		t.Errorf("%q, %v after %v tokens", text, why, n)
	}
	counted := pawl.Reply{Parts: pawl.Say(long).Parts, Usage: pawl.Usage{Input: 1, Output: 10}}
	_, url = serve(t, script.Replies(counted), nil)
	if doc, _ = claude(t, url, map[string]any{"max_tokens": 10}); dig(doc, "content", 0, "text") != long {
		t.Errorf("a reply that fits as it was counted is cut: %v", doc)
	}
}

func TestStopDetails(t *testing.T) {
	_, url := serve(t, script.Replies(pawl.Reply{Stop: pawl.StopRefusal, Filter: "cyber: It asks for an exploit.", Parts: pawl.Say("No.").Parts}), nil)
	doc, _ := claude(t, url, nil)
	if got := dig(doc, "stop_details"); dig(doc, "stop_reason") != "refusal" || dig(got, "category") != "cyber" || dig(got, "explanation") != "It asks for an exploit." {
		t.Errorf("%v", doc)
	}
}

// A prompt is cached to its last mark, from the size that its model caches, and read as far as
// it is the same.
func TestCache(t *testing.T) {
	mark := func(text, ttl string) any {
		cache := map[string]any{"type": "ephemeral"}
		if ttl != "" {
			cache["ttl"] = ttl
		}
		return map[string]any{"type": "text", "text": text, "cache_control": cache}
	}
	_, url := serve(t, always(pawl.Text{Text: "Ho."}), nil)
	long := strings.Repeat("word ", 1000)
	for _, c := range []struct {
		name                string
		system              []any
		read, written, hour bool
	}{
		{"the first", []any{mark(long, "")}, false, true, false},
		{"the same", []any{mark(long, "")}, true, false, false},
		{"more of it", []any{mark(long, ""), mark(long, "1h")}, true, true, true},
		{"another", []any{mark("Other. "+long, "")}, false, true, false},
		{"a short one", []any{mark("Short.", "")}, false, false, false},
		{"a short one again", []any{mark("Short.", "")}, false, false, false},
	} {
		doc, ok := claude(t, url, map[string]any{"system": c.system})
		u := dig(doc, "usage")
		read, written, hour := dig(u, "cache_read_input_tokens") != 0.0, dig(u, "cache_creation_input_tokens") != 0.0, dig(u, "cache_creation", "ephemeral_1h_input_tokens") != 0.0
		if !ok || read != c.read || written != c.written || hour != c.hour {
			t.Errorf("%s: %v", c.name, u)
		}
	}
}

// A model that binds its thinking takes it back behind what it was made behind, and no other.
func TestBoundThinking(t *testing.T) {
	for model, bound := range map[string]bool{"claude-sonnet-5-5": true, "claude-sonnet-5": false} {
		_, url := serve(t, always(pawl.Thinking{Text: "Hm."}, pawl.Text{Text: "Ho."}), nil)
		doc, _ := claude(t, url, map[string]any{"model": model, "system": "Be brief."})
		reply := said("assistant", dig(doc, "content"))
		for name, c := range map[string]struct {
			fields map[string]any
			moved  bool
		}{
			"as it was":       {map[string]any{"system": "Be brief."}, false},
			"more effort":     {map[string]any{"system": "Be brief.", "output_config": map[string]any{"effort": "max"}}, false},
			"another system":  {map[string]any{"system": "Be long."}, true},
			"a tool more":     {map[string]any{"system": "Be brief.", "tools": []any{map[string]any{"name": "f", "input_schema": map[string]any{"type": "object"}}}}, true},
			"another message": {map[string]any{"system": "Be brief.", "messages": []any{said("user", "Hello."), reply, said("user", "So?")}}, true},
		} {
			if c.fields["messages"] == nil {
				c.fields["messages"] = []any{said("user", "Hi."), reply, said("user", "So?")}
			}
			c.fields["model"] = model
			if doc, ok := claude(t, url, c.fields); ok != (!bound || !c.moved) {
				t.Errorf("%s, %s: %v", model, name, doc)
			}
		}
	}
}

// Citations come with their text and are taken back as they came.
func TestCitations(t *testing.T) {
	fake, url := serve(t, script.Replies(pawl.Reply{Parts: []pawl.Part{
		pawl.Text{Text: "It is 828 metres high."}, pawl.Citation{Title: "T", URL: "https://a.example/", Quote: "828 metres"},
	}}, pawl.Say("Yes.")), nil)
	doc, _ := claude(t, url, nil)
	cited := dig(doc, "content", 0, "citations", 0)
	if dig(cited, "type") != "web_search_result_location" || dig(cited, "cited_text") != "828 metres" || dig(cited, "encrypted_index") == "" {
		t.Fatalf("%v", doc)
	}
	if doc, ok := claude(t, url, map[string]any{"messages": []any{said("user", "How high?"), said("assistant", dig(doc, "content")), said("user", "Sure?")}}); !ok {
		t.Errorf("%v", doc)
	}
	parts := fake.Requests()[1].Decoded.Messages[1].Parts
	if c, ok := parts[len(parts)-1].(pawl.Citation); !ok || c.Quote != "828 metres" || c.URL != "https://a.example/" {
		t.Errorf("%v", parts)
	}
}
