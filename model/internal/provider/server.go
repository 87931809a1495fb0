package provider

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/prices"
)

// A Vendor is what one provider's servers have in common.
type Vendor struct {
	Name     string   // in the price table
	Endpoint string   // the base URL unless another is given
	Hosts    []string // where the price table holds; see [At]
	Keys     []string // environment variables with the key; the first that is set counts
	Base     string   // the environment variable with the base URL

	// Header adds what each request has to carry; key is empty when there is none.
	Header func(h http.Header, key string)

	// Classify fills in the class, message and cause of an error from a body, and
	// reports whether the body speaks of an error at all. The status is 0 for an
	// event of a stream. The error has the class of its status and the wait that
	// the provider asks for; the wait of a class that is not transient is dropped.
	Classify func(e *pawl.ModelError, status int, body []byte) bool
}

// Options are those that all adapters have. See their own for the meaning.
type Options struct {
	APIKey     string
	BaseURL    string
	HTTPClient *http.Client
	Price      *pawl.Price
	Key        func(ctx context.Context, refused string) (string, error)
}

// A Server is where a model's requests go. Many runs may use it at once.
type Server struct {
	Name   string // the model's name at the provider
	Full   string // the same with a prefix, such as openai/gpt-5-mini
	vendor *Vendor
	base   string
	client *http.Client
	price  *pawl.Price // given; nil: none
	fixed  string      // the key, unless key is set
	key    func(ctx context.Context, refused string) (string, error)
}

// Server makes the server of a model. It reads the environment.
func (v *Vendor) Server(prefix, name string, o Options) Server {
	s := Server{
		Name: name, Full: prefix + "/" + name, vendor: v, client: Client(o.HTTPClient),
		base:  strings.TrimRight(cmp.Or(o.BaseURL, os.Getenv(v.Base), v.Endpoint), "/"),
		fixed: o.APIKey, key: o.Key,
	}
	for _, name := range v.Keys {
		s.fixed = cmp.Or(s.fixed, os.Getenv(name))
	}
	if o.Price != nil {
		s.price = new(*o.Price)
	}
	return s
}

// Official reports whether requests go to the provider itself.
func (s *Server) Official() bool { return At(s.base, s.vendor.Hosts...) }

// Describe names the model and its endpoint. The price is the one given, or the
// table's when requests go to the provider itself: elsewhere a name may be any
// model's.
func (s *Server) Describe(wire pawl.Wire) pawl.ModelInfo {
	info := pawl.ModelInfo{Name: s.Full, Endpoint: s.base, Price: s.price, Wire: wire}
	if r, ok := prices.Lookup(s.vendor.Name, s.Name); ok && s.price == nil && s.Official() {
		info.Price = &pawl.Price{Input: r.Input, Output: r.Output, CacheRead: r.CacheRead, CacheWrite: r.CacheWrite, Long: pawl.Tier(r.Long)}
	}
	return info
}

// Ready returns an error if the model cannot be called because its key is
// missing. It sends nothing.
func (s *Server) Ready() error {
	if s.key == nil && s.fixed == "" && s.base == s.vendor.Endpoint {
		return errors.New("no key for " + s.Full + "; set " + s.vendor.Keys[0])
	}
	return nil
}

// open posts a request and returns only a response that is an event stream. When
// the key is refused and there is another, it posts once more with that.
func (s *Server) open(ctx context.Context, path string, body []byte) (*http.Response, error) {
	if err := s.Ready(); err != nil {
		return nil, &pawl.ModelError{Class: pawl.ClassAuth, Message: err.Error(), Err: err}
	}
	key, err := s.keyFor(ctx, "")
	if err != nil {
		return nil, &pawl.ModelError{Class: pawl.ClassAuth, Message: "no key for " + s.Full + ": " + Clip(err.Error()), Err: err}
	}
	res, stale, err := s.post(ctx, path, key, body)
	if stale && key != "" {
		// The refusal helps more than what a key service says of its own failure.
		if other, lost := s.keyFor(ctx, key); lost == nil && other != "" && other != key {
			res, _, err = s.post(ctx, path, other, body)
		}
	}
	return res, err
}

func (s *Server) keyFor(ctx context.Context, refused string) (string, error) {
	if s.key == nil {
		return s.fixed, nil
	}
	return s.key(ctx, refused)
}

