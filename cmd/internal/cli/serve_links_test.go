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
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/pawl-run/pawl/cmd/internal/cli"
	"github.com/pawl-run/pawl/webhook"
)

// A link that one server sent is good at the next that has its key, which nobody else
// can read.
func TestLinksOutliveTheServer(t *testing.T) {
	const secret = "a-secret-of-the-test"
	notices := make(chan webhook.Notice, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
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
	link := func() string {
		t.Helper()
		for {
			select {
			case n := <-notices:
				if n.Type == webhook.Waiting && len(n.Links.Approvals) == 1 {
					return n.Links.Approvals[0].URL
				}
				t.Errorf("%v %+v", n.Type, n.Links)
			case <-time.After(time.Minute):
				t.Fatal("nothing is told")
			}
		}
	}
	dir := t.TempDir()
	t.Chdir(dir)
	for name, text := range map[string]string{
		"pay.yaml":    "name: pay\nmodel: script:script.yaml\ninput: x\ntools: [{name: pay, description: Pay., command: [echo, paid], approval: required}]\nwebhooks: [{url: \"" + receiver.URL + "\", secret: HOOK_SECRET}]\n",
		"script.yaml": "replies: [{calls: [{tool: pay, args: {}}]}, {text: Done.}]\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("HOOK_SECRET", secret)
	database := filepath.Join(dir, "runs.db")
	begin := func(args ...string) (at string, end func()) {
		t.Helper()
		ctx, stop := context.WithCancel(t.Context())
		said, writer := io.Pipe()
		done := make(chan int, 1)
		go func() {
			environ := append(os.Environ(), "PAWL_TOKEN=the-token-of-the-test", "PAWL_DATABASE=sqlite:"+database)
			done <- cli.Main(ctx, append([]string{"serve", filepath.Join(dir, "pay.yaml"), "--addr", "127.0.0.1:0", "--public-url", "http://localhost"}, args...), strings.NewReader(""), io.Discard, writer, environ)
			_ = writer.Close()
		}()
		lines := bufio.NewScanner(said)
		for at == "" && lines.Scan() {
			if m := regexp.MustCompile(`^serving at (http://\S+)$`).FindStringSubmatch(lines.Text()); m != nil {
				at = m[1]
			}
		}
		go func() { _, _ = io.Copy(io.Discard, said) }()
		return at, func() { stop(); <-done }
	}
	post := func(url, body string, want int) string {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewReader([]byte(body)))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer the-token-of-the-test"}}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		data, _ := io.ReadAll(res.Body)
		if res.StatusCode != want {
			t.Fatalf("%s: %s %s", url, res.Status, data)
		}
		return string(data)
	}
	first, end := begin()
	post(first+"/v1/runs", `{"agent":"pay"}`, 201)
	sent := link()
	end()
	if info, err := os.Stat(database + ".links"); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the key is not as it should be: %v, %v", info, err)
	}
	u, err := url.Parse(sent)
	if err != nil {
		t.Fatal(err)
	}
	has, _ := url.ParseQuery(u.EscapedFragment())
	body, _ := json.Marshal(map[string]any{"run": has.Get("run"), "call": has.Get("call"), "token": has.Get("token"), "approve": true})
	second, end := begin("--link-key", filepath.Join(dir, "other.key"))
	post(second+"/v1/approvals", string(body), 404)
	end()
	third, end := begin()
	if got := post(third+"/v1/approvals", string(body), 200); !strings.Contains(got, `"state":"approved"`) {
		t.Error(got)
	}
	end()
	for name, text := range map[string]string{"short": "abc\n", "open": strings.Repeat("ab", 32)} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), map[string]os.FileMode{"short": 0o600, "open": 0o644}[name]); err != nil {
			t.Fatal(err)
		}
		if runtime.GOOS == "windows" && name == "open" {
			continue
		}
		code, _, said := invoke(t, t.Context(), nil, "serve", "--addr", "127.0.0.1:0", "--link-key", file)
		if code != 2 || !strings.Contains(said, "--link-key "+file) {
			t.Errorf("with a key that is %s it ends with %d: %s", name, code, said)
		}
	}
}
