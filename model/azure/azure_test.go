package azure_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/testkit/fakeprovider"
	"github.com/pawl-run/pawl/internal/testkit/modeltest"
	"github.com/pawl-run/pawl/model/azure"
)

// A resource is a fake of an Azure OpenAI resource as its reference has it: version 1 of the
// API below /openai/v1, and either the header api-key or a bearer token.
// https://learn.microsoft.com/azure/ai-foundry/openai/latest
type resource struct {
	*httptest.Server

	fake  *fakeprovider.Server
	key   string
	token atomic.Value // the token that is valid, a string
}

func newResource(t testing.TB, brain pawl.Model, o *fakeprovider.Options) *resource {
	r := &resource{fake: fakeprovider.New(brain, o), key: "secret"}
	r.token.Store("")
	r.Server = httptest.NewServer(r)
	t.Cleanup(func() { r.fake.Close(); r.Close() })
	return r
}

func (r *resource) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	refuse := func(status int, code, message string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"error":{"code":%q,"message":%q}}`, code, message)
	}
	keys, bearers := req.Header.Values("Api-Key"), req.Header.Values("Authorization")
	token, _ := r.token.Load().(string)
	path, ok := strings.CutPrefix(req.URL.Path, "/openai")
	switch {
	case !ok || !strings.HasPrefix(path, "/v1/"):
		refuse(404, "404", "Resource not found")
	case len(keys) == 1 && len(bearers) == 0 && keys[0] == r.key, len(keys) == 0 && len(bearers) == 1 && token != "" && bearers[0] == "Bearer "+token:
		req.URL.Path = path
		r.fake.ServeHTTP(w, req)
	case len(bearers) == 1:
		refuse(401, "401", "Unauthorized. Access token is missing, invalid, audience is incorrect (https://cognitiveservices.azure.com), or have expired.")
	default:
		refuse(401, "401", "Access denied due to invalid subscription key or wrong API endpoint. Make sure to provide a valid key for an active subscription and use a correct regional API endpoint for your resource.")
	}
}

// tokens are credentials that give the numbered tokens t1, t2 and so on, or always the first.
type tokens struct {
	n     atomic.Int64
	same  bool
	fails error
	valid time.Duration
}

func (c *tokens) GetToken(_ context.Context, o policy.TokenRequestOptions) (azcore.AccessToken, error) {
	if c.fails != nil {
		return azcore.AccessToken{}, c.fails
	}
	if len(o.Scopes) != 1 || o.Scopes[0] != "https://cognitiveservices.azure.com/.default" {
		return azcore.AccessToken{}, fmt.Errorf("unexpected scopes %q", o.Scopes)
	}
	if c.same {
		c.n.Store(0)
	}
	return azcore.AccessToken{Token: fmt.Sprintf("t%d", c.n.Add(1)), ExpiresOn: time.Now().Add(c.valid)}, nil
}

var brain = pawl.ModelFunc(func(context.Context, pawl.Request) (pawl.Reply, error) { return pawl.Say("four"), nil })

func ask(t testing.TB, m pawl.Model) (*pawl.Reply, error) {
	t.Helper()
	return modeltest.Ask(t, m, pawl.Request{Messages: []pawl.Message{{Role: pawl.RoleUser, Parts: []pawl.Part{pawl.Text{Text: "2+2?"}}}}})
}

func TestConformance(t *testing.T) {
	t.Parallel()
	modeltest.Run(t, func(t testing.TB, brain pawl.Model) pawl.Model {
		r := newResource(t, brain, nil)
		r.token.Store("t1")
		return azure.New(r.URL, "gpt-6.2-sol", &azure.Options{Credential: &tokens{valid: time.Hour, same: true}})
	}, &modeltest.Options{
		Lacks: modeltest.Lacks{Failed: true, Temperature: true},
		Stops: []pawl.StopReason{pawl.StopPause},
	})
}

func TestAddress(t *testing.T) {
	for endpoint, want := range map[string]string{
		"https://contoso.openai.azure.com":                          "https://contoso.openai.azure.com/openai/v1",
		"https://contoso.openai.azure.com/":                         "https://contoso.openai.azure.com/openai/v1",
		"https://contoso.services.ai.azure.com/openai/v1/":          "https://contoso.services.ai.azure.com/openai/v1",
		"https://westeurope.api.cognitive.microsoft.com/openai/v1/": "https://westeurope.api.cognitive.microsoft.com/openai/v1",
	} {
		if d := azure.New(endpoint, "gpt-6.2-sol", &azure.Options{APIKey: "k"}).Describe(); d.Endpoint != want || d.Name != "azure/gpt-6.2-sol" || d.Price == nil || d.Wire == (pawl.Wire{}) {
			t.Errorf("%s: it is described as %+v", endpoint, d)
		}
	}
	t.Setenv("AZURE_OPENAI_ENDPOINT", "")
	for _, endpoint := range []string{"", "contoso", "ftp://contoso"} {
		m := azure.New(endpoint, "gpt-6.2-sol", &azure.Options{APIKey: "k"})
		_, err := ask(t, m)
		if ready := m.Ready(); ready == nil || err == nil || !strings.Contains(ready.Error(), "AZURE_OPENAI_ENDPOINT") || !strings.Contains(err.Error(), ready.Error()) {
			t.Errorf("%q: it says %v, and %v when it is called", endpoint, ready, err)
		}
	}
}

// A token is kept until it expires, and replaced once it is refused.
func TestTokens(t *testing.T) {
	t.Parallel()
	r := newResource(t, brain, nil)
	c := &tokens{valid: time.Hour}
	m := azure.New(r.URL, "gpt-6.2-sol", &azure.Options{Credential: c})
	for i, valid := range []string{"t1", "t1", "t2", "t2"} { // t1 is revoked
		r.token.Store(valid)
		if r, err := ask(t, m); err != nil || r.Text() != "four" {
			t.Fatalf("call %d: %+v, %v", i, r, err)
		}
	}
	if n := c.n.Load(); n != 2 {
		t.Errorf("%d tokens were asked for, want 2", n)
	}
	r.token.Store("another")
	_, err := ask(t, m)
	if me, ok := errors.AsType[*pawl.ModelError](err); !ok || me.Class != pawl.ClassAuth || !strings.Contains(me.Message, "role Cognitive Services OpenAI User") {
		t.Errorf("a token that is refused again: %v", err)
	}
	short := &tokens{valid: time.Minute}
	m = azure.New(r.URL, "gpt-6.2-sol", &azure.Options{Credential: short})
	for range 2 {
		_ = m.Ready()
	}
	if n := short.n.Load(); n != 2 {
		t.Errorf("a token that expires within a minute is used again")
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	m := azure.New(newResource(t, brain, nil).URL, "gpt-6.2-sol", &azure.Options{APIKey: "wrong"})
	_, err := ask(t, m)
	if me, ok := errors.AsType[*pawl.ModelError](err); !ok || me.Class != pawl.ClassAuth || !strings.Contains(me.Message, "invalid subscription key") {
		t.Errorf("a wrong key: %v", err)
	}
	m = azure.New("https://contoso.openai.azure.com", "x", &azure.Options{Credential: &tokens{fails: errors.New("expired")}})
	if err := m.Ready(); err == nil || !strings.Contains(err.Error(), "set AZURE_OPENAI_API_KEY, or log in with az login") {
		t.Errorf("without a token it says %v", err)
	}
	if _, err = ask(t, m); !strings.Contains(fmt.Sprint(err), "model: auth: no key for azure/x: set AZURE_OPENAI_API_KEY") {
		t.Errorf("a call without a token: %v", err)
	}
	limited := newResource(t, brain, &fakeprovider.Options{Faults: []fakeprovider.Fault{fakeprovider.Must("rate-limit-seconds"), fakeprovider.Must("context-length")}})
	m = azure.New(limited.URL, "gpt-6.2-sol", &azure.Options{APIKey: "secret"})
	_, err = ask(t, m)
	if me, ok := errors.AsType[*pawl.ModelError](err); !ok || me.Class != pawl.ClassRateLimit || me.RetryAfter != time.Second {
		t.Errorf("too many requests: %v", err)
	}
	_, err = ask(t, m)
	if me, ok := errors.AsType[*pawl.ModelError](err); !ok || me.Class != pawl.ClassTooLong {
		t.Errorf("a long conversation: %v", err)
	}
}

// The SDK gets its token from a fake of Entra ID: the metadata of the tenant, and the grant of
// client credentials. https://learn.microsoft.com/entra/identity-platform/v2-oauth2-client-creds-grant-flow
func TestEntra(t *testing.T) {
	t.Parallel()
	var grants atomic.Int64
	var entra *httptest.Server
	entra = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/contoso/v2.0/.well-known/openid-configuration":
			_ = json.NewEncoder(w).Encode(map[string]string{
				"token_endpoint": entra.URL + "/contoso/oauth2/v2.0/token", "issuer": entra.URL + "/contoso/v2.0",
				"authorization_endpoint": entra.URL + "/contoso/oauth2/v2.0/authorize",
			})
		case "/contoso/oauth2/v2.0/token":
			_ = r.ParseForm()
			f := r.PostForm
			if f.Get("grant_type") != "client_credentials" || f.Get("client_id") != "app" || f.Get("client_secret") != "s3cret" || !strings.Contains(f.Get("scope"), "https://cognitiveservices.azure.com/.default") {
				w.WriteHeader(http.StatusUnauthorized)
				fmt.Fprint(w, `{"error":"invalid_client","error_description":"AADSTS7000222: The provided client secret keys for app 'app' are expired."}`)
				return
			}
			grants.Add(1)
			fmt.Fprint(w, `{"token_type":"Bearer","expires_in":3599,"access_token":"granted"}`)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(entra.Close)
	credential := func(secret string) azcore.TokenCredential {
		c, err := azidentity.NewClientSecretCredential("contoso", "app", secret, &azidentity.ClientSecretCredentialOptions{
			ClientOptions:            policy.ClientOptions{Cloud: cloud.Configuration{ActiveDirectoryAuthorityHost: entra.URL}, Transport: entra.Client(), Retry: policy.RetryOptions{MaxRetries: -1}},
			DisableInstanceDiscovery: true,
		})
		must(t, err)
		return c
	}
	r := newResource(t, brain, nil)
	r.token.Store("granted")
	m := azure.New(r.URL, "gpt-6.2-sol", &azure.Options{Credential: credential("s3cret")})
	for range 2 {
		if r, err := ask(t, m); err != nil || r.Text() != "four" {
			t.Fatalf("it says %+v, %v", r, err)
		}
	}
	if n := grants.Load(); n != 1 {
		t.Errorf("%d tokens were asked for, want 1", n)
	}
	m = azure.New(r.URL, "gpt-6.2-sol", &azure.Options{Credential: credential("old")})
	if err := m.Ready(); err == nil || !strings.Contains(err.Error(), "set AZURE_OPENAI_API_KEY") || !strings.Contains(err.Error(), "are expired") {
		t.Errorf("with an expired secret it says %v", err)
	}
}
