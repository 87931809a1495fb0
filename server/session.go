package server

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net/http"

	"github.com/pawl-run/pawl/client"
)

// sessions are the operations with which the inspector logs in and out. A session
// is a cookie that no script can read and no page of another site can send. It is
// made of the key's token, from which nobody can tell the token, so it is good as
// long as the token is and a server keeps nothing of it.
func sessions() []route {
	return []route{
		{
			method: http.MethodPost, path: "/v1/session", name: "login", summary: "Log this browser in with the token that is sent", scope: Read,
			reply: client.Session{}, do: (*Server).login,
		},
		{
			method: http.MethodGet, path: "/v1/session", name: "session", summary: "Say whether this browser is logged in",
			reply: client.Session{}, do: (*Server).session,
		},
		{
			method: http.MethodDelete, path: "/v1/session", name: "logout", summary: "Log this browser out", scope: Read,
			reply: client.Session{}, do: (*Server).logout,
		},
	}
}

// sessionOf is the value of the cookie for a key.
func sessionOf(sum [sha256.Size]byte) string {
	mac := hmac.New(sha256.New, sum[:])
	mac.Write([]byte("pawl session"))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// cookie is the session's, with a value that logs in, or with none that logs out.
// Its name has the port: a browser sends the cookies of a host to all its ports,
// and another server there must not log this one's users out.
func cookie(r *http.Request, value string) *http.Cookie {
	_, port := split(r.Host)
	c := &http.Cookie{ //nolint:gosec // a server on loopback has no TLS, and a browser would drop a cookie that demands it
		Name: "pawl-" + cmp.Or(port, "session"), Value: value, Path: "/",
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: r.TLS != nil,
	}
	if value == "" {
		c.MaxAge = -1
	}
	return c
}

// keyOfSession is the key of the session that a request has; nil: it has none. What
// changes something must have the header Origin, which every browser sends with it,
// and which guard has found to be this server's.
func (s *Server) keyOfSession(r *http.Request) (found *Key) {
	c, err := r.Cookie(cookie(r, "").Name)
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	if err != nil || !reads && r.Header.Get("Origin") == "" {
		return nil
	}
	for i := range s.keys {
		if subtle.ConstantTimeCompare([]byte(c.Value), []byte(s.keys[i].session)) == 1 {
			found = &s.keys[i].Key
		}
	}
	return found
}

func (s *Server) login(x *exchange) (any, error) {
	for i := range s.keys {
		if x.key == &s.keys[i].Key {
			http.SetCookie(x.ResponseWriter, cookie(x.Request, s.keys[i].session))
		}
	}
	return client.Session{LoggedIn: true}, nil
}

func (s *Server) session(x *exchange) (any, error) {
	return client.Session{LoggedIn: s.keyOfSession(x.Request) != nil}, nil
}

func (*Server) logout(x *exchange) (any, error) {
	http.SetCookie(x.ResponseWriter, cookie(x.Request, ""))
	return client.Session{}, nil
}
