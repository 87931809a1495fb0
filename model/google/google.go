// Package google implements models behind Google's Gemini API, always streamed.
//
// Requests have each message's results first, then the rest; consecutive
// messages of one role joined; calls and results under the run's own ids, which
// are unique where the provider's may not be; and no empty text. A result is an
// object {"output": …} or {"error": …}. Its pictures are parts of it for models
// since Gemini 3, and follow the results for older ones.
//
// All fields of a part that the log does not represent, such as signatures, go
// back byte for byte to the model that sent them. They are kept as an opaque
// [pawl.Thinking] in one of three forms, each an object of one key:
//
//	{"part": P}          P is a whole part: a thought, an empty text with a
//	                     signature, anything unknown here
//	{"text": P}          P belongs to the text that follows
//	{"functionCall": P}  P belongs to the call that follows
//
// A field whose part does not follow is left out, as are those of other models.
// Models since Gemini 3 refuse a step whose first call has no signature, so a
// call of another model gets the documented placeholder,
// skip_thought_signature_validator.
//
// The model sheet says what a model takes. An effort becomes a thinkingLevel, or
// a thinkingBudget for models that are asked by a number of tokens; a model that
// thinks shows its thoughts. A temperature is left out where the model ignores it.
//
// An output schema is sent unless there are tools and the model is older than
// Gemini 3, which accepts only one of them; then only the reply is validated.
// Options of the sampling are put into generationConfig under their own names,
// or next to it where the API has them there, such as safetySettings; objects
// join existing ones, other values replace them, and null removes a field.
//
// Content that the API would refuse is adapted: invalid characters in names of
// tools become _, arguments that are not an object become an empty one, a
// picture outside the limits becomes a text with the reason, a $ref in a schema
// loses what stands beside it, and a turn of the model at the end is followed by
// "Go on.". What a server says that it does not know, such as a thinking level behind
// a gateway, is left out from then on, and the reply says so.
//
// A reply is complete after a finish reason and an orderly end. A call that the
// API reports as malformed or unexpected is a failed attempt of class empty:
// nothing in it is used or run, and the run retries it like any transient
// failure. A reply that the provider stops at the most tokens of one response
// (CONTINUATION) is gone on with in the same attempt while its limit allows it,
// and else counts as cut. What a filter stopped is a refusal with the filter's
// name. The sources of a text follow it as [pawl.Citation].
package google

import (
	"cmp"
	"context"
	"iter"
	"net/http"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/model/internal/provider"
)

var vendor = &provider.Vendor{
	Name:     "google",
	Endpoint: "https://generativelanguage.googleapis.com",
	Hosts:    []string{".googleapis.com"}, // of the Gemini API and of Vertex AI, which serve its models
	Keys:     []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"},
	Base:     "GOOGLE_GEMINI_BASE_URL",
	Header: func(h http.Header, key string) {
		if key != "" {
			h.Set("X-Goog-Api-Key", key)
		}
	},
	Classify: classify,
}

// Options configure a model. The zero value is right.
type Options struct {
	APIKey     string       // empty: GEMINI_API_KEY, or else GOOGLE_API_KEY
	BaseURL    string       // without /v1beta; empty: GOOGLE_GEMINI_BASE_URL, or Google's own
	HTTPClient *http.Client // nil: http.DefaultClient; no redirect is followed
	Price      *pawl.Price  // nil: that of the price table at Google, none elsewhere

	// Key returns the key, in place of APIKey, for keys that change during a
	// run. It is called before each request, with an empty refused, and may
	// cache the key. When the server refuses a key as wrong or expired, it is
	// called once more with that key; if it returns another, the request is
	// sent once more with that. Otherwise, and when Key fails, the call fails
	// with class auth. It may be called concurrently, and its ctx ends with the
	// call.
	Key func(ctx context.Context, refused string) (string, error)

	// Provider is the name of another provider that speaks this API. It takes the place of
	// google in the model's name, and the environment is not read: a key of one provider is
	// never sent to another.
	Provider string
	Header   http.Header // sent with each request
}

// A Model is one of Google's models. It is safe for concurrent use.
type Model struct {
	server provider.Server
	cloud  bool // Vertex AI serves it
}

// New returns the model with a name, such as gemini-4-hydrogen. It reads the
// environment once. A missing key is reported by the first call of the model.
func New(name string, o *Options) *Model {
	o = cmp.Or(o, &Options{})
	return &Model{
		server: vendor.Server("google", strings.TrimPrefix(name, "models/"), provider.Options(*o)),
		cloud:  strings.HasSuffix(o.BaseURL, "/publishers/google"),
	}
}

// Ready returns an error if the model cannot be called because its key is missing.
// It sends nothing.
func (m *Model) Ready() error { return m.server.Ready() }

// Describe returns the name google/NAME, the endpoint, and the price if it is
// given, or if it is in the price table and requests go to Google.
func (m *Model) Describe() pawl.ModelInfo {
	// The sizes of what [Model.body] writes, with the name of a tool and a
	// signature at each call. Google publishes no number of tokens added for
	// tools.
	return m.server.Describe(pawl.Wire{Frame: 450, Message: 200, Tool: 100})
}

// Takes implements engine.Taker: pictures, PDFs and sounds within the API's limits.
func (m *Model) Takes(files []pawl.File) error { return limits.Takes(m.server.Full, files) }

// Stream sends the request and yields the reply as it arrives.
func (m *Model) Stream(ctx context.Context, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
	name := m.server.Name
	path := "/v1beta/models/" + name + ":streamGenerateContent?alt=sse"
	a := &asking{m, r, m.server.Lessons()}
	return m.server.Stream(ctx, r, func(refused error) (*provider.Attempt, error) {
		if name == "" || strings.ContainsAny(name, "?&#%") || strings.Contains(name, "..") {
			return nil, provider.Invalid("%q is not the name of a model", name)
		}
		return a.attempt(path, refused)
	})
}
