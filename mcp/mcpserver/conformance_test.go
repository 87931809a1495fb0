package mcpserver

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// The conformance suite of the protocol's authors is run whole, for servers and
// for clients. What fails is listed in testdata/mcp/expected.yaml with its reason;
// the suite fails when anything else does, and when something listed does not.

// passing are the scenarios that must have checked something: those that the
// suite passes without looking would be missed by nobody.
var passing = map[string][]string{
	"server": {
		"server-initialize", "ping", "tools-list", "tools-call-simple-text", "tools-call-error", "tools-call-image", "json-schema-2020-12",
		"server-sse-multiple-streams", "dns-rebinding-protection",
	},
	"client": {"initialize", "tools_call", "sse-retry"},
}

func (p peers) suite(t *testing.T, side string, args ...string) {
	t.Helper()
	expected, err := filepath.Abs("../../testdata/mcp/expected.yaml")
	must(t, err)
	args = append([]string{p.bin("conformance"), side, "--suite", "all", "--expected-failures", expected}, args...)
	report, err := p.try(t, args...)
	if err != nil && side == "client" { // it measures the time of a reconnection, which a busy machine may miss
		t.Logf("once more: %v", err)
		report, err = p.try(t, args...)
	}
	if err != nil {
		t.Errorf("%v\n%s", err, report)
	}
	for _, scenario := range passing[side] {
		if !regexp.MustCompile(`(?m)✓ ` + scenario + `: [1-9][0-9]* passed, 0 failed`).MatchString(report) {
			t.Errorf("%s has checked nothing", scenario)
		}
	}
}

func TestServerConformance(t *testing.T) {
	p := havePeers(t)
	s, done, err := served(filepath.Join(t.TempDir(), "pawl.db"))
	must(t, err)
	t.Cleanup(done)
	handler, err := s.Handler("secret")
	must(t, err)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("Authorization", "Bearer secret") // which the suite cannot show
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { web.Config.Close() })
	p.suite(t, "server", "--url", web.URL)
}

func TestClientConformance(t *testing.T) {
	havePeers(t).suite(t, "client", "--command", os.Args[0]+" play client")
}
