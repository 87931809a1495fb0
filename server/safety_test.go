package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pawl-run/pawl/server"
	"github.com/pawl-run/pawl/server/client"
)

// calls are the requests that reach every operation, for a run.
func calls(run string) (all []struct {
	server.Operation
	request
}) {
	for _, op := range server.Operations() {
		r := request{method: op.Method, path: strings.NewReplacer("{run}", run, "{call}", "c_1", "{seq}", "1", "{file}", "1", "{page...}", "").Replace(op.Path)}
		if op.Body {
			r.body = "{}"
		}
		all = append(all, struct {
			server.Operation
			request
		}{op, r})
	}
	return all
}

// refusedAs wants a problem document of a status.
func refusedAs(t *testing.T, name string, res answer, data []byte, want int) {
	t.Helper()
	var p client.Problem
	if res.StatusCode != want || res.Header.Get("Content-Type") != "application/problem+json" || json.Unmarshal(data, &p) != nil || p.Status != want || p.Title == "" {
		t.Errorf("%s: %d %s, want a problem of %d: %s", name, res.StatusCode, res.Header.Get("Content-Type"), want, data)
	}
}

// What a page of somebody else's can send gets nowhere, whatever it asks for, and
// even with a token.
func TestForeign(t *testing.T) {
	w := serve(t, nil)
	run := w.begin(admin, "calm").Run
	for _, c := range calls(run) {
		for name, h := range map[string]http.Header{
			"another origin":        {"Origin": {"http://evil.example"}},
			"another port":          {"Origin": {"http://127.0.0.1:1"}},
			"an origin without one": {"Origin": {"null"}},
			"two origins":           {"Origin": {w.web.URL, "http://evil.example"}},
			"a page elsewhere":      {"Sec-Fetch-Site": {"cross-site"}},
			"a page beside":         {"Sec-Fetch-Site": {"same-site"}, "Sec-Fetch-Mode": {"no-cors"}},
			"a rebound name":        {"Host": {"evil.example:80"}},
			"a rebound name, too":   {"Host": {"127.0.0.1.evil.example"}},
			"another port here":     {"Host": {"127.0.0.1:1"}},
			"an address elsewhere":  {"Host": {"192.0.2.1"}},
			"this machine's own":    {"Host": {"0.0.0.0"}},
			"a zone":                {"Host": {"[::1%25eth0]"}},
		} {
			if c.path == "/healthz" && h["Host"] != nil {
				continue // probes ask it by any name
			}
			c.token, c.header = admin, h
			res, data := w.send(c.request)
			refusedAs(t, fmt.Sprintf("%s %s from %s", c.method, c.path, name), res, data, http.StatusForbidden)
			for header := range res.Header {
				if strings.HasPrefix(header, "Access-Control-") {
					t.Errorf("%s: %s is said", name, header)
				}
			}
		}
	}
	port := w.web.Listener.Addr().(*net.TCPAddr).Port
	for _, h := range []http.Header{
		{"Host": {fmt.Sprintf("localhost:%d", port)}, "Origin": {fmt.Sprintf("http://localhost:%d", port)}, "Sec-Fetch-Site": {"same-origin"}},
		{"Host": {fmt.Sprintf("[::1]:%d", port)}},
		{"Sec-Fetch-Site": {"none"}},
	} {
		if res, data := w.send(request{token: admin, method: "GET", path: "/v1/runs", header: h}); res.StatusCode != http.StatusOK {
			t.Errorf("%v: %d %s", h, res.StatusCode, data)
		}
	}
	link := http.Header{"Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Mode": {"navigate"}}
	if res, data := w.send(request{method: "GET", path: "/", header: link}); res.StatusCode != http.StatusOK {
		t.Errorf("a link to the page: %d %s", res.StatusCode, data)
	}
	if res, _ := w.send(request{token: admin, method: "OPTIONS", path: "/v1/runs"}); res.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("a preflight: %d", res.StatusCode)
	}
}

