package anthropic_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/testkit/modeltest"
	"github.com/pawl-run/pawl/internal/testkit/wiretest"
	"github.com/pawl-run/pawl/model/anthropic"
)

func TestDescribe(t *testing.T) {
	t.Setenv("ANTHROPIC_BASE_URL", "")
	got := anthropic.New("claude-haiku-5-5", nil).Describe()
	want := pawl.ModelInfo{
		Name: "anthropic/claude-haiku-5-5", Endpoint: "https://api.anthropic.com", PriceFrom: "table", Reply: 128_000, Effort: "medium", Bound: true,
		Price: &pawl.Price{Input: 0.1, Output: 0.5, CacheRead: 0.01, CacheWrite: 0.125, CacheLong: 0.2, Long: pawl.Tier{From: 100_000, Input: 0.5, Output: 2.5, CacheRead: 0.05, CacheWrite: 0.625, CacheLong: 1}, Search: 0.01},
	}
	want.Wire = pawl.Wire{Frame: 550 + len("claude-haiku-5-5"), Message: 150, Tool: 100, Prompt: 804}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	t.Setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1/x/")
	got = anthropic.New("house", nil).Describe()
	if d := cmp.Diff(pawl.ModelInfo{Name: "anthropic/house", Endpoint: "http://127.0.0.1:1/x", Wire: pawl.Wire{Frame: 555, Message: 150, Tool: 100, Prompt: 804}}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

var class = wiretest.Class

const begun = `event: message_start
data: {"type":"message_start","message":{"usage":{"input_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"a"}}

`

const whole = begun + `data: {"type":"content_block_stop","index":0}

data: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}

data: {"type":"message_stop"}

`

// A server answers requests with refusals, one after the other, and then with a reply.
type server struct {
	*httptest.Server
	refusals []string
	sent     []string // the bodies of requests
}

func serve(t *testing.T, refusals ...string) *server {
	s := &server{refusals: refusals}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.sent = append(s.sent, string(body))
		if n := len(s.sent); n <= len(s.refusals) {
			w.WriteHeader(http.StatusBadRequest)
			_ = json.NewEncoder(w).Encode(map[string]any{"type": "error", "error": map[string]any{"type": "invalid_request_error", "message": s.refusals[n-1]}})
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, whole)
	}))
	t.Cleanup(s.Close)
	return s
}

// ask sends a request to a model and returns the reply and the error.
func (s *server) ask(t *testing.T, model string, r pawl.Request) (reply *pawl.Reply, err error) {
	t.Helper()
	return modeltest.Ask(t, anthropic.New(model, &anthropic.Options{APIKey: "key", BaseURL: s.URL}), r)
}

