// Package fetch makes a tool that reads web pages and reaches nothing else on the
// network.
//
//	fetch.Tool(nil)                                                 // any public host
//	fetch.Tool(&fetch.Options{Allow: []string{"docs.example.org"}}) // that host only
//
// The tool checks the address that it connects to, after names are resolved and again for each
// redirect, so that no name, no spelling of an address and no changing DNS answer leads to this
// machine, its network or the metadata service of its cloud. It uses no proxy, cookie or credential
// of the user. Pages are untrusted: their text may be meant to mislead the model.
package fetch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/web"
	"github.com/pawl-run/pawl/tool"
)

// Options are the options of the tool. The zero value allows all public hosts.
type Options struct {
	// Allow names the only hosts to fetch from: docs.example.org, *.example.org for all
	// its subdomains, 10.0.0.7, localhost:8080. They may be on a private network or on
	// this machine. A link-local address, where clouds serve credentials, must be named
	// itself. Empty: all public hosts.
	Allow []string `json:"allow,omitempty" format:"host" min:"1" such:"[docs.example.org]" usual:"all public hosts" about:"the only hosts, such as 'docs.example.org', '*.example.org' or 'localhost:8080'; they may be private"`
	// Timeout is the deadline of one call, with all redirects; zero is 30 s.
	Timeout time.Duration
}

// The bounds of a call.
const (
	mostRedirects = 10
	mostHeader    = 64 << 10
	mostURL       = 8 << 10
	mostBody      = 4 << 20  // bytes, after decompression
	mostText      = 48 << 10 // bytes in one result
	mostError     = 1 << 10  // bytes of the text of an error page
	maxResult     = 400 << 10
	defaultTime   = 30 * time.Second
)

type args struct {
	URL  string `json:"url" jsonschema:"an http or https URL"`
	From int    `json:"from,omitempty" jsonschema:"where in the text to begin, in bytes: what next said when the page was fetched before"`
}

// A page is the tool's result.
type page struct {
	URL    string `json:"url"` // after redirects
	Type   string `json:"type"`
	Title  string `json:"title,omitempty"`
	Text   string `json:"text"`
	Next   int    `json:"next,omitempty"`   // where the rest begins
	Length int    `json:"length,omitempty"` // of the whole text, unless all of it is in Text
	Cut    bool   `json:"cut,omitempty"`    // the page is larger than what was read
}

// Tool is the tool fetch: it gets a page by its URL, as text. It converts HTML, returns other texts
// unchanged, and refuses anything else. It is a Read. Problems with the options are reported when
// the agent is prepared.
func Tool(o *Options) pawl.Tool {
	o = cmp.Or(o, &Options{})
	f := &fetcher{}
	var errs []error
	for _, text := range o.Allow {
		h, err := web.ParseHost(text)
		if err != nil {
			errs = append(errs, fmt.Errorf("tool \"fetch\": %w", err))
		}
		f.dialer.Allow = append(f.dialer.Allow, h)
	}
	timeout := o.Timeout
	timeout = cmp.Or(timeout, defaultTime)
	f.Tool = tool.FuncWith("fetch", "Get a page of the web as text, by its URL.", f.fetch, pawl.Read, &tool.Options{
		Timeout: timeout, MaxOutput: maxResult, External: true, Reaches: []string{"url"}, Trust: pawl.Untrusted, // strangers may have written the page
	})
	f.err = errors.Join(errs...)
	f.client = &http.Client{
		CheckRedirect: f.redirect,
		Transport: &http.Transport{
			DialContext:            f.dialer.DialContext,
			DisableKeepAlives:      true, // a connection serves only the host that was checked
			MaxResponseHeaderBytes: mostHeader,
			ForceAttemptHTTP2:      true,
		},
	}
	return f
}

type fetcher struct {
	pawl.Tool
	dialer web.Dialer // it allows only hosts that may be fetched from
	client *http.Client
	err    error
}

// Check returns what is wrong with the options.
func (f *fetcher) Check(a pawl.Agent) error {
	if c, ok := f.Tool.(pawl.Checker); ok {
		return errors.Join(f.err, c.Check(a))
	}
	return f.err
}

// redirect checks the target of a redirect.
func (f *fetcher) redirect(next *http.Request, before []*http.Request) error {
	if len(before) > mostRedirects {
		return &web.RefusedError{Why: fmt.Sprintf("it redirects more than %d times", mostRedirects)}
	}
	if before[len(before)-1].URL.Scheme == "https" && next.URL.Scheme != "https" {
		return &web.RefusedError{Why: fmt.Sprintf("it redirects from https to %s, which others on the network can read and change", next.URL.Scheme)}
	}
	if err := f.acceptable(next.URL); err != nil {
		return &web.RefusedError{Why: "it redirects to a place that is not allowed: " + err.Error()}
	}
	next.Header.Del("Referer") // which may hold secrets of the first host
	return nil
}

