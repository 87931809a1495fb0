// Package vertex implements models on Google's Vertex AI: Gemini as in package model/google, and
// Claude, for names that begin with claude-, as in package model/anthropic. Only three things
// differ from those packages: the addresses, the authentication, and the place of Anthropic's
// version in a request.
//
// Requests have a token of the Application Default Credentials: from the file that
// GOOGLE_APPLICATION_CREDENTIALS names (a key of a service account, or a federation of workload
// identities), from gcloud auth application-default login, or from the metadata server of Google
// Cloud.
package vertex

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/oauth2"
	auth "golang.org/x/oauth2/google"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/sheet"
	"github.com/pawl-run/pawl/model/anthropic"
	"github.com/pawl-run/pawl/model/google"
	"github.com/pawl-run/pawl/model/internal/provider"
)

const (
	scope     = "https://www.googleapis.com/auth/cloud-platform"
	tokenTime = 20 * time.Second // for a token, which the SDK may ask several services for
	remedy    = "log in with gcloud auth application-default login, or set GOOGLE_APPLICATION_CREDENTIALS to the file of a service account"
)

// Options are what a model may be given beside its name.
type Options struct {
	Tokens     oauth2.TokenSource // nil: the Application Default Credentials
	BaseURL    string             // empty: that of the location
	Provider   string             // comes before the / of the model's name; empty: vertex
	HTTPClient *http.Client       // nil: http.DefaultClient; no redirect is followed
	Price      *pawl.Price        // nil: that of the price table
	Header     http.Header        // sent with each request
}

// A Model is a model on Vertex AI. It may be used by many runs at once.
type Model struct{ cloud }

type cloud = provider.Cloud

// role is what an identity may lack.
const role = "; the identity needs the role Vertex AI User in the project, and the API aiplatform.googleapis.com must be enabled there"

// New returns the model vertex/NAME, such as vertex/gemini-4-hydrogen or
// vertex/claude-sonnet-5-5, in a project and a location. Empty are GOOGLE_CLOUD_PROJECT, and
// GOOGLE_CLOUD_LOCATION or else global. What is missing is reported by Ready, and by the first
// call.
func New(project, location, name string, o *Options) *Model {
	o = cmp.Or(o, &Options{})
	project = cmp.Or(project, os.Getenv("GOOGLE_CLOUD_PROJECT"))
	location = cmp.Or(location, os.Getenv("GOOGLE_CLOUD_LOCATION"), "global")
	own := cmp.Or(o.Provider, "vertex")
	l, err := &login{tokens: o.Tokens}, placed(project, location)
	token := (&provider.Login{Fetch: l.fetch, Remedy: remedy}).Token
	client := http.Client{}
	if o.HTTPClient != nil {
		client = *o.HTTPClient
	}
	publishers := cmp.Or(strings.TrimRight(o.BaseURL, "/"), host(location)) + "/v1/projects/" + project + "/locations/" + location + "/publishers/"
	if !strings.HasPrefix(name, "claude-") {
		client.Transport = &transport{client.Transport, l, gemini}
		w := google.New(name, &google.Options{BaseURL: publishers + "google", HTTPClient: &client, Price: o.Price, Key: token, Provider: own, Header: o.Header})
		return &Model{provider.Behind(token, own+"/"+name, w, err, role)}
	}
	client.Transport = &transport{client.Transport, l, claude(name)}
	var w provider.Wire = anthropic.New(name, &anthropic.Options{BaseURL: publishers + "anthropic", HTTPClient: &client, Price: o.Price, Key: token, Provider: own, Header: o.Header})
	if location != "global" {
		w = &regional{w, name}
	}
	return &Model{provider.Behind(token, own+"/"+name, w, err, role)}
}

// A regional model is one of Anthropic's at a single location. It costs a tenth more there
// (https://cloud.google.com/vertex-ai/generative-ai/pricing).
type regional struct {
	provider.Wire
	name string
}

// Describe returns what the model is, with the price of its location where that is known.
func (m *regional) Describe() pawl.ModelInfo {
	info := m.Wire.Describe()
	if info.PriceFrom == "table" {
		row, _ := sheet.Lookup("anthropic", m.name)
		info.Price = provider.Price(row.On(time.Now()), 1.1)
	}
	return info
}

