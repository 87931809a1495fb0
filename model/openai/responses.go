package openai

import (
	"context"
	"iter"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/model/internal/provider"
)

// Responses is a model of OpenAI, or of a server that imitates it, spoken to
// through the Responses API. It may be used by many runs at once.
//
// It is a type of its own, under a name of its own, and no mode of [Model],
// because what a model thought through one API means nothing to the other: a log
// must say which of the two it was.
//
// Nothing is stored by the provider: each request carries the whole conversation
// with store false. Reasoning models are asked for their reasoning encrypted,
// and it goes back byte for byte right before the call or the text it led to.
// What led to nothing, or cannot be read without what the provider would have
// stored, stays out. A request that is refused for its reasoning, as when keys
// of two organisations take turns, is sent once more without any; a refusal costs
// nothing.
//
// Calls keep the provider's ids where they are unique. Pictures of results stand
// in the results. An output schema goes as text.format json_schema, not strict,
// since strict mode refuses most schemas; the reply is validated anyway.
// ThinkingTokens have no counterpart and are not sent; the option reasoning_effort
// stands for reasoning.effort, as in Chat Completions. Other options of the
// sampling are put into the request under their own names and replace what
// stands there; null takes it out, as in {"include": null} for a server that does
// not know it.
//
// A stream is whole with response.completed or response.incomplete, and not
// without.
type Responses struct{ server provider.Server }

// NewResponses makes the model of a name, such as gpt-5-mini. The environment is
// read here, once. A missing key shows when the model is first called.
// MaxTokensKey of the options is for Chat Completions alone.
func NewResponses(name string, o *Options) *Responses {
	if o == nil {
		o = &Options{}
	}
	return &Responses{newServer("openai-responses", name, o)}
}

// Describe names the model openai-responses/NAME, where its requests go, and its price
// when that is given, or is in the price table and they go to OpenAI or Azure.
func (m *Responses) Describe() pawl.ModelInfo { return describe(&m.server) }

// Ready returns an error if the model cannot be called because its key is missing.
// It sends nothing.
func (m *Responses) Ready() error { return m.server.Ready() }

// Stream sends the request and yields the reply as it comes.
func (m *Responses) Stream(ctx context.Context, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
	return m.server.Stream(ctx, r, "/responses", func(refused error) ([]byte, provider.Reader, error) {
		if refused != nil && !forReasoning(refused) {
			return nil, nil, refused
		}
		body, err := m.body(r, refused == nil)
		return body, &response{}, err
	})
}
