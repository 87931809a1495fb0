package vertex_test

import (
	"bytes"
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/oauth2"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/testkit/check"
	"github.com/pawl-run/pawl/internal/testkit/fakeprovider"
	"github.com/pawl-run/pawl/internal/testkit/modeltest"
	"github.com/pawl-run/pawl/model/vertex"
	"github.com/pawl-run/pawl/spec"
)

// A region is a fake of Vertex AI as its reference has it: generateContent of a publisher's
// model in a project and a location, with a bearer token.
// https://cloud.google.com/vertex-ai/docs/reference/rest/v1/projects.locations.publishers.models
type region struct {
	*httptest.Server

	fake  *fakeprovider.Server
	token atomic.Value // the token that is valid, a string
	payer atomic.Value // what the last request said of its quota, a string
}

func newRegion(t testing.TB, brain pawl.Model, o *fakeprovider.Options) *region {
	r := &region{fake: fakeprovider.New(brain, o)}
	r.token.Store("t1")
	r.Server = httptest.NewServer(r)
	t.Cleanup(func() { r.fake.Close(); r.Close() })
	return r
}

func (r *region) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	refuse := func(code int, status, message string) {
		w.Header().Set("Content-Type", "application/json; charset=UTF-8")
		w.WriteHeader(code)
		fmt.Fprintf(w, `{"error":{"code":%d,"message":%q,"status":%q}}`, code, message, status)
	}
	r.payer.Store(req.Header.Get("X-Goog-User-Project"))
	token, _ := r.token.Load().(string)
	path, ok := strings.CutPrefix(req.URL.Path, "/v1/projects/contoso/locations/europe-west4/publishers/")
	publisher, path, _ := strings.Cut(path, "/models/")
	switch {
	case !ok:
		http.NotFound(w, req)
	case req.Header.Get("X-Goog-Api-Key")+req.Header.Get("X-Api-Key") != "":
		refuse(401, "UNAUTHENTICATED", "API keys are not supported by this API. Expected OAuth2 access token or other authentication credentials that assert a principal.")
	case req.Header.Get("Authorization") != "Bearer "+token:
		refuse(401, "UNAUTHENTICATED", "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential.")
	case publisher == "google":
		req.URL.Path = "/v1beta/models/" + path
		r.fake.ServeHTTP(w, req)
	case publisher == "anthropic":
		r.messages(w, req, path)
	default:
		http.NotFound(w, req)
	}
}

