package mcp

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"golang.org/x/oauth2"
)

// A grant is what a person authorised: the tokens, and who may renew them where.
type grant struct {
	ClientID  string           `json:"client_id"`
	Secret    string           `json:"client_secret,omitempty"`
	TokenURL  string           `json:"token_url"`
	AuthStyle oauth2.AuthStyle `json:"auth_style"`
	Scopes    []string         `json:"scopes,omitempty"`
	Token     *oauth2.Token    `json:"token"`
}

func grantOf(c *oauth2.Config, t *oauth2.Token) *grant {
	return &grant{c.ClientID, c.ClientSecret, c.Endpoint.TokenURL, c.Endpoint.AuthStyle, c.Scopes, t}
}

func (g *grant) config() *oauth2.Config {
	return &oauth2.Config{
		ClientID: g.ClientID, ClientSecret: g.Secret, Scopes: g.Scopes,
		Endpoint: oauth2.Endpoint{TokenURL: g.TokenURL, AuthStyle: g.AuthStyle},
	}
}

// file is where the grant for a server is kept.
func (o *OAuth) file(address string) string {
	sum := sha256.Sum256([]byte(address + "\x00" + o.ClientID))
	return filepath.Join(o.Tokens, fmt.Sprintf("%x.json", sum[:16]))
}

// A sealedGrant is what a file of tokens has in place of a grant.
type sealedGrant struct {
	Sealed []byte `json:"sealed"` // a nonce, and the grant encrypted by the key
}

// box returns what seals and opens files with the key.
func (o *OAuth) box() (cipher.AEAD, error) {
	if len(o.Key) != 32 {
		return nil, fmt.Errorf("the key that seals them has %d bytes instead of 32", len(o.Key))
	}
	block, err := aes.NewCipher(o.Key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// load reads the grant for a server.
func (o *OAuth) load(address string) (*grant, error) {
	if o.Tokens == "" {
		return nil, errNoGrant
	}
	name := o.file(address)
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNoGrant
	}
	var g *grant
	if err == nil {
		g, err = o.unseal(name, data)
	}
	if err == nil && g.Token == nil {
		err = errors.New("there are none in it")
	}
	if err != nil {
		return nil, &LoginError{address, o.Login, fmt.Errorf("its tokens in %s cannot be read: %w", name, err)}
	}
	o.show(g.Token)
	return g, nil
}

// unseal reads what a file has.
func (o *OAuth) unseal(name string, data []byte) (*grant, error) {
	var s sealedGrant
	g := &grant{}
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, err
	}
	if s.Sealed == nil {
		return g, json.Unmarshal(data, g)
	}
	if o.Key == nil {
		return nil, errors.New("they are sealed, and this program has no key")
	}
	box, err := o.box()
	if err != nil {
		return nil, err
	}
	data, err = box.Open(nil, nil, s.Sealed, []byte(filepath.Base(name)))
	if err != nil {
		return nil, errors.New("they are sealed by another key")
	}
	return g, json.Unmarshal(data, g)
}

// save writes the grant for a server, whole or not at all.
func (o *OAuth) save(address string, g *grant) error {
	o.show(g.Token)
	if err := o.write(o.file(address), g); err != nil {
		return fmt.Errorf("keep the tokens of %s: %w", address, err)
	}
	return nil
}

func (o *OAuth) write(name string, g *grant) error {
	if o.Tokens == "" {
		return errors.New("there is no directory for them")
	}
	data, err := json.Marshal(g) //nolint:gosec // the file is for these secrets
	if err == nil && o.Key != nil {
		var box cipher.AEAD
		if box, err = o.box(); err == nil {
			data, err = json.Marshal(sealedGrant{box.Seal(nil, nil, data, []byte(filepath.Base(name)))}) //nolint:gosec // the box draws a nonce for each file
		}
	}
	if err != nil {
		return err
	}
	if err = os.MkdirAll(o.Tokens, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(o.Tokens, "new-*") // with mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// A callback is the place on this machine that the browser comes back to.
type callback struct {
	url    string
	server *http.Server
	came   chan callbackResult
}

type callbackResult struct {
	result *auth.AuthorizationResult
	err    error
}

func newCallback(l net.Listener) *callback {
	c := &callback{url: "http://" + l.Addr().String() + "/callback", came: make(chan callbackResult, 1)}
	c.server = &http.Server{Handler: c, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = c.server.Serve(l) }()
	return c
}

// ServeHTTP takes the first answer. Its state is checked by who asked.
func (c *callback) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if r.URL.Path != "/callback" || q.Get("code") == "" && q.Get("error") == "" {
		http.NotFound(w, r)
		return
	}
	came := callbackResult{result: &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}}
	said := "Pawl is authorised. You can close this page."
	if why := q.Get("error"); why != "" {
		if text := q.Get("error_description"); text != "" {
			why += ": " + text
		}
		came.err = fmt.Errorf("the authorisation server refuses: %s", visible(why))
		said = "The authorisation was refused. You can close this page."
	}
	select {
	case c.came <- came:
	default: // there was an answer
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = fmt.Fprintf(w, "<!doctype html><title>Pawl</title><p>%s</p>\n", html.EscapeString(said))
}

func (c *callback) wait(ctx context.Context) (*auth.AuthorizationResult, error) {
	select {
	case came := <-c.came:
		return came.result, came.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// close lets the answer that is being written be read.
func (c *callback) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = c.server.Shutdown(ctx)
}
