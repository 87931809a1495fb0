package mcp

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/pawl-run/pawl"
)

// A guarded is an MCP server of the official SDK that asks for bearer tokens, and the
// authorisation server that it names: RFC 6749 with PKCE (RFC 7636), metadata (RFC 8414 and
// 9728), registration (RFC 7591), resource indicators (RFC 8707) and refresh tokens that are
// good once.
type guarded struct {
	*httptest.Server
	t *testing.T

	mu        sync.Mutex
	n         int
	clients   map[string][]string   // redirect addresses by client
	codes     map[string]url.Values // the requests for them
	access    map[string]time.Time  // until when tokens are good
	refresh   map[string]bool
	lives     time.Duration
	refreshed int
	refuses   bool // to renew
}

func newGuarded(t *testing.T) *guarded {
	g := &guarded{t: t, clients: map[string][]string{}, codes: map[string]url.Values{}, access: map[string]time.Time{}, refresh: map[string]bool{}, lives: time.Hour}
	server := sdk.NewServer(&sdk.Implementation{Name: "guarded", Version: "1"}, nil)
	sdk.AddTool(server, &sdk.Tool{Name: "greet", Description: "Greets.", Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true}},
		func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "hello"}}}, nil, nil
		})
	mux := http.NewServeMux()
	g.Server = httptest.NewServer(mux)
	t.Cleanup(g.Close)
	mcp := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil)
	verify := func(_ context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
		g.mu.Lock()
		defer g.mu.Unlock()
		until, ok := g.access[token]
		if !ok || time.Now().After(until) {
			return nil, auth.ErrInvalidToken
		}
		return &auth.TokenInfo{Expiration: until}, nil
	}
	metadata := g.URL + "/.well-known/oauth-protected-resource/mcp"
	mux.Handle("/mcp", auth.RequireBearerToken(verify, &auth.RequireBearerTokenOptions{ResourceMetadataURL: metadata})(mcp))
	mux.Handle("/.well-known/oauth-protected-resource/mcp", auth.ProtectedResourceMetadataHandler(&oauthex.ProtectedResourceMetadata{
		Resource: g.URL + "/mcp", AuthorizationServers: []string{g.URL}, ScopesSupported: []string{"tools"},
	}))
	mux.HandleFunc("/.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) {
		g.answer(w, 200, map[string]any{
			"issuer": g.URL, "authorization_endpoint": g.URL + "/authorize", "token_endpoint": g.URL + "/token", "registration_endpoint": g.URL + "/register",
			"response_types_supported": []string{"code"}, "code_challenge_methods_supported": []string{"S256"},
			"token_endpoint_auth_methods_supported": []string{"none", "client_secret_basic"}, "authorization_response_iss_parameter_supported": true,
		})
	})
	mux.HandleFunc("/register", g.register)
	mux.HandleFunc("/authorize", g.authorize)
	mux.HandleFunc("/token", g.token)
	return g
}

func (g *guarded) answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func (g *guarded) next(kind string) string {
	g.n++
	return fmt.Sprintf("%s-%d", kind, g.n)
}

func (g *guarded) register(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	var asked struct {
		Redirects []string `json:"redirect_uris"`
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || len(asked.Redirects) == 0 {
		g.answer(w, 400, map[string]any{"error": "invalid_redirect_uri"})
		return
	}
	id := g.next("client")
	g.clients[id] = asked.Redirects
	g.answer(w, 201, map[string]any{"client_id": id, "redirect_uris": asked.Redirects, "token_endpoint_auth_method": "none"})
}

// authorize takes every person for one who agrees, unless the request is not whole.
func (g *guarded) authorize(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	q := r.URL.Query()
	redirects := g.clients[q.Get("client_id")]
	if q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" || q.Get("code_challenge") == "" || q.Get("resource") != g.URL+"/mcp" ||
		q.Get("state") == "" || len(redirects) != 1 || redirects[0] != q.Get("redirect_uri") {
		g.t.Errorf("a person is asked %v", q)
	}
	code := g.next("code")
	g.codes[code] = q
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+url.Values{"code": {code}, "state": {q.Get("state")}, "iss": {g.URL}}.Encode(), http.StatusFound)
}