// messages is streamRawPredict of a model of Anthropic: the Messages API without the name of the
// model, and with its version in the body.
// https://platform.claude.com/docs/en/build-with-claude/claude-on-vertex-ai
func (r *region) messages(w http.ResponseWriter, req *http.Request, path string) {
	refuse := func(message string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"type":"error","error":{"type":"invalid_request_error","message":%q}}`, message)
	}
	model, ok := strings.CutSuffix(path, ":streamRawPredict")
	var body map[string]any
	d := json.NewDecoder(req.Body)
	d.UseNumber()
	switch err := d.Decode(&body); {
	case err != nil || !ok:
		http.NotFound(w, req)
		return
	case body["anthropic_version"] != "vertex-2023-10-16":
		refuse("anthropic_version: Field required")
		return
	case body["model"] != nil:
		refuse("model: Extra inputs are not permitted")
		return
	}
	delete(body, "anthropic_version")
	body["model"] = model
	data, _ := json.Marshal(body)
	req.URL.Path, req.Body, req.ContentLength = "/v1/messages", io.NopCloser(bytes.NewReader(data)), int64(len(data))
	req.Header.Set("X-Api-Key", "k")
	req.Header.Set("Anthropic-Version", "2023-06-01")
	r.fake.ServeHTTP(w, req)
}

// fixed is a source of one token.
type fixed string

func (f fixed) Token() (*oauth2.Token, error) { return &oauth2.Token{AccessToken: string(f)}, nil }

func (r *region) model(tokens oauth2.TokenSource) *vertex.Model {
	return vertex.New("contoso", "europe-west4", "gemini-4-hydrogen", &vertex.Options{BaseURL: r.URL, Tokens: tokens})
}

var brain = pawl.ModelFunc(func(context.Context, pawl.Request) (pawl.Reply, error) { return pawl.Say("four"), nil })

func ask(t testing.TB, m pawl.Model) (*pawl.Reply, error) {
	t.Helper()
	return modeltest.Ask(t, m, pawl.Request{Messages: []pawl.Message{{Role: pawl.RoleUser, Parts: []pawl.Part{pawl.Text{Text: "2+2?"}}}}})
}

func TestConformance(t *testing.T) {
	modeltest.Run(t, func(t testing.TB, brain pawl.Model) pawl.Model {
		return newRegion(t, brain, nil).model(fixed("t1"))
	}, &modeltest.Options{
		Lacks:   modeltest.Lacks{CacheWrite: true, Temperature: true}, // Gemini 4 ignores one
		Stops:   []pawl.StopReason{pawl.StopPause},
		Classes: []pawl.Class{pawl.ClassRefused}, // a prompt that is refused is answered with a reason
	})
}

func TestClaudeConformance(t *testing.T) {
	for name, lacks := range map[string]modeltest.Lacks{
		"claude-haiku-4-5@20251001": {},
		"claude-sonnet-5-5":         {Temperature: true},
	} {
		t.Run(name, func(t *testing.T) {
			modeltest.Run(t, func(t testing.TB, brain pawl.Model) pawl.Model {
				r := newRegion(t, brain, nil)
				return vertex.New("contoso", "europe-west4", name, &vertex.Options{BaseURL: r.URL, Tokens: fixed("t1")})
			}, &modeltest.Options{Lacks: lacks})
		})
	}
}

// Claude has Anthropic's prices, and a tenth more in a region. Elsewhere than at Google that is
// not known.
func TestClaudePrice(t *testing.T) {
	for of, want := range map[string]struct {
		price float64
		from  string
	}{
		"global claude-haiku-4-5@20251001":                   {1, "table"},
		"us-east5 claude-haiku-4-5@20251001":                 {1.1, "table"},
		"us-east5 claude-sonnet-5-5":                         {2.2, "table"},
		"us-east5 claude-sonnet-5-5 https://gateway.example": {2, "list"},
		"eu claude-nobody":                                   {0, ""},
	} {
		f := strings.Fields(of + " ")
		location, name := f[0], f[1]
		base := strings.Join(f[2:], "")
		d := vertex.New("contoso", location, name, &vertex.Options{BaseURL: base}).Describe()
		if d.Name != "vertex/"+name || !strings.HasSuffix(d.Endpoint, "/locations/"+location+"/publishers/anthropic") || d.PriceFrom != want.from ||
			(d.Price == nil) != (want.price == 0) || want.price > 0 && math.Abs(d.Price.Input-want.price) > 1e-9 {
			t.Errorf("%s: it is described as %+v, with the price %+v", of, d, d.Price)
		}
	}
	own := vertex.New("contoso", "eu", "claude-sonnet-5-5", &vertex.Options{Price: &pawl.Price{Input: 7}}).Describe()
	if own.Price.Input != 7 || own.PriceFrom != "spec" {
		t.Errorf("a price of one's own: %+v, %+v", own, own.Price)
	}
}

func TestAddress(t *testing.T) {
	for location, want := range map[string]string{
		"":             "https://aiplatform.googleapis.com/v1/projects/contoso/locations/global/publishers/google",
		"europe-west4": "https://europe-west4-aiplatform.googleapis.com/v1/projects/contoso/locations/europe-west4/publishers/google",
		"eu":           "https://aiplatform.eu.rep.googleapis.com/v1/projects/contoso/locations/eu/publishers/google",
	} {
		t.Setenv("GOOGLE_CLOUD_LOCATION", location)
		if d := vertex.New("contoso", "", "gemini-4-hydrogen", nil).Describe(); d.Endpoint != want || d.Name != "vertex/gemini-4-hydrogen" || d.Price == nil || d.Wire == (pawl.Wire{}) {
			t.Errorf("%s: it is described as %+v", location, d)
		}
	}
	t.Setenv("GOOGLE_CLOUD_PROJECT", "")
	for variable, m := range map[string]*vertex.Model{
		"set GOOGLE_CLOUD_PROJECT":    vertex.New("", "eu", "gemini-4-hydrogen", nil),
		"GOOGLE_CLOUD_PROJECT is ":    vertex.New("a/b", "eu", "gemini-4-hydrogen", nil),
		"GOOGLE_CLOUD_LOCATION is \"": vertex.New("contoso", "example.org/", "gemini-4-hydrogen", nil),
	} {
		_, err := ask(t, m)
		if ready := m.Ready(); ready == nil || err == nil || !strings.Contains(ready.Error(), variable) || !strings.Contains(err.Error(), ready.Error()) {
			t.Errorf("%s: it says %v, and %v when it is called", variable, ready, err)
		}
	}
}

func TestErrors(t *testing.T) {
	r := newRegion(t, brain, &fakeprovider.Options{Faults: []fakeprovider.Fault{fakeprovider.Must("rate-limit-seconds"), fakeprovider.Must("context-length")}})
	for i, want := range []pawl.Class{pawl.ClassRateLimit, pawl.ClassTooLong} {
		_, err := ask(t, r.model(fixed("t1")))
		if me, ok := errors.AsType[*pawl.ModelError](err); !ok || me.Class != want || want == pawl.ClassRateLimit && me.RetryAfter == 0 {
			t.Errorf("error %d is %v", i, err)
		}
	}
	_, err := ask(t, r.model(fixed("expired")))
	if me, ok := errors.AsType[*pawl.ModelError](err); !ok || me.Class != pawl.ClassAuth || !strings.Contains(me.Message, "invalid authentication credentials") || !strings.Contains(me.Message, "role Vertex AI User") {
		t.Errorf("with an expired token it says %v", err)
	}
}

// The SDK exchanges an assertion, signed by the key of a service account, for a token.
// https://developers.google.com/identity/protocols/oauth2/service-account#httprest
func TestServiceAccount(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	must(t, err)
	var granted atomic.Int64
	var tokens *httptest.Server
	tokens = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if said := asserted(r, key, tokens.URL); said != "" || granted.Load() == 2 {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"error":"invalid_grant","error_description":"Invalid JWT Signature. %s"}`, said)
			return
		}
		fmt.Fprintf(w, `{"access_token":"t%d","token_type":"Bearer","expires_in":3599}`, granted.Add(1))
	}))
	t.Cleanup(tokens.Close)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	must(t, err)
	file, err := json.Marshal(map[string]string{
		"type": "service_account", "project_id": "contoso", "private_key_id": "k1", "client_email": "pawl@contoso.iam.gserviceaccount.com",
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})), "token_uri": tokens.URL, "quota_project_id": "payer",
	})
	must(t, err)
	path := filepath.Join(t.TempDir(), "account.json")
	must(t, os.WriteFile(path, file, 0o600))
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", path)
	t.Setenv("GOOGLE_CLOUD_QUOTA_PROJECT", "")
	r := newRegion(t, brain, nil)
	m := r.model(nil)
	for i, valid := range []string{"t1", "t1", "t2"} { // t1 is revoked
		r.token.Store(valid)
		if reply, err := ask(t, m); err != nil || reply.Text() != "four" || r.payer.Load() != "payer" {
			t.Fatalf("call %d: %+v, %v, quota of %v", i, reply, err, r.payer.Load())
		}
	}
	if n := granted.Load(); n != 2 {
		t.Errorf("%d tokens were granted, want 2", n)
	}
	if err := r.model(nil).Ready(); err == nil || !strings.Contains(err.Error(), "gcloud auth application-default login") || !strings.Contains(err.Error(), "invalid_grant") {
		t.Errorf("with an expired key it says %v", err)
	}
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", path+".missing")
	if _, err := ask(t, r.model(nil)); err == nil || !strings.Contains(err.Error(), "model: auth: no key for vertex/gemini-4-hydrogen: log in with gcloud") {
		t.Errorf("without a login a call says %v", err)
	}
}

