package openai

import (
	"context"
	"net/http"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/model/internal/provider"
)

var vendor = &provider.Vendor{
	Name:     "openai",
	Endpoint: "https://api.openai.com/v1",
	Hosts:    []string{"api.openai.com", ".openai.azure.com"}, // the latter serves its models, too
	Keys:     []string{"OPENAI_API_KEY"},
	Base:     "OPENAI_BASE_URL",
	Header: func(h http.Header, key string) {
		if key != "" {
			h.Set("Authorization", "Bearer "+key)
		}
	},
	Classify: classify,
}

// Options are what a model may be given beside its name.
type Options struct {
	APIKey       string       // empty: OPENAI_API_KEY, which servers other than OpenAI's may not need
	BaseURL      string       // with /v1; empty: OPENAI_BASE_URL, or OpenAI's own
	HTTPClient   *http.Client // nil: http.DefaultClient; no redirect is followed
	MaxTokensKey string       // what Chat Completions of the server call the ceiling of a reply; empty: see the package
	Price        *pawl.Price  // nil: that of the price table at OpenAI and Azure, none elsewhere

	// Key gives the key in the place of APIKey, for keys that change while runs
	// go on. It is asked before each request, with an empty refused, and may
	// answer from memory. When the server refuses a key with 401, it is asked
	// once more, with that key; if it gives another, the request is sent once
	// more with that. Otherwise, and when it fails at first, the call fails with
	// class auth. It may be called by many runs at once, and its ctx ends with
	// the call.
	Key func(ctx context.Context, refused string) (string, error)
}

func newServer(prefix, name string, o *Options) provider.Server {
	return vendor.Server(prefix, name, provider.Options{APIKey: o.APIKey, BaseURL: o.BaseURL, HTTPClient: o.HTTPClient, Price: o.Price, Key: o.Key})
}

// describe is for [Model.body] and [Responses.body] as they write requests, with
// the longest ids. OpenAI publishes no count of tokens that it adds for tools.
func describe(s *provider.Server) pawl.ModelInfo {
	return s.Describe(pawl.Wire{Frame: 250 + len(s.Name), Message: 150, Tool: 100})
}
