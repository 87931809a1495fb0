package anthropic_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/model/anthropic"
)

func TestDescribe(t *testing.T) {
	t.Setenv("ANTHROPIC_BASE_URL", "")
	got := anthropic.New("claude-sonnet-4-5-20250929", nil).Describe()
	want := pawl.ModelInfo{
		Name: "anthropic/claude-sonnet-4-5-20250929", Endpoint: "https://api.anthropic.com",
		Price: &pawl.Price{Input: 3, Output: 15, CacheRead: 0.3, CacheWrite: 3.75, CacheLong: 6, Long: pawl.Tier{From: 200_000, Input: 6, Output: 22.5, CacheRead: 0.6, CacheWrite: 7.5, CacheLong: 12}, Search: 0.01},
	}
	want.Wire = pawl.Wire{Frame: 400 + len("claude-sonnet-4-5-20250929"), Message: 150, Tool: 100, Prompt: 346}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	t.Setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1/x/")
	got = anthropic.New("house", nil).Describe()
	if d := cmp.Diff(pawl.ModelInfo{Name: "anthropic/house", Endpoint: "http://127.0.0.1:1/x", Wire: pawl.Wire{Frame: 405, Message: 150, Tool: 100, Prompt: 346}}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func class(err error) pawl.Class {
	if me, ok := errors.AsType[*pawl.ModelError](err); ok {
		return me.Class
	}
	return 0
}

const begun = `event: message_start
data: {"type":"message_start","message":{"usage":{"input_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"a"}}

`

const whole = begun + `data: {"type":"content_block_stop","index":0}

data: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}

data: {"type":"message_stop"}

`

// A request that is refused for its thinking goes once more without.
func TestThinkingThatIsRefusedIsLeftOut(t *testing.T) {
	for name, c := range map[string]struct {
		refuse string
		sent   []bool // whether requests have thinking
		class  pawl.Class
	}{
		"a signature":    {"messages.1.content.0: Invalid `signature` in `thinking` block", []bool{true, false}, 0},
		"another place":  {"messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified.", []bool{true, false}, 0},
		"something else": {"max_tokens: too large", []bool{true}, pawl.ClassInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			var sent []bool
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				sent = append(sent, strings.Contains(string(body), "thinking"))
				if len(sent) == 1 {
					w.WriteHeader(http.StatusBadRequest)
					json.NewEncoder(w).Encode(map[string]any{"type": "error", "error": map[string]any{"type": "invalid_request_error", "message": c.refuse}})
					return
				}
				w.Header().Set("Content-Type", "text/event-stream")
				io.WriteString(w, whole)
			}))
			defer srv.Close()
			m := anthropic.New("claude-sonnet-4-5", &anthropic.Options{APIKey: "key", BaseURL: srv.URL})
			var err error
			for _, e := range m.Stream(t.Context(), requests["history"].Request) {
				err = e
			}
			if class(err) != c.class {
				t.Errorf("error %v, want class %v", err, c.class)
			}
			if d := cmp.Diff(c.sent, sent); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}