func (g *guarded) token(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	_ = r.ParseForm()
	ok, why := false, "invalid_grant"
	switch r.Form.Get("grant_type") {
	case "authorization_code":
		asked := g.codes[r.Form.Get("code")]
		delete(g.codes, r.Form.Get("code"))
		sum := sha256.Sum256([]byte(r.Form.Get("code_verifier")))
		ok = asked != nil && asked.Get("code_challenge") == base64.RawURLEncoding.EncodeToString(sum[:]) && asked.Get("client_id") == r.Form.Get("client_id") &&
			asked.Get("redirect_uri") == r.Form.Get("redirect_uri") && r.Form.Get("resource") == g.URL+"/mcp"
	case "refresh_token":
		ok = g.refresh[r.Form.Get("refresh_token")] && !g.refuses
		delete(g.refresh, r.Form.Get("refresh_token"))
		g.refreshed++
	case "client_credentials":
		id, secret, basic := r.BasicAuth()
		if ok, why = basic && id == "robot" && secret == "sesame", "invalid_client"; ok {
			token := g.next("access")
			g.access[token] = time.Now().Add(g.lives)
			g.answer(w, 200, map[string]any{"access_token": token, "token_type": "Bearer", "expires_in": int(g.lives.Seconds())})
			return
		}
	}
	if !ok {
		g.answer(w, 400, map[string]any{"error": why})
		return
	}
	token, more := g.next("access"), g.next("refresh")
	g.access[token], g.refresh[more] = time.Now().Add(g.lives), true
	g.answer(w, 200, map[string]any{"access_token": token, "token_type": "Bearer", "expires_in": int(g.lives.Seconds()), "refresh_token": more})
}

// change changes how the authorisation server behaves.
func (g *guarded) change(do func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	do()
}

// browser opens an address as a person's browser does.
func browser(t *testing.T) func(string) {
	return func(address string) {
		go func() {
			r, err := http.Get(address)
			if err != nil {
				t.Error(err)
				return
			}
			defer r.Body.Close()
			if page, _ := io.ReadAll(r.Body); r.StatusCode != http.StatusOK || !strings.Contains(string(page), "You can close this page") {
				t.Errorf("the person sees %d %s", r.StatusCode, page)
			}
		}()
	}
}

// greeted connects to the server and calls its tool.
func greeted(t *testing.T, g *guarded, o *OAuth) error {
	t.Helper()
	s, err := Connect(t.Context(), "guarded", HTTP(g.URL+"/mcp", &HTTPOptions{OAuth: o}), &Options{Trusted: true})
	if err != nil {
		return err
	}
	defer s.Close()
	out, err := s.Tools()[0].Run(t.Context(), pawl.Invocation{Args: []byte("{}")})
	if err == nil && string(out.JSON) != `"hello"` {
		t.Errorf("the tool says %s", out.JSON)
	}
	return err
}

