package oracle

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"
	"google.golang.org/genai"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/testkit/modeltest"
)

// The models and the limit of a conversation that names no others: the defaults of the model sheet.
const (
	claude = "claude-sonnet-5-5"
	gpt    = "gpt-6.2-sol"
	llama  = "llama-4-70b" // at a compatible server
	gemini = "gemini-4-hydrogen"
	limit  = 2000
)

// A conversation is a request of a run and, for each wire that it applies to, the same request in the
// typed parameters of its SDK. Each function is given the parameters that say "Hello", with what every
// request of that wire has, and sets what is different. A nil function means that the conversation
// does not apply to that wire.
type conversation struct {
	name string
	ask  pawl.Request // without messages: "Hello" from the user; without a limit: the constant limit

	claude    func(p *claudeParams)
	responses func(p *responses.ResponseNewParams)
	chat      func(p *openai.ChatCompletionNewParams)
	gemini    func(p *geminiParams)
}

// claudeParams are the parameters of a request to Anthropic. The system prompt and the last block of
// the last message get the mark; nil: the prompt is too short for the API to cache it.
type claudeParams struct {
	anthropic.MessageNewParams
	mark *anthropic.CacheControlEphemeralParam
}

// geminiParams are the arguments of a request to Google.
type geminiParams struct {
	model    string
	contents []*genai.Content
	genai.GenerateContentConfig
}

// same is for a conversation that says "Hello" and nothing else on a wire.
func same[P any](*P) {}

// The bodies that the SDKs send. Each begins with "Hello" and with what every request to a model that
// thinks has.

func (c conversation) anthropicBody(t *testing.T) (model string, body []byte) {
	t.Helper()
	p := claudeParams{MessageNewParams: anthropic.MessageNewParams{
		Model: claude, MaxTokens: limit,
		Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("Hello"))},
		Thinking: anthropic.ThinkingConfigParamUnion{OfAdaptive: &anthropic.ThinkingConfigAdaptiveParam{Display: anthropic.ThinkingConfigAdaptiveDisplaySummarized}},
	}}
	if c.mayBeLong() {
		p.mark = &anthropic.CacheControlEphemeralParam{Type: "ephemeral"}
	}
	if c.claude(&p); p.mark != nil {
		for i := range p.System {
			if len(p.Tools) > 0 || len(p.System[i].Text) > 512 { // what comes first counts
				p.System[i].CacheControl = *p.mark
			}
		}
		last := p.Messages[len(p.Messages)-1].Content
		*last[len(last)-1].GetCacheControl() = *p.mark
	}
	at := &provider{}
	client := at.anthropic()
	client.Messages.NewStreaming(t.Context(), p.MessageNewParams).Next()
	return p.Model, at.first(t)
}

// mayBeLong reports whether a prompt may have the tokens from which Anthropic caches it: tools bring a
// prompt of the API's own with them, and what a file has is not known before it is sent.
func (c conversation) mayBeLong() bool {
	return len(c.ask.Tools) > 0 || len(c.ask.System) > 512 || slices.ContainsFunc(c.ask.Messages, func(m pawl.Message) bool {
		return slices.ContainsFunc(m.Parts, func(p pawl.Part) bool {
			_, file := p.(pawl.File)
			_, called := p.(pawl.Call) // its tool is declared
			return file || called
		})
	})
}

func (c conversation) responsesBody(t *testing.T) (model string, body []byte) {
	t.Helper()
	p := responses.ResponseNewParams{
		Model: gpt, MaxOutputTokens: openai.Int(limit), Store: openai.Bool(false),
		Include:   []responses.ResponseIncludable{responses.ResponseIncludableReasoningEncryptedContent},
		Reasoning: shared.ReasoningParam{Summary: shared.ReasoningSummaryAuto},
		Input:     input(asks(inputText("Hello"))),
	}
	c.responses(&p)
	at := &provider{}
	client := at.openai()
	client.Responses.NewStreaming(t.Context(), p).Next()
	return p.Model, at.first(t)
}

func (c conversation) chatBody(t *testing.T) (model string, body []byte) {
	t.Helper()
	p := openai.ChatCompletionNewParams{
		Model: llama, MaxTokens: openai.Int(limit), StreamOptions: openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)},
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("Hello")},
	}
	c.chat(&p)
	at := &provider{}
	client := at.openai()
	client.Chat.Completions.NewStreaming(t.Context(), p).Next()
	return p.Model, at.first(t)
}

func (c conversation) googleBody(t *testing.T) (model string, body []byte) {
	t.Helper()
	p := geminiParams{model: gemini, contents: []*genai.Content{from("user", &genai.Part{Text: "Hello"})}}
	p.MaxOutputTokens, p.ThinkingConfig = limit, &genai.ThinkingConfig{IncludeThoughts: true}
	c.gemini(&p)
	at := &provider{}
	for range at.google(t).Models.GenerateContentStream(t.Context(), p.model, p.contents, &p.GenerateContentConfig) {
		break
	}
	return p.model, at.first(t)
}

