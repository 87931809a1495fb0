package oracle

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"
	"google.golang.org/genai"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/testkit/modeltest"
)

// An answer is what a reply says, as an SDK or our adapter reads it.
type answer struct {
	text, thinking         string
	calls, hosted, sources []string
	stop                   pawl.StopReason // 0: the attempt failed
	usage                  pawl.Usage
}

func (a answer) String() string {
	return fmt.Sprintf("text %q\nthinking %q\ncalls %q\nhosted %q\nsources %q\nstop %v\nusage %+v\n",
		a.text, a.thinking, a.calls, a.hosted, a.sources, a.stop, a.usage)
}

// call writes down a call of the run's own or a hosted one. The keys of its arguments are sorted, if
// they are JSON.
func call(id, name, args string) string {
	var v any
	if args == "" || args == "null" {
		args = "{}"
	}
	if json.Unmarshal([]byte(args), &v) == nil && v != nil {
		sorted, _ := json.Marshal(v)
		args = string(sorted)
	}
	return strings.TrimSpace(id + " " + name + " " + args)
}

// readOurs returns what our adapter makes of streams.
func readOurs(t *testing.T, wire, model string, streams []string) (answer, [][]byte) {
	t.Helper()
	p := &provider{streams: streams}
	reply, err := modeltest.Ask(t, p.adapter(wire, model), pawl.Request{Messages: []pawl.Message{{Role: pawl.RoleUser, Parts: []pawl.Part{pawl.Text{Text: "Hello"}}}}, MaxTokens: 20000})
	if err != nil {
		t.Logf("our adapter: %v", err)
		return answer{}, p.bodies
	}
	a := answer{stop: reply.Stop, usage: reply.Usage}
	for _, part := range reply.Parts {
		switch part := part.(type) {
		case pawl.Text:
			a.text += part.Text
		case pawl.Thinking:
			a.thinking += part.Text
		case pawl.Citation:
			a.sources = append(a.sources, strings.Join([]string{part.Title, part.URL, part.Quote}, "|"))
		case pawl.Call:
			var plain string
			if json.Unmarshal(part.Args, &plain) != nil {
				plain = string(part.Args)
			}
			a.calls = append(a.calls, call(part.Ref, part.Tool, plain))
		}
	}
	for _, h := range reply.Hosted {
		a.hosted = append(a.hosted, call("", h.Call.Tool, string(h.Call.Args)))
	}
	return a, p.bodies
}

var anthropicStops = map[anthropic.StopReason]pawl.StopReason{
	anthropic.StopReasonEndTurn:      pawl.StopEnd,
	anthropic.StopReasonStopSequence: pawl.StopEnd,
	anthropic.StopReasonToolUse:      pawl.StopCalls,
	anthropic.StopReasonMaxTokens:    pawl.StopLength,
	anthropic.StopReasonPauseTurn:    pawl.StopPause,
	anthropic.StopReasonRefusal:      pawl.StopRefusal,
	// The window of the model is full: the attempt failed, and the run makes room.
	anthropic.StopReasonModelContextWindowExceeded: 0,
}

// readAnthropic returns what the accumulator of the SDK makes of a stream.
func readAnthropic(t *testing.T, model string, streams []string) (a answer, bodies [][]byte, err error) {
	t.Helper()
	p := &provider{streams: streams}
	client := p.anthropic()
	stream := client.Messages.NewStreaming(t.Context(), anthropic.MessageNewParams{
		Model: model, MaxTokens: 20000, Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("Hello"))},
	})
	var m anthropic.Message
	for stream.Next() {
		if err := m.Accumulate(stream.Current()); err != nil {
			return a, p.bodies, err
		}
	}
	if stream.Err() != nil {
		return a, p.bodies, stream.Err()
	}
	hosted := map[string]string{}
	for _, b := range m.Content {
		switch b.Type {
		case "text":
			a.text += b.Text
			for _, c := range b.Citations {
				title := c.Title
				if title == "" {
					title = c.DocumentTitle
				}
				a.sources = append(a.sources, strings.Join([]string{title, c.URL + c.Source, c.CitedText}, "|"))
			}
		case "thinking":
			a.thinking += b.Thinking
		case "tool_use":
			a.calls = append(a.calls, call(b.ID, b.Name, string(b.Input)))
		case "server_tool_use":
			name := b.Name
			if strings.HasSuffix(name, "code_execution") {
				name = "code_execution"
			}
			hosted[b.ID] = call("", name, string(b.Input))
		default:
			if of := hosted[b.ToolUseID]; of != "" {
				a.hosted = append(a.hosted, of)
			}
		}
	}
	u := m.Usage
	a.usage = pawl.Usage{
		Input:      int(u.InputTokens + u.CacheReadInputTokens + u.CacheCreationInputTokens),
		CacheRead:  int(u.CacheReadInputTokens),
		CacheWrite: int(u.CacheCreationInputTokens),
		CacheLong:  int(u.CacheCreation.Ephemeral1hInputTokens),
		Output:     int(u.OutputTokens),
		Reasoning:  int(u.OutputTokensDetails.ThinkingTokens),
		Searches:   int(u.ServerToolUse.WebSearchRequests),
	}
	a.stop = anthropicStops[m.StopReason]
	return a, p.bodies, nil
}

