package cassette_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawl-run/pawl/pawltest/cassette"
)

// serve records what use sends to a handler, closes the server, and gives the file.
func serve(t *testing.T, o cassette.Options, h http.HandlerFunc, use func(client *http.Client, url string)) (file string) {
	t.Helper()
	srv := httptest.NewServer(h)
	defer srv.Close()
	file = filepath.Join(t.TempDir(), "c.txtar")
	o.Record = true
	tape, err := cassette.Open(file, &o)
	if err != nil {
		t.Fatal(err)
	}
	use(tape.Client(), srv.URL)
	if err := tape.Close(); err != nil {
		t.Fatal(err)
	}
	return file
}

// replay uses a file, and says what was wrong in the end.
func replay(t *testing.T, file string, o cassette.Options, use func(client *http.Client)) error {
	t.Helper()
	tape, err := cassette.Open(file, &o)
	if err != nil {
		t.Fatal(err)
	}
	use(tape.Client())
	return tape.Close()
}

const home = "http://127.0.0.1:1"

func echo(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	fmt.Fprintf(w, "you said %s", body)
}

func says(t *testing.T, client *http.Client, url, body, want string) {
	t.Helper()
	if got, err := post(client, url, body); err != nil || got != want {
		t.Errorf("%s: %q, %v; want %q", body, got, err, want)
	}
}

func TestOrderAndCanonicalForm(t *testing.T) {
	file := serve(t, cassette.Options{}, echo, func(client *http.Client, url string) {
		says(t, client, url+"/a", `{"a": 1, "b": [1, 2]}`, `you said {"a": 1, "b": [1, 2]}`)
		says(t, client, url+"/a", `not JSON`, "you said not JSON")
	})
	if err := replay(t, file, cassette.Options{}, func(client *http.Client) {
		says(t, client, home+"/a", `{"b":[1,2],"a":1}`, `you said {"a": 1, "b": [1, 2]}`)
		says(t, client, home+"/a", `not JSON`, "you said not JSON")
	}); err != nil {
		t.Error(err)
	}
	if err := replay(t, file, cassette.Options{AnyOrder: true}, func(client *http.Client) {
		says(t, client, home+"/a", `not JSON`, "you said not JSON")
		says(t, client, home+"/a", `{"b":[1,2],"a":1}`, `you said {"a": 1, "b": [1, 2]}`)
	}); err != nil {
		t.Error(err)
	}
}

func TestDifferencesAreShown(t *testing.T) {
	file := serve(t, cassette.Options{}, echo, func(client *http.Client, url string) {
		says(t, client, url+"/a?x=1", `{"a": 1}`, `you said {"a": 1}`)
		says(t, client, url+"/a", `{"b": 2}`, `you said {"b": 2}`)
	})
	for _, c := range []struct {
		name string
		use  func(client *http.Client)
		want []string
	}{
		{"body", func(client *http.Client) { refused(t, client, home+"/a?x=1", `{"a": 2}`) },
			[]string{"differs from request 1", `"a": 1`, `"a": 2`, cassette.Variable + "=1"}},
		{"query", func(client *http.Client) { refused(t, client, home+"/a?x=2", `{"a": 1}`) }, []string{"request 1", "x=1", "x=2"}},
		{"host", func(client *http.Client) { refused(t, client, "http://example.com/a?x=1", `{"a": 1}`) }, []string{"request 1", "http://example.com/a"}},
		{"order", func(client *http.Client) { refused(t, client, home+"/a", `{"b": 2}`) }, []string{"request 1"}},
		{"only the first", func(client *http.Client) {
			refused(t, client, home+"/a?x=1", `{"a": "first"}`)
			refused(t, client, home+"/a?x=1", `{"a": "second"}`)
		}, []string{"first"}},
		{"too few", func(client *http.Client) { says(t, client, home+"/a?x=1", `{"a": 1}`, `you said {"a": 1}`) },
			[]string{"1 of 2 exchanges were not asked for", "request 2, POST http://127.0.0.1/a"}},
		{"too many", func(client *http.Client) {
			says(t, client, home+"/a?x=1", `{"a": 1}`, `you said {"a": 1}`)
			says(t, client, home+"/a", `{"b": 2}`, `you said {"b": 2}`)
			refused(t, client, home+"/a", `{"b": 3}`)
		}, []string{"all its 2 exchanges are used up", `"b": 3`}},
	} {
		err := replay(t, file, cassette.Options{}, c.use)
		if err == nil {
			t.Errorf("%s: no error", c.name)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %q is not in\n%v", c.name, want, err)
			}
		}
		if strings.Contains(err.Error(), "second") {
			t.Errorf("%s: what followed is reported too:\n%v", c.name, err)
		}
	}
}

