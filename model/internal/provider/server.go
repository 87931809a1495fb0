package provider

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/sheet"
)

// A Vendor describes a provider.
type Vendor struct {
	Name     string   // the provider's name in the price table
	Endpoint string   // the default base URL
	Hosts    []string // hosts to which the price table applies; see [At]
	Keys     []string // environment variables with the key; the first that is set counts
	Base     string   // the environment variable with the base URL

	// Header adds the headers of each request; key is empty if there is none.
	Header func(h http.Header, key string)

	// Classify sets the class, message and cause of an error from a body, and
	// reports whether the body contains an error. The status is 0 for an event
	// of a stream. Initially the error has the class of its status and the
	// provider's wait; a wait is dropped if the class is not transient.
	Classify func(e *pawl.ModelError, status int, body []byte) bool
}

// Options are the options of all adapters, which document them.
type Options struct {
	APIKey     string
	BaseURL    string
	HTTPClient *http.Client
	Price      *pawl.Price
	Key        func(ctx context.Context, refused string) (string, error)
	Provider   string
	Header     http.Header
}

// A Server sends a model's requests. It is safe for concurrent use.
type Server struct {
	Name   string       // the model's name at the provider
	Full   string       // the same with a prefix, such as openai/gpt-6-sol
	Traits sheet.Traits // what the model takes, by the sheet
	Known  bool         // the sheet knows the model or its family
	vendor *Vendor
	base   string
	client *http.Client
	price  *pawl.Price // given; nil: none
	fixed  string      // the key, unless key is set
	cut    string      // where the key came from, if white space around it was cut; else empty
	header http.Header // sent with each request
	key    func(ctx context.Context, refused string) (string, error)
}

// Server returns the server of a model. It reads the environment.
func (v *Vendor) Server(prefix, name string, o Options) Server {
	s := Server{
		Name: name, Full: prefix + "/" + name, vendor: v, client: Client(o.HTTPClient),
		base:  strings.TrimRight(cmp.Or(o.BaseURL, os.Getenv(v.Base), v.Endpoint), "/"),
		fixed: o.APIKey, key: o.Key, header: o.Header,
	}
	s.clean("the key that was given", "")
	s.Traits, s.Known = sheet.TraitsOf(v.Name, name)
	if o.Provider != "" { // the environment is about the vendor itself
		s.Full, s.base = o.Provider+"/"+name, strings.TrimRight(cmp.Or(o.BaseURL, v.Endpoint), "/")
	} else {
		for _, name := range v.Keys {
			s.clean(name, os.Getenv(name))
		}
	}
	if o.Price != nil {
		s.price = new(*o.Price)
	}
	return s
}

// clean takes a key that is under a name if there is none yet, and cuts the white space around it,
// which files and shells leave there.
func (s *Server) clean(name, key string) {
	key = cmp.Or(s.fixed, key)
	if s.fixed = strings.TrimSpace(key); s.fixed != key {
		s.cut = name
	}
}

// Account identifies the account whose thinking the provider takes back: a digest of the
// endpoint and of the key, unless that changes.
func (s *Server) Account() string {
	of := s.base
	if s.key == nil {
		of += "\n" + s.fixed
	}
	sum := sha256.Sum256([]byte(of))
	return hex.EncodeToString(sum[:6])
}

// Recalls reports whether a part can go back to the model: if the model made it for this account,
// and, for a model that binds its thinking to what stood before it, if nothing of that has changed.
// A part that does not name its model or its account is of any.
func (s *Server) Recalls(t pawl.Thinking) bool {
	return (t.Model == "" || t.Model == s.Full) && (t.Account == "" || t.Account == s.Account()) && !(t.Moved && s.Traits.Bound)
}

// Effort returns the effort to send: the one that is asked for, or the nearest that the model takes,
// with a note. It is empty for a model that cannot think. What an unknown model takes is left to
// its server.
func (s *Server) Effort(asked string) (effort string, notes []string) {
	switch {
	case asked == "" || !s.Known:
		return asked, nil
	case s.Traits.Thinking == "" && asked == "none":
		return "", nil
	case s.Traits.Thinking == "":
		return "", []string{"effort " + asked + " was left out: " + s.Full + " does not think"}
	}
	if effort = s.Traits.Clamp(asked); effort != asked {
		notes = []string{"effort " + asked + " was sent as " + effort + ", the nearest that " + s.Full + " takes"}
	}
	return effort, notes
}

// CannotForce returns a note that the tool choice was left out, if the model of Anthropic cannot be
// forced to call a tool: some never, and others not while they think with a budget; empty: it can.
// Source: Anthropic, "Define tools", on tool_choice with extended thinking.
func (s Server) CannotForce(thinking bool) string {
	switch {
	case s.Traits.Unforced:
		return "tool_choice was left out: " + s.Full + " cannot be forced to call a tool"
	case thinking:
		return "tool_choice was left out: " + s.Full + " cannot be forced to call a tool while it thinks with a budget"
	}
	return ""
}

