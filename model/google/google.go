// Package google is a model behind Google's Gemini API, always streamed.
//
// What it sends: each message's results first, then the rest; neighbouring
// messages of one role as one; calls and results under the run's own ids, which
// are unique where the provider's need not be; no empty text. A result is an
// object {"output": …} or {"error": …}. Its pictures are parts of it for models
// since Gemini 3 and follow the results for older ones, which take them nowhere
// else.
//
// Whatever a part carries beside what the log keeps of it, signatures above all,
// goes back byte for byte to the model that sent it. It is kept as an opaque
// [pawl.Thinking] of one of three forms, each an object of one key:
//
//	{"part": P}          P is a whole part: a thought, an empty text with a
//	                     signature, anything unknown here
//	{"text": P}          P belongs to the text that follows
//	{"functionCall": P}  P belongs to the call that follows
//
// One that is not followed by what it belongs to is left out, as are those of
// other models. Models since Gemini 3 refuse a step whose first call has no
// signature, so a call that came from elsewhere gets the one Google documents
// for this, skip_thought_signature_validator.
//
// ThinkingTokens are a thinkingBudget of at most 24576, with thoughts included;
// below 512 no thinking is asked for. These are the bounds that all models take,
// and most think without being asked. Models before Gemini 2.5 cannot.
//
// An output schema is sent unless there are tools too and the model is older
// than Gemini 3, which takes one or the other; then it is left to validation of
// the reply. Options of the sampling are put into generationConfig under their
// own names, or beside it where the API has them there, such as safetySettings;
// they replace what stands there, and null takes it out.
//
// Whatever stands in the conversation is sent as something the API takes: names
// of tools that break its rules with _ in them, arguments that are no object as
// an empty one. A picture it would refuse is replaced by a text that says why.
//
// A reply is whole when a finish reason has come and then an orderly end. A call
// that the API itself calls malformed or unexpected is a failed attempt of class
// empty: nothing in it can be used, nothing of it runs, and the run asks again
// as often as it does for any passing failure.
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
	Hosts:    []string{"generativelanguage.googleapis.com"},
	Keys:     []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"},
	Base:     "GOOGLE_GEMINI_BASE_URL",
	Header: func(h http.Header, key string) {
		if key != "" {
			h.Set("X-Goog-Api-Key", key)
		}
	},
	Classify: classify,
}

// Options are what a model may be given beside its name.
type Options struct {
	APIKey     string       // empty: GEMINI_API_KEY, or else GOOGLE_API_KEY
	BaseURL    string       // without /v1beta; empty: GOOGLE_GEMINI_BASE_URL, or Google's own
	HTTPClient *http.Client // nil: http.DefaultClient; no redirect is followed
	Price      *pawl.Price  // nil: that of the price table at Google, none elsewhere

	// Key gives the key in the place of APIKey, for keys that change while runs
	// go on. It is asked before each request, with an empty refused, and may
	// answer from memory. When the server refuses a key as wrong or expired, it is
	// asked once more, with that key; if it gives another, the request is sent
	// once more with that. Otherwise, and when it fails at first, the call fails
	// with class auth. It may be called by many runs at once, and its ctx ends
	// with the call.
	Key func(ctx context.Context, refused string) (string, error)
}

// A Model is one of Google's models. It may be used by many runs at once.
type Model struct{ server provider.Server }

// New makes the model of a name, such as gemini-3.8-flash. The environment is
// read here, once. A missing key shows when the model is first called.
func New(name string, o *Options) *Model {
	if o == nil {
		o = &Options{}
	}
	return &Model{vendor.Server("google", strings.TrimPrefix(name, "models/"), provider.Options(*o))}
}

// Ready returns an error if the model cannot be called because its key is missing.
// It sends nothing.
func (m *Model) Ready() error { return m.server.Ready() }

// Describe names the model google/NAME, where its requests go, and its price
// when that is given, or is in the price table and they go to Google.
func (m *Model) Describe() pawl.ModelInfo {
	// As [Model.body] writes them, with the name of a tool and a signature at
	// each call. Google publishes no count of tokens that it adds for tools.
	return m.server.Describe(pawl.Wire{Frame: 250, Message: 200, Tool: 100})
}

// Stream sends the request and yields the reply as it comes.
func (m *Model) Stream(ctx context.Context, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
	name := m.server.Name
	return m.server.Stream(ctx, r, "/v1beta/models/"+name+":streamGenerateContent?alt=sse", func(refused error) ([]byte, provider.Reader, error) {
		if name == "" || strings.ContainsAny(name, "?&#%") || strings.Contains(name, "..") {
			return nil, nil, provider.Invalid("%q is not the name of a model", name)
		}
		body, err := m.body(r)
		return body, &turn{}, cmp.Or(refused, err)
	})
}