// Nothing is told without a token that allows it, but to who needs none.
func TestTokens(t *testing.T) {
	w := serve(t, nil)
	run := w.begin(admin, "calm").Run
	for _, c := range calls(run) {
		for name, token := range map[string]string{"none": "", "a wrong one": "admin-tokem", "a part": "admin", "more": admin + "x"} {
			c.token, c.header = token, http.Header{}
			if c.Near { // as a proxy passes it on
				continue
			}
			res, data := w.send(c.request)
			if c.Scope == 0 {
				want := http.StatusOK
				if c.Body || strings.HasPrefix(c.path, "/v1/triggers/") { // the token of a request, or a trigger, which is not there
					want = http.StatusNotFound
				}
				if res.StatusCode != want {
					t.Errorf("%s with %s: %d", c.path, name, res.StatusCode)
				}
				continue
			}
			refusedAs(t, c.method+" "+c.path+" with "+name, res, data, http.StatusUnauthorized)
			if !strings.HasPrefix(res.Header.Get("WWW-Authenticate"), "Bearer ") {
				t.Errorf("%s: it does not say how: %v", c.path, res.Header)
			}
		}
		c.token, c.header = reader, http.Header{}
		if res, data := w.send(c.request); c.Scope > server.Read {
			refusedAs(t, c.method+" "+c.path+" with a token to read", res, data, http.StatusForbidden)
		}
		for _, kind := range []string{"Basic", "Token"} {
			c.token, c.header = "", http.Header{"Authorization": {kind + " " + admin}}
			if res, data := w.send(c.request); c.Scope != 0 && !c.Near {
				refusedAs(t, c.path+" as "+kind, res, data, http.StatusUnauthorized)
			}
		}
	}
	if res, _ := w.send(request{method: "GET", path: "/v1/runs?token=" + admin + "&access_token=" + admin}); res.StatusCode != http.StatusUnauthorized {
		t.Error("a token in an address was taken")
	}
}

// Who is not on this machine, or comes through a proxy, is not near.
func TestNear(t *testing.T) {
	metrics := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "pawl_runs 1\n") })
	w := serve(t, &server.Options{Hosts: []string{"runs.example.org", "other.example.org:8443"}, Metrics: metrics})
	for _, host := range []string{"runs.example.org", "10.0.0.7:8080"} {
		if res, data := w.send(request{method: "GET", path: "/healthz", header: http.Header{"Host": {host}}}); res.StatusCode != http.StatusOK {
			t.Errorf("a probe of %s: %d %s", host, res.StatusCode, data)
		}
	}
	for _, path := range []string{"/readyz", "/metrics"} {
		if res, data := w.send(request{method: "GET", path: path}); res.StatusCode != http.StatusOK || len(data) == 0 {
			t.Errorf("%s: %d", path, res.StatusCode)
		}
		proxied := http.Header{"Host": {"runs.example.org"}, "Origin": {"https://runs.example.org"}}
		res, data := w.send(request{method: "GET", path: path, header: proxied})
		refusedAs(t, path, res, data, http.StatusUnauthorized)
		if res, data := w.send(request{token: reader, method: "GET", path: path, header: proxied}); res.StatusCode != http.StatusOK {
			t.Errorf("%s: %d %s", path, res.StatusCode, data)
		}
	}
	for host, want := range map[string]int{
		"RUNS.example.org.": 200, "runs.example.org:81": 200, "other.example.org:8443": 200,
		"other.example.org": 403, "other.example.org:8444": 403, "xruns.example.org": 403,
	} {
		if res, data := w.send(request{token: admin, method: "GET", path: "/v1/runs", header: http.Header{"Host": {host}}}); res.StatusCode != want {
			t.Errorf("%s: %d %s", host, res.StatusCode, data)
		}
	}
	w.refused(admin, "GET", "/metrics/x", "", 404, "no page at")
}

// A missing page is reported as a problem document, too.
func TestNoSuchPage(t *testing.T) {
	pages := http.NewServeMux()
	pages.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<!doctype html>") })
	w := serve(t, &server.Options{UI: pages})
	if res, data := w.send(request{method: "GET", path: "/"}); res.StatusCode != http.StatusOK || string(data) != "<!doctype html>" {
		t.Errorf("%d %s", res.StatusCode, data)
	}
	w.refused("", "GET", "/nosuch", "", 404, "no page at /nosuch")
}