var chatStops = map[string]pawl.StopReason{
	"stop": pawl.StopEnd, "tool_calls": pawl.StopCalls, "function_call": pawl.StopCalls, "length": pawl.StopLength, "content_filter": pawl.StopRefusal,
}

// readChat returns what the accumulator of the SDK makes of a stream of Chat Completions.
func readChat(t *testing.T, model string, streams []string) (a answer, bodies [][]byte, err error) {
	t.Helper()
	p := &provider{streams: streams}
	client := p.openai()
	stream := client.Chat.Completions.NewStreaming(t.Context(), openai.ChatCompletionNewParams{
		Model: model, Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("Hello")},
	})
	var acc openai.ChatCompletionAccumulator
	var usage openai.CompletionUsage // its sums leave out the writes to the cache
	for stream.Next() {
		if u := stream.Current().Usage; u.TotalTokens > 0 {
			usage = u
		}
		if !acc.AddChunk(stream.Current()) {
			return a, p.bodies, fmt.Errorf("the accumulator refuses %s", stream.Current().RawJSON())
		}
	}
	if stream.Err() != nil || len(acc.Choices) == 0 {
		return a, p.bodies, fmt.Errorf("no choice: %w", stream.Err())
	}
	c := acc.Choices[0]
	a.text = c.Message.Content + c.Message.Refusal
	for _, c := range c.Message.ToolCalls {
		a.calls = append(a.calls, call(c.ID, c.Function.Name, c.Function.Arguments))
	}
	a.stop = chatStops[c.FinishReason]
	if c.Message.Refusal != "" {
		a.stop = pawl.StopRefusal
	}
	a.usage = pawl.Usage{
		Input: int(usage.PromptTokens), Output: int(usage.CompletionTokens),
		CacheRead: int(usage.PromptTokensDetails.CachedTokens), CacheWrite: int(usage.PromptTokensDetails.CacheWriteTokens),
		Reasoning: int(usage.CompletionTokensDetails.ReasoningTokens),
	}
	return a, p.bodies, nil
}