// A request that is refused for its thinking goes once more without. A model that cannot stop
// thinking thinks on without the old thinking.
func TestThinkingThatIsRefusedIsLeftOut(t *testing.T) {
	const bound = "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\"."
	for name, c := range map[string]struct {
		model, refuse string
		sent          []string // whether requests have thinking blocks, and how they ask for thinking
		class         pawl.Class
	}{
		"a signature":    {"claude-haiku-4-5", "messages.1.content.0: Invalid `signature` in `thinking` block", []string{"blocks enabled", ""}, 0},
		"another place":  {"claude-haiku-4-5", "messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified.", []string{"blocks enabled", ""}, 0},
		"another prefix": {"claude-opus-5-5", bound, []string{"blocks adaptive", "adaptive"}, 0},
		"something else": {"claude-haiku-4-5", "max_tokens: too large", []string{"blocks enabled"}, pawl.ClassInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, c.refuse)
			r := requests["history"].Request
			r.Messages = slices.Clone(r.Messages)
			r.Messages[1] = wiretest.Assistant(append([]pawl.Part{pawl.Thinking{Opaque: json.RawMessage(`{"type":"thinking","thinking":"Hm","signature":"s"}`), Model: "anthropic/" + c.model}}, r.Messages[1].Parts[4:]...)...)
			_, err := s.ask(t, c.model, r)
			if class(err) != c.class {
				t.Errorf("error %v, want class %v", err, c.class)
			}
			var sent []string
			for _, body := range s.sent {
				var doc struct{ Thinking struct{ Type string } }
				_ = json.Unmarshal([]byte(body), &doc)
				if strings.Contains(body, `"signature"`) {
					doc.Thinking.Type = "blocks " + doc.Thinking.Type
				}
				sent = append(sent, doc.Thinking.Type)
			}
			if d := cmp.Diff(c.sent, sent); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// A server that refuses a field teaches: it is left out of the same attempt and of later ones,
// and the reply says so.
func TestRefusedFieldsAreLeftOut(t *testing.T) {
	long := strings.Repeat("Be brief. ", 500)
	for name, c := range map[string]struct {
		model, refuse string
		gone, kept    []string // of the second request
		note          string
	}{
		"temperature": {"claude-sonnet-4-6", "`temperature` is deprecated for this model.", []string{"temperature"}, []string{"thinking"}, "temperature was left out"},
		"display":     {"claude-sonnet-5-5", "thinking.adaptive.display: Extra inputs are not permitted", []string{"display"}, []string{`"type":"adaptive"`, `"effort":"high"`}, "thinking.display was left out"},
		"effort":      {"claude-sonnet-5-5", "output_config.effort: Extra inputs are not permitted", []string{"effort"}, []string{`"type":"adaptive"`, "json_schema"}, "output_config.effort was left out"},
		"schema":      {"claude-sonnet-5-5", "output_config.format: structured outputs are not supported for this model", []string{"json_schema"}, []string{`"effort":"high"`}, "output_config.format was left out"},
		"thinking":    {"claude-sonnet-5-5", "adaptive thinking is not supported on this model", []string{`"thinking"`}, []string{`"effort":"high"`}, "thinking was left out"},
		"a way to think": {
			"claude-haiku-4-5", `"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.`,
			[]string{"budget_tokens"}, []string{`{"display":"summarized","type":"adaptive"}`}, "thinking was sent as",
		},
		"a way to cache":   {"claude-sonnet-5-5", "system.0.cache_control.ephemeral.ttl: Extra inputs are not permitted", []string{`"ttl"`}, []string{`"cache_control":{"type":"ephemeral"}`}, "cache_control.ttl was left out"},
		"the cache":        {"claude-sonnet-5-5", "system.0.cache_control: Extra inputs are not permitted", []string{"cache_control"}, []string{"Be brief."}, "cache_control was left out"},
		"a limit":          {"claude-sonnet-5-5", "max_tokens: 16384 > 8192, which is the maximum allowed number of output tokens for claude-sonnet-5-5", []string{"16384"}, []string{`"max_tokens":8192`}, "max_tokens was sent as 8192"},
		"a newer tool":     {"claude-sonnet-5-5", "'claude-sonnet-5-5' does not support tool types: web_search_20260318. Did you mean one of web_search_20250305?", []string{"web_search_20260318", "allowed_callers"}, []string{"web_search_20250305"}, "web_search_20260318 was left out"},
		"where it is from": {"claude-sonnet-5-5", "messages.1.content.0.text.citations: Extra inputs are not permitted", []string{`"citations"`}, []string{"It is."}, "citations was left out"},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, c.refuse)
			r := pawl.Request{
				System: long, Long: true,
				Messages: []pawl.Message{
					wiretest.User(pawl.Text{Text: "Is it?"}),
					wiretest.Assistant(pawl.Text{Text: "It is."}, pawl.Citation{Model: "anthropic/" + c.model, Opaque: json.RawMessage(`{"type":"char_location"}`)}),
					wiretest.User(pawl.Text{Text: "Sure?"}),
				},
				Output:   json.RawMessage(`{"type":"object","properties":{"label":{"type":"string"}}}`),
				Tools:    []pawl.ToolInfo{{Name: "web_search", Hosted: pawl.Usage{Searches: 1}}},
				Sampling: pawl.Sampling{Effort: "high"},
			}
			if name == "temperature" {
				r.Sampling = pawl.Sampling{Temperature: 0.5}
			}
			for i, want := range []int{2, 3} { // the second request goes right at once
				reply, err := s.ask(t, c.model, r)
				if err != nil || len(s.sent) != want {
					t.Fatalf("call %d: %d requests, error %v", i, len(s.sent), err)
				}
				if !slices.ContainsFunc(reply.Notes, func(n string) bool { return strings.HasPrefix(n, c.note) }) {
					t.Errorf("notes %q, want %q", reply.Notes, c.note)
				}
				for _, word := range c.gone {
					if strings.Contains(s.sent[want-1], word) {
						t.Errorf("%s is sent again: %s", word, s.sent[want-1])
					}
				}
				for _, word := range c.kept {
					if name != "temperature" && !strings.Contains(s.sent[want-1], word) {
						t.Errorf("%s is gone: %s", word, s.sent[want-1])
					}
				}
			}
		})
	}
}

// A refusal that nothing helps against says what was tried.
func TestARefusalTellsWhatWasTried(t *testing.T) {
	s := serve(t, "`temperature` is deprecated for this model.", "this gateway is closed")
	_, err := s.ask(t, "claude-sonnet-4-6", pawl.Request{Messages: []pawl.Message{wiretest.User(pawl.Text{Text: "Hello"})}, Sampling: pawl.Sampling{Temperature: 0.5}})
	const want = "this gateway is closed (temperature was left out, because the server refused it: `temperature` is deprecated for this model.)"
	if e, ok := errors.AsType[*pawl.ModelError](err); !ok || e.Message != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

// Thinking names the account that it is of.
func TestThinkingNamesItsAccount(t *testing.T) {
	const thought = `data: {"type":"message_start","message":{}}

data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"Hm","signature":"s"}}

data: {"type":"content_block_stop","index":0}

data: {"type":"content_block_start","index":1,"content_block":{"type":"text","text":"a"}}

data: {"type":"content_block_stop","index":1}

data: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}

data: {"type":"message_stop"}

`
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, thought)
	}))
	defer srv.Close()
	var accounts []string
	for _, key := range []string{"one", "two", "one"} {
		r, err := modeltest.Ask(t, anthropic.New("claude-sonnet-5-5", &anthropic.Options{APIKey: key, BaseURL: srv.URL}), pawl.Request{})
		must(t, err)
		accounts = append(accounts, r.Parts[0].(pawl.Thinking).Account)
	}
	if len(accounts) != 3 || accounts[0] == "" || accounts[0] == accounts[1] || accounts[0] != accounts[2] {
		t.Errorf("accounts %q", accounts)
	}
}
