package google_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/testkit/wiretest"
	"github.com/pawl-run/pawl/model/google"
)

func TestDescribe(t *testing.T) {
	t.Setenv("GOOGLE_GEMINI_BASE_URL", "")
	got := google.New("gemini-4-hydrogen", nil).Describe()
	want := pawl.ModelInfo{
		Name: "google/gemini-4-hydrogen", Endpoint: "https://generativelanguage.googleapis.com",
		Price: &pawl.Price{Input: 1.5, Output: 7.5, CacheRead: 0.075, Search: 0.014}, PriceFrom: "table", Reply: 65536, Effort: "high",
	}
	want.Wire = pawl.Wire{Frame: 450, Message: 200, Tool: 100}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	t.Setenv("GOOGLE_GEMINI_BASE_URL", "http://127.0.0.1:1/x/")
	got = google.New("models/house", nil).Describe()
	if d := cmp.Diff(pawl.ModelInfo{Name: "google/house", Endpoint: "http://127.0.0.1:1/x", Wire: pawl.Wire{Frame: 450, Message: 200, Tool: 100}}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

var class = wiretest.Class

func last(ctx context.Context, m pawl.Model) (err error) {
	for _, e := range m.Stream(ctx, requests["hello"].Request) {
		err = e
	}
	return err
}

// asked is a transport that counts what is sent and keeps its last request.
type asked struct {
	times int
	last  *http.Request
}

func (a *asked) RoundTrip(r *http.Request) (*http.Response, error) {
	a.times++
	a.last = r
	return nil, io.EOF
}

// Variables of Google's own libraries do not matter.
func TestEnvironment(t *testing.T) {
	for _, name := range []string{"GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL"} {
		t.Setenv(name, "")
	}
	t.Setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
	t.Setenv("GOOGLE_CLOUD_PROJECT", "mine")
	t.Setenv("GOOGLE_CLOUD_LOCATION", "here")
	a := &asked{}
	o := &google.Options{HTTPClient: &http.Client{Transport: a}}
	if err := last(t.Context(), google.New("gemini-4-hydrogen", o)); class(err) != pawl.ClassAuth || a.times != 0 {
		t.Errorf("without a key: error %v, %d requests; want class auth and none", err, a.times)
	}
	for _, c := range []struct{ gemini, google, option, want string }{
		{"", "two", "", "two"},
		{"one", "", "", "one"},
		{"one", "two", "", "one"},
		{"one", "two", "mine", "mine"},
	} {
		t.Setenv("GEMINI_API_KEY", c.gemini)
		t.Setenv("GOOGLE_API_KEY", c.google)
		o.APIKey = c.option
		if err := last(t.Context(), google.New("gemini-4-hydrogen", o)); class(err) != pawl.ClassNetwork {
			t.Fatal(err)
		}
		const where = "https://generativelanguage.googleapis.com/v1beta/models/gemini-4-hydrogen:streamGenerateContent?alt=sse"
		if got := a.last.Header.Get("X-Goog-Api-Key"); got != c.want || a.last.URL.String() != where {
			t.Errorf("%+v: key %q to %s", c, got, a.last.URL)
		}
	}
	if a.times != 4 {
		t.Errorf("%d requests for 4 calls: something tries again", a.times)
	}
}

func TestAnotherServerNeedsNoKey(t *testing.T) {
	t.Setenv("GEMINI_API_KEY", "")
	t.Setenv("GOOGLE_API_KEY", "")
	a := &asked{}
	m := google.New("house", &google.Options{BaseURL: "http://127.0.0.1:1/x", HTTPClient: &http.Client{Transport: a}})
	if err := last(t.Context(), m); class(err) != pawl.ClassNetwork {
		t.Fatal(err)
	}
	if _, sent := a.last.Header["X-Goog-Api-Key"]; sent || a.last.URL.Path != "/x/v1beta/models/house:streamGenerateContent" {
		t.Errorf("key sent: %v, to %s", sent, a.last.URL)
	}
}

func TestWhatCannotBeSent(t *testing.T) {
	a := &asked{}
	for _, c := range []struct{ name, base string }{{"", ""}, {"a?b=c", ""}, {"../files", ""}, {"gemini-4-hydrogen", "http://a b"}} {
		m := google.New(c.name, &google.Options{APIKey: "key", BaseURL: c.base, HTTPClient: &http.Client{Transport: a}})
		if err := last(t.Context(), m); class(err) != pawl.ClassInvalid || a.times != 0 {
			t.Errorf("%q: error %v, want class invalid", c, err)
		}
	}
}

// Events that carry nothing to show are signs of life; comments are not.
func TestSignsOfLife(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, `: ping

data: {"candidates":[{"content":{"parts":[{"text":"","thoughtSignature":"YQ=="}]}}]}

: ping

data: {"usageMetadata":{"promptTokenCount":1}}

data: {"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}]}

`)
	}))
	defer srv.Close()
	var got []string
	for c, err := range google.New("gemini-4-hydrogen", &google.Options{APIKey: "key", BaseURL: srv.URL}).Stream(t.Context(), requests["hello"].Request) {
		switch {
		case err != nil:
			t.Fatal(err)
		case c == (pawl.Chunk{}):
			got = append(got, "alive")
		case c.Reply != nil:
			got = append(got, "reply")
		default:
			got = append(got, c.Text)
		}
	}
	if d := cmp.Diff([]string{"alive", "alive", "a", "reply"}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