// asserted says what is wrong with a request for a token.
func asserted(r *http.Request, key *rsa.PrivateKey, audience string) string {
	if err := r.ParseForm(); err != nil || r.PostForm.Get("grant_type") != "urn:ietf:params:oauth:grant-type:jwt-bearer" {
		return "the grant is of another type"
	}
	parts := strings.Split(r.PostForm.Get("assertion"), ".")
	if len(parts) != 3 {
		return "the assertion has no three parts"
	}
	signature, _ := base64.RawURLEncoding.DecodeString(parts[2])
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if err := rsa.VerifyPKCS1v15(&key.PublicKey, crypto.SHA256, sum[:], signature); err != nil {
		return err.Error()
	}
	var claims struct {
		Iss, Scope, Aud string
		Iat, Exp        int64
	}
	text, _ := base64.RawURLEncoding.DecodeString(parts[1])
	if json.Unmarshal(text, &claims) != nil || claims.Iss != "pawl@contoso.iam.gserviceaccount.com" || claims.Aud != audience ||
		claims.Scope != "https://www.googleapis.com/auth/cloud-platform" || claims.Exp < time.Now().Unix() {
		return "the claims are " + string(text)
	}
	return ""
}

func TestExample(t *testing.T) {
	r := newRegion(t, brain, nil)
	const file = "../../examples/specs/vertex.yaml"
	text, err := os.ReadFile(file)
	must(t, err)
	registry := &spec.Registry{Models: map[string]spec.Provider{"vertex": func(name string) (pawl.Model, error) {
		return vertex.New("contoso", "europe-west4", name, &vertex.Options{BaseURL: r.URL, Tokens: fixed("t1"), Price: &pawl.Price{Input: 1, Output: 1}}), nil
	}}}
	s, err := spec.Parse(file, text, &spec.Options{Registry: registry})
	must(t, err)
	agent, err := s.Agent(registry)
	must(t, err)
	got, err := engine.Run(t.Context(), agent, "Why?")
	if err != nil || got.Status != pawl.StatusSuccess || got.Answer != "four" {
		t.Errorf("it ends with %+v, %v", got, err)
	}
	if list := r.fake.Problems(); len(list) > 0 || len(r.fake.Requests()) != 1 {
		t.Errorf("problems: %q", list)
	}
}

var must = check.Must
