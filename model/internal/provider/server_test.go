package provider

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
)

// A plain reader takes the data of every event as text, to the event "end".
type plain struct {
	Turn
	text string
}

func (p *plain) Event(data []byte) ([]pawl.Chunk, error) {
	switch s := string(data); s {
	case "end":
		p.Ended = true
		return nil, nil
	case "ping":
		return []pawl.Chunk{}, nil
	case "error":
		return nil, InBandError(`{"error":"busy"}`)
	default:
		p.text += s
		return []pawl.Chunk{{Text: s}}, nil
	}
}

func (p *plain) Ends(error) bool { return p.Ended }

func (p *plain) Reply() (*pawl.Reply, error) {
	return p.Finish([]pawl.Part{pawl.Text{Text: p.text}}, false)
}

var vendor = &Vendor{
	Name: "none", Endpoint: "https://api.example", Keys: []string{"PAWL_TEST_KEY"}, Base: "PAWL_TEST_BASE",
	Header: func(h http.Header, key string) { h.Set("X-Key", key) },
	Classify: func(e *pawl.ModelError, status int, body []byte) bool {
		said, told := Spoken(body)
		e.Message = Message(strings.Trim(string(said), `"`), status, body)
		if strings.Contains(e.Message, "key") {
			e.Class = pawl.ClassAuth
		}
		return told
	},
}

// stream sends a request to a handler and gives what was streamed, with a comma
// between chunks, and the error.
func stream(t *testing.T, o Options, h http.HandlerFunc) (streamed string, err error) {
	t.Helper()
	if h != nil {
		srv := httptest.NewServer(h)
		defer srv.Close()
		o.BaseURL = srv.URL
	}
	s := vendor.Server("none", "tiny", o)
	var all []string
	for c, e := range s.Stream(t.Context(), pawl.Request{}, func(error) (*Attempt, error) {
		return &Attempt{Path: "/say", Body: []byte("{}"), Reader: &plain{}}, nil
	}) {
		if err = e; c.Reply != nil {
			all = append(all, strings.Join(append([]string{"reply " + c.Reply.Text()}, c.Reply.Notes...), "; "))
		} else if e == nil {
			all = append(all, c.Text)
		}
	}
	return strings.Join(all, ","), err
}

func class(err error) pawl.Class {
	if me, ok := errors.AsType[*pawl.ModelError](err); ok {
		return me.Class
	}
	return 0
}

// events answers with a stream.
func events(w http.ResponseWriter, data ...string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, d := range data {
		_, _ = io.WriteString(w, "data: "+d+"\n\n") // a client that hung up is part of the test
		w.(http.Flusher).Flush()
	}
}

// A key that is refused is asked for once more, and a third is not.
func TestKeys(t *testing.T) {
	lost := errors.New("the vault is shut")
	for _, c := range []struct {
		name  string
		keys  map[string]string // the next key by the one refused; one that is missing is an error
		good  string
		sent  []string
		class pawl.Class
	}{
		{"the first is good", map[string]string{"": "a"}, "a", []string{"a"}, 0},
		{"the second is good", map[string]string{"": "a", "a": "b"}, "b", []string{"a", "b"}, 0},
		{"no third is asked for", map[string]string{"": "a", "a": "b", "b": "c"}, "c", []string{"a", "b"}, pawl.ClassAuth},
		{"there is no other", map[string]string{"": "a", "a": "a"}, "b", []string{"a"}, pawl.ClassAuth},
		{"there is none any more", map[string]string{"": "a", "a": ""}, "b", []string{"a"}, pawl.ClassAuth},
		{"the other cannot be had", map[string]string{"": "a"}, "b", []string{"a"}, pawl.ClassAuth},
		{"none can be had", map[string]string{}, "b", nil, pawl.ClassAuth},
		{"none is needed", map[string]string{"": ""}, "", []string{""}, 0},
	} {
		for _, status := range []int{http.StatusUnauthorized, http.StatusBadRequest} { // Google refuses keys with the latter
			var sent []string
			_, err := stream(t, Options{Key: func(_ context.Context, refused string) (string, error) {
				if k, ok := c.keys[refused]; ok {
					return k, nil
				}
				return "", lost
			}}, func(w http.ResponseWriter, r *http.Request) {
				key := r.Header.Get("X-Key")
				if sent = append(sent, key); key != c.good {
					http.Error(w, `{"error":"no such key"}`, status)
					return
				}
				events(w, "a", "end")
			})
			if d := cmp.Diff(c.sent, sent); d != "" || class(err) != c.class {
				t.Errorf("%s: error %v, sent (-want +got):\n%s", c.name, err, d)
			}
			if c.sent == nil && !errors.Is(err, lost) {
				t.Errorf("%s: error %v, want the cause", c.name, err)
			}
		}
	}
}

