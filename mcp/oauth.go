package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/auth/extauth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

// OAuth is how requests to a server are authorised by OAuth 2.1, as the protocol has it: the
// server names its authorisation server, and tokens are for this server only.
//
// A person authorises once, with [Login], and the tokens are kept and renewed. A program
// without a person has credentials of its own instead.
type OAuth struct {
	// ClientID and ClientSecret are those of a client that was registered beforehand. Empty:
	// Login registers one. A public client has no secret.
	ClientID, ClientSecret string
	// Credentials authorises by ClientID and ClientSecret alone, without a person
	// (the grant client_credentials). Nothing is kept.
	Credentials bool
	// Tokens is the directory that keeps what Login got, a file for each server that only
	// its owner can read.
	Tokens string
	// Key is the key of 32 bytes that seals these files. Nil: they are not sealed.
	Key []byte
	// Seen is called with each token before it is used or kept, so that the program can keep
	// it out of what it logs and shows, as with engine.Learned. Nil: nothing is called.
	Seen func(token string)
	// Login is the command that runs [Login], for errors that say to do so.
	Login string
}

// oauthClient asks authorisation servers.
var oauthClient = &http.Client{Timeout: 30 * time.Second}

// A LoginError says that a server needs a person to authorise requests again.
type LoginError struct {
	URL   string
	Login string // the command; empty: unknown
	Err   error
}

// Error says why, and names the command.
func (e *LoginError) Error() string {
	if e.Login == "" {
		return fmt.Sprintf("%s: %v; log in again", e.URL, e.Err)
	}
	return fmt.Sprintf("%s: %v; run: %s", e.URL, e.Err, e.Login)
}

// Unwrap returns why.
func (e *LoginError) Unwrap() error { return e.Err }

// handler returns what authorises requests to a server.
func (o *OAuth) handler(address string) (auth.OAuthHandler, error) {
	if !o.Credentials {
		return &kept{oauth: o, address: address}, nil
	}
	h, err := extauth.NewClientCredentialsHandler(&extauth.ClientCredentialsHandlerConfig{
		Credentials: o.client(), HTTPClient: oauthClient,
	})
	if err != nil {
		return nil, fmt.Errorf("its credentials: %w", err)
	}
	return &alone{handler: h, oauth: o}, nil
}

// client is the client that was registered beforehand; nil: there is none.
func (o *OAuth) client() *oauthex.ClientCredentials {
	if o.ClientID == "" {
		return nil
	}
	c := &oauthex.ClientCredentials{ClientID: o.ClientID}
	if o.ClientSecret != "" {
		c.ClientSecretAuth = &oauthex.ClientSecretAuth{ClientSecret: o.ClientSecret}
	}
	return c
}

// alone is a handler for requests that are made at once.
type alone struct {
	mu      sync.Mutex
	handler auth.OAuthHandler
	oauth   *OAuth
}

func (a *alone) TokenSource(ctx context.Context) (oauth2.TokenSource, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	source, err := a.handler.TokenSource(ctx)
	if source == nil || err != nil {
		return nil, err
	}
	return seen{source, a.oauth}, nil
}

// seen is a source of tokens that the program knows.
type seen struct {
	oauth2.TokenSource
	oauth *OAuth
}

func (s seen) Token() (*oauth2.Token, error) {
	t, err := s.TokenSource.Token()
	if err == nil {
		s.oauth.show(t)
	}
	return t, err
}

// show has the program know a token.
func (o *OAuth) show(t *oauth2.Token) {
	if o.Seen == nil {
		return
	}
	for _, secret := range []string{t.AccessToken, t.RefreshToken} {
		if secret != "" {
			o.Seen(secret)
		}
	}
}

func (a *alone) Authorize(ctx context.Context, request *http.Request, response *http.Response) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.handler.Authorize(ctx, request, response)
}

// kept authorises by the tokens that Login got.
type kept struct {
	oauth   *OAuth
	address string

	mu   sync.Mutex
	last string // the access token that was sent last
}

var errNoGrant = errors.New("nobody has authorised requests to it")

func (k *kept) wrong(err error) error { return &LoginError{k.address, k.oauth.Login, err} }

