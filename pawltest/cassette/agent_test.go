package cassette_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/model/anthropic"
	"github.com/pawl-run/pawl/model/google"
	"github.com/pawl-run/pawl/model/openai"
	"github.com/pawl-run/pawl/pawltest/cassette"
	"github.com/pawl-run/pawl/pawltest/fakeprovider"
	"github.com/pawl-run/pawl/tool"
)

const apiKey = "sk-very-secret/<key>"

// chat is a provider that has two numbers added, and then says what it was told.
func chat(w http.ResponseWriter, r *http.Request) {
	var req struct {
		Messages []struct{ Role, Content string }
	}
	body, _ := io.ReadAll(r.Body)
	if json.Unmarshal(body, &req) != nil || r.Header.Get("Authorization") != "Bearer "+apiKey {
		http.Error(w, "who are you?", http.StatusUnauthorized)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Set-Cookie", "session=tracking-you-everywhere")
	w.Header().Set("X-Organization", "acme")
	last := req.Messages[len(req.Messages)-1]
	deltas := []string{`{"tool_calls":[{"index":0,"id":"call_1","function":{"name":"add","arguments":"{\"A\": 2,"}}]}`, `{"tool_calls":[{"index":0,"function":{"arguments":" \"B\": 3}"}}]}`}
	finish := "tool_calls"
	if last.Role == "tool" {
		deltas, finish = []string{`{"content":"It is "}`, fmt.Sprintf(`{"content":%q}`, last.Content+".")}, "stop"
	}
	fmt.Fprintf(w, ": you are %s\n\n", apiKey)
	for _, d := range deltas {
		fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":%s}]}\n\n", d)
		w.(http.Flusher).Flush()
	}
	fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":%q}],\"usage\":{\"prompt_tokens\":12,\"completion_tokens\":5}}\n\ndata: [DONE]\n\n", finish)
}

func adder(brain pawl.Model) pawl.Agent {
	type sum struct{ A, B int }
	add := func(_ context.Context, in sum) (int, error) { return in.A + in.B, nil }
	return pawl.Agent{Name: "adder", Model: brain, Tools: []pawl.Tool{tool.Func("add", "Add two numbers.", add, pawl.Read)}}
}

// A run that was recorded comes to the same again when the server has gone.
func TestARunIsReplayed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "testdata", "run.txtar")
	var asked atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		chat(w, r)
	}))
	run := func(key string) pawl.Result {
		t.Helper()
		tape, err := cassette.Open(file, nil)
		if err != nil {
			t.Fatal(err)
		}
		brain := openai.New("gpt-5-mini", &openai.Options{APIKey: key, BaseURL: srv.URL + "/v1", HTTPClient: tape.Client()})
		result, err := engine.Run(t.Context(), adder(brain), "What is 2 + 3?")
		if err != nil {
			t.Fatal(err)
		}
		if err := tape.Close(); err != nil {
			t.Fatal(err)
		}
		return result
	}
	t.Setenv(cassette.Variable, "1")
	first := run(apiKey)
	srv.Close()
	t.Setenv(cassette.Variable, "")
	second := run("another key")
	if first.Answer != "It is 5." || first.Usage.ModelCalls != 2 || asked.Load() != 2 {
		t.Fatalf("the run came to %q after %d calls", first.Answer, first.Usage.ModelCalls)
	}
	type outcome struct {
		Text    string
		Verdict pawl.Verdict
		Tokens  int
	}
	of := func(r pawl.Result) outcome { return outcome{r.Answer, r.Verdict, r.Usage.Input + r.Usage.Output} }
	if d := cmp.Diff(of(first), of(second)); d != "" {
		t.Errorf("(- recorded, + replayed):\n%s", d)
	}

	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{apiKey, `sk-very-secret/\u003ckey\u003e`, "tracking", "acme"} {
		if strings.Contains(string(text), secret) {
			t.Errorf("%q is in the file", secret)
		}
	}
	for _, want := range []string{
		"-- 1 request --\nPOST http://127.0.0.1/v1/chat/completions\n", "Authorization: SECRET\n", "\n  \"model\": \"gpt-5-mini\",\n",
		"\n|: you are SECRET\n|\n", "\n|data: [DONE]\n|\n", "-- 2 response --\nHTTP 200 after ",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%q is not in the file:\n%s", want, text)
		}
	}
}

