package window_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/approval"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/testkit/check"
	"github.com/pawl-run/pawl/internal/testkit/fakeprovider"
	"github.com/pawl-run/pawl/journal/sqlite"
	"github.com/pawl-run/pawl/model/anthropic"
	"github.com/pawl-run/pawl/model/google"
	"github.com/pawl-run/pawl/model/openai"
	"github.com/pawl-run/pawl/model/script"
	"github.com/pawl-run/pawl/tool"
	"github.com/pawl-run/pawl/window"
)

var wires = map[string]func(url string) pawl.Model{
	"anthropic": func(url string) pawl.Model {
		return anthropic.New("claude-sonnet-5-5", &anthropic.Options{APIKey: "key", BaseURL: url, Price: &pawl.Price{Input: 3, Output: 15, CacheRead: 0.3, CacheWrite: 3.75}})
	},
	"chat": func(url string) pawl.Model {
		return openai.New("house", &openai.Options{APIKey: "key", BaseURL: url + "/v1", Price: &pawl.Price{Input: 2.5, Output: 10, CacheRead: 1.25}})
	},
	"responses": func(url string) pawl.Model {
		return openai.New("gpt-6.2-sol", &openai.Options{API: openai.Responses, APIKey: "key", BaseURL: url + "/v1", Price: &pawl.Price{Input: 1.25, Output: 10, CacheRead: 0.125}})
	},
	"google": func(url string) pawl.Model {
		return google.New("gemini-4-hydrogen", &google.Options{APIKey: "key", BaseURL: url, Price: &pawl.Price{Input: 0.3, Output: 2.5, CacheRead: 0.03}})
	},
}

// errand calls tools side by side, one that somebody must approve, and one that
// fails, says something beside them, and thinks.
func errand() pawl.Model {
	look := func(n int) pawl.Call {
		return pawl.Call{Tool: "look", Args: json.RawMessage(fmt.Sprintf(`{"at":{"z":1,"a":%d}}`, n))}
	}
	with := func(text string, calls ...pawl.Call) pawl.Reply {
		r := pawl.Do(calls...)
		r.Parts = append([]pawl.Part{pawl.Text{Text: text}}, r.Parts...)
		return r
	}
	return script.Replies(
		with("Let me <look> & see.", look(1), look(2)),
		pawl.Do(pawl.Call{Tool: "pay", Args: json.RawMessage(`{"eur":500}`)}, look(3)),
		pawl.Do(pawl.Call{Tool: "nothing", Args: json.RawMessage(`{}`)}, look(4)),
		with("Once more.", look(5)),
		pawl.Say("Done."),
		pawl.Say("Also done."),
	)
}

func errands(m pawl.Model) pawl.Agent {
	type place struct {
		At struct {
			Z int `json:"z"`
			A int `json:"a"`
		} `json:"at"`
	}
	return pawl.Agent{
		Name: "errands", Prompt: "Be quick." + window.Pin("Prices are in euros."), Model: m, Limits: pawl.Limits{Iterations: 40},
		Policies: []pawl.Policy{approval.For("pay")},
		Tools: []pawl.Tool{
			tool.Func("look", "Look.", func(_ context.Context, p place) (map[string]int, error) {
				return map[string]int{"seen": p.At.A, "b": 2, "a": 1}, nil
			}, pawl.Read),
			tool.Func("pay", "Pay.", func(_ context.Context, p struct {
				EUR int `json:"eur"`
			}) (string, error) {
				return fmt.Sprint("paid ", p.EUR), nil
			}, pawl.Write),
		},
	}
}

var mark = regexp.MustCompile(`,?"cache_control":\{"type":"ephemeral"\}`)

// prefix is what of a request's body a cache goes by, in the order it goes by
// it: what stands before the conversation, and the conversation without its end.
func prefix(t *testing.T, body []byte) (before, talk string) {
	var doc map[string]json.RawMessage
	must(t, json.Unmarshal(mark.ReplaceAll(body, nil), &doc))
	for _, key := range []string{"messages", "input", "contents"} {
		if raw := bytes.TrimSpace(doc[key]); len(raw) > 0 {
			talk = strings.TrimSuffix(string(raw), "]")
		}
	}
	for _, key := range []string{"model", "system", "instructions", "systemInstruction", "tools", "tool_choice", "toolConfig", "text", "response_format", "reasoning"} {
		before += key + string(doc[key])
	}
	return before, talk
}

// TestWire: of any two requests that follow each other, byte for byte, the later
// one begins with the earlier: after tools, after an approval in another process,
// and in a fork.
func TestWire(t *testing.T) {
	for name, make := range wires {
		t.Run(name, func(t *testing.T) {
			fake := fakeprovider.New(errand(), nil)
			srv := httptest.NewServer(fake)
			defer srv.Close()
			defer fake.Close()
			file := filepath.Join(t.TempDir(), "runs.db")
			process := func(do func(j pawl.Journal, e *engine.Engine, a pawl.Agent)) {
				j, err := sqlite.Open(t.Context(), file, nil)
				must(t, err)
				defer j.Close()
				e := engine.New(j, nil)
				defer e.Close()
				do(j, e, errands(make(srv.URL)))
			}
			wait := func(h *engine.Handle, err error) pawl.Result {
				must(t, err)
				r, err := h.Wait(t.Context())
				must(t, err)
				return r
			}
			var first pawl.Result
			process(func(_ pawl.Journal, e *engine.Engine, a pawl.Agent) {
				if first = wait(e.Start(t.Context(), a, "Run the errand.", nil)); first.Status != pawl.StatusWaitingApproval {
					t.Fatal(first.Status, first.Reason)
				}
			})
			process(func(_ pawl.Journal, e *engine.Engine, a pawl.Agent) {
				held := first.Pending[0]
				must(t, e.Approve(t.Context(), held.Run, held.Call, "ann", &engine.ApproveOptions{Token: held.Token}))
				if r := wait(e.Resume(t.Context(), a, first.Run, nil)); r.Status != pawl.StatusSuccess {
					t.Fatal(r.Status, r.Reason)
				}
			})
			process(func(j pawl.Journal, e *engine.Engine, a pawl.Agent) {
				s, err := engine.Load(t.Context(), j, first.Run)
				must(t, err)
				if r := wait(e.Fork(t.Context(), a, first.Run, s.Seq(), &engine.ForkOptions{Input: "And then?"})); r.Status != pawl.StatusSuccess {
					t.Fatal(r.Status, r.Reason)
				}
			})
			requests := fake.Requests()
			if len(requests) != 6 || len(fake.Problems()) > 0 {
				t.Fatal(len(requests), fake.Problems())
			}
			for i, r := range requests[1:] {
				wasBefore, was := prefix(t, requests[i].Body)
				before, talk := prefix(t, r.Body)
				if before != wasBefore {
					t.Errorf("request %d: what stands before the conversation changed\n%s\nwas\n%s", i+2, before, wasBefore)
				}
				if len(was) < 20 || !strings.HasPrefix(talk, was) {
					t.Errorf("request %d does not begin with the one before:\n%s\nwas\n%s", i+2, talk, was)
				}
			}
		})
	}
}

var must = check.Must
