package server

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/pawl-run/pawl/server/client"
)

// sessions are the operations that log the inspector in and out. A session is a cookie
// that scripts cannot read and other sites cannot send: a random name, which the server
// maps to a key until the browser logs out or the server stops.
func sessions() []route {
	return []route{
		{
			method: http.MethodPost, path: "/v1/session", name: "login", summary: "Log this browser in with the token that is sent", scope: Read,
			reply: client.Session{}, do: (*Server).login,
		},
		{
			method: http.MethodGet, path: "/v1/session", name: "session", summary: "Show whether this browser is logged in",
			reply: client.Session{}, do: (*Server).session,
		},
		{
			method: http.MethodDelete, path: "/v1/session", name: "logout", summary: "Log this browser out", scope: Read,
			reply: client.Session{}, do: (*Server).logout,
		},
	}
}

// mostSessions is how many browsers are logged in at once. One more ends the oldest
// session.
const mostSessions = 1000

// logins are the sessions of a server, by the digests of their names.
type logins struct {
	mu    sync.Mutex
	keys  map[[sha256.Size]byte]*Key
	order [][sha256.Size]byte // oldest first
}

// open begins a session of a key, and returns its name.
func (l *logins) open(k *Key) string {
	name := rand.Text()
	sum := sha256.Sum256([]byte(name))
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.keys == nil {
		l.keys = map[[sha256.Size]byte]*Key{}
	}
	if len(l.order) == mostSessions {
		delete(l.keys, l.order[0])
		l.order = l.order[1:]
	}
	l.keys[sum], l.order = k, append(l.order, sum)
	return name
}

// key is the key of the session with a name; nil: none has it.
func (l *logins) key(name string) *Key {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.keys[sha256.Sum256([]byte(name))]
}

// end ends the session with a name.
func (l *logins) end(name string) {
	sum := sha256.Sum256([]byte(name))
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.keys, sum)
	l.order = slices.DeleteFunc(l.order, func(s [sha256.Size]byte) bool { return s == sum })
}

// cookie is the session's cookie, with a value to log in, or without to log out. Its name
// contains the port: browsers send the cookies of a host to all ports, and another server
// there must not log out this one's users.
func (s *Server) cookie(r *http.Request, value string) *http.Cookie {
	name, port := split(r.Host)
	ip := net.ParseIP(strings.Trim(name, "[]"))
	here := name == "localhost" || ip != nil && ip.IsLoopback()
	c := &http.Cookie{ //nolint:gosec // a server on loopback has no TLS, and a browser would drop a cookie that demands it
		Name: "pawl-" + cmp.Or(port, "session"), Value: value, Path: "/",
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: r.TLS != nil || s.options.Secure && !here,
	}
	if value == "" {
		c.MaxAge = -1
	}
	return c
}

// keyOfSession is the key of a request's session; nil: it has none. Requests that change
// something need the header Origin, which every browser sends with them, and which guard
// has checked.
func (s *Server) keyOfSession(r *http.Request) *Key {
	c, err := r.Cookie(s.cookie(r, "").Name)
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	if err != nil || !reads && r.Header.Get("Origin") == "" {
		return nil
	}
	return s.logins.key(c.Value)
}

func (s *Server) login(x *exchange) (any, error) {
	http.SetCookie(x.ResponseWriter, s.cookie(x.Request, s.logins.open(x.key)))
	return client.Session{LoggedIn: true}, nil
}

func (s *Server) session(x *exchange) (any, error) {
	return client.Session{LoggedIn: s.keyOfSession(x.Request) != nil}, nil
}

func (s *Server) logout(x *exchange) (any, error) {
	gone := s.cookie(x.Request, "")
	if c, err := x.Request.Cookie(gone.Name); err == nil {
		s.logins.end(c.Value)
	}
	http.SetCookie(x.ResponseWriter, gone)
	return client.Session{}, nil
}