// Every adapter takes the client, and gets the same from the file as from the
// provider: replies to the signal, usage, and errors with their classes.
func TestAdapters(t *testing.T) {
	replies := []pawl.Reply{
		{Parts: []pawl.Part{pawl.Thinking{Text: "Hm."}, pawl.Text{Text: "Let me see. é😀\n\ndata: x\r\n"}, pawl.Call{Tool: "add", Args: json.RawMessage(`{"a":12345678901234567890}`)}}},
		pawl.Say("It is 5."),
	}
	for name, model := range map[string]func(url string, client *http.Client) pawl.Model{
		"anthropic": func(url string, client *http.Client) pawl.Model {
			return anthropic.New("claude-sonnet-5", &anthropic.Options{APIKey: apiKey, BaseURL: url, HTTPClient: client})
		},
		"chat": func(url string, client *http.Client) pawl.Model {
			return openai.New("gpt-5-mini", &openai.Options{APIKey: apiKey, BaseURL: url + "/v1", HTTPClient: client})
		},
		"responses": func(url string, client *http.Client) pawl.Model {
			return openai.NewResponses("gpt-5-mini", &openai.Options{APIKey: apiKey, BaseURL: url + "/v1", HTTPClient: client})
		},
		"google": func(url string, client *http.Client) pawl.Model {
			return google.New("gemini-3-flash", &google.Options{APIKey: apiKey, BaseURL: url, HTTPClient: client})
		},
	} {
		t.Run(name, func(t *testing.T) {
			n := 0
			srv := httptest.NewServer(fakeprovider.New(pawl.ModelFunc(func(context.Context, pawl.Request) (pawl.Reply, error) {
				if n++; n > len(replies) {
					return pawl.Reply{}, &pawl.ModelError{Class: pawl.ClassRateLimit, Message: "busy", RetryAfter: 7 * time.Second}
				}
				return replies[n-1], nil
			}), &fakeprovider.Options{Chunk: 7, Key: apiKey}))
			defer srv.Close()
			file := filepath.Join(t.TempDir(), "a.txtar")
			var heard [2][]string
			for i, record := range []bool{true, false} {
				tape, err := cassette.Open(file, &cassette.Options{Record: record})
				if err != nil {
					t.Fatal(err)
				}
				m := model(srv.URL, tape.Client())
				for _, prompt := range []string{"one", "two", "three"} {
					heard[i] = append(heard[i], ask(t.Context(), m, prompt))
				}
				if err := tape.Close(); err != nil {
					t.Error(err)
				}
				srv.Close()
			}
			if d := cmp.Diff(heard[0], heard[1]); d != "" {
				t.Errorf("(- recorded, + replayed):\n%s", d)
			}
			for i, want := range []string{"12345678901234567890", "It is 5.", "rate_limit: after 7s"} {
				if !strings.Contains(heard[0][i], want) {
					t.Errorf("%q is not in %s", want, heard[0][i])
				}
			}
			if text, err := os.ReadFile(file); err != nil || strings.Contains(string(text), apiKey) {
				t.Errorf("the key is in the file, or there is none: %v", err)
			}
		})
	}
}

// ask says everything that a model answers.
func ask(ctx context.Context, m pawl.Model, prompt string) string {
	var b strings.Builder
	for c, err := range m.Stream(ctx, pawl.Request{Messages: []pawl.Message{{Role: pawl.RoleUser, Parts: []pawl.Part{pawl.Text{Text: prompt}}}}}) {
		me := new(pawl.ModelError)
		switch {
		case errors.As(err, &me):
			fmt.Fprintf(&b, "%v: after %v: %s", me.Class, me.RetryAfter, me.Message)
		case err != nil:
			fmt.Fprintf(&b, "error %v", err)
		case c.Reply != nil:
			fmt.Fprintf(&b, "%v, %+v: ", c.Reply.Stop, c.Reply.Usage)
			for _, p := range c.Reply.Parts {
				fmt.Fprintf(&b, "%T %s\n", p, p)
			}
		default:
			fmt.Fprintf(&b, "%q %q %q\n", c.Text, c.Thinking, c.Call)
		}
	}
	return b.String()
}

// Requests that overlapped may come in any order, and each gets its own answer.
func TestConcurrentUse(t *testing.T) {
	var here sync.WaitGroup
	const crowd = 12
	here.Add(crowd)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		here.Done()
		here.Wait()
		fmt.Fprintf(w, "you said %s", body)
	}))
	defer srv.Close()
	file := filepath.Join(t.TempDir(), "crowd.txtar")
	for _, record := range []bool{true, false} {
		tape, err := cassette.Open(file, &cassette.Options{Record: record})
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for i := range crowd {
			all.Go(func() {
				word := fmt.Sprintf(`{"n": %d}`, i)
				if got, err := post(tape.Client(), srv.URL+"/say", word); got != "you said "+word || err != nil {
					t.Errorf("recording %v: %q, %v", record, got, err)
				}
			})
		}
		all.Wait()
		if err := tape.Close(); err != nil {
			t.Error(err)
		}
	}
}

func post(client *http.Client, url, body string) (string, error) {
	res, err := client.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	return string(text), err
}