// A run of another tenant is not there: whatever is asked about it, the answer is
// that to a run that never was.
func TestOtherTenant(t *testing.T) {
	w := serve(t, nil)
	hers := w.begin(acme, "payer")
	boss := w.begin(acme, "boss")
	child := boss.Pending[0].Run
	if boss.Labels["tenant"] != "acme" || child == boss.Run {
		t.Fatal(boss.Labels, child)
	}
	nobodys := w.begin(admin, "payer")
	n := len(w.log.String())
	for _, run := range []string{hers.Run, boss.Run, child, nobodys.Run, hers.Run[:20], strings.ToLower(hers.Run), "last", hers.Run + ".c_1", "%00", "..%2f..", strings.Repeat("x", 3000), "%ff"} {
		for _, c := range calls(run) {
			if !strings.Contains(c.Path, "{run}") {
				continue
			}
			switch c.Name {
			case "answer":
				c.body = `{"text":"x"}`
			case "submit":
				c.body = `{"result":1}`
			case "settle":
				c.body = `{"did_not_happen":true}`
			case "fork":
				c.body = `{"at":1}`
			}
			c.token = other
			res, data := w.send(c.request)
			refusedAs(t, c.method+" "+c.path, res, data, http.StatusNotFound)
			c.path = strings.Replace(c.Path, "{run}", "01NEVERWAS", 1)
			if _, never := w.send(c.request); !bytes.Equal(data, never) {
				t.Errorf("%s tells a run of others from one that never was: %s, %s", c.Path, data, never)
			}
		}
	}
	if log := w.log.String()[n:]; log != "" {
		t.Error(log)
	}
	for _, r := range []string{hers.Run, boss.Run, nobodys.Run} {
		if s := w.result(admin, "GET", "/v1/runs/"+r, "", 200).Status; !s.Waiting() {
			t.Errorf("run %s is %v", r, s)
		}
	}
	w.ask(acme, "GET", "/v1/runs/"+child+"/explain", "", 200)
	for token, want := range map[string]int{other: 0, acme: 2, admin: 3, reader: 3} {
		for query, more := range map[string]int{"": 0, "?children=true": 1, "?label=tenant%3Dacme": 0, "?children=true&label=tenant%3Dacme": 0} {
			n := want
			if want > 0 {
				n += more
			}
			if n == 3 && strings.Contains(query, "label") {
				n = 2 // not those of nobody
			}
			var page client.Runs
			if err := json.Unmarshal(w.ask(token, "GET", "/v1/runs"+query, "", 200), &page); err != nil || len(page.Runs) != n {
				t.Errorf("%s sees %d runs by %q, want %d (%v)", token, len(page.Runs), query, n, err)
			}
		}
	}
	w.refused(acme, "POST", "/v1/runs", `{"agent":"calm","input":"x","labels":{"tenant":"other"}}`, 422, "tenant=acme")
	if got := w.result(acme, "POST", "/v1/runs?wait=true", `{"agent":"calm","input":"x","labels":{"tenant":"acme","a":"b"}}`, 201).Labels; got["tenant"] != "acme" || got["a"] != "b" || got["mood"] != "calm" {
		t.Errorf("it got the labels %v", got)
	}
}

// Two tenants that call a key or a thread the same do not mean the same.
func TestTenantsShareNoNames(t *testing.T) {
	w := serve(t, nil)
	body := `{"agent":"calm","input":"x","idempotency_key":"k","thread":"chat"}`
	first := w.result(acme, "POST", "/v1/runs?wait=true", body, 201)
	for i, token := range []string{other, admin} {
		r := w.result(token, "POST", "/v1/runs?wait=true", body, 201)
		if r.Run == first.Run || r.Usage.Input != first.Usage.Input {
			t.Errorf("%d: run %s goes on with %s: %v", i, r.Run, first.Run, r.Usage)
		}
	}
	if again := w.result(acme, "POST", "/v1/runs", body, 201); again.Run != first.Run {
		t.Errorf("it is another run for its own: %s", again.Run)
	}
	if next := w.result(acme, "POST", "/v1/runs?wait=true", fmt.Sprintf(`{"agent":"calm","input":"x","thread":%q}`, *first.Thread), 201); *next.Thread != *first.Thread || next.Usage.Input <= first.Usage.Input {
		t.Errorf("its thread is another when it is called as it is shown: %s", *next.Thread)
	}
	var page client.Runs
	if err := json.Unmarshal(w.ask(acme, "GET", "/v1/runs?thread=chat", "", 200), &page); err != nil || len(page.Runs) != 2 {
		t.Errorf("%d runs of the thread, %v", len(page.Runs), err)
	}
	w.refused(acme, "POST", "/v1/runs", `{"agent":"calm","input":"other","idempotency_key":"k","thread":"chat"}`, 409, "input differs")
}

