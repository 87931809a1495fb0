package fetch_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/testkit/check"
	"github.com/pawl-run/pawl/tool/fetch"
)

type page struct {
	URL, Type, Title, Text string
	Next, Length           int
	Cut                    bool
}

func get(t *testing.T, tool pawl.Tool, url string, from int) (p page, err error) {
	t.Helper()
	args, _ := json.Marshal(map[string]any{"url": url, "from": from})
	out, err := tool.Run(t.Context(), pawl.Invocation{Tool: "fetch", Args: args})
	if err != nil {
		return p, err
	}
	check.Must(t, json.Unmarshal(out.JSON, &p))
	return p, nil
}

// serve has a site on this machine, and counts who comes.
func serve(t *testing.T, h http.HandlerFunc) (site *httptest.Server, port string) {
	t.Helper()
	site = httptest.NewServer(h)
	t.Cleanup(site.Close)
	_, port, err := net.SplitHostPort(site.Listener.Addr().String())
	check.Must(t, err)
	return site, port
}

func TestNobodyIsReachedOnThisMachine(t *testing.T) {
	site, port := serve(t, func(_ http.ResponseWriter, r *http.Request) { t.Errorf("%s was reached by %s", r.Host, r.RemoteAddr) })
	tool := fetch.Tool(nil)
	for _, u := range []string{
		"", " ", "example.org", "file:///etc/passwd", "ftp://example.org/", "gopher://127.0.0.1:" + port, "javascript:alert(1)", "data:text/plain,x",
		"jar:" + site.URL, "http:", "http://", "http:///etc", "https://:443/", "http://\x00/", "http://a b/", "http://exa\nmple.org/", "unix:///var/run/x.sock",
	} {
		if p, err := get(t, tool, u, 0); err == nil {
			t.Errorf("%q gave %+v", u, p)
		}
	}
	if _, err := get(t, tool, site.URL, 0); err == nil || !strings.Contains(err.Error(), "loopback; only public addresses are connected to") {
		t.Error(err)
	}
}

func TestPublicAddresses(t *testing.T) {
	for _, text := range []string{"1.1.1.1", "8.8.8.8", "100.63.255.255", "100.128.0.1", "172.15.0.1", "172.32.0.1", "192.167.1.1", "2606:4700::1111", "2a00:1450::1", "::ffff:8.8.8.8"} {
		if what := fetch.Special(netip.MustParseAddr(text)); what != "" {
			t.Errorf("%s is %s", text, what)
		}
	}
}

// A name server may change its mind between the check and the connection, so
// what is connected to is checked and nothing else.
func TestNamesThatLeadHere(t *testing.T) {
	site, port := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "home") })
	here := func(string) string { return site.Listener.Addr().String() }
	tool := fetch.Tool(nil)
	fetch.Lookup(tool, here)
	if _, err := get(t, tool, "http://docs.example.org/", 0); err == nil || !strings.Contains(err.Error(), "docs.example.org has the address 127.0.0.1, which is loopback") {
		t.Error(err)
	}
	// An allowed name may lead to the local network.
	tool = fetch.Tool(&fetch.Options{Allow: []string{"*.example.org"}})
	fetch.Lookup(tool, here)
	if p, err := get(t, tool, "http://docs.example.org/", 0); err != nil || p.Text != "home" {
		t.Error(p, err)
	}
	// But not that it is where credentials are to be had.
	fetch.Lookup(tool, func(string) string { return "169.254.169.254:" + port })
	if _, err := get(t, tool, "http://docs.example.org/", 0); err == nil || !strings.Contains(err.Error(), "metadata") {
		t.Error(err)
	}
}

