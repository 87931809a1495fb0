package cassette

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

const hidden = "SECRET"

// What a header or parameter is called that holds a secret.
var secretWords = []string{"auth", "key", "token", "secret", "cookie", "password", "credential", "signature"}

func isSecret(name string) bool {
	name = strings.ToLower(name)
	return name == "sig" || slices.ContainsFunc(secretWords, func(w string) bool { return strings.Contains(name, w) })
}

// secrets are the values that must not be seen, in every form they may take.
type secrets struct {
	mu    sync.Mutex
	forms [][]byte // the longest first
}

// A shorter value is not a key, and would be found all over a body.
const shortest = 8

// add takes values of least bytes or more.
func (s *secrets) add(least int, values ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range values {
		if len(v) < max(least, 1) {
			continue
		}
		quoted, _ := json.Marshal(v) // a string always has a JSON form
		escaped := string(bytes.Trim(quoted, `"`))
		plain := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(escaped)
		for _, form := range []string{v, escaped, plain, url.QueryEscape(v), url.PathEscape(v)} {
			if form != "" && !slices.ContainsFunc(s.forms, func(f []byte) bool { return string(f) == form }) {
				s.forms = append(s.forms, []byte(form))
			}
		}
	}
	slices.SortStableFunc(s.forms, func(a, b []byte) int { return cmp.Compare(len(b), len(a)) })
}

// learn takes the secrets that a request carries.
func (s *secrets) learn(r *http.Request) {
	for k, values := range r.Header {
		for _, v := range values {
			if !isSecret(k) {
				continue
			}
			s.add(shortest, v)
			if _, token, ok := strings.Cut(v, " "); ok { // behind the scheme
				s.add(shortest, token)
			}
		}
	}
	for _, c := range r.Cookies() {
		s.add(shortest, c.Value)
	}
	for k, values := range r.URL.Query() {
		if isSecret(k) {
			s.add(shortest, values...)
		}
	}
	if p, ok := r.URL.User.Password(); ok {
		s.add(shortest, p)
	}
}

// text hides the secrets in a text.
func (s *secrets) text(text string) string {
	return string(s.bytes([]byte(text)))
}

func (s *secrets) bytes(data []byte) []byte {
	out := s.pieces([]piece{{data: data}})
	if len(out) == 0 {
		return nil
	}
	return out[0].data
}

// pieces hides the secrets in a body, also those that came in several pieces:
// such a one is put where its first byte was.
func (s *secrets) pieces(list []piece) []piece {
	s.mu.Lock()
	defer s.mu.Unlock()
	var whole []byte
	for _, p := range list {
		whole = append(whole, p.data...)
	}
	var out []piece
	at := 0 // in whole: what is before it has been written
	end := 0
	for _, p := range list {
		end += len(p.data)
		fresh := piece{at: p.at}
		for at < end {
			n := s.at(whole[at:])
			if n > 0 {
				fresh.data = append(fresh.data, hidden...)
			} else {
				fresh.data = append(fresh.data, whole[at])
				n = 1
			}
			at += n
		}
		if len(fresh.data) > 0 {
			out = append(out, fresh)
		}
	}
	return out
}

// at is the length of the secret that a text begins with.
func (s *secrets) at(text []byte) int {
	for _, f := range s.forms {
		if bytes.HasPrefix(text, f) {
			return len(f)
		}
	}
	return 0
}

// address is a URL without its secrets, and without the port of a loopback
// server, which is another one each time.
func (s *secrets) address(u *url.URL) string {
	c := *u
	if c.User != nil {
		c.User = url.User(hidden)
	}
	if ip := net.ParseIP(c.Hostname()); c.Hostname() == "localhost" || ip != nil && ip.IsLoopback() {
		c.Host = strings.TrimSuffix(c.Host, ":"+c.Port())
	}
	q := c.Query()
	for k, values := range q {
		if isSecret(k) {
			for i := range values {
				values[i] = hidden
			}
		}
	}
	c.RawQuery = q.Encode()
	c.Fragment = ""
	if c.Path == "" {
		c.Path = "/"
	}
	return s.text(c.String())
}

// The headers that are kept, and the beginnings of their names. Others change
// each time, or identify a person.
var (
	sentHeaders     = []string{"Content-Type", "Accept", "Anthropic-Version", "Anthropic-Beta", "Openai-Beta"}
	answeredHeaders = []string{"Content-Type", "Content-Encoding", "Date", "Location", "Request-Id", "X-Request-Id", "Retry-After", "Retry-After-Ms", "X-Should-Retry"}
	answeredFamily  = []string{"Anthropic-Ratelimit-", "X-Ratelimit-"}
)

// header keeps what is of interest of the headers of a request, and says of
// secrets that they were there.
func (s *secrets) header(h http.Header, names []string) http.Header {
	return s.keep(h, func(k string) bool { return isSecret(k) || holds(sentHeaders, k) || holds(names, k) })
}

// answer keeps what is of interest of the headers of a response.
func (s *secrets) answer(h http.Header, names []string) http.Header {
	return s.keep(h, func(k string) bool {
		family := slices.ContainsFunc(answeredFamily, func(p string) bool { return strings.HasPrefix(k, p) })
		return family || holds(answeredHeaders, k) || holds(names, k)
	})
}

func holds(names []string, k string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return http.CanonicalHeaderKey(n) == k })
}

func (s *secrets) keep(h http.Header, want func(string) bool) http.Header {
	out := http.Header{}
	for k, values := range h {
		if !want(k) {
			continue
		}
		for _, v := range values {
			if isSecret(k) && !slices.ContainsFunc(answeredFamily, func(p string) bool { return strings.HasPrefix(k, p) }) {
				v = hidden
			}
			out.Add(k, s.text(strings.Join(strings.Fields(strings.ToValidUTF8(v, "\uFFFD")), " ")))
		}
	}
	return out
}

// coarse rounds a time to what people read.
func coarse(d time.Duration) time.Duration { return d.Round(time.Millisecond) }
