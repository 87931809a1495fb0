package fakeprovider

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/testkit/check"
)

// serve starts a server that ends with its test.
func serve(t testing.TB, brain pawl.Model, o *Options) (*Server, string) {
	fake := New(brain, o)
	srv := httptest.NewServer(fake)
	t.Cleanup(func() {
		fake.Close()
		srv.CloseClientConnections()
		srv.Close()
	})
	return fake, srv.URL
}

// A head is a response without its body.
type head struct {
	StatusCode int
	Header     http.Header
}

// send calls a wire that has no adapter, or does it by hand.
func send(t testing.TB, url, path, body string, header ...string) (head, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+path, strings.NewReader(body))
	check.Must(t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Anthropic-Version", "2023-06-01")
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	check.Must(t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	check.Must(t, err)
	return head{res.StatusCode, res.Header}, string(text)
}