// What is no request of ours is refused before anything is done.
func TestBodies(t *testing.T) {
	w := serve(t, nil)
	run := w.begin(admin, "payer").Run
	big := `{"reason":"` + strings.Repeat("x", 1<<20) + `"}`
	for _, c := range calls(run) {
		if !c.Body {
			continue
		}
		for name, b := range map[string]struct {
			body, kind string
			want       int
		}{
			"half":          {`{"a`, "application/json", 400},
			"unknown":       {`{"no_such_field":1}`, "application/json", 422},
			"two":           {`{}{}`, "application/json", 400},
			"behind":        {`{} x`, "application/json", 400},
			"a key twice":   {`{"reason":"a","reason":"b"}`, "application/json", 400},
			"in two cases":  {`{"reason":"a","Reason":"b"}`, "application/json", 400},
			"deep twice":    {`{"labels":{"a":"1","a":"2"}}`, "application/json", 400},
			"bad text":      {"{\"reason\":\"\xff\"}", "application/json", 400},
			"half a letter": {`{"reason":"\ud800"}`, "application/json", 400},
			"null":          {`null`, "application/json", 422},
			"a list":        {`[]`, "application/json", 422},
			"another type":  {`{"by":1,"agent":1,"text":1,"limits":1,"at":"x","reason":1}`, "application/json", 422},
			"blank":         {` `, "application/json", 400},
			"a form":        {`a=b`, "application/x-www-form-urlencoded", 415},
			"text":          {`{}`, "text/plain", 415},
			"no type":       {`{}`, "", 415},
			"UTF-16":        {`{}`, "application/json; charset=utf-16", 415},
			"a mark":        {"\ufeff" + `{"no_such_field":1}`, "application/json", 422},
			"almost":        {`{}`, "application/jsonp", 415},
			"too much":      {big, "application/json", 413},
			"too much text": {big, "text/plain", 413},
		} {
			c.token, c.body, c.header = admin, b.body, http.Header{"Content-Type": {b.kind}}
			res, data := w.send(c.request)
			refusedAs(t, c.path+" with "+name, res, data, b.want)
		}
	}
	// Of unknown length it is as large.
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.web.URL+"/v1/runs", io.MultiReader(strings.NewReader(big)))
	must(t, err)
	req.Header = http.Header{"Content-Type": {"application/json; charset=utf-8"}, "Authorization": {"Bearer " + admin}}
	res, err := http.DefaultTransport.RoundTrip(req)
	must(t, err)
	defer res.Body.Close()
	data, _ := io.ReadAll(res.Body)
	refusedAs(t, "too much without an end", answer{res.StatusCode, res.Header}, data, 413)
	if s := w.result(admin, "GET", "/v1/runs/"+run, "", 200).Status; !s.Waiting() {
		t.Errorf("the run is %v", s)
	}
}

// A client that sends its body byte by byte is not waited for.
func TestSlowBody(t *testing.T) {
	w := serve(t, nil)
	w.server.SetPatience(2 * time.Second) // a busy machine has as long for the answer
	var all sync.WaitGroup
	for line, want := range map[string]string{
		"POST /v1/runs HTTP/1.1\r\nAuthorization: Bearer " + admin: "408", "POST /v1/runs HTTP/1.1": "401", "GET / HTTP/1.1": "200",
		"PUT / HTTP/1.1\r\nOrigin: null": "403",
	} {
		all.Go(func() {
			conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", w.web.Listener.Addr().String())
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
				t.Error(err)
			}
			fmt.Fprintf(conn, "%s\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{", line, w.web.Listener.Addr())
			got, err := io.ReadAll(conn) // to the end of the connection
			if err != nil || !strings.HasPrefix(string(got), "HTTP/1.1 "+want+" ") {
				t.Errorf("%s: %v: %s", line, err, got)
			}
		})
	}
	all.Wait()
}

