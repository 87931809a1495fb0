package fakeprovider

import (
	"context"
	"errors"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/model/script"
)

// A sight is what a client saw of an answer.
type sight struct {
	wire   Wire
	status int // 0: there was none
	header http.Header
	body   string
	err    error // of reading the body, or of sending
	hung   bool  // the client gave up waiting
	took   time.Duration
}

func (s sight) whole() bool { return s.status == 200 && s.err == nil && !s.hung }

// count is how many events there are.
func count(stream string) int { return strings.Count(stream, "data: ") }

var paths = map[Wire]string{Anthropic: "/v1/messages", Chat: "/v1/chat/completions", Responses: "/v1/responses", Google: googleStream}

var bodies = map[Wire]string{
	Anthropic: `{"model":"claude-sonnet-5-5","max_tokens":100,"stream":true,"thinking":{"type":"adaptive","display":"summarized"},"tools":[{"name":"weather","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"Weather?"}]}`,
	Chat:      `{"model":"house","stream":true,"max_tokens":100,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"Weather?"}]}`,
	Responses: responsesAsk,
	Google:    googleAsk,
}

var created = regexp.MustCompile(`"created(_at)?":\d+,?`)

// hangs are the faults of which nothing would ever come; a client that waits for them
// has to give up, and does so soon after the last thing that came.
var hangs = []string{"endless-error-body", "no-answer", "headers-only", "stalled-stream", "pings-for-ever"}

// leave cancels a request of which nothing has come for 20 looks, or 50 looks after the
// first if something comes for ever. It counts looks, not time, as all that is answered
// comes from this process: where it has to wait for a processor, so do they.
func leave(came *atomic.Int64, endless bool, cancel func()) {
	if endless {
		for range 50 {
			time.Sleep(10 * time.Millisecond)
		}
		cancel()
		return
	}
	for quiet, last := 0, int64(0); quiet < 20; quiet++ {
		time.Sleep(10 * time.Millisecond)
		if n := came.Load(); n != last {
			quiet, last = 0, n
		}
	}
	cancel()
}

// arrivals counts what is written to it.
type arrivals struct{ *atomic.Int64 }

func (a arrivals) Write(b []byte) (int, error) {
	a.Add(int64(len(b)))
	return len(b), nil
}

// look sends one request and says what came.
func look(t testing.TB, c *http.Client, url string, w Wire, f Fault) sight {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+paths[w], strings.NewReader(bodies[w]))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Anthropic-Version", "2023-06-01")
	came := arrivals{new(atomic.Int64)}
	if f.Name == "no-answer" {
		go leave(came.Int64, false, cancel)
	}
	begun := time.Now()
	s := sight{wire: w}
	res, err := c.Do(req)
	if s.err = err; err == nil {
		defer res.Body.Close()
		if slices.Contains(hangs, f.Name) {
			go leave(came.Int64, f.Name == "pings-for-ever" || f.Name == "endless-error-body", cancel)
		}
		var b []byte
		b, s.err = io.ReadAll(io.TeeReader(res.Body, came))
		s.status, s.header, s.body = res.StatusCode, res.Header, created.ReplaceAllString(string(b), "")
	}
	s.took = time.Since(begun)
	s.hung = errors.Is(s.err, context.Canceled)
	return s
}

func newClient(t testing.TB) *http.Client {
	transport := &http.Transport{DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// TestFaultsFindNothing: a fault says so when there is nothing to strike.
func TestFaultsFindNothing(t *testing.T) {
	for _, name := range []string{"cut-mid-arguments", "unknown-tool", "array-arguments", "interleaved", "open-block", "length-mid-call"} {
		fake, url := serve(t, script.Replies(pawl.Say("Nothing to call.")), &Options{Faults: []Fault{Must(name)}})
		w := Must(name).Wires[0]
		if got := look(t, newClient(t), url, w, Fault{}); !got.whole() || fake.Requests()[0].Struck {
			t.Errorf("%s: %v, struck %v", name, got.err, fake.Requests()[0].Struck)
		}
	}
	// Nor is there on a wire that does not have it, or in a stream that is none.
	fake, url := serve(t, script.Replies(lookup()), &Options{Faults: []Fault{Must("prompt-blocked"), Must("no-terminator")}})
	send(t, url, paths[Chat], bodies[Chat])
	send(t, url, paths[Responses], `{"model":"m","input":"Hi"}`)
	for _, r := range fake.Requests() {
		if r.Struck || r.Status != 200 {
			t.Errorf("%v struck: %v, status %d", r.Fault, r.Struck, r.Status)
		}
	}
	fake, url = serve(t, script.Replies(lookup()), &Options{FaultFor: func(int) Fault { return Fault{Name: "nonsense"} }})
	if res, _ := send(t, url, paths[Chat], bodies[Chat]); res.StatusCode != http.StatusNotImplemented || len(fake.Problems()) != 1 {
		t.Errorf("%v, %q", res, fake.Problems())
	}
}

// TestFind reads what prints.
func TestFind(t *testing.T) {
	for _, f := range Faults() {
		for _, f := range []Fault{f, f.At(3)} {
			if got, ok := Find(f.String()); !ok || got.String() != f.String() || !slices.Equal(got.Wires, f.Wires) {
				t.Errorf("%v is found as %v", f, got)
			}
		}
	}
	for _, name := range []string{"", "nonsense", "rate-limit@", "rate-limit@0", "rate-limit@x"} {
		if f, ok := Find(name); ok {
			t.Errorf("%q is found: %v", name, f)
		}
	}
}