func TestAllow(t *testing.T) {
	_, port := serve(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Host) })
	for allow, want := range map[string]bool{
		"127.0.0.1": true, "127.0.0.1:" + port: true, "::ffff:127.0.0.1": true,
		"127.0.0.1:1": false, "127.0.0.2": false, "localhost": false, "*.0.0.1": false, "docs.example.org": false,
	} {
		p, err := get(t, fetch.Tool(&fetch.Options{Allow: []string{allow}}), "http://127.0.0.1:"+port+"/", 0)
		if (err == nil) != want || want && p.Text != "127.0.0.1:"+port {
			t.Errorf("%s: %+v, %v", allow, p, err)
		}
	}
	for _, wrong := range []string{"", "https://example.org", "example.org/docs", "*", "*.", "a b", "host:", "user@host", "**.org", "a?b"} {
		if err := fetch.Tool(&fetch.Options{Allow: []string{wrong}}).(pawl.Checker).Check(pawl.Agent{}); err == nil {
			t.Errorf("allow %q is accepted", wrong)
		}
	}
}

func TestRedirects(t *testing.T) {
	_, hidden := serve(t, func(_ http.ResponseWriter, _ *http.Request) { t.Error("a redirect led to where it may not") })
	var port string
	var referer []string
	_, port = serve(t, func(w http.ResponseWriter, r *http.Request) {
		referer = append(referer, r.Referer())
		switch r.URL.Path {
		case "/out":
			http.Redirect(w, r, r.URL.Query().Get("to"), http.StatusFound)
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		case "/n":
			n := len(r.URL.Query().Get("n"))
			if n == 0 {
				fmt.Fprint(w, "there")
				return
			}
			http.Redirect(w, r, "/n?n="+strings.Repeat("x", n-1), http.StatusMovedPermanently)
		}
	})
	tool := fetch.Tool(&fetch.Options{Allow: []string{"127.0.0.1:" + port}})
	at := "http://127.0.0.1:" + port
	for _, to := range []string{
		"http://127.0.0.1:" + hidden, "http://localhost:" + hidden, "//127.0.0.1:" + hidden + "/", "http://[::1]:" + hidden, "file:///etc/passwd",
		"http://169.254.169.254/latest/meta-data/", "ftp://127.0.0.1:" + port, "http://a@127.0.0.1:" + port, "gopher://x", "http://10.0.0.1/",
	} {
		if p, err := get(t, tool, at+"/out?to="+url.QueryEscape(to), 0); err == nil {
			t.Errorf("%s gave %+v", to, p)
		}
	}
	if _, err := get(t, tool, at+"/loop", 0); err == nil || !strings.Contains(err.Error(), "more than 10 times") {
		t.Error(err)
	}
	if p, err := get(t, tool, at+"/n?n=xxxxxxxxxx", 0); err != nil || p.Text != "there" || p.URL != at+"/n?n=" {
		t.Error(p, err)
	}
	if _, err := get(t, tool, at+"/n?n=xxxxxxxxxxx", 0); err == nil {
		t.Error("an eleventh redirect was followed")
	}
	for _, r := range referer {
		if r != "" {
			t.Errorf("a host was told of another: %s", r)
		}
	}
}

func TestNoDowngrade(t *testing.T) {
	plain, _ := serve(t, func(_ http.ResponseWriter, _ *http.Request) { t.Error("the plain site was reached") })
	secure := httptest.NewTLSServer(http.RedirectHandler(plain.URL, http.StatusFound))
	defer secure.Close()
	tool := fetch.Tool(&fetch.Options{Allow: []string{"127.0.0.1"}})
	fetch.Trust(tool, secure.Client().Transport.(*http.Transport).TLSClientConfig)
	if _, err := get(t, tool, secure.URL, 0); err == nil || !strings.Contains(err.Error(), "redirects from https to http") {
		t.Error(err)
	}
}

