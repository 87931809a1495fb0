package s3_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/pawl-run/pawl/cmd/internal/s3"
)

const secret = "the-secret-key"

// fake is a service that checks signatures by the published rules of version 4, and keeps objects.
type fake struct {
	t  *testing.T
	mu sync.Mutex

	objects map[string][]byte
	busy    int // how many requests to refuse first
}

var credential = regexp.MustCompile(`^AWS4-HMAC-SHA256 Credential=key-id/(\d{8})/eu-central-1/s3/aws4_request,SignedHeaders=([a-z0-9;-]+),Signature=([0-9a-f]{64})$`)

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	if f.busy > 0 {
		f.busy--
		http.Error(w, "<Code>SlowDown</Code>", http.StatusServiceUnavailable)
		return
	}
	if why := wrong(r, body); why != "" {
		http.Error(w, "<Code>SignatureDoesNotMatch</Code> "+why, http.StatusForbidden)
		return
	}
	switch data, ok := f.objects[r.URL.Path]; {
	case r.Method == http.MethodPut:
		f.objects[r.URL.Path] = body
	case !ok:
		http.Error(w, "<Code>NoSuchKey</Code>", http.StatusNotFound)
	default:
		_, _ = w.Write(data)
	}
}

// wrong says what is wrong with the signature of a request; empty: nothing.
func wrong(r *http.Request, body []byte) string {
	m := credential.FindStringSubmatch(r.Header.Get("Authorization"))
	if m == nil {
		return "no credential of ours: " + r.Header.Get("Authorization")
	}
	sum := func(data []byte) string { s := sha256.Sum256(data); return hex.EncodeToString(s[:]) }
	if got := r.Header.Get("X-Amz-Content-Sha256"); got != sum(body) {
		return "the body is another"
	}
	var headers strings.Builder
	for name := range strings.SplitSeq(m[2], ";") {
		value := r.Header.Get(name)
		switch name {
		case "host":
			value = r.Host
		case "content-length":
			value = fmt.Sprint(r.ContentLength)
		}
		fmt.Fprintf(&headers, "%s:%s\n", name, value)
	}
	canonical := strings.Join([]string{r.Method, r.URL.EscapedPath(), r.URL.RawQuery, headers.String(), m[2], sum(body)}, "\n")
	text := strings.Join([]string{"AWS4-HMAC-SHA256", r.Header.Get("X-Amz-Date"), m[1] + "/eu-central-1/s3/aws4_request", sum([]byte(canonical))}, "\n")
	key := []byte("AWS4" + secret)
	for _, part := range []string{m[1], "eu-central-1", "s3", "aws4_request", text} {
		h := hmac.New(sha256.New, key)
		h.Write([]byte(part))
		key = h.Sum(nil)
	}
	if hex.EncodeToString(key) != m[3] {
		return "another signature"
	}
	return ""
}

func open(t *testing.T, at, key string) (*fake, *s3.Bucket) {
	t.Helper()
	f := &fake{t: t, objects: map[string][]byte{}}
	web := httptest.NewServer(f)
	t.Cleanup(web.Close)
	env := map[string]string{"AWS_ACCESS_KEY_ID": "key-id", "AWS_SECRET_ACCESS_KEY": key, "AWS_REGION": "eu-central-1", "AWS_ENDPOINT_URL_S3": web.URL}
	b, err := s3.Open(at, func(name string) string { return env[name] })
	if err != nil {
		t.Fatal(err)
	}
	return f, b
}

func TestBucket(t *testing.T) {
	f, b := open(t, "s3://runs/pawl/old/", secret)
	f.busy = 1
	name, data := "2026/11/a%2Fb+c.jsonl.gz", bytes.Repeat([]byte("x"), 1<<20)
	if err := b.Put(t.Context(), name, data); err != nil {
		t.Fatal(err)
	}
	r, err := b.Get(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(r)
	if err != nil || !bytes.Equal(got, data) || r.Close() != nil {
		t.Errorf("it has %d bytes, %v", len(got), err)
	}
	for path := range f.objects {
		if !strings.HasPrefix(path, "/runs/pawl/old/2026/11/") {
			t.Errorf("it is at %s", path)
		}
	}
	if _, err := b.Get(t.Context(), "2026/11/none"); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "NoSuchKey") {
		t.Errorf("an unknown name: %v", err)
	}
	f.busy = 3
	if err := b.Put(t.Context(), name, data); err == nil || !strings.Contains(err.Error(), "SlowDown") {
		t.Errorf("a service that stays busy: %v", err)
	}
}

func TestWrongKey(t *testing.T) {
	f, b := open(t, "s3://runs", "another")
	err := b.Put(t.Context(), "x", []byte("y"))
	if err == nil || !strings.Contains(err.Error(), "SignatureDoesNotMatch") || len(f.objects) != 0 {
		t.Errorf("%v, %d objects", err, len(f.objects))
	}
}

func TestOpen(t *testing.T) {
	env := map[string]string{"AWS_ACCESS_KEY_ID": "key-id", "AWS_SECRET_ACCESS_KEY": secret}
	for at, want := range map[string]string{
		"runs": "write s3://BUCKET", "s3:///x": "write s3://BUCKET", "s3://runs?x": "write s3://BUCKET", "s3://a:b@runs": "write s3://BUCKET", "s3://runs": "",
	} {
		_, err := s3.Open(at, func(name string) string { return env[name] })
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", at, err)
		}
	}
	env["AWS_ENDPOINT_URL"] = "nonsense"
	if _, err := s3.Open("s3://runs", func(name string) string { return env[name] }); err == nil || !strings.Contains(err.Error(), "https://HOST:PORT") {
		t.Errorf("%v", err)
	}
	if _, err := s3.Open("s3://runs", func(string) string { return "" }); err == nil || !strings.Contains(err.Error(), "AWS_ACCESS_KEY_ID") {
		t.Errorf("%v", err)
	}
}
