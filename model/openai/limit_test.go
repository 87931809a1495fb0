package openai_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/model/openai"
)

// picky is a server that refuses requests by the name they have for the limit
// of a reply. It records the names that came.
func picky(t *testing.T, refuse map[string]string, status int) (base string, came *[]string) {
	t.Helper()
	came = &[]string{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body map[string]json.RawMessage
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		name := ""
		for _, key := range []string{"max_tokens", "max_completion_tokens", "max_output"} {
			if body[key] != nil {
				name += key
			}
		}
		*came = append(*came, name)
		if refusal, ok := refuse[name]; ok {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			io.WriteString(w, refusal)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, `data: {"choices":[{"index":0,"delta":{"content":"Hi."},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":2}}`+"\n\ndata: [DONE]\n\n")
	}))
	t.Cleanup(srv.Close)
	return srv.URL + "/v1", came
}

// The refusals of servers for a name of the limit, as they word them.
const (
	newerWanted = `{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","type":"invalid_request_error","param":"max_tokens","code":"unsupported_parameter"}}`
	onlyParam   = `{"error":{"message":"This model does not take this parameter.","type":"invalid_request_error","param":"max_tokens","code":"unsupported_parameter"}}`
	newerExtra  = `{"detail":[{"type":"extra_forbidden","loc":["body","max_completion_tokens"],"msg":"Extra inputs are not permitted","input":9}]}`
	newerUnread = `{"error":{"message":"Unrecognized request argument supplied: max_completion_tokens","type":"invalid_request_error","param":null,"code":null}}`
)

// A server that refuses a request for its name of the limit gets it once more
// under the other name, and later requests under that name at once.
func TestTheOtherNameOfTheLimit(t *testing.T) {
	for _, c := range []struct {
		name, key, refusal string
		status             int
		want               []string
	}{
		{"a reasoning model behind a gateway", "", newerWanted, 400, []string{"max_tokens", "max_completion_tokens", "max_completion_tokens"}},
		{"named as the parameter only", "", onlyParam, 400, []string{"max_tokens", "max_completion_tokens", "max_completion_tokens"}},
		{"a name of its own", "max_output", `{"error":"max_output is unknown; use max_completion_tokens"}`, 400, []string{"max_output", "max_completion_tokens", "max_completion_tokens"}},
		{"a strict server", "max_completion_tokens", newerExtra, 422, []string{"max_completion_tokens", "max_tokens", "max_tokens"}},
		{"an older server", "max_completion_tokens", newerUnread, 400, []string{"max_completion_tokens", "max_tokens", "max_tokens"}},
	} {
		base, came := picky(t, map[string]string{c.want[0]: c.refusal}, c.status)
		m := openai.New("house", &openai.Options{APIKey: "key", BaseURL: base, MaxTokensKey: c.key})
		for range 2 {
			if err := last(t.Context(), m, requests["hello"]); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		}
		if !slices.Equal(*came, c.want) {
			t.Errorf("%s: sent %q, want %q", c.name, *came, c.want)
		}
	}
}

// What is refused for another reason is sent once, and what is refused under
// both names twice, each time: nothing is remembered of it.
func TestTheOtherNameDoesNotHelp(t *testing.T) {
	for _, c := range []struct {
		name    string
		key     string
		refuse  map[string]string
		status  int
		class   pawl.Class
		message string
		want    []string
	}{
		{"too large, whatever it is", "max_completion_tokens", map[string]string{"max_completion_tokens": `{"error":{"message":"max_completion_tokens is too large: 16384. This model supports at most 2048 completion tokens.","type":"invalid_request_error","param":"max_completion_tokens","code":"invalid_value"}}`},
			400, pawl.ClassInvalid, "too large", []string{"max_completion_tokens", "max_completion_tokens", "max_completion_tokens", "max_completion_tokens"}},
		{"another parameter", "", map[string]string{"max_tokens": `{"error":{"message":"Unsupported parameter: 'temperature' is not supported with this model.","param":"temperature","code":"unsupported_parameter"}}`},
			400, pawl.ClassInvalid, "temperature", []string{"max_tokens", "max_tokens"}},
		{"no refusal of the request", "", map[string]string{"max_tokens": `{"error":{"message":"max_tokens is not supported, use max_completion_tokens"}}`},
			503, pawl.ClassOverloaded, "max_tokens", []string{"max_tokens", "max_tokens"}},
		{"both", "", map[string]string{"max_tokens": newerWanted, "max_completion_tokens": newerUnread},
			400, pawl.ClassInvalid, "Unrecognized", []string{"max_tokens", "max_completion_tokens", "max_tokens", "max_completion_tokens"}},
	} {
		base, came := picky(t, c.refuse, c.status)
		m := openai.New("house", &openai.Options{APIKey: "key", BaseURL: base, MaxTokensKey: c.key})
		for range 2 {
			if err := last(t.Context(), m, requests["hello"]); class(err) != c.class || !strings.Contains(fmt.Sprint(err), c.message) {
				t.Errorf("%s: %v", c.name, err)
			}
		}
		if !slices.Equal(*came, c.want) {
			t.Errorf("%s: sent %q, want %q", c.name, *came, c.want)
		}
	}
}