func (p *provider) first(t *testing.T) []byte {
	t.Helper()
	if len(p.bodies) == 0 {
		t.Fatal("nothing was sent")
	}
	return p.bodies[0]
}

// TestRequests holds that our adapters send what the SDKs send for the same intent.
func TestRequests(t *testing.T) { // Promises: N9.
	known, count := readDifferences(t), 0
	for _, c := range conversations {
		for _, w := range []struct {
			wire    string
			applies bool
			body    func(*testing.T) (model string, body []byte)
		}{
			{"anthropic", c.claude != nil, c.anthropicBody},
			{"responses", c.responses != nil, c.responsesBody},
			{"chat", c.chat != nil, c.chatBody},
			{"google", c.gemini != nil, c.googleBody},
		} {
			if !w.applies {
				continue
			}
			count++
			t.Run(w.wire+"/"+c.name, func(t *testing.T) {
				model, theirs := w.body(t)
				p := &provider{}
				r := c.ask
				if r.Messages == nil {
					r.Messages = []pawl.Message{user(pawl.Text{Text: "Hello"})}
				}
				if r.MaxTokens == 0 {
					r.MaxTokens = limit
				}
				_, err := modeltest.Ask(t, p.adapter(w.wire, model), r)
				if len(p.bodies) == 0 {
					t.Fatalf("our adapter sends nothing: %v", err)
				}
				for _, d := range differences("", decode(t, p.bodies[0]), decode(t, theirs)) {
					if !known.has(w.wire, d.at) {
						t.Errorf("%s\n  ours %s\n  SDK  %s", d.at, d.ours, d.theirs)
					}
				}
			})
		}
	}
	if len(conversations) < 40 {
		t.Errorf("%d conversations; want at least 40", len(conversations))
	}
	t.Logf("%d conversations, %d requests", len(conversations), count)
	known.check(t)
}

// A difference is between two JSON documents at a place, a JSON pointer.
type difference struct{ at, ours, theirs string }

func differences(at string, ours, theirs any) (list []difference) {
	switch o := ours.(type) {
	case map[string]any:
		s, ok := theirs.(map[string]any)
		if !ok {
			break
		}
		both := maps.Clone(o)
		maps.Copy(both, s)
		for _, k := range slices.Sorted(maps.Keys(both)) {
			v, here := o[k]
			w, there := s[k]
			next := at + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(k)
			switch {
			case !here:
				list = append(list, difference{next, "nothing", text(w)})
			case !there:
				list = append(list, difference{next, text(v), "nothing"})
			default:
				list = append(list, differences(next, v, w)...)
			}
		}
		return list
	case []any:
		s, ok := theirs.([]any)
		if !ok || len(s) != len(o) {
			break
		}
		for i := range o {
			list = append(list, differences(fmt.Sprintf("%s/%d", at, i), o[i], s[i])...)
		}
		return list
	}
	if text(ours) != text(theirs) {
		list = append(list, difference{at, text(ours), text(theirs)})
	}
	return list
}

func text(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

// The most lines of differences.txt, and the fields that none of them may be about: those which users
// miss when they differ.
const mostDifferences = 25

var essential = []string{
	"temperature", "max_tokens", "max_output_tokens", "maxOutputTokens", "thinking", "thinkingConfig", "thinkingLevel", "thinkingBudget", "display", "tool_choice",
	"reasoning", "reasoning_effort", "effort", "output_config", "format", "prompt_cache_options", "prompt_cache_retention", "cache_control", "continuationToken", "citations",
}

// A knownDifference is a line of differences.txt: a wire, a JSON pointer with * for any key or index,
// and a reason.
type knownDifference struct {
	wire, at string
	used     bool
}

type knownDifferences []*knownDifference

func readDifferences(t *testing.T) (list knownDifferences) {
	t.Helper()
	data, err := os.ReadFile("differences.txt")
	must(t, err)
	for line := range strings.Lines(string(data)) {
		f := strings.Fields(line)
		if len(f) == 0 || f[0] == "#" {
			continue
		}
		if len(f) < 5 || !strings.HasPrefix(f[1], "/") {
			t.Fatalf("differences.txt: want a wire, a JSON pointer and a reason, got %q", line)
		}
		for _, name := range essential {
			if slices.Contains(strings.Split(f[1], "/"), name) {
				t.Errorf("differences.txt: %s of %s must be what the SDK sends", f[1], f[0])
			}
		}
		list = append(list, &knownDifference{wire: f[0], at: f[1]})
	}
	if len(list) > mostDifferences {
		t.Errorf("differences.txt has %d lines; the most is %d", len(list), mostDifferences)
	}
	return list
}

func (list knownDifferences) has(wire, at string) bool {
	found := false
	for _, d := range list {
		if is, err := path.Match(d.at, at); d.wire == wire && is && err == nil {
			d.used, found = true, true
		}
	}
	return found
}

func (list knownDifferences) check(t *testing.T) {
	t.Helper()
	for _, d := range list {
		if !d.used {
			t.Errorf("differences.txt: no request differs at %s of %s any more", d.at, d.wire)
		}
	}
}