func refused(t *testing.T, client *http.Client, url, body string) {
	t.Helper()
	res, err := client.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusBadRequest {
		t.Errorf("%s is answered %d, want 400, which no adapter sends again", body, res.StatusCode)
	}
}

func TestNoFile(t *testing.T) {
	_, err := cassette.Open(filepath.Join(t.TempDir(), "none.txtar"), nil)
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), cassette.Variable+"=1") || !strings.Contains(err.Error(), "none.txtar") {
		t.Errorf("error %v, want one that says how to record", err)
	}
}

func TestNothingSentKeepsTheFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.txtar")
	if err := os.WriteFile(file, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	tape, err := cassette.Open(file, &cassette.Options{Record: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := tape.Close(); err == nil {
		t.Error("a recording of nothing is no error")
	}
	if text, _ := os.ReadFile(file); string(text) != "precious" {
		t.Errorf("the file is now %q", text)
	}
}

func TestSecrets(t *testing.T) {
	const key, cookie, query, given, password = "key-12345678", "cookie-1234567", "query-12345678", "x\"y", "pass-12345678"
	answer := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Set-Cookie", "a="+cookie)
		w.Header().Set("X-Kept", "wrong key "+key)
		w.Header().Set("X-Ratelimit-Remaining-Tokens", "7")
		w.WriteHeader(http.StatusUnauthorized)
		// Cut in the middle of a secret.
		for _, part := range []string{"wrong key " + key[:5], key[5:] + " and " + query + " of " + cookie + `, "x\"y`, `"`} {
			io.WriteString(w, part)
			w.(http.Flusher).Flush()
			time.Sleep(3 * time.Millisecond)
		}
	}
	o := cassette.Options{Secrets: []string{given, ""}, Headers: []string{"x-kept", "X-My-Token"}}
	var heard string
	send := func(client *http.Client, url string) {
		url = strings.Replace(url, "http://", "http://me:"+password+"@", 1)
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/v1?key="+query+"&alt=sse", strings.NewReader(`{"me":"x\"y", "his":"`+key+`"}`))
		req.Header.Set("X-Goog-Api-Key", key)
		req.Header.Set("X-My-Token", "tok")
		req.AddCookie(&http.Cookie{Name: "a", Value: cookie})
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != http.StatusUnauthorized || res.Header.Get("X-Ratelimit-Remaining-Tokens") != "7" {
			t.Errorf("%d, %v", res.StatusCode, err)
		}
		heard = string(body)
	}
	file := serve(t, o, answer, send)
	if !strings.Contains(heard, key) {
		t.Errorf("the recording client reads %q", heard)
	}
	text, _ := os.ReadFile(file)
	for _, secret := range []string{key, cookie, query, given, `x\"y`, password, "tok\n"} {
		if bytes.Contains(text, []byte(secret)) {
			t.Errorf("%q is in the file:\n%s", secret, text)
		}
	}
	for _, want := range []string{"X-Goog-Api-Key: SECRET", "Cookie: SECRET", "X-My-Token: SECRET", "alt=sse&key=SECRET", "X-Kept: wrong key SECRET", "Set-Cookie"} {
		if bytes.Contains(text, []byte(want)) != (want != "Set-Cookie") {
			t.Errorf("%q:\n%s", want, text)
		}
	}
	if err := replay(t, file, o, func(client *http.Client) { send(client, home) }); err != nil {
		t.Error(err)
	}
	if want := `wrong key SECRET and SECRET of SECRET, "SECRET"`; heard != want {
		t.Errorf("the replaying client reads %q, want %q", heard, want)
	}
}

func TestEdit(t *testing.T) {
	o := cassette.Options{Edit: func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("Monday"), []byte("DAY")) }}
	file := serve(t, o, echo, func(client *http.Client, url string) { says(t, client, url, "It is Monday.", "you said It is Monday.") })
	if err := replay(t, file, o, func(client *http.Client) { says(t, client, home, "It is DAY.", "you said It is Monday.") }); err != nil {
		t.Error(err)
	}
}

