package server

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// crossing refuses what changes something and comes from a page elsewhere.
var crossing = http.NewCrossOriginProtection()

// guard refuses what a page of somebody else's may have sent: by a name that is
// not this server's, which is how a page gets around the rule of the same origin
// by resolving its own name to this machine, or from another origin, which even
// reading needs no business to do.
func (s *Server) guard(r *http.Request) error {
	if !s.called(r) {
		return refusal(http.StatusForbidden, fmt.Sprintf("this server is not called %q; call it by an address of this machine, or serve it with --host %[1]q", r.Host))
	}
	if err := crossing.Check(r); err != nil {
		return refusal(http.StatusForbidden, "it comes from another origin than this server's")
	}
	for _, origin := range r.Header.Values("Origin") {
		if u, err := url.Parse(origin); err != nil || u.Host == "" || !strings.EqualFold(u.Host, r.Host) {
			return refusal(http.StatusForbidden, fmt.Sprintf("it comes from the origin %q, which is not this server's", origin))
		}
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "none", "same-origin":
		return nil
	}
	if r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" && !strings.HasPrefix(r.URL.Path, "/v1/") {
		return nil // somebody followed a link to the page
	}
	return refusal(http.StatusForbidden, "it comes from a page of another origin")
}

// called reports whether a request calls the server by a name that it has.
func (s *Server) called(r *http.Request) bool {
	at, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if at != nil && at.Network() == "unix" {
		return true // no page can get there
	}
	name, port := split(r.Host)
	if isLoopback(name) && (at == nil || port == portOf(at)) {
		return true
	}
	return slices.ContainsFunc(s.options.Hosts, func(host string) bool {
		allowed, at := split(host)
		return strings.EqualFold(strings.TrimSuffix(name, "."), strings.TrimSuffix(allowed, ".")) && (at == "" || at == port)
	})
}

// split is a header Host in its two parts; no port: the one of plain HTTP is not
// told from the one of HTTPS.
func split(host string) (name, port string) {
	if name, port, err := net.SplitHostPort(host); err == nil {
		return name, port
	}
	return strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"), ""
}

func portOf(a net.Addr) string {
	_, port, err := net.SplitHostPort(a.String())
	if err != nil || port == "80" {
		return ""
	}
	return port
}

// isLoopback reports whether a name means this machine wherever it is looked up.
// It is not looked up.
func isLoopback(name string) bool {
	if strings.EqualFold(name, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(name)
	return err == nil && ip.Zone() == "" && ip.Unmap().IsLoopback()
}

// near reports whether a request is made on this machine by somebody on it: it
// came to an address of loopback, under such a name. One that a proxy passes on
// has the name that it was sent to.
func near(r *http.Request) bool {
	at, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	tcp, ok := at.(*net.TCPAddr)
	name, _ := split(r.Host)
	return ok && tcp.IP.IsLoopback() && isLoopback(name)
}

// policy is what a page here may load and do: what comes from here.
const policy = "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// harden says to browsers what nobody may do with an answer.
func harden(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}
