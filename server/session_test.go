package server_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/web"
	"github.com/pawl-run/pawl/server"
	"github.com/pawl-run/pawl/server/client"
)

// cookies are the names and values of the cookies that an answer sets.
func cookies(a answer) []*http.Cookie {
	return (&http.Response{Header: a.Header}).Cookies()
}

// TestSession: a token is handed in once for a cookie, which allows what the token
// allows, and only from a page of this server.
func TestSession(t *testing.T) {
	w := serve(t, nil)
	run := w.begin(admin, "calm").Run
	res, data := w.send(request{token: admin, method: "POST", path: "/v1/session"})
	set := cookies(res)
	if res.StatusCode != http.StatusOK || len(set) != 1 || !set[0].HttpOnly || set[0].SameSite != http.SameSiteStrictMode || set[0].Path != "/" || set[0].Domain != "" || set[0].MaxAge != 0 {
		t.Fatalf("%d %s %v", res.StatusCode, data, res.Header["Set-Cookie"])
	}
	if strings.Contains(set[0].Value, admin) {
		t.Error("the cookie has the token")
	}
	own := w.web.URL
	session := set[0].Name + "=" + set[0].Value
	with := func(cookie string, more http.Header) http.Header {
		h := http.Header{"Cookie": {cookie}}
		maps.Copy(h, more)
		return h
	}
	start := `{"agent":"calm","input":"go"}`
	for name, c := range map[string]struct {
		method, path, body string
		header             http.Header
		want               int
	}{
		"a look":                     {"GET", "/v1/runs", "", with(session, nil), 200},
		"a look by a page of ours":   {"GET", "/v1/runs/" + run, "", with(session, http.Header{"Sec-Fetch-Site": {"same-origin"}}), 200},
		"a look by another site":     {"GET", "/v1/runs", "", with(session, http.Header{"Sec-Fetch-Site": {"cross-site"}}), 403},
		"a look by another port":     {"GET", "/v1/runs", "", with(session, http.Header{"Sec-Fetch-Site": {"same-site"}}), 403},
		"a look by another origin":   {"GET", "/v1/runs", "", with(session, http.Header{"Origin": {"http://127.0.0.1:1"}}), 403},
		"a start by a page of ours":  {"POST", "/v1/runs", start, with(session, http.Header{"Origin": {own}, "Sec-Fetch-Site": {"same-origin"}}), 201},
		"a start without an origin":  {"POST", "/v1/runs", start, with(session, nil), 401},
		"a start by another origin":  {"POST", "/v1/runs", start, with(session, http.Header{"Origin": {"https://evil.example"}}), 403},
		"a start by a null origin":   {"POST", "/v1/runs", start, with(session, http.Header{"Origin": {"null"}}), 403},
		"a token as a cookie":        {"GET", "/v1/runs", "", with(set[0].Name+"="+admin, nil), 401},
		"another cookie":             {"GET", "/v1/runs", "", with("other="+set[0].Value, nil), 401},
		"a changed cookie":           {"GET", "/v1/runs", "", with(session+"x", nil), 401},
		"an empty cookie":            {"GET", "/v1/runs", "", with(set[0].Name+"=", nil), 401},
		"a cookie as a token":        {"GET", "/v1/runs", "", http.Header{"Authorization": {"Bearer " + set[0].Value}}, 401},
		"a wrong token beside it":    {"GET", "/v1/runs", "", with(session, http.Header{"Authorization": {"Bearer wrong"}}), 401},
		"no session, asked about it": {"GET", "/v1/session", "", http.Header{}, 200},
		"login without a token":      {"POST", "/v1/session", "", http.Header{}, 401},
		"logout without a session":   {"DELETE", "/v1/session", "", http.Header{}, 401},
	} {
		res, data := w.send(request{method: c.method, path: c.path, body: c.body, header: c.header})
		if res.StatusCode != c.want {
			t.Errorf("%s: %d %s, want %d", name, res.StatusCode, data, c.want)
		}
	}
	for header, want := range map[string]string{session: "true", "": "false", session + "x": "false"} {
		if _, data := w.send(request{method: "GET", path: "/v1/session", header: http.Header{"Cookie": {header}}}); string(data) != fmt.Sprintf(`{"logged_in":%s}`, want)+"\n" {
			t.Errorf("with %q: %q", header, data)
		}
	}

	// What the token may not, the session may not.
	res, _ = w.send(request{token: reader, method: "POST", path: "/v1/session"})
	reads := cookies(res)[0]
	if res, data := w.send(request{method: "POST", path: "/v1/runs", body: start, header: with(reads.Name+"="+reads.Value, http.Header{"Origin": {own}})}); res.StatusCode != http.StatusForbidden {
		t.Errorf("a session to read starts a run: %d %s", res.StatusCode, data)
	}

	res, data = w.send(request{method: "DELETE", path: "/v1/session", header: with(session, http.Header{"Origin": {own}})})
	if gone := cookies(res); res.StatusCode != http.StatusOK || len(gone) != 1 || gone[0].Name != set[0].Name || gone[0].Value != "" || gone[0].MaxAge >= 0 {
		t.Errorf("logged out: %d %s %v", res.StatusCode, data, res.Header["Set-Cookie"])
	}
	// The cookie is worth nothing now.
	if res, data := w.send(request{method: "GET", path: "/v1/runs", header: with(session, nil)}); res.StatusCode != http.StatusUnauthorized {
		t.Errorf("after the log-out: %d %s", res.StatusCode, data)
	}
	if res, data := w.send(request{method: "GET", path: "/v1/runs", header: with(reads.Name+"="+reads.Value, nil)}); res.StatusCode != http.StatusOK {
		t.Errorf("another session: %d %s", res.StatusCode, data)
	}
}

