package server_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/server/client"
)

// chatting is a client of a model: it keeps the conversation and sends it whole.
type chatting struct {
	*world
	agent    string
	messages []map[string]any
	run      string
	header   http.Header
}

// say adds a message of the user and the reply, and returns the reply.
func (c *chatting) say(content any) client.ChatCompletion {
	c.t.Helper()
	c.messages = append(c.messages, map[string]any{"role": "user", "content": content})
	reply := c.send()
	c.messages = append(c.messages, map[string]any{"role": "assistant", "content": reply.Choices[0].Message.Content})
	return reply
}

func (c *chatting) send() (reply client.ChatCompletion) {
	c.t.Helper()
	sent, err := json.Marshal(map[string]any{"model": c.agent, "messages": c.messages, "temperature": 0.2})
	must(c.t, err)
	body := string(sent)
	res, data := c.world.send(request{token: admin, method: "POST", path: "/v1/chat/completions", body: body, header: c.header})
	if res.StatusCode != http.StatusOK || json.Unmarshal(data, &reply) != nil {
		c.t.Fatalf("%d: %s", res.StatusCode, data)
	}
	conforms(c.t, "POST", "/v1/chat/completions", body, res, data)
	c.run = res.Header.Get("Pawl-Run")
	return reply
}

// TestChat holds that a client of a model can talk to an agent: the conversation goes on in one
// thread, and a request that is sent again finds its run.
func TestChat(t *testing.T) { // Promises: N13.
	w := serve(t, nil)
	calls := 0
	w.agents["echo"] = pawl.Agent{Name: "echo", Model: pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
		calls++
		var texts []string
		for _, m := range r.Messages {
			texts = append(texts, m.Text())
		}
		return pawl.Say(strings.Join(texts, "|")), nil
	})}
	c := &chatting{world: w, agent: "echo"}
	first := c.say("one")
	if got := first.Choices[0]; got.Message.Content != "one" || *got.FinishReason != "stop" {
		t.Errorf("%+v", first)
	}
	thread := w.result(admin, "GET", "/v1/runs/"+c.run, "", 200).Thread
	if got := c.say("two").Choices[0].Message.Content; got != "one|one|two" {
		t.Errorf("the conversation is %q", got)
	}
	if again := w.result(admin, "GET", "/v1/runs/"+c.run, "", 200).Thread; *again != *thread {
		t.Errorf("the thread %s became %s", *thread, *again)
	}

	// Another reply to the first turn branches off.
	branch := &chatting{world: w, agent: "echo", messages: append([]map[string]any{}, c.messages[:2]...)}
	if got := branch.say("three").Choices[0].Message.Content; got != "one|one|three" {
		t.Errorf("the branch is %q", got)
	}
	// What no run here has said is part of the input.
	stranger := &chatting{world: w, agent: "echo", messages: []map[string]any{{"role": "system", "content": "Be brief."}, {"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}}}
	if got := stranger.say("c").Choices[0].Message.Content; got != "system: Be brief.\n\nuser: a\n\nassistant: b\n\nuser: c" {
		t.Errorf("the input is %q", got)
	}

	// A retry of the SDK finds the run, another request with the same words is another run.
	run, before := stranger.run, calls
	stranger.messages, stranger.header = stranger.messages[:4], http.Header{"X-Stainless-Retry-Count": {"1"}}
	if stranger.send(); stranger.run != run || calls != before {
		t.Error("a retry ran the agent again")
	}
	stranger.header = nil
	if stranger.send(); stranger.run == run {
		t.Error("a new request found the old run")
	}
	for body, words := range map[string]string{
		`{"model":"echo","messages":[]}`:                                                                                                 "the last message must have the role user",
		`{"model":"","messages":[{"role":"user","content":"x"}]}`:                                                                        "model is missing",
		`{"model":"echo","messages":[{"role":"tool","content":"x"},{"role":"user","content":"x"}]}`:                                      `messages[0]: role is "tool"`,
		`{"model":"echo","messages":[{"role":"user","content":"x"}],"tools":[{}]}`:                                                       "an agent has its own",
		`{"model":"echo","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://example.org/a.png"}}]}]}`: "files by URL are not fetched",
		`{"model":"nobody","messages":[{"role":"user","content":"x"}]}`:                                                                  "there is no such agent",
	} {
		w.refused(admin, "POST", "/v1/chat/completions", body, 422, words)
	}
}

// TestChatWaits holds that a run which waits says so in its reply, and that the next message of
// the conversation goes on with it.
func TestChatWaits(t *testing.T) {
	w := serve(t, nil)
	c := &chatting{world: w, agent: "payer"}
	waits := c.say("pay").Choices[0].Message.Content
	if !strings.Contains(waits, "A person must approve a call of pay.") || !strings.Contains(waits, `pay {"eur":500}`) || !strings.Contains(waits, w.web.URL+"/#/runs/"+c.run) {
		t.Errorf("the reply is %q", waits)
	}
	run := c.run
	if got := c.say("approved?").Choices[0].Message.Content; got != waits || c.run != run {
		t.Errorf("a message decided something: %q", got)
	}
	w.ask(admin, "POST", "/v1/runs/"+run+"/calls/c_1/approve?wait=true", `{}`, 200)
	if got := c.say("and now?").Choices[0].Message.Content; got != "paid" || c.run != run {
		t.Errorf("the reply is %q of run %s", got, c.run)
	}
	c = &chatting{world: w, agent: "picker"}
	if got := c.say("pick").Choices[0].Message.Content; !strings.Contains(got, "pick {}\n\nGive it at "+w.web.URL+"/#/runs/"+c.run) {
		t.Errorf("the reply is %q", got)
	}
}

// TestChatStream holds the chunks of a stream.
func TestChatStream(t *testing.T) {
	w := serve(t, nil)
	body := `{"model":"calm","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]}`
	res, data := w.send(request{token: admin, method: "POST", path: "/v1/chat/completions", body: body})
	var text, finish string
	var usage *client.ChatUsage
	events := strings.Split(strings.TrimSpace(string(data)), "\n\n")
	for _, event := range events[:len(events)-1] {
		var chunk client.ChatCompletion
		must(t, json.Unmarshal([]byte(strings.TrimPrefix(event, "data: ")), &chunk))
		for _, choice := range chunk.Choices {
			text += choice.Delta.Content
			if choice.FinishReason != nil {
				finish = *choice.FinishReason
			}
		}
		if chunk.Usage != nil {
			usage = chunk.Usage
		}
	}
	if res.Header.Get("Content-Type") != "text/event-stream" || text != "hello" || finish != "stop" || usage == nil || events[len(events)-1] != "data: [DONE]" {
		t.Errorf("%v\n%s", res, data)
	}
}
