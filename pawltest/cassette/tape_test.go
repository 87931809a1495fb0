package cassette

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// Whatever is recorded is read back byte for byte, also when line ends were
// changed by a checkout.
func FuzzTape(f *testing.F) {
	f.Add([]byte(`{"a": "-- 2 request --"}`), []byte("data: a\n\n"), []byte("\r\n"), "unexpected EOF")
	f.Add([]byte("-- 1 response --\n"), []byte("end\n-- x --\n"), []byte("\xff\x00\r "), "")
	f.Add([]byte("+1ms"), []byte("|=.^\n"), []byte("\u2028\t\n"), "a\nend")
	f.Fuzz(func(t *testing.T, request, first, second []byte, reason string) {
		x := &exchange{
			method: "POST", url: "http://127.0.0.1/", header: http.Header{"Accept": {"a", "b"}}, body: request,
			status: 200, answered: time.Millisecond, answer: http.Header{"Content-Type": {"text/plain"}},
			pieces: []piece{{at: 1500 * time.Millisecond, data: first}, {at: time.Minute, data: second}}, end: cut, reason: reason,
		}
		y := &exchange{method: "GET", url: "/", header: http.Header{}, end: failed, reason: "refused"}
		want := &tape{exchanges: []*exchange{x, y}, order: []mark{{0, false}, {1, false}, {1, true}, {0, true}}}
		text := want.format()
		for _, text := range [][]byte{text, bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n"))} {
			got, err := parse(text)
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			x.reason = strings.Join(strings.Fields(strings.ToValidUTF8(reason, "\uFFFD")), " ")
			// White space around the values of a JSON body is the only thing that changes.
			norm := cmp.Transformer("canonical", func(x *exchange) []any {
				return []any{canonical(x.method, x.url, x.body), x.header, x.status, x.answered, x.answer, x.pieces, x.end, x.reason}
			})
			if d := cmp.Diff(want, got, norm, cmp.AllowUnexported(tape{}, mark{}, piece{}), cmpopts.EquateEmpty()); d != "" {
				t.Errorf("(-want +got):\n%s\n%s", d, text)
			}
		}
	})
}

// However a body is cut into pieces, no secret is left in it, and nothing else
// is lost.
func FuzzSecrets(f *testing.F) {
	f.Add("a key-123 b", "key-123", uint8(5), uint8(7))
	f.Add(`{"k":"x\"y<"}`, `x"y<`, uint8(6), uint8(6))
	f.Add("aaaaaaa", "aaa", uint8(1), uint8(2))
	f.Fuzz(func(t *testing.T, body, secret string, i, j uint8) {
		if strings.Contains(hidden, secret) || strings.ContainsAny(secret, hidden) {
			t.Skip("a secret like the word that stands for it")
		}
		s := &secrets{}
		s.add(1, secret)
		a := min(int(i), len(body))
		b := min(a+int(j), len(body))
		var got []byte
		for _, p := range s.pieces([]piece{{1, []byte(body[:a])}, {2, []byte(body[a:b])}, {3, []byte(body[b:])}}) {
			got = append(got, p.data...)
		}
		if strings.Contains(string(got), secret) {
			t.Errorf("%q is in %q", secret, got)
		}
		if whole := s.text(body); whole != string(got) {
			t.Errorf("in pieces %q, whole %q", got, whole)
		}
		if secret != "" && s.text(secret) != hidden {
			t.Errorf("%q is not hidden", secret)
		}
	})
}

func TestParseSaysWhatIsWrong(t *testing.T) {
	request := "-- 1 request --\nGET /\n"
	for text, want := range map[string]string{
		"":                               "no exchange",
		"-- 2 request --\nGET /\n":       "out of place",
		"-- request --\nGET /\n":         "out of place",
		request:                          "no response",
		"-- 1 request --\nGET\n":         "want a method",
		"-- 1 request --\nGET /\nx\n":    "want a header",
		"-- 1 request --\nGET /\n\n{x\n": "neither JSON",
		request + "-- 1 response --\nHTTP 200 after 1ms\n":                     "on the last line",
		request + "-- 1 response --\nend\n-- 1 response --\nend\n":             "out of place",
		request + "-- 1 response --\nHTTP x after 1ms\nend\n":                  "want a line such as HTTP 200",
		request + "-- 1 response --\nHTTP 200 after soon\nend\n":               "want a line such as HTTP 200",
		request + "-- 1 response --\nHTTP 200 after 1ms\n\n|a\nend\n":          "before the body",
		request + "-- 1 response --\nHTTP 200 after 1ms\n\n+soon\nend\n":       "want a time",
		request + "-- 1 response --\nHTTP 200 after 1ms\n\n+1ms\n=a\nend\n":    "want a Go string",
		request + "-- 1 response --\nHTTP 200 after 1ms\n\n+1ms\nhello\nend\n": "want a line that begins with",
	} {
		if _, err := parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want one with %q", text, err, want)
		}
	}
}