// Methods are told apart by path, and paths that are none are said to be.
func TestMethods(t *testing.T) {
	w := serve(t, nil)
	for path, allow := range map[string]string{
		"/v1/runs": "GET, HEAD, POST", "/v1/runs/x": "GET, HEAD", "/v1/runs/x/resume": "POST", "/v1/runs/x/calls/c/approve": "POST",
		"/v1/agents": "GET, HEAD", "/healthz": "GET, HEAD", "/readyz": "GET, HEAD", "/": "GET, HEAD", "/openapi.json": "GET, HEAD",
	} {
		for _, method := range []string{"DELETE", "PUT", "PATCH", "TRACE"} {
			res, data := w.send(request{token: admin, method: method, path: path})
			refusedAs(t, method+" "+path, res, data, http.StatusMethodNotAllowed)
			if got := res.Header.Get("Allow"); got != allow {
				t.Errorf("%s allows %q, want %q", path, got, allow)
			}
		}
	}
	for _, path := range []string{"/v1/", "/v1/run", "/v1/runs/x/eat", "/v1/runs/x/calls/c", "/v1/runs/x/calls/c/eat", "/nothing", "/v2/runs"} {
		res, data := w.send(request{token: admin, method: "GET", path: path})
		refusedAs(t, path, res, data, http.StatusNotFound)
	}
	for _, path := range []string{"/nothing", "/a2a", "/a2a/v1", "/a2a/v1/message:send", "/.well-known/agent-card.json"} {
		for _, method := range []string{"GET", "POST"} {
			res, data := w.send(request{token: admin, method: method, path: path})
			refusedAs(t, method+" "+path, res, data, http.StatusNotFound)
			if hint := strings.Contains(string(data), "start it with --a2a"); hint == (path == "/nothing") {
				t.Errorf("%s %s: %s", method, path, data)
			}
		}
	}
}

// A handler that panics is the server's fault, and told to its log only.
func TestPanics(t *testing.T) {
	w := serve(t, nil)
	for _, agent := range []string{"panic", "broken"} {
		res, data := w.send(request{token: admin, method: "POST", path: "/v1/runs", body: fmt.Sprintf(`{"agent":%q,"input":"x"}`, agent)})
		refusedAs(t, agent, res, data, http.StatusInternalServerError)
		if strings.Contains(string(data), "panics") || strings.Contains(string(data), "password") {
			t.Errorf("it tells too much: %s", data)
		}
	}
	for _, want := range []string{"an agent that panics", "server_test.(*world).Start", "the password is full"} {
		if !strings.Contains(w.log.String(), want) {
			t.Errorf("the log lacks %q:\n%s", want, w.log)
		}
	}
	w.ask(admin, "GET", "/v1/runs", "", 200)
}

// Answers say what browsers may do with them.
func TestHeaders(t *testing.T) {
	w := serve(t, nil)
	for _, path := range []string{"/", "/v1/runs", "/nothing"} {
		res, _ := w.send(request{token: admin, method: "GET", path: path})
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Content-Security-Policy": "frame-ancestors 'none'", "Cross-Origin-Resource-Policy": "same-origin",
		} {
			if !strings.Contains(res.Header.Get(name), want) {
				t.Errorf("%s: %s is %q", path, name, res.Header.Get(name))
			}
		}
		if res.Header.Get("Set-Cookie") != "" {
			t.Error("it sets a cookie")
		}
	}
}

// Over a Unix socket no name is wrong, but a token is needed all the same.
func TestSocket(t *testing.T) {
	w := serve(t, nil)
	path := filepath.Join(t.TempDir(), "s")
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", path)
	must(t, err)
	web := httptest.NewUnstartedServer(w.server)
	web.Listener = l
	web.Start()
	defer web.Close()
	over := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", path)
	}}}
	for token, want := range map[string]int{admin: 200, "": 401} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://anything/v1/runs", http.NoBody)
		must(t, err)
		req.Header.Set("Authorization", "Bearer "+token)
		res, err := over.Do(req)
		must(t, err)
		if res.Body.Close(); res.StatusCode != want {
			t.Errorf("%q: %d", token, res.StatusCode)
		}
	}
}

// A server takes no keys that are none.
func TestKeys(t *testing.T) {
	w := serve(t, nil)
	for _, bad := range [][]server.Key{nil, {{Token: " "}}, {{Token: "a"}, {Token: "a", Name: "twice"}}} {
		if _, err := server.New(w.journal, w, bad, nil); err == nil {
			t.Errorf("%v were taken", bad)
		}
	}
	for i, want := range []string{"read", "run", "decide"} {
		var s server.Scope
		if err := s.UnmarshalText([]byte(want)); err != nil || s != server.Scope(i+1) || s.String() != want {
			t.Errorf("%s: %v, %v", want, s, err)
		}
	}
	if err := new(server.Scope).UnmarshalText([]byte("write")); err == nil || !strings.Contains(err.Error(), "read, run, decide") {
		t.Error(err)
	}
}
