package server

import (
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/pawl-run/pawl/internal/web"
)

// guard refuses requests that a foreign page may have sent: those for a host name that
// this server does not have (DNS rebinding resolves a foreign name to this machine), and
// those from another origin, including reads.
func (s *Server) guard(r *http.Request) error {
	if r.URL.Path != "/healthz" && !s.called(r) { // a probe knows an address and no name
		return refusal(http.StatusForbidden, fmt.Sprintf("unknown host name %q; use a loopback address, or serve with --host %[1]q", r.Host))
	}
	if err := web.CrossOrigin(r); err != nil {
		return refusal(http.StatusForbidden, err.Error())
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "none", "same-origin":
		return nil
	}
	if r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" && !strings.HasPrefix(r.URL.Path, "/v1/") {
		return nil // a link to the page was followed
	}
	return refusal(http.StatusForbidden, "request from a page of another origin")
}

// called reports whether a request uses a host name of the server.
func (s *Server) called(r *http.Request) bool {
	at, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if at != nil && at.Network() == "unix" {
		return true // pages cannot reach a socket
	}
	name, port := split(r.Host)
	if web.Loopback(name) && (at == nil || port == portOf(at)) {
		return true
	}
	return slices.ContainsFunc(s.options.Hosts, func(host string) bool {
		allowed, at := split(host)
		return strings.EqualFold(strings.TrimSuffix(name, "."), strings.TrimSuffix(allowed, ".")) && (at == "" || at == port)
	})
}

// split splits a Host header. A missing port is 80, for HTTPS as well.
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

// near reports whether a request was made on this machine: it came to a loopback address
// under a loopback name. A proxied request keeps the name that it was sent to.
func near(r *http.Request) bool {
	at, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	tcp, ok := at.(*net.TCPAddr)
	name, _ := split(r.Host)
	return ok && tcp.IP.IsLoopback() && web.Loopback(name)
}

// policy is the Content-Security-Policy: only this server's own resources.
const policy = "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// harden sets the security headers of an answer.
func harden(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}
