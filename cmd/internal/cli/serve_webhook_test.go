package cli_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/pawl-run/pawl/webhook"
)

// hookSecret is what notices are signed with, and hookToken what servers want.
const hookSecret, hookToken = "a-secret-of-the-test", "the-token-of-the-test"

// A receiver gets the notices of webhooks.
type receiver struct {
	*testing.T
	*httptest.Server
	notices chan webhook.Notice
}

// newReceiver writes the files that name it by URL, which stands for its address.
func newReceiver(t *testing.T, files map[string]string) *receiver {
	t.Helper()
	r := &receiver{T: t, notices: make(chan webhook.Notice, 10)}
	r.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err == nil {
			err = webhook.Verify(hookSecret, req.Header, body, time.Now())
		}
		var n webhook.Notice
		if err == nil {
			err = json.Unmarshal(body, &n)
		}
		if err != nil {
			t.Error(err)
		}
		r.notices <- n
	}))
	t.Cleanup(r.Server.Close)
	t.Setenv("HOOK_SECRET", hookSecret)
	t.Chdir(t.TempDir())
	for name, text := range files {
		must(t, os.WriteFile(name, []byte(strings.ReplaceAll(text, "URL", r.URL)), 0o600))
	}
	return r
}

func (r *receiver) next(want webhook.Event) webhook.Notice {
	r.Helper()
	select {
	case n := <-r.notices:
		if n.Type != want {
			r.Fatalf("%v is told, not %v: %s", n.Type, want, n.Result)
		}
		return n
	case <-time.After(time.Minute):
		r.Fatalf("nothing is told, but %v is due", want)
	}
	return webhook.Notice{}
}

// A site is a command that serves, on the database of the working directory.
type site struct {
	*testing.T
	at  string                           // where
	end func() (code int, stderr string) // has it end
}

// serveUntil starts a command that says where it serves.
func serveUntil(t *testing.T, args ...string) *site {
	t.Helper()
	found, end, err := begin(append(os.Environ(), "PAWL_TOKEN="+hookToken, "PAWL_DATABASE=sqlite:runs.db"), regexp.MustCompile(`(?m)^serving .*at (http://\S+)$`), args...)
	must(t, err)
	t.Cleanup(func() { end() })
	return &site{t, found[1], end}
}

// post sends a document and returns the answer, which must have a status.
func (s *site) post(path, token, body string, want int) string {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), http.MethodPost, s.at+path, strings.NewReader(body))
	must(s, err)
	r.Header.Set("Content-Type", "application/json")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := http.DefaultClient.Do(r)
	must(s, err)
	defer res.Body.Close()
	data, _ := io.ReadAll(res.Body)
	if res.StatusCode != want {
		s.Fatalf("%s: %s %s", path, res.Status, data)
	}
	return string(data)
}

// linkOf is the address and the document by which the link of a notice approves, and
// its token.
func linkOf(t *testing.T, n webhook.Notice) (address, body, token string) {
	t.Helper()
	if n.Links == nil || len(n.Links.Approvals) != 1 {
		t.Fatalf("%+v", n.Links)
	}
	link, err := url.Parse(n.Links.Approvals[0].URL)
	must(t, err)
	has, _ := url.ParseQuery(link.EscapedFragment())
	doc, _ := json.Marshal(map[string]any{"run": has.Get("run"), "call": has.Get("call"), "token": has.Get("token"), "approve": true})
	return link.String(), string(doc), has.Get("token")
}

var payFiles = map[string]string{
	"pay.yaml":         "name: pay\nmodel: script:script.yaml\ninput: go\ntools: [{name: pay, description: Pay., command: [echo, paid], approval: required}]\nwebhooks: [{url: \"URL\", secret: HOOK_SECRET}]\n",
	"script.yaml":      "replies: [{calls: [{tool: pay, args: {}}]}, {text: Done.}]\n",
	"hang.yaml":        "name: hang\nmodel: script:hang.script.yaml\nwebhooks: [{url: \"URL\", secret: HOOK_SECRET}]\n",
	"hang.script.yaml": "replies: [{text: never, hang: true}]\n",
}

// A server reports its runs with a link to their requests, and the holder of the
// link decides. A run that is parked because the server ends is told of, too.
func TestServeTells(t *testing.T) { // Promises: T19.
	told := newReceiver(t, payFiles)
	s := serveUntil(t, "serve", "pay.yaml", "hang.yaml", "--addr", "127.0.0.1:0", "--grace", "10ms")
	s.post("/v1/runs", hookToken, `{"agent":"pay"}`, 201)
	n := told.next(webhook.Waiting)
	address, body, token := linkOf(t, n)
	if !strings.HasPrefix(n.Links.Run, s.at+"/#/runs/") || !strings.HasPrefix(address, s.at+"/approve#") {
		t.Errorf("%s, %s", n.Links.Run, address)
	}
	s.post("/v1/approvals", "", body, 200)
	if n := told.next(webhook.Stopped); !strings.Contains(string(n.Result), `"answer":"Done."`) || n.Links.Approvals != nil {
		t.Errorf("%s, %+v", n.Result, n.Links)
	}
	s.post("/v1/runs", hookToken, `{"agent":"hang","input":"go"}`, 201)
	code, said := s.end()
	told.next(webhook.Paused)
	if code != 130 {
		t.Errorf("exit code %d", code)
	}
	if strings.Contains(said, token) || strings.Contains(said, hookSecret) {
		t.Errorf("it says what nobody is to know: %s", said)
	}
}

// A link that one server sent is good at the next that has its key, which nobody else
// can read.
func TestLinksOutliveTheServer(t *testing.T) {
	told := newReceiver(t, payFiles)
	begin := func(args ...string) *site {
		return serveUntil(t, append([]string{"serve", "pay.yaml", "--addr", "127.0.0.1:0", "--public-url", "http://localhost"}, args...)...)
	}
	first := begin()
	first.post("/v1/runs", hookToken, `{"agent":"pay"}`, 201)
	_, body, _ := linkOf(t, told.next(webhook.Waiting))
	first.end()
	if info, err := os.Stat("runs.db.links"); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the key is not as it should be: %v, %v", info, err)
	}
	second := begin("--link-key", "other.key")
	second.post("/v1/approvals", "", body, 404)
	second.end()
	third := begin()
	if got := third.post("/v1/approvals", "", body, 200); !strings.Contains(got, `"state":"approved"`) {
		t.Error(got)
	}
	third.end()
	for name, text := range map[string]string{"short": "abc\n", "open": strings.Repeat("ab", 32)} {
		file := filepath.Join(t.TempDir(), name)
		must(t, os.WriteFile(file, []byte(text), map[string]os.FileMode{"short": 0o600, "open": 0o644}[name]))
		if runtime.GOOS == "windows" && name == "open" {
			continue
		}
		code, _, said := invoke(t, t.Context(), nil, "serve", "--addr", "127.0.0.1:0", "--link-key", file)
		if code != 2 || !strings.Contains(said, "--link-key "+file) {
			t.Errorf("with a key that is %s it ends with %d: %s", name, code, said)
		}
	}
}