func TestBombs(t *testing.T) {
	check.SkipShort(t, "64 MiB are packed and unpacked by one goroutine each: -short")
	squeezed := func(n int64) []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = io.CopyN(z, zeros{}, n)
		z.Close()
		return b.Bytes()
	}(64 << 20)
	release := make(chan struct{})
	_, port := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		switch r.URL.Path {
		case "/gzip":
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(squeezed)
		case "/endless":
			for {
				if _, err := w.Write(bytes.Repeat([]byte("more and more "), 4096)); err != nil {
					return
				}
			}
		case "/header":
			for i := range 4000 {
				w.Header().Set(fmt.Sprintf("X-%d", i), strings.Repeat("y", 1000))
			}
		case "/slow":
			select {
			case <-r.Context().Done():
			case <-release:
			}
		case "/drip":
			for r.Context().Err() == nil {
				fmt.Fprint(w, ".")
				w.(http.Flusher).Flush()
				time.Sleep(20 * time.Millisecond)
			}
		}
	})
	defer close(release)
	tool := fetch.Tool(&fetch.Options{Allow: []string{"127.0.0.1"}})
	at := "http://127.0.0.1:" + port
	for _, path := range []string{"/gzip", "/endless"} {
		p, err := get(t, tool, at+path, 4<<20-10)
		if err != nil || !p.Cut || len(p.Text) != 10 {
			t.Errorf("%s: cut %v after %d, %v", path, p.Cut, len(p.Text), err)
		}
		if p, err = get(t, tool, at+path, 0); err != nil || len(p.Text) != 48<<10 || p.Next != 48<<10 || p.Length != 4<<20 {
			t.Errorf("%s: %d bytes, next %d of %d, %v", path, len(p.Text), p.Next, p.Length, err)
		}
	}
	if _, err := get(t, tool, at+"/header", 0); err == nil {
		t.Error("a header without end was read")
	}
	for _, path := range []string{"/slow", "/drip"} {
		ctx, stop := context.WithTimeout(t.Context(), 300*time.Millisecond)
		args, _ := json.Marshal(map[string]string{"url": at + path})
		began := time.Now()
		if _, err := tool.Run(ctx, pawl.Invocation{Args: args}); err == nil || time.Since(began) > 20*time.Second {
			t.Errorf("%s: %v after %v", path, err, time.Since(began))
		}
		stop()
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	return len(p), nil
}

func TestKinds(t *testing.T) {
	_, port := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", r.URL.Query().Get("type"))
		w.WriteHeader(map[string]int{"/gone": 410}[r.URL.Path] + 200*map[bool]int{true: 0, false: 1}[r.URL.Path == "/gone"])
		fmt.Fprint(w, r.URL.Query().Get("body"))
	})
	tool := fetch.Tool(&fetch.Options{Allow: []string{"127.0.0.1"}})
	for _, c := range []struct{ path, kind, body, want string }{
		{"/", "text/plain", "a\xffb", "aÿb"},
		{"/", "text/plain; charset=utf-8", "a\xffb", "a\ufffdb"},
		{"/", "text/plain; charset=iso-8859-1", "\xe9t\xe9", "été"},
		{"/", "text/plain; charset=KOI8-R", "\xc1\xc2", "аб"},
		{"/", "text/plain; charset=none-such", "été", "été"},
		{"/", "text/plain; charset=gbk", "\xc4\xe3", "error: text in gbk, which cannot be read; UTF-8 and the sets of a byte a character can"},
		{"/", "application/ld+json", `{"a":1}`, `{"a":1}`},
		{"/", "image/png", "PNG", "error: is image/png, which is not text"},
		{"/", "application/octet-stream", "PNG", "which is not text"},
		{"/gone", "text/plain", "it was moved", "410 Gone: it was moved"},
		{"/gone", "image/png", "PNG", "410 Gone"},
	} {
		p, err := get(t, tool, "http://127.0.0.1:"+port+c.path+"?"+url.Values{"type": {c.kind}, "body": {c.body}}.Encode(), 0)
		got := p.Text
		if err != nil {
			got = "error: " + err.Error()
		}
		if err == nil && got != c.want || err != nil && !strings.Contains(got, strings.TrimPrefix(c.want, "error: ")) {
			t.Errorf("%+v: got %q", c, got)
		}
	}
	if _, err := get(t, tool, "http://127.0.0.1:"+port+"/?body=abc&type=text/plain", 4); err == nil || !strings.Contains(err.Error(), "has 3 bytes") {
		t.Error(err)
	}
}