// post also reports whether the request was refused for its key.
func (s *Server) post(ctx context.Context, path, key string, body []byte) (res *http.Response, stale bool, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, false, Invalid("the base URL of %s is not a URL: %v", s.Full, err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	s.vendor.Header(req.Header, key)
	res, err = s.client.Do(req)
	if redirect, ok := errors.AsType[*RedirectError](err); ok {
		return nil, false, Invalid("%v", redirect)
	}
	if err != nil {
		return nil, false, &pawl.ModelError{Class: pawl.ClassNetwork, Message: Clip(err.Error()), Err: err}
	}
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if res.StatusCode < 300 && kind == "text/event-stream" {
		return res, false, nil
	}
	text := Body(res.Body)
	e, told := s.refused(res.StatusCode, res.Header, text)
	if !told && res.StatusCode < 300 { // such as the page of a proxy that wants a login
		e = &pawl.ModelError{Class: pawl.ClassUnknown, Message: "the answer is " + cmp.Or(kind, "of no type") + ", not an event stream: " + Clip(string(text))}
	}
	stale = res.StatusCode == http.StatusUnauthorized || res.StatusCode == http.StatusBadRequest && e.Class == pawl.ClassAuth
	return nil, stale, e
}

// refused is the error that a status, headers and a body stand for, and whether
// the body speaks of one.
func (s *Server) refused(status int, h http.Header, body []byte) (*pawl.ModelError, bool) {
	e := &pawl.ModelError{Class: OfStatus(status), RetryAfter: Wait(h, body, time.Now())}
	told := s.vendor.Classify(e, status, body)
	if !e.Class.Transient() {
		e.RetryAfter = 0
	}
	return e, told
}

// Spoken is what a body says of an error: E of {"error": E}, which may stand in a
// list. It reports whether there is one.
func Spoken(body []byte) (json.RawMessage, bool) {
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	var doc struct {
		Error json.RawMessage `json:"error"`
	}
	ok := json.Unmarshal(body, &doc) == nil && len(doc.Error) > 0 && string(doc.Error) != "null"
	return doc.Error, ok
}

// Message is what an error says: the provider's words, or else the status and
// the beginning of the body.
func Message(said string, status int, body []byte) string {
	if said = Clip(said); said != "" {
		return said
	}
	return Clip(strings.TrimSpace(http.StatusText(status) + " " + string(body)))
}

// Invalid is the error of a request that cannot be sent as it is.
func Invalid(format string, args ...any) *pawl.ModelError {
	return &pawl.ModelError{Class: pawl.ClassInvalid, Message: Clip(fmt.Sprintf(format, args...))}
}

// OfStatus is the class of an HTTP status; of one that is no error, ClassUnknown.
func OfStatus(status int) pawl.Class {
	switch {
	case status == 429:
		return pawl.ClassRateLimit
	case status == 401, status == 403:
		return pawl.ClassAuth
	case status == 402:
		return pawl.ClassQuota
	case status == 404:
		return pawl.ClassNotFound
	case status == 408:
		return pawl.ClassNetwork
	case status == 413:
		return pawl.ClassTooLong
	case status == 499, status >= 500:
		return pawl.ClassOverloaded
	case status >= 400:
		return pawl.ClassInvalid
	}
	return pawl.ClassUnknown
}

// At reports whether a base URL has one of the hosts; one that begins with a dot
// stands for all hosts below it.
func At(base string, hosts ...string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	name := strings.ToLower(u.Hostname())
	for _, host := range hosts {
		if name == host || strings.HasPrefix(host, ".") && strings.HasSuffix(name, host) {
			return true
		}
	}
	return false
}

// Client is a copy of a client that follows no redirect: the request has the key
// and the conversation, which are for the configured address alone. It fails with
// a [*RedirectError] instead. nil is http.DefaultClient.
func Client(c *http.Client) *http.Client {
	if c == nil {
		c = http.DefaultClient
	}
	own := *c
	own.CheckRedirect = func(to *http.Request, _ []*http.Request) error {
		return &RedirectError{to.URL.Scheme + "://" + to.URL.Host}
	}
	return &own
}

// A RedirectError is the answer of a provider that names another address.
type RedirectError struct{ To string }

// Error says why the redirect is not followed, and what to do.
func (e *RedirectError) Error() string {
	return "the provider redirects to " + e.To + ", which is not followed, as the key and the conversation would go there; " +
		"if that address is right, set it as the base URL"
}
