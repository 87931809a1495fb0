package mcpserver

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net"
	"net/http"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawl-run/pawl/internal/web"
)

// idle is how long a client may be silent before its session ends.
const idle = 30 * time.Minute

// Handler serves clients over streamable HTTP. They authenticate with the token as a bearer
// token. Only requests from this machine to this machine are served: the Host must be a
// loopback name or address, and an Origin, if there is one, this server's own. That excludes pages
// in a browser and names that resolve to this machine. A message has at most 1 MiB. The token
// must not be empty.
func (s *Server) Handler(token string) (http.Handler, error) {
	if token == "" {
		return nil, errors.New("the token is empty; set one, or anyone who reaches the port would be served")
	}
	inner := s.behind()
	want := sha256.Sum256([]byte(token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !local(r.Host) || web.CrossOrigin(r) != nil {
			http.Error(w, "this is served to this machine only", http.StatusForbidden)
			return
		}
		given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		got := sha256.Sum256([]byte(given))
		if !ok || subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "give the token as Authorization: Bearer TOKEN", http.StatusUnauthorized)
			return
		}
		inner.ServeHTTP(w, r)
	}), nil
}

// behind is the handler behind the checks.
func (s *Server) behind() http.Handler {
	return sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s.kit }, &sdk.StreamableHTTPOptions{
		MaxRequestBodyBytes: mostRequest, SessionTimeout: idle, PropagateRequestCancellation: true,
	})
}

// local reports whether a host, with or without a port, is this machine.
func local(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = strings.Trim(host, "[]")
	}
	return web.Loopback(name)
}