// TestSessionBehindProxy: where people come by https, the cookie goes by nothing
// else, and on this machine it may.
func TestSessionBehindProxy(t *testing.T) {
	w := serve(t, &server.Options{Hosts: []string{"runs.example.org"}, Secure: true})
	for host, want := range map[string]bool{"runs.example.org": true, "": false} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.web.URL+"/v1/session", nil)
		must(t, err)
		r.Host = host
		r.Header.Set("Authorization", "Bearer "+admin)
		res, err := http.DefaultClient.Do(r)
		must(t, err)
		_ = res.Body.Close()
		if set := res.Cookies(); len(set) != 1 || set[0].Secure != want {
			t.Errorf("at %q: %d %v", host, res.StatusCode, res.Header["Set-Cookie"])
		}
	}
}

// TestReplicas: a log-in and a link to an approval of one server hold at another one with the same
// key on the same journal, as behind one address or after a restart, and at none with another key.
func TestReplicas(t *testing.T) {
	key := web.NewLinkKey()
	w := serve(t, &server.Options{LinkKey: key})
	res, _ := w.send(request{token: admin, method: "POST", path: "/v1/session"})
	cookie := cookies(res)[0]
	run := w.begin(admin, "payer").Run
	s, err := engine.Load(t.Context(), w.journal, run)
	must(t, err)
	c, _ := s.Call("c_1")
	link := client.Link{Run: run, Call: "c_1", Token: web.LinkToken(key, run, "c_1", c.TokenHash)}
	for name, c := range map[string]struct {
		key    []byte
		keys   []server.Key
		status int
		state  string
	}{
		"the same":      {key, keys, http.StatusOK, "open"},
		"another key":   {web.NewLinkKey(), keys, http.StatusUnauthorized, ""},
		"no key":        {nil, keys, http.StatusUnauthorized, ""},
		"another token": {key, []server.Key{{Token: "another-token-of-16"}}, http.StatusUnauthorized, "open"},
	} {
		other, err := server.New(w.journal, w, c.keys, &server.Options{LinkKey: c.key})
		must(t, err)
		at := httptest.NewServer(other)
		replica := &world{t: t, web: at, server: other}
		sent := &http.Cookie{Name: strings.Replace(cookie.Name, port(w.web.URL), port(at.URL), 1), Value: cookie.Value}
		if res, data := replica.send(request{method: "GET", path: "/v1/runs", header: http.Header{"Cookie": {sent.String()}}}); res.StatusCode != c.status {
			t.Errorf("%s: %d %s", name, res.StatusCode, data)
		}
		if c.state != "" {
			if r := replica.look(link); r.State != c.state {
				t.Errorf("%s: the link is %q", name, r.State)
			}
		}
		at.Close()
		must(t, other.Close())
	}
}

func port(url string) string { return url[strings.LastIndexByte(url, ':')+1:] }