// counted is a transport that counts requests and sends none.
type counted int

func (c *counted) RoundTrip(*http.Request) (*http.Response, error) {
	*c++
	return nil, io.EOF
}

func TestNoKeySendsNothing(t *testing.T) {
	t.Setenv("PAWL_TEST_KEY", "")
	t.Setenv("PAWL_TEST_BASE", "")
	n := new(counted)
	o := Options{HTTPClient: &http.Client{Transport: n}}
	if _, err := stream(t, o, nil); class(err) != pawl.ClassAuth || *n != 0 || !strings.Contains(err.Error(), "PAWL_TEST_KEY") {
		t.Errorf("error %v after %d requests, want class auth and none", err, *n)
	}
	t.Setenv("PAWL_TEST_KEY", "two keys")
	if _, err := stream(t, o, nil); class(err) != pawl.ClassAuth || *n != 0 || !strings.Contains(err.Error(), "white space or a control character within it; set PAWL_TEST_KEY") {
		t.Errorf("error %v after %d requests, want class auth and none", err, *n)
	}
	t.Setenv("PAWL_TEST_KEY", " key\r\n")
	got, err := stream(t, Options{}, func(w http.ResponseWriter, r *http.Request) { events(w, r.Header.Get("X-Key"), "end") })
	if err != nil || !strings.HasSuffix(got, "reply key; white space around the key was cut: PAWL_TEST_KEY") {
		t.Errorf("%q, %v", got, err)
	}
	t.Setenv("PAWL_TEST_KEY", "key")
	if _, err := stream(t, o, nil); class(err) != pawl.ClassNetwork || *n != 1 {
		t.Errorf("error %v after %d requests, want class network and one", err, *n)
	}
	t.Setenv("PAWL_TEST_BASE", "http://a b")
	if _, err := stream(t, o, nil); class(err) != pawl.ClassInvalid || *n != 1 {
		t.Errorf("error %v after %d requests, want class invalid and no other", err, *n)
	}
}

// A model's answer of an unknown shape may be billed, which its class says; the page of a proxy is not.
func TestAnswersThatAreNoStream(t *testing.T) {
	for kind, want := range map[string]pawl.Class{"application/json": pawl.ClassEmpty, "text/html": pawl.ClassUnknown} {
		_, err := stream(t, Options{}, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			_, _ = io.WriteString(w, `{"output":"hello"}`) // a client that hung up is part of the test
		})
		if class(err) != want {
			t.Errorf("%s: %v; want class %v", kind, err, want)
		}
	}
}

// The time limit of a client holds for the whole stream, as elsewhere.
func TestTimeoutOfTheClient(t *testing.T) {
	got, err := stream(t, Options{HTTPClient: &http.Client{Timeout: time.Second}}, func(w http.ResponseWriter, r *http.Request) {
		events(w, "a")
		<-r.Context().Done()
	})
	if got != "a" || class(err) != pawl.ClassNetwork {
		t.Errorf("%q, error %v; want class network", got, err)
	}
}

// A known name has its price everywhere, and says whether it is that of the place.
func TestPriceOfAnAddress(t *testing.T) {
	v := &Vendor{Name: "openai", Endpoint: "https://api.openai.com/v1", Hosts: []string{"api.openai.com", ".openai.azure.com"}}
	own := pawl.Price{Input: 1, Output: 2}
	for _, c := range []struct {
		base, name string
		own        *pawl.Price
		from       string
	}{
		{"", "gpt-6-sol", nil, "table"},
		{"https://api.OPENAI.COM/v1/", "gpt-6-sol", nil, "table"},
		{"https://house.openai.azure.com/openai/v1", "gpt-6-sol", nil, "table"},
		{"http://127.0.0.1:11434/v1", "gpt-6-sol", nil, "list"},
		{"https://api.openai.com.example.com", "gpt-6-sol", nil, "list"},
		{"https://example.com/?api.openai.com", "gpt-6-sol", nil, "list"},
		{"%", "gpt-6-sol", nil, "list"},
		{"", "house", nil, ""},
		{"http://127.0.0.1:11434/v1", "gpt-6-sol", &own, "spec"},
		{"", "gpt-6-sol", &own, "spec"},
	} {
		s := v.Server("openai", c.name, Options{BaseURL: c.base, Price: c.own})
		info := s.Describe(pawl.Wire{})
		want := map[string]float64{"table": 10, "list": 10, "spec": 2}[c.from]
		if info.PriceFrom != c.from || (info.Price == nil) != (want == 0) || info.Price != nil && info.Price.Output != want {
			t.Errorf("%s at %q: the price %v is from %q, want %q", c.name, c.base, info.Price, info.PriceFrom, c.from)
		}
	}
}