// Unsampled returns a note that a field of the sampling was left out, if the model does not take
// it; else the empty string. While a model of Anthropic thinks, it takes top_p alone.
func (s *Server) Unsampled(field string, thinks bool) string {
	switch {
	case s.Traits.Sampling == sheet.NeverSample:
		return field + " was left out: " + s.Full + " does not take it"
	case thinks && field != "top_p" && field != "topP":
		return field + " was left out: " + s.Full + " does not take it while it thinks"
	}
	return ""
}

// Official reports whether requests go to the provider itself.
func (s *Server) Official() bool { return At(s.base, s.vendor.Hosts...) }

// Describe returns the model's name, its endpoint and what the sheet says of it. The price is
// the given one, or the sheet's of today. At another host than the provider's own, as behind a
// gateway, a known model has its list price.
func (s *Server) Describe(wire pawl.Wire) pawl.ModelInfo {
	info := pawl.ModelInfo{Name: s.Full, Endpoint: s.base, Price: s.price, Wire: wire, Reply: s.Traits.Reply, Effort: s.Traits.Effort, Bound: s.Traits.Bound}
	if s.price != nil {
		info.PriceFrom = "spec"
		return info
	}
	row, ok := sheet.Lookup(s.vendor.Name, s.Name)
	rates := row.On(time.Now())
	if !ok || rates.Input == 0 {
		return info
	}
	info.Price, info.PriceFrom = Price(rates, 1), "list"
	if s.Official() {
		info.PriceFrom = "table"
	}
	return info
}

// Price is the rates of the model sheet, times a factor.
func Price(r sheet.Rates, f float64) *pawl.Price {
	l := r.Long
	return &pawl.Price{
		Input: f * r.Input, Output: f * r.Output, CacheRead: f * r.CacheRead, CacheWrite: f * r.CacheWrite, CacheLong: f * r.CacheLong,
		Long:   pawl.Tier{From: l.From, Input: f * l.Input, Output: f * l.Output, CacheRead: f * l.CacheRead, CacheWrite: f * l.CacheWrite, CacheLong: f * l.CacheLong},
		Search: r.Search, Session: r.Session, // which cost the same everywhere
	}
}

// Ready returns an error if the model cannot be called because its key is
// missing, or is none. It sends nothing.
func (s *Server) Ready() error {
	if s.key == nil && strings.ContainsFunc(s.fixed, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return errors.New("the key for " + s.Full + " has white space or a control character within it; set " + s.vendor.Keys[0] + " to the key alone")
	}
	if s.key == nil && s.fixed == "" && s.base == s.vendor.Endpoint {
		return errors.New("no key for " + s.Full + "; set " + s.vendor.Keys[0])
	}
	return nil
}

// open posts a request and returns only a response that is an event stream. If
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
		// Report the refusal rather than the failure of the key function.
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
	key, err := s.key(ctx, refused)
	return strings.TrimSpace(key), err
}

// post also reports whether the request was refused because of its key.
func (s *Server) post(ctx context.Context, path, key string, body []byte) (res *http.Response, stale bool, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, false, Invalid("the base URL of %s is not a URL: %v", s.Full, err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	maps.Copy(req.Header, s.header)
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
	if !told && res.StatusCode < 300 { // such as a proxy's login page
		var whole bytes.Buffer
		if bytes.Contains(text, []byte(`"choices"`)) && json.Compact(&whole, text) == nil { // of a server that streams nothing
			res.Body = io.NopCloser(strings.NewReader("data: " + whole.String() + "\n\n"))
			return res, false, nil
		}
		e.Class, e.Message = pawl.ClassUnknown, "the answer is "+cmp.Or(kind, "of no type")+", not an event stream: "+Clip(string(text))
		if kind == "application/json" { // of a model, which may have cost what a reply costs
			e.Class = pawl.ClassEmpty
		}
	}
	stale = res.StatusCode == http.StatusUnauthorized || res.StatusCode == http.StatusBadRequest && e.Class == pawl.ClassAuth
	return nil, stale, e
}

// refused returns the error for a status, headers and a body, and whether the
// body contains one.
func (s *Server) refused(status int, h http.Header, body []byte) (*pawl.ModelError, bool) {
	e := &pawl.ModelError{Class: OfStatus(status), RetryAfter: Wait(h, body, time.Now())}
	told := s.vendor.Classify(e, status, body)
	if !e.Class.Transient() {
		e.RetryAfter = 0
	}
	return e, told
}

// Spoken returns E of a body {"error": E}, possibly in a list, and reports
// whether there is one.
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

// Message returns the provider's message, or the status and the beginning of
// the body.
func Message(said string, status int, body []byte) string {
	if said = Clip(said); said != "" {
		return said
	}
	return Clip(strings.TrimSpace(http.StatusText(status) + " " + string(body)))
}

// Invalid returns the error for a request that cannot be sent.
func Invalid(format string, args ...any) *pawl.ModelError {
	return &pawl.ModelError{Class: pawl.ClassInvalid, Message: Clip(fmt.Sprintf(format, args...))}
}

// OfStatus returns the class of an HTTP status; ClassUnknown if it is not an
// error.
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
	c = cmp.Or(c, http.DefaultClient)
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
