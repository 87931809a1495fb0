package fetch_test

import (
	"fmt"
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

// Whatever a host is called, nobody inside is connected to.
func TestHostileHosts(t *testing.T) {
	_, port := serve(t, func(_ http.ResponseWriter, r *http.Request) { t.Errorf("%s was reached", r.Host) })
	tool := fetch.Tool(nil)
	fetch.Lookup(tool, here(port))
	n := 0
	for _, host := range hostile.Hosts() {
		for _, u := range hostile.URLs(host, port) {
			n++
			if p, err := get(t, tool, u, 0); err == nil {
				t.Errorf("%q gave %+v", u, p)
			}
		}
	}
	if n < 10_000 {
		t.Errorf("only %d URLs", n)
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

// A host that is allowed is that host, and none that looks like it.
func TestHostileNames(t *testing.T) {
	reached := ""
	_, port := serve(t, func(w http.ResponseWriter, r *http.Request) { reached = r.Host; fmt.Fprint(w, "there") })
	tool := fetch.Tool(&fetch.Options{Allow: []string{"docs.example.org", "*.example.net", "xn--bcher-kva.example"}})
	fetch.Lookup(tool, func(string) string { return "127.0.0.1:" + port })
	for _, host := range []string{"docs.example.org", "DOCS.Example.ORG", "docs.example.org.", "a.example.net", "a.b.EXAMPLE.net", "xn--bcher-kva.example", "docs.example.org:" + port} {
		if p, err := get(t, tool, "http://"+host+"/", 0); err != nil || p.Text != "there" {
			t.Errorf("%s: %v", host, err)
		}
	}
	var wrong []string
	for _, name := range []string{"docs.example.org", "a.example.net"} {
		rest := strings.TrimPrefix(strings.TrimPrefix(name, "docs"), "a")
		wrong = append(wrong,
			name+".evil.test", "x"+name+"x", name+"x", strings.ReplaceAll(name, ".", "-")+".evil.test", strings.ReplaceAll(name, ".", ""), "evil.test/"+name, "evil.test?"+name, "evil.test#"+name, "evil.test\\"+name,
			"evil.test\\."+rest, name+"@evil.test", name+":80@evil.test", "evil.test:80#@"+name, name+"%00.evil.test", name+"%2eevil.test", name+"\u3002evil.test", name+"\uff0eevil.test", "evil.test%2f"+name, "evil.test%23"+name,
			"evil.test\uff0f"+rest, "evil.test\u2044"+rest, "evil.test\u2100"+rest, "evil.test\uff03"+rest, "evil.test\uff20"+name, "evil.test%0d%0a"+rest, "evil.test "+name, name+" evil.test", "[::1]"+rest, "127.0.0.1"+strings.TrimPrefix(rest, ".")+"x",
			strings.ReplaceAll(name, "o", "ο"), strings.ReplaceAll(name, "a", "а"), strings.ReplaceAll(name, "e", "е"), strings.ReplaceAll(name, ".", "。"), strings.ReplaceAll(name, ".", "．")+"x", strings.ReplaceAll(name, ".", ".\u200d"),
			strings.ReplaceAll(name, "e", "e\u0301"), strings.ReplaceAll(name, "m", "rn"), strings.ReplaceAll(name, "l", "1"), strings.ReplaceAll(name, "x", "х"), "xn--"+name+"-.test",
		)
	}
	wrong = append(wrong, "example.org", "example.net", "xexample.net", "evil-example.net", "sub.docs.example.org", "www.docs.example.org", "docs.example.net.evil.test", "bücher.example.evil.test", "buecher.example", "xn--bcher-kva.example.evil.test",
		"docs.example.com", "docs..example.org", ".docs.example.org", "docs.example.org..", "*.example.net.evil.test", "docs.example.org\u00ad.evil.test")
	for _, host := range wrong {
		for _, u := range []string{"http://" + host + "/", "https://" + host, "http://" + host + ":" + port + "/"} {
			reached = ""
			if p, err := get(t, tool, u, 0); err != nil || reached == "" {
				continue
			} else if parsed, err := url.Parse(u); err != nil || !allowedName(parsed.Hostname()) || !allowedName(strings.Split(reached, ":")[0]) {
				t.Errorf("%q reached %s: %+v", u, reached, p)
			}
		}
	}
}

// allowedName reports whether a host is one of those of the test above, by an
// account of its own.
func allowedName(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return host == "docs.example.org" || strings.HasSuffix(host, ".example.net") || host == "xn--bcher-kva.example"
}
