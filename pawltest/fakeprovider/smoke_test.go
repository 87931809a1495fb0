package fakeprovider

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
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
	err    error  // of reading the body, or of sending
	hung   bool   // the client gave up waiting
	sound  string // the body of the same answer without a fault
	took   time.Duration
}

func (s sight) whole() bool { return s.status == 200 && s.err == nil && !s.hung }

// cutIn reports whether the body is a beginning of the sound one.
func (s sight) cut() bool { return strings.HasPrefix(s.sound, s.body) && len(s.body) < len(s.sound) }

func (s sight) has(text string) bool { return strings.Contains(s.body, text) }

// count is how many events there are.
func count(stream string) int { return strings.Count(stream, "data: ") }

var paths = map[Wire]string{Anthropic: "/v1/messages", Chat: "/v1/chat/completions", Responses: "/v1/responses", Google: googleStream}

var bodies = map[Wire]string{
	Anthropic: `{"model":"claude-sonnet-4-5","max_tokens":100,"stream":true,"tools":[{"name":"weather","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"Weather?"}]}`,
	Chat:      `{"model":"gpt-5","stream":true,"max_tokens":100,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"Weather?"}]}`,
	Responses: responsesAsk,
	Google:    googleAsk,
}

var created = regexp.MustCompile(`"created(_at)?":\d+,?`)

// hangs are the faults of which nothing would ever come; a client that waits for them
// has to give up, and does so soon after the last thing that came.
var hangs = []string{"endless-error-body", "no-answer", "headers-only", "stalled-stream", "pings-for-ever"}

const patience = 200 * time.Millisecond

// look sends one request and says what came.
func look(t testing.TB, c *http.Client, url string, w Wire, f Fault) sight {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+paths[w], strings.NewReader(bodies[w]))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Anthropic-Version", "2023-06-01")
	if f.Name == "no-answer" {
		time.AfterFunc(patience, cancel)
	}
	begun := time.Now()
	s := sight{wire: w}
	res, err := c.Do(req)
	if s.err = err; err == nil {
		defer res.Body.Close()
		switch {
		case f.Name == "pings-for-ever": // a busy machine is to see some of them
			time.AfterFunc(10*patience, cancel)
		case slices.Contains(hangs, f.Name):
			time.AfterFunc(patience, cancel)
		}
		var b []byte
		b, s.err = io.ReadAll(res.Body)
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

// TestFaultsShow lets each fault strike on each wire where it can occur, and
// looks whether it does what it says.
func TestFaultsShow(t *testing.T) {
	for _, f := range Faults() {
		show, ok := shows[f.Name]
		if !ok {
			t.Errorf("what does %s look like?", f.Name)
			continue
		}
		if f.Number < 1 || f.Number > 68 || f.About == "" || !strings.HasSuffix(f.About, ".") || len(f.Wires) == 0 {
			t.Errorf("%+v is not described", f)
		}
		for _, w := range f.Wires {
			t.Run(f.Name+"/"+w.String(), func(t *testing.T) {
				t.Parallel()
				c := newClient(t)
				_, sound := serve(t, script.Replies(lookup()), nil)
				fake, url := serve(t, script.Replies(lookup()), &Options{Faults: []Fault{f}})
				got := look(t, c, url, w, f)
				got.sound = look(t, c, sound, w, Fault{}).body
				if !show(got) {
					t.Errorf("status %d, error %v, hung %v, %v\n%s\nthe sound one:\n%s", got.status, got.err, got.hung, got.header, got.body, got.sound)
				}
				r := fake.Requests()[0]
				if !r.Struck && f.Name != "stale-connection" || !r.Decided || r.Status != got.status || r.Fault.Name != f.Name {
					t.Errorf("recorded as %v, struck %v, decided %v, status %d", r.Fault, r.Struck, r.Decided, r.Status)
				}
				if again := look(t, c, url, w, Fault{}); again.body == "" == (f.Name != "stale-connection") {
					t.Errorf("the next request gets %d, %v: %s", again.status, again.err, again.body)
				}
			})
		}
	}
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
	defer func() {
		if recover() == nil {
			t.Error("Must takes anything")
		}
	}()
	Must("nonsense")
}

// callArgs are the arguments of the first call of a reply.
func (s sight) args() (string, bool) {
	switch s.wire {
	case Google:
		var b strings.Builder
		for line := range strings.Lines(s.body) {
			var doc struct {
				Candidates []struct {
					Content struct {
						Parts []struct {
							FunctionCall *struct{ Args json.RawMessage }
						}
					}
				}
			}
			if data, ok := strings.CutPrefix(line, "data: "); ok && json.Unmarshal([]byte(data), &doc) == nil && len(doc.Candidates) > 0 {
				for _, p := range doc.Candidates[0].Content.Parts {
					if p.FunctionCall != nil && b.Len() == 0 {
						b.Write(p.FunctionCall.Args)
						if p.FunctionCall.Args == nil {
							return "", false
						}
					}
				}
			}
		}
		return b.String(), true
	case Responses:
		m := regexp.MustCompile(`"arguments":("(?:[^"\\]|\\.)*"),"item_id"`).FindStringSubmatch(s.body)
		if m == nil {
			return "", false
		}
		text := ""
		ok := json.Unmarshal([]byte(m[1]), &text) == nil
		return text, ok
	}
	key := `"partial_json":("(?:[^"\\]|\\.)*")`
	begins := `"type":"tool_use"`
	if s.wire == Chat {
		key, begins = `"arguments":("(?:[^"\\]|\\.)*")`, `"id":"call_`
	}
	parts := strings.Split(s.body, begins)
	if len(parts) < 2 {
		return "", false
	}
	text, found := "", false
	for _, m := range regexp.MustCompile(key).FindAllStringSubmatch(parts[1], -1) {
		var piece string
		found = json.Unmarshal([]byte(m[1]), &piece) == nil
		text += piece
	}
	return text, found
}

func argsAre(good func(args string) bool) func(s sight) bool {
	return func(s sight) bool {
		args, ok := s.args()
		return s.whole() && ok && good(args)
	}
}
