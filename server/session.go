package server

import (
	"cmp"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pawl-run/pawl/internal/web"
	"github.com/pawl-run/pawl/server/client"
)

// sessions are the operations that log the inspector in and out. A session is a cookie that
// scripts cannot read and other sites cannot send.
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

// sessionTime is how long a browser stays logged in.
const sessionTime = 24 * time.Hour

// newSession returns the value of a cookie: a random text, the Unix time at which the session
// ends, and a signature. Every server with the same keys and the same LinkKey accepts it, also
// after a restart. A session ends with its key.
func (s *Server) newSession(k *Key) string {
	name := rand.Text() + "." + strconv.FormatInt(time.Now().Add(sessionTime).Unix(), 10)
	for i := range s.keys {
		if k == &s.keys[i].Key {
			return name + "." + s.signSession(&s.keys[i], name)
		}
	}
	return ""
}

func (s *Server) signSession(k *hashed, name string) string {
	mac := hmac.New(sha256.New, s.sessionKey)
	fmt.Fprintf(mac, "session %x %s", k.sum, name)
	return hex.EncodeToString(mac.Sum(nil))
}

// keyOfCookie returns the key of a session; nil: it has ended, or no such server began it.
func (s *Server) keyOfCookie(value string) *Key {
	at := max(0, strings.LastIndexByte(value, '.'))
	name := value[:at]
	_, until, _ := strings.Cut(name, ".")
	if end, err := strconv.ParseInt(until, 10, 64); err != nil || time.Now().Unix() >= end || s.ended.has(value) {
		return nil
	}
	for i := range s.keys {
		if k := &s.keys[i]; hmac.Equal([]byte(name+"."+s.signSession(k, name)), []byte(value)) {
			return &k.Key
		}
	}
	return nil
}

// mostEnded bounds the log-outs that a server remembers; beyond it the oldest is forgotten.
const mostEnded = 1000

// ended are the latest sessions that a browser has ended at this server. Another server accepts
// such a cookie until its time is over, but the browser has it no more.
type ended struct {
	mu     sync.Mutex
	values []string // oldest first
}

func (e *ended) add(value string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.values = append(e.values[max(0, len(e.values)-mostEnded+1):], value)
}

func (e *ended) has(value string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Contains(e.values, value)
}

// cookie is the session's cookie, with a value to log in, or without to log out. Its name
// contains the port: browsers send the cookies of a host to all ports, and another server
// there must not log out this one's users.
func (s *Server) cookie(r *http.Request, value string) *http.Cookie {
	name, port := split(r.Host)
	c := &http.Cookie{ //nolint:gosec // a server on loopback has no TLS, and a browser would drop a cookie that demands it
		Name: "pawl-" + cmp.Or(port, "session"), Value: value, Path: "/",
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: r.TLS != nil || s.options.Secure && !web.Loopback(name),
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
	return s.keyOfCookie(c.Value)
}

func (s *Server) login(x *exchange) (any, error) {
	http.SetCookie(x.ResponseWriter, s.cookie(x.Request, s.newSession(x.key)))
	return client.Session{LoggedIn: true, Name: x.key.Name}, nil
}

func (s *Server) session(x *exchange) (any, error) {
	if k := s.keyOfSession(x.Request); k != nil {
		return client.Session{LoggedIn: true, Name: k.Name}, nil
	}
	return client.Session{}, nil
}

func (s *Server) logout(x *exchange) (any, error) {
	gone := s.cookie(x.Request, "")
	if c, err := x.Request.Cookie(gone.Name); err == nil && s.keyOfCookie(c.Value) != nil {
		s.ended.add(c.Value)
	}
	http.SetCookie(x.ResponseWriter, gone)
	return client.Session{}, nil
}