// readResponses returns what the last event of a stream of the Responses API says, as the SDK reads it.
func readResponses(t *testing.T, model string, streams []string) (a answer, bodies [][]byte, err error) {
	t.Helper()
	p := &provider{streams: streams}
	client := p.openai()
	stream := client.Responses.NewStreaming(t.Context(), responses.ResponseNewParams{Model: model})
	var last *responses.Response
	for stream.Next() {
		switch e := stream.Current().AsAny().(type) {
		case responses.ResponseCompletedEvent:
			last = &e.Response
		case responses.ResponseIncompleteEvent:
			last = &e.Response
		case responses.ResponseFailedEvent:
			last = &e.Response
		}
	}
	if stream.Err() != nil || last == nil {
		return a, p.bodies, fmt.Errorf("no response: %w", stream.Err())
	}
	a.text = last.OutputText()
	refused, containers := false, map[string]bool{}
	for _, item := range last.Output {
		switch item := item.AsAny().(type) {
		case responses.ResponseOutputMessage:
			for _, c := range item.Content {
				refused = refused || c.Refusal != ""
				a.text += c.Refusal
				for _, s := range c.Annotations {
					a.sources = append(a.sources, strings.Join([]string{s.Title + s.Filename, s.URL, ""}, "|"))
				}
			}
		case responses.ResponseReasoningItem:
			var texts []string
			for _, s := range item.Summary {
				texts = append(texts, s.Text)
			}
			for _, c := range item.Content {
				texts = append(texts, c.Text)
			}
			a.thinking += strings.Join(texts, "\n\n")
		case responses.ResponseFunctionToolCall:
			a.calls = append(a.calls, call(item.CallID, item.Name, item.Arguments))
		case responses.ResponseFunctionWebSearch:
			args := fmt.Sprintf(`{"query":%q,"type":%q}`, item.Action.Query, item.Action.Type)
			a.hosted = append(a.hosted, call("", "web_search", args))
			if item.Action.Type == "search" && item.Status != "failed" {
				a.usage.Searches++
			}
		case responses.ResponseCodeInterpreterToolCall:
			a.hosted = append(a.hosted, call("", "code_execution", fmt.Sprintf(`{"code":%q}`, item.Code)))
			if !containers[item.ContainerID] {
				containers[item.ContainerID] = true
				a.usage.Sessions++
			}
		}
	}
	u := last.Usage
	a.usage.Input, a.usage.Output = int(u.InputTokens), int(u.OutputTokens)
	a.usage.CacheRead, a.usage.CacheWrite = int(u.InputTokensDetails.CachedTokens), int(u.InputTokensDetails.CacheWriteTokens)
	a.usage.CacheLong = int(u.InputTokensDetails.CacheWriteTokensDetails.Ttl12hTokens)
	a.usage.Reasoning = int(u.OutputTokensDetails.ReasoningTokens)
	switch {
	case refused || last.IncompleteDetails.Reason == "content_filter":
		a.stop = pawl.StopRefusal
	case last.Status == responses.ResponseStatusIncomplete && last.IncompleteDetails.Reason == "max_output_tokens":
		a.stop = pawl.StopLength
	case last.Status == responses.ResponseStatusCompleted && len(a.calls) > 0:
		a.stop = pawl.StopCalls
	case last.Status == responses.ResponseStatusCompleted:
		a.stop = pawl.StopEnd
	}
	return a, p.bodies, nil
}

var googleStops = map[genai.FinishReason]pawl.StopReason{
	genai.FinishReasonStop:                   pawl.StopEnd,
	genai.FinishReasonMaxTokens:              pawl.StopLength,
	genai.FinishReasonSafety:                 pawl.StopRefusal,
	genai.FinishReasonRecitation:             pawl.StopRefusal,
	genai.FinishReasonLanguage:               pawl.StopRefusal,
	genai.FinishReasonBlocklist:              pawl.StopRefusal,
	genai.FinishReasonProhibitedContent:      pawl.StopRefusal,
	genai.FinishReasonSPII:                   pawl.StopRefusal,
	genai.FinishReasonImageSafety:            pawl.StopRefusal,
	genai.FinishReasonImageProhibitedContent: pawl.StopRefusal,
	genai.FinishReasonImageRecitation:        pawl.StopRefusal,
	genai.FinishReasonContinuation:           pawl.StopLength, // as far as it comes to a caller: no token says how to go on
	// With the others nothing of the reply can be used: the attempt failed.
}

// readGoogle joins the chunks that the SDK decodes, over all the requests that it makes for one reply.
func readGoogle(t *testing.T, model string, streams []string) (a answer, bodies [][]byte, err error) {
	t.Helper()
	p := &provider{streams: streams}
	blocked, stop := false, genai.FinishReason("")
	for chunk, err := range p.google(t).Models.GenerateContentStream(t.Context(), model, genai.Text("Hello"), nil) {
		if err != nil {
			return a, p.bodies, err
		}
		if u := chunk.UsageMetadata; u != nil {
			a.usage = pawl.Usage{
				Input: int(u.PromptTokenCount + u.ToolUsePromptTokenCount), CacheRead: int(u.CachedContentTokenCount),
				Output: int(u.CandidatesTokenCount + u.ThoughtsTokenCount), Reasoning: int(u.ThoughtsTokenCount),
			}
		}
		blocked = blocked || chunk.PromptFeedback != nil && chunk.PromptFeedback.BlockReason != "" && len(chunk.Candidates) == 0
		for _, c := range chunk.Candidates {
			if c.FinishReason != "" && c.FinishReason != genai.FinishReasonUnspecified {
				stop = c.FinishReason
			}
			if c.Content != nil {
				a.join(c.Content.Parts)
			}
			if c.CitationMetadata != nil {
				for _, s := range c.CitationMetadata.Citations {
					a.sources = append(a.sources, strings.Join([]string{s.Title, s.URI, a.text[s.StartIndex:s.EndIndex]}, "|"))
				}
			}
			if c.GroundingMetadata != nil {
				a.ground(c.GroundingMetadata)
			}
		}
	}
	switch a.stop = googleStops[stop]; {
	case blocked:
		a.stop = pawl.StopRefusal
	case a.stop == pawl.StopEnd && len(a.calls) > 0:
		a.stop = pawl.StopCalls
	}
	return a, p.bodies, nil
}

