package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pawl-run/pawl/cmd/internal/cli"
	"github.com/pawl-run/pawl/webhook"
)

// A server tells of its runs with a link to what they ask, and whoever has the
// link decides. A run that is parked because the server ends is told of, too.
func TestServeTells(t *testing.T) {
	const secret = "a-secret-of-the-test"
	notices := make(chan webhook.Notice, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = webhook.Verify(secret, r.Header, body, time.Now())
		}
		var n webhook.Notice
		if err == nil {
			err = json.Unmarshal(body, &n)
		}
		if err != nil {
			t.Error(err)
		}
		notices <- n
	}))
	defer receiver.Close()
	next := func(want webhook.Event) webhook.Notice {
		t.Helper()
		var n webhook.Notice
		select {
		case n = <-notices:
		case <-time.After(time.Minute):
			t.Fatalf("nothing is told, but %v is due", want)
		}
		if n.Type != want {
			t.Fatalf("%v is told, not %v: %s", n.Type, want, n.Result)
		}
		return n
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"pay.yaml":         "name: pay\nmodel: script:script.yaml\ntools: [{name: pay, description: Pay., command: [echo, paid], approval: required}]\nwebhooks: [{url: \"" + receiver.URL + "\", secret: HOOK_SECRET}]\n",
		"script.yaml":      "replies: [{calls: [{tool: pay, args: {}}]}, {text: Done.}]\n",
		"hang.yaml":        "name: hang\nmodel: script:hang.script.yaml\nwebhooks: [{url: \"" + receiver.URL + "\", secret: HOOK_SECRET}]\n",
		"hang.script.yaml": "replies: [{text: never, hang: true}]\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("HOOK_SECRET", secret)
	environ := append(os.Environ(), "PAWL_TOKEN=the-token-of-the-test", "PAWL_DATABASE=sqlite:"+filepath.Join(dir, "runs.db"))
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	said, writer := io.Pipe()
	done := make(chan int, 1)
	go func() {
		done <- cli.Main(ctx, []string{"serve", filepath.Join(dir, "pay.yaml"), filepath.Join(dir, "hang.yaml"), "--addr", "127.0.0.1:0"}, strings.NewReader(""), io.Discard, writer, environ)
		_ = writer.Close()
	}()
	lines := bufio.NewScanner(said)
	at := ""
	for at == "" && lines.Scan() {
		if m := regexp.MustCompile(`^serving at (http://\S+)$`).FindStringSubmatch(lines.Text()); m != nil {
			at = m[1]
		}
	}
	rest := make(chan string, 1)
	go func() {
		text, _ := io.ReadAll(said)
		rest <- string(text)
	}()
	post := func(path, token, body string) string {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, at+path, bytes.NewReader([]byte(body)))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		data, _ := io.ReadAll(res.Body)
		if res.StatusCode/100 != 2 {
			t.Fatalf("%s: %s %s", path, res.Status, data)
		}
		return string(data)
	}

	post("/v1/runs", "the-token-of-the-test", `{"agent":"pay","input":"go"}`)
	n := next(webhook.Waiting)
	if n.Links == nil || len(n.Links.Approvals) != 1 || !strings.HasPrefix(n.Links.Run, at+"/#/runs/") {
		t.Fatalf("%+v", n.Links)
	}
	link, err := url.Parse(n.Links.Approvals[0].URL)
	if err != nil || !strings.HasPrefix(link.String(), at+"/approve#") {
		t.Fatal(link, err)
	}
	has, _ := url.ParseQuery(link.EscapedFragment())
	body, _ := json.Marshal(map[string]any{"run": has.Get("run"), "call": has.Get("call"), "token": has.Get("token"), "approve": true})
	post("/v1/approvals", "", string(body))
	if n := next(webhook.Stopped); !strings.Contains(string(n.Result), `"answer":"Done."`) || n.Links.Approvals != nil {
		t.Errorf("%s, %+v", n.Result, n.Links)
	}

	post("/v1/runs", "the-token-of-the-test", `{"agent":"hang","input":"go"}`)
	stop()
	next(webhook.Paused)
	if code := <-done; code != 130 {
		t.Errorf("exit code %d", code)
	}
	if text := <-rest; strings.Contains(text, has.Get("token")) || strings.Contains(text, secret) {
		t.Errorf("it says what nobody is to know: %s", text)
	}
}