// acceptable returns an error if the URL's text shows that it must not be fetched.
func (f *fetcher) acceptable(u *url.URL) error {
	port := u.Port()
	switch {
	case u.Scheme == "http" && port == "":
		port = "80"
	case u.Scheme == "https" && port == "":
		port = "443"
	case u.Scheme != "http" && u.Scheme != "https":
		return &web.RefusedError{Why: fmt.Sprintf("%q cannot be fetched; give a URL that begins with https:// or http://", u)}
	}
	switch {
	case len(u.String()) > mostURL:
		return &web.RefusedError{Why: fmt.Sprintf("a URL of more than %d bytes is not fetched", mostURL)}
	case u.Hostname() == "":
		return &web.RefusedError{Why: fmt.Sprintf("%q names no host", u)}
	case u.User != nil:
		return &web.RefusedError{Why: "a URL with a name or password is not fetched"}
	case len(f.dialer.Allow) == 0 || slices.ContainsFunc(f.dialer.Allow, func(h web.Host) bool { return h.Is(u.Hostname(), port) }):
		return nil
	}
	return &web.RefusedError{Why: fmt.Sprintf("the host %s is not allowed", u.Host)}
}

func (f *fetcher) fetch(ctx context.Context, a args) (*page, error) {
	if f.err != nil {
		return nil, f.err
	}
	u, err := url.Parse(strings.TrimSpace(a.URL))
	if err != nil {
		return nil, fmt.Errorf("url: %w", err)
	}
	if a.From < 0 {
		return nil, fmt.Errorf("from is %d; it counts from 0", a.From)
	}
	if err := f.acceptable(u); err != nil {
		return nil, err
	}
	u.Fragment = ""
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), http.NoBody)
	if err != nil {
		return nil, err
	}
	request.Header.Set("User-Agent", "pawl")
	request.Header.Set("Accept", "text/html, text/*;q=0.9, application/json;q=0.9, */*;q=0.1")
	response, err := f.client.Do(request)
	if err != nil {
		return nil, plainly(u, err)
	}
	defer response.Body.Close()
	p, err := read(response)
	if err != nil {
		return nil, plainly(u, err)
	}
	if response.StatusCode/100 != 2 {
		text := strings.TrimSpace(p.Text)
		return nil, fmt.Errorf("%s answers %s: %s", p.URL, response.Status, strings.ToValidUTF8(text[:min(len(text), mostError)], ""))
	}
	return p.part(a.From)
}

// read makes a page of a response.
func read(response *http.Response) (*page, error) {
	p := &page{URL: response.Request.URL.String()}
	body, err := io.ReadAll(io.LimitReader(response.Body, mostBody+1))
	if err != nil {
		return nil, err
	}
	if p.Cut = len(body) > mostBody; p.Cut {
		body = body[:mostBody]
	}
	given := response.Header.Get("Content-Type")
	if given == "" {
		given = http.DetectContentType(body)
	}
	kind, parameters, err := mime.ParseMediaType(given)
	if err != nil && kind == "" {
		kind, _, _ = strings.Cut(given, ";")
	}
	p.Type = kind
	text, err := decode(body, kind, parameters["charset"])
	switch {
	case err != nil && response.StatusCode/100 == 2:
		return nil, fmt.Errorf("%s is %w", p.URL, err)
	case err != nil:
		return p, nil // the reason matters more than the form
	case kind == "text/html" || kind == "application/xhtml+xml":
		p.Title, p.Text = readable(text, response.Request.URL)
		p.Cut = p.Cut || len(p.Text) > mostBody
	default:
		p.Text = text
	}
	return p, nil
}

// part reduces the text to as much as one result may have, beginning at byte from.
func (p *page) part(from int) (*page, error) {
	whole := p.Text
	if from > len(whole) {
		return nil, fmt.Errorf("from is %d, but the text of %s has %d bytes", from, p.URL, len(whole))
	}
	to := min(from+mostText, len(whole))
	for ; to < len(whole) && to > from && whole[to]&0xc0 == 0x80; to-- { // do not split a character
	}
	p.Text = strings.ToValidUTF8(whole[from:to], "")
	if to < len(whole) {
		p.Next, p.Length = to, len(whole)
	}
	return p, nil
}

// plainly returns the error without what the packages below add to it.
func plainly(u *url.URL, err error) error {
	if r, ok := errors.AsType[*web.RefusedError](err); ok {
		return fmt.Errorf("%s: %w", u, r)
	}
	if outer, ok := errors.AsType[*url.Error](err); ok {
		return fmt.Errorf("%s: %w", u, outer.Err)
	}
	return fmt.Errorf("%s: %w", u, err)
}
