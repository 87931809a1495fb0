package ui

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
)

// An answer is what came back, read to its end.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func get(t *testing.T, path string, header ...string) answer {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	Handler().ServeHTTP(w, r)
	return answer{w.Code, w.Header(), w.Body.Bytes()}
}

// Everything that a browser loads to show a run, compressed.
func TestBundleIsSmall(t *testing.T) {
	sum := 0
	for name, f := range files() {
		n := len(f.plain)
		if f.zipped != nil {
			n = len(f.zipped)
		}
		t.Logf("%7d %s", n, name)
		sum += n
	}
	if sum > 80<<10 {
		t.Errorf("the pages have %d bytes compressed; they are to have at most 80 KiB, and 300 KB is what was promised", sum)
	}
}

// Nothing in the document needs code or style within it, and all that it names is there.
func TestDocumentNeedsOnlyItsOwnFiles(t *testing.T) {
	doc := string(get(t, "/").body)
	refs := regexp.MustCompile(`(?:src|href)="([^"]*)"`).FindAllStringSubmatch(doc, -1)
	if len(refs) < 3 {
		t.Fatalf("the document names %d files, not its script, style and icon:\n%s", len(refs), doc)
	}
	for _, ref := range refs {
		if res := get(t, ref[1]); res.status != http.StatusOK {
			t.Errorf("%s: status %d", ref[1], res.status)
		}
	}
	for _, inline := range []string{"<style", " style=", " onload=", "javascript:"} {
		if strings.Contains(doc, inline) {
			t.Errorf("the document has %q, which its policy forbids", inline)
		}
	}
	if regexp.MustCompile(`<script[^>]*>[^<]`).MatchString(doc) {
		t.Error("the document has a script in it, which its policy forbids")
	}
}

// No file names another host, but for the namespaces of XML and an error of the lexer of
// Markdown, which nobody fetches.
func TestFilesNameNoOtherHost(t *testing.T) {
	for name, f := range files() {
		for _, url := range regexp.MustCompile(`https?://[\w-]+\.[^\s"'<>)\\]+`).FindAllString(string(f.plain), -1) {
			if !strings.HasPrefix(url, "http://www.w3.org/") && !strings.HasPrefix(url, "https://github.com/markedjs/marked.") {
				t.Errorf("%s names %s", name, url)
			}
		}
	}
}

func TestHeaders(t *testing.T) {
	index := get(t, "/")
	if got := index.header.Get("Cache-Control"); got != "no-cache" {
		t.Errorf("the document may be kept: Cache-Control %q", got)
	}
	csp := index.header.Get("Content-Security-Policy")
	for _, want := range []string{"default-src 'none'", "script-src 'self';", "style-src 'self';", "frame-ancestors 'none'"} {
		if !strings.Contains(csp, want) {
			t.Errorf("policy %q lacks %q", csp, want)
		}
	}
	if strings.Contains(csp, "unsafe") || strings.Contains(csp, "data:") {
		t.Errorf("policy %q allows what it should not", csp)
	}
	for name := range files() {
		if !strings.HasPrefix(name, "/assets/") {
			continue
		}
		if got := get(t, name).header.Get("Cache-Control"); !strings.Contains(got, "immutable") {
			t.Errorf("%s: Cache-Control %q", name, got)
		}
	}
}

func TestCompression(t *testing.T) {
	for _, c := range []struct {
		accept string
		zipped bool
	}{{"", false}, {"gzip", true}, {"br, gzip;q=0.5", true}, {"*", true}, {"gzip;q=0", false}, {"br", false}, {"gzip; q=0.0", false}} {
		res := get(t, "/", "Accept-Encoding", c.accept)
		zipped := res.header.Get("Content-Encoding") == "gzip"
		if zipped != c.zipped {
			t.Errorf("Accept-Encoding %q: compressed %v", c.accept, zipped)
			continue
		}
		got := res.body
		if zipped {
			z, err := gzip.NewReader(bytes.NewReader(got))
			if err != nil {
				t.Fatal(err)
			}
			if got, err = io.ReadAll(z); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.HasPrefix(got, []byte("<!doctype html>")) {
			t.Errorf("Accept-Encoding %q: got %.40q", c.accept, got)
		}
		if again := get(t, "/", "Accept-Encoding", c.accept, "If-None-Match", res.header.Get("ETag")); again.status != http.StatusNotModified {
			t.Errorf("Accept-Encoding %q: asked again with its tag, got status %d", c.accept, again.status)
		}
	}
}

func TestNothingElse(t *testing.T) {
	for _, path := range []string{"/assets/", "/assets", "/dist/index.html", "/../ui.go", "/runs/x", "/index.htm"} {
		if res := get(t, path); res.status != http.StatusNotFound {
			t.Errorf("%s: status %d", path, res.status)
		}
	}
	r := httptest.NewRequest(http.MethodPost, "/", nil)
	w := httptest.NewRecorder()
	Handler().ServeHTTP(w, r)
	if w.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST: status %d", w.Code)
	}
}