// A person authorises once. The tokens are renewed while the authorisation server does so;
// then an error names the command that asks the person again.
func TestOAuth(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	o := &OAuth{Tokens: filepath.Join(t.TempDir(), "tokens"), Login: "pawl mcp agent.yaml --login guarded"}
	asks := func(err error, why string) {
		t.Helper()
		if !errors.As(err, new(*LoginError)) || !strings.Contains(err.Error(), why) || !strings.HasSuffix(err.Error(), "run: "+o.Login) {
			t.Errorf("%v, want that it is because %s", err, why)
		}
	}
	asks(greeted(t, g, o), "nobody has authorised requests to it")
	if err := Login(t.Context(), g.URL+"/mcp", o, browser(t)); err != nil {
		t.Fatal(err)
	}
	if err := greeted(t, g, o); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(o.Tokens)
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v", files, err)
	}
	if info, err := files[0].Info(); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the tokens have the mode %v, %v", info.Mode(), err)
	}
	g.change(func() { // the server takes none of the tokens any more, whatever they say
		g.access = map[string]time.Time{}
		g.lives = time.Second // which oauth2 takes for expired
	})
	if err := greeted(t, g, o); err != nil {
		t.Errorf("after the tokens are revoked: %v", err)
	}
	g.change(func() { g.lives = time.Hour })
	if err := greeted(t, g, o); err != nil || g.refreshed < 2 {
		t.Errorf("after they have expired: %v, renewed %d times", err, g.refreshed)
	}
	kept, err := o.load(g.URL + "/mcp")
	if err != nil || !kept.Token.Valid() {
		t.Errorf("what is kept: %+v, %v", kept, err)
	}
	g.change(func() { g.refuses, g.access = true, map[string]time.Time{} })
	asks(greeted(t, g, o), "its authorisation server refuses to renew the authorisation (invalid_grant)")
	g.change(func() { g.refuses = false })
	if err := Login(t.Context(), g.URL+"/mcp", o, browser(t)); err != nil {
		t.Fatal(err)
	}
	if err := greeted(t, g, o); err != nil {
		t.Error(err)
	}
}

// With a key, the file is sealed and stays so, also where the tokens are renewed. Another key,
// or none, opens nothing. The program knows every token.
func TestOAuthSealed(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	key, seen := bytes.Repeat([]byte("k"), 32), map[string]bool{}
	o := &OAuth{Tokens: t.TempDir(), Login: "log in", Key: key, Seen: func(token string) { seen[token] = true }}
	if err := Login(t.Context(), g.URL+"/mcp", o, browser(t)); err != nil {
		t.Fatal(err)
	}
	g.change(func() { g.access = map[string]time.Time{} })
	if err := greeted(t, g, o); err != nil || g.refreshed == 0 {
		t.Errorf("%v, renewed %d times", err, g.refreshed)
	}
	data, err := os.ReadFile(o.file(g.URL + "/mcp"))
	if err != nil || len(seen) != 4 { // two of the login, two of the renewal
		t.Fatalf("%v, seen %v", err, seen)
	}
	for token := range seen {
		if bytes.Contains(data, []byte(token)) {
			t.Errorf("the file has %s", token)
		}
	}
	for want, other := range map[string][]byte{
		"they are sealed by another key":               bytes.Repeat([]byte("o"), 32),
		"has 3 bytes instead of 32":                    []byte("key"),
		"they are sealed, and this program has no key": nil,
	} {
		err := greeted(t, g, &OAuth{Tokens: o.Tokens, Login: "log in", Key: other})
		if !errors.As(err, new(*LoginError)) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// A person who refuses, or an answer to another question, authorises nothing.
func TestOAuthRefused(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	o := &OAuth{Tokens: t.TempDir()}
	for query, want := range map[string]string{
		"error=access_denied&error_description=not+now": "the authorisation server refuses: access_denied: not now",
		"code=code-1&state=mine":                        "state mismatch",
	} {
		err := Login(t.Context(), g.URL+"/mcp", o, func(address string) {
			u, err := url.Parse(address)
			if err != nil {
				t.Error(err)
				return
			}
			browser(t)(u.Query().Get("redirect_uri") + "?" + query)
		})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if files, _ := os.ReadDir(o.Tokens); len(files) > 0 {
		t.Errorf("there are tokens: %v", files)
	}
}

// A program authorises itself; nothing is kept.
func TestOAuthCredentials(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	if err := greeted(t, g, &OAuth{Credentials: true, ClientID: "robot", ClientSecret: "sesame"}); err != nil {
		t.Error(err)
	}
	if err := greeted(t, g, &OAuth{Credentials: true, ClientID: "robot", ClientSecret: "wrong"}); err == nil || !strings.Contains(err.Error(), "invalid_client") {
		t.Errorf("a wrong secret: %v", err)
	}
	if err := greeted(t, g, &OAuth{Credentials: true}); err == nil || !strings.Contains(err.Error(), "its credentials") {
		t.Errorf("no credentials: %v", err)
	}
}