// A response that breaks off, is left or cancelled does so again.
func TestEndings(t *testing.T) {
	begun := func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "begun")
		w.(http.Flusher).Flush()
		if r.URL.Path == "/cut" {
			panic(http.ErrAbortHandler)
		}
		<-r.Context().Done()
	}
	use := func(client *http.Client, url string) {
		res, err := client.Get(url + "/cut")
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		if string(body) != "begun" || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("cut: %q, %v", body, err)
		}

		res, err = client.Get(url + "/left")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(res.Body, make([]byte, 5)); err != nil {
			t.Error(err)
		}
		res.Body.Close()
		if _, err := res.Body.Read(make([]byte, 1)); err == nil {
			t.Error("a closed body can be read")
		}

		ctx, cancel := context.WithCancel(t.Context())
		req, _ := http.NewRequestWithContext(ctx, http.MethodGet, url+"/cancelled", nil)
		if res, err = client.Do(req); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(res.Body, make([]byte, 5)); err != nil {
			t.Error(err)
		}
		time.AfterFunc(5*time.Millisecond, cancel)
		if _, err := io.ReadAll(res.Body); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
		res.Body.Close()

		if got, err := post(client, "http://127.0.0.1:0/nobody", ""); err == nil {
			t.Errorf("an address without a server answered %q", got)
		}
	}
	file := serve(t, cassette.Options{}, begun, use)
	text, _ := os.ReadFile(file)
	for _, want := range []string{"\ncut: unexpected EOF\n", "\nleft\n", "\ncancelled\n", "-- 4 response --\nfailed: "} {
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if err := replay(t, file, cassette.Options{}, func(client *http.Client) { use(client, home) }); err != nil {
		t.Error(err)
	}
}

const slow = `-- 1 request --
GET http://127.0.0.1/
-- 1 response --
HTTP 200 after 1s

+2s
|one
+5s
.two
end
`

// Replay waits for nothing, or for as long as the provider took.
func TestPace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "slow.txtar")
	if err := os.WriteFile(file, []byte(slow), 0o600); err != nil {
		t.Fatal(err)
	}
	for paced, want := range map[bool][]time.Duration{false: {0, 0, 0}, true: {time.Second, 2 * time.Second, 5 * time.Second}} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			if err := replay(t, file, cassette.Options{Paced: paced}, func(client *http.Client) {
				res, err := client.Get(home)
				if err != nil {
					t.Fatal(err)
				}
				defer res.Body.Close()
				got := []time.Duration{time.Since(start)}
				buf := make([]byte, 100)
				for _, piece := range []string{"one\n", "two"} {
					n, err := res.Body.Read(buf)
					if string(buf[:n]) != piece || err != nil {
						t.Errorf("read %q, %v; want %q", buf[:n], err, piece)
					}
					got = append(got, time.Since(start))
				}
				if _, err := res.Body.Read(buf); err != io.EOF {
					t.Errorf("at the end: %v", err)
				}
				if fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("paced %v: pieces after %v, want %v", paced, got, want)
				}
			}); err != nil {
				t.Error(err)
			}
		})
	}
}

// A client of a test fails the test.
func TestClientFailsItsTest(t *testing.T) {
	file := filepath.Join(t.TempDir(), "slow.txtar")
	if err := os.WriteFile(file, []byte(slow), 0o600); err != nil {
		t.Fatal(err)
	}
	tb := &fakeTB{TB: t}
	cassette.Client(tb, file, nil)
	for _, f := range tb.cleanups {
		f()
	}
	if !strings.Contains(tb.said, "1 of 1 exchanges were not asked for") {
		t.Errorf("the test is told %q", tb.said)
	}
	says(t, cassette.Client(t, "testdata/echo.txtar", nil), home+"/echo", "", "hello\r\n\x00-- 1 request --\nbye ")
}

type fakeTB struct {
	testing.TB
	cleanups []func()
	said     string
}

func (f *fakeTB) Cleanup(c func())  { f.cleanups = append(f.cleanups, c) }
func (f *fakeTB) Error(args ...any) { f.said += fmt.Sprint(args...) }