// host is the server of a location: of a region, of all, or of the regions of a continent.
func host(location string) string {
	switch location {
	case "global":
		return "https://aiplatform.googleapis.com"
	case "us", "eu":
		return "https://aiplatform." + location + ".rep.googleapis.com"
	}
	return "https://" + location + "-aiplatform.googleapis.com"
}

var (
	projects  = regexp.MustCompile(`^[a-z0-9][a-z0-9.:-]*$`)
	locations = regexp.MustCompile(`^[a-z0-9-]+$`)
)

func placed(project, location string) error {
	switch {
	case project == "":
		return errors.New("no project for vertex; set GOOGLE_CLOUD_PROJECT")
	case !projects.MatchString(project):
		return fmt.Errorf("GOOGLE_CLOUD_PROJECT is %q, which is not the id of a project", project)
	case !locations.MatchString(location):
		return fmt.Errorf("GOOGLE_CLOUD_LOCATION is %q; write a location such as global or europe-west4", location)
	}
	return nil
}

// A transport puts requests of another API into the form of Vertex AI.
type transport struct {
	http.RoundTripper
	login *login
	form  func(r *http.Request) (key string, err error) // changes a request, and takes its key
}

// gemini changes the address of a request.
func gemini(r *http.Request) (key string, err error) {
	r.URL.Path = strings.Replace(r.URL.Path, "/v1beta/models/", "/models/", 1)
	key = r.Header.Get("X-Goog-Api-Key")
	r.Header.Del("X-Goog-Api-Key")
	return key, nil
}

// claude puts the model's name into the address, and the version of the API into the body.
// https://platform.claude.com/docs/en/build-with-claude/claude-on-vertex-ai
func claude(name string) func(*http.Request) (string, error) {
	return func(r *http.Request) (string, error) {
		var body map[string]json.RawMessage
		err := json.NewDecoder(r.Body).Decode(&body)
		if err = errors.Join(err, r.Body.Close()); err != nil {
			return "", err
		}
		delete(body, "model")
		body["anthropic_version"] = json.RawMessage(`"vertex-2023-10-16"`)
		data, err := json.Marshal(body)
		if err != nil {
			return "", err
		}
		r.Body, r.ContentLength, r.GetBody = io.NopCloser(bytes.NewReader(data)), int64(len(data)), nil
		r.URL.Path = strings.TrimSuffix(r.URL.Path, "/v1/messages") + "/models/" + name + ":streamRawPredict"
		key := r.Header.Get("X-Api-Key")
		r.Header.Del("X-Api-Key")
		r.Header.Del("Anthropic-Version")
		return key, nil
	}
}

// RoundTrip sends a request to the model's address at Vertex AI, with its token.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	key, err := t.form(r)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+key)
	if payer, _ := t.login.payer.Load().(string); payer != "" {
		r.Header.Set("X-Goog-User-Project", payer)
	}
	if t.RoundTripper == nil {
		return http.DefaultTransport.RoundTrip(r)
	}
	return t.RoundTripper.RoundTrip(r)
}

// A login has the credentials of the environment.
type login struct {
	tokens oauth2.TokenSource // in their place; nil: none
	payer  atomic.Value       // the project whose quota they use, a string; empty: that of the model
}

func (l *login) fetch(ctx context.Context) (string, time.Time, error) {
	tokens := l.tokens
	if tokens == nil {
		c, err := auth.FindDefaultCredentials(context.WithValue(ctx, oauth2.HTTPClient, &http.Client{Timeout: tokenTime}), scope)
		if err != nil {
			return "", time.Time{}, err
		}
		var file struct {
			Quota string `json:"quota_project_id"`
		}
		_ = json.Unmarshal(c.JSON, &file) // there is none on Google Cloud
		l.payer.Store(cmp.Or(os.Getenv("GOOGLE_CLOUD_QUOTA_PROJECT"), file.Quota))
		tokens = c.TokenSource
	}
	t, err := tokens.Token()
	if err != nil {
		return "", time.Time{}, err
	}
	return t.AccessToken, t.Expiry, nil
}
