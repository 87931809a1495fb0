package wiretest_test

import (
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/testkit/fakeprovider"
	"github.com/pawl-run/pawl/internal/testkit/wiretest"
	"github.com/pawl-run/pawl/model/anthropic"
	"github.com/pawl-run/pawl/model/google"
	"github.com/pawl-run/pawl/model/openai"
	"github.com/pawl-run/pawl/model/script"
)

// A served answers requests without a network.
type served struct{ http.Handler }

func (s served) RoundTrip(r *http.Request) (*http.Response, error) {
	rec := httptest.NewRecorder()
	s.ServeHTTP(rec, r)
	return rec.Result(), nil
}

// forged are complaints about thinking that no provider has made.
var forged = []string{"Invalid `signature` in `thinking` block", "Invalid `data` in `redacted_thinking` block", "could not be verified", "Thought signature is not valid", "Input tag 'reasoning' found"}

// FuzzRequests: whatever stands in a log, a request made of it is one that the
// provider takes.
func FuzzRequests(f *testing.F) { // Promises: B1.
	f.Add([]byte("0123456789abcdefghijklmnopqrstuvwxyz"))
	f.Add([]byte{2, 0, 5, 2, 1, 2, 4, 0, 0, 2, 1, 2, 4, 0, 0, 2, 2, 2, 9, 0, 0, 1, 1, 12, 1, 0, 1})
	f.Add([]byte{})
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		seed := make([]byte, rnd.IntN(200))
		for i := range seed {
			seed[i] = byte(rnd.Uint32())
		}
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed []byte) {
		fake := fakeprovider.New(script.Replies(pawl.Say("Fine.")), nil)
		client := &http.Client{Transport: served{fake}}
		for _, m := range []pawl.Model{
			anthropic.New("claude-sonnet-5-5", &anthropic.Options{APIKey: "key", HTTPClient: client}),
			openai.New("tiny", &openai.Options{API: openai.Chat, APIKey: "key", HTTPClient: client}),
			openai.New("tiny", &openai.Options{API: openai.Responses, APIKey: "key", HTTPClient: client}),
			google.New("gemini-4-hydrogen", &google.Options{APIKey: "key", HTTPClient: client}),
		} {
			d := &wiretest.Dice{Bytes: seed}
			r := pawl.Request{
				Messages: d.Conversation("anthropic/claude-sonnet-5-5", "openai/tiny", "google/gemini-4-hydrogen", ""),
				System:   d.Text(), MaxTokens: 2000, Sampling: pawl.Sampling{Effort: []string{"", "high"}[d.Roll(2)]},
			}
			sent := len(fake.Requests())
			for range m.Stream(t.Context(), r) { // the provider says what it thinks of it
			}
			if len(fake.Requests()) == sent {
				t.Errorf("%T sends nothing", m)
			}
		}
		for _, r := range fake.Requests() {
			if !utf8.Valid(r.Body) {
				t.Errorf("%v: no UTF-8: %q", r.Wire, r.Body)
			}
			for _, p := range r.Problems {
				if !slices.ContainsFunc(forged, func(f string) bool { return strings.Contains(p, f) }) {
					t.Errorf("%v: %s\n%s", r.Wire, p, r.Body)
				}
			}
		}
	})
}