func (a *answer) join(parts []*genai.Part) {
	for _, part := range parts {
		switch {
		case part.FunctionCall != nil:
			args, _ := json.Marshal(part.FunctionCall.Args)
			a.calls = append(a.calls, call(part.FunctionCall.ID, part.FunctionCall.Name, string(args)))
		case part.ExecutableCode != nil:
			a.hosted = append(a.hosted, call("", "code_execution", fmt.Sprintf(`{"code":%q,"language":%q}`, part.ExecutableCode.Code, part.ExecutableCode.Language)))
		case part.Thought:
			a.thinking += part.Text
		default:
			a.text += part.Text
		}
	}
}

func (a *answer) ground(g *genai.GroundingMetadata) {
	if len(g.WebSearchQueries) > 0 {
		queries, _ := json.Marshal(map[string]any{"queries": g.WebSearchQueries})
		a.hosted = append(a.hosted, call("", "web_search", string(queries)))
		a.usage.Searches = len(g.WebSearchQueries)
	}
	for _, s := range g.GroundingSupports {
		for _, i := range s.GroundingChunkIndices {
			a.sources = append(a.sources, strings.Join([]string{g.GroundingChunks[i].Web.Title, g.GroundingChunks[i].Web.URI, s.Segment.Text}, "|"))
		}
	}
}

// The wires, each with the model whose streams are made up, and the reader of its SDK.
var wires = []struct {
	name, model string
	read        func(t *testing.T, model string, streams []string) (answer, [][]byte, error)
}{
	{"anthropic", claude, readAnthropic},
	{"responses", gpt, readResponses},
	{"chat", llama, readChat},
	{"google", gemini, readGoogle},
}

// TestReplies holds that our adapters and the SDKs read the same in the streams of testdata.
func TestReplies(t *testing.T) { // Promises: N9.
	for _, w := range wires {
		for name, streams := range madeUp(t, w.name) {
			t.Run(w.name+"/"+name, func(t *testing.T) {
				want, asked, err := w.read(t, w.model, streams)
				if err != nil {
					t.Fatalf("the SDK: %v", err)
				}
				got, asking := readOurs(t, w.name, w.model, streams)
				if want.stop == 0 {
					want = answer{}
				}
				if got.String() != want.String() {
					t.Errorf("our adapter reads\n%s\nand the SDK\n%s", got, want)
				}
				if len(asking) != len(asked) {
					t.Fatalf("our adapter makes %d requests for it, and the SDK %d", len(asking), len(asked))
				}
				for i, body := range asked {
					want, got := decode(t, body).(object)["continuationToken"], decode(t, asking[i]).(object)["continuationToken"]
					if got != want {
						t.Errorf("request %d goes on from %v, and that of the SDK from %v", i+1, got, want)
					}
				}
			})
		}
	}
}

// madeUp returns the streams of testdata/WIRE.txt. Each is introduced by a line "== NAME" and has the
// data of one event a line; a line "--" ends the stream of one request. A name "NAME: A B" stands for
// two streams, with A and B in the place of each %s.
func madeUp(t *testing.T, wire string) map[string][]string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", wire+".txt"))
	must(t, err)
	all := map[string][]string{}
	for _, part := range strings.Split("\n"+string(data), "\n== ")[1:] {
		name, lines, _ := strings.Cut(part, "\n")
		name, values, several := strings.Cut(name, ": ")
		for _, value := range strings.Fields(values + " -")[:max(1, len(strings.Fields(values)))] {
			if several {
				all[name+" "+value] = streams(t, strings.ReplaceAll(lines, "%s", value))
			} else {
				all[name] = streams(t, lines)
			}
		}
	}
	return all
}

func streams(t *testing.T, lines string) []string {
	t.Helper()
	list := []string{""}
	for line := range strings.Lines(lines) {
		line = strings.TrimSpace(line)
		var e struct{ Type string }
		switch known := json.Unmarshal([]byte(line), &e) == nil; {
		case line == "":
			continue
		case line == "--":
			list = append(list, "")
			continue
		case !known && line != "[DONE]":
			t.Fatalf("no JSON: %s", line)
		case e.Type != "":
			list[len(list)-1] += "event: " + e.Type + "\n"
		}
		list[len(list)-1] += "data: " + line + "\n\n"
	}
	return list
}