// TokenSource returns k; nil if nobody has logged in: the server may ask for nothing.
func (k *kept) TokenSource(context.Context) (oauth2.TokenSource, error) {
	if _, err := k.oauth.load(k.address); errors.Is(err, errNoGrant) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	return k, nil
}

// Token returns a token that is valid, renewed if need be.
func (k *kept) Token() (*oauth2.Token, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	g, err := k.oauth.load(k.address)
	if err == nil && !g.Token.Valid() {
		g, err = k.renew(g)
	}
	if err != nil {
		return nil, err
	}
	k.last = g.Token.AccessToken
	return g.Token, nil
}

// renew gets another token. Another process may have done so: some servers accept a
// refresh token once.
func (k *kept) renew(g *grant) (*grant, error) {
	if g.Token.RefreshToken == "" {
		return nil, k.wrong(errors.New("its authorisation has expired"))
	}
	ctx := context.WithValue(context.Background(), oauth2.HTTPClient, oauthClient)
	token, err := g.config().TokenSource(ctx, &oauth2.Token{RefreshToken: g.Token.RefreshToken}).Token()
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		if now, other := k.oauth.load(k.address); other == nil && now.Token.AccessToken != g.Token.AccessToken && now.Token.Valid() {
			return now, nil
		}
		why := refused.ErrorCode
		if why == "" {
			why = refused.Response.Status
		}
		return nil, k.wrong(fmt.Errorf("its authorisation server refuses to renew the authorisation (%s)", why))
	}
	if err != nil {
		return nil, fmt.Errorf("renew the authorisation of %s: %w", k.address, err)
	}
	g.Token = token
	return g, k.oauth.save(k.address, g)
}

// Authorize renews a token that the server refuses. Only a person can do more.
func (k *kept) Authorize(_ context.Context, _ *http.Request, response *http.Response) error {
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, mostMessage)) // so that the connection can be used again
	response.Body.Close()
	if response.StatusCode == http.StatusForbidden {
		return k.wrong(errors.New("it forbids the request with these tokens (403)"))
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	g, err := k.oauth.load(k.address)
	switch {
	case errors.Is(err, errNoGrant):
		return k.wrong(err)
	case err != nil:
		return err
	case g.Token.AccessToken != k.last: // renewed meanwhile
		return nil
	}
	_, err = k.renew(g)
	return err
}

// Login has a person authorise requests to a server: show gets the address to open in a
// browser, which comes back to a port of this machine. It ends when the server has answered
// with the new tokens, and keeps them.
func Login(ctx context.Context, address string, o *OAuth, show func(url string)) error {
	place := HTTP(address, nil).(*remotePlace)
	if err := place.check(); err != nil {
		return err
	}
	if o.Credentials {
		return errors.New("a server with credentials of its own needs no login")
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("wait for the browser: %w", err)
	}
	back := newCallback(listener)
	defer back.close()
	how := &auth.AuthorizationCodeHandlerConfig{
		PreregisteredClient: o.client(), RedirectURL: back.url, RequestRefreshToken: true, Client: oauthClient, AcceptUnadvertisedIss: true,
		AuthorizationCodeFetcher: func(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			show(args.URL)
			return back.wait(ctx)
		},
		NewTokenSource: func(ctx context.Context, c *oauth2.Config, t *oauth2.Token) (oauth2.TokenSource, error) {
			return c.TokenSource(ctx, t), o.save(address, grantOf(c, t))
		},
	}
	if how.PreregisteredClient == nil {
		how.DynamicClientRegistrationConfig = &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName: "Pawl", RedirectURIs: []string{back.url}, TokenEndpointAuthMethod: "none",
			GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"},
		}}
	}
	handler, err := auth.NewAuthorizationCodeHandler(how)
	if err != nil {
		return fmt.Errorf("authorise requests to %s: %w", address, err)
	}
	way, err := place.open("")
	if err != nil {
		return err
	}
	defer way.close()
	way.transport.(*sdk.StreamableClientTransport).OAuthHandler = handler
	session, err := sdk.NewClient(implementation, nil).Connect(ctx, way.transport, nil)
	if err != nil {
		return fmt.Errorf("authorise requests to %s: %w", address, err)
	}
	defer session.Close()
	if source, _ := handler.TokenSource(ctx); source == nil {
		return fmt.Errorf("%s asks for no authorisation", address)
	}
	return nil
}
