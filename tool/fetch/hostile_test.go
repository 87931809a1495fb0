package fetch_test

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/pawl-run/pawl/internal/testkit/hostile"
	"github.com/pawl-run/pawl/tool/fetch"
)

// here stands for the worst resolver there is: every name is this machine, and so
// is every number that some C library takes for an address.
func here(port string) func(string) string {
	return func(name string) string {
		if a, err := netip.ParseAddr(name); err == nil && (a.Unmap().IsLoopback() || a.IsUnspecified()) {
			return net.JoinHostPort(a.String(), port)
		}
		return "127.0.0.1:" + port
	}
}

// Each of the addresses among the hosts is known not to be public.
func TestHostileAddresses(t *testing.T) {
	n := 0
	for _, host := range hostile.Hosts() {
		name, _ := url.PathUnescape(strings.Trim(host, "[]"))
		if a, err := netip.ParseAddr(name); err == nil {
			if n++; fetch.Special(a) == "" {
				t.Errorf("%s counts as public", host)
			}
		}
	}
	if n < 100 {
		t.Errorf("only %d addresses", n)
	}
}

// Nor by way of a page that sends somebody there.
func TestHostileRedirects(t *testing.T) {
	_, hidden := serve(t, func(_ http.ResponseWriter, r *http.Request) { t.Errorf("%s was reached", r.Host) })
	var to string
	site, port := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Location"] = []string{to}
		w.WriteHeader(http.StatusTemporaryRedirect)
	})
	for _, tool := range []struct {
		allow []string
		start string
	}{
		{[]string{"127.0.0.1:" + port}, site.URL},
		{[]string{"docs.example.org"}, "http://docs.example.org/"},
	} {
		f := fetch.Tool(&fetch.Options{Allow: tool.allow})
		fetch.Lookup(f, func(name string) string {
			if name == "docs.example.org" || name == "127.0.0.1" {
				return "127.0.0.1:" + port
			}
			return here(hidden)(name)
		})
		for _, host := range hostile.Hosts() {
			for _, u := range hostile.URLs(host, hidden)[:4] {
				if to = u; strings.ContainsAny(to, "\r\n\x00") {
					continue // which no header can hold
				}
				if p, err := get(t, f, tool.start, 0); err == nil {
					t.Errorf("%q gave %+v", u, p)
				}
			}
		}
	}
}
