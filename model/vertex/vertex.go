// Package vertex implements Google's Gemini models on Vertex AI, as package model/google has
// them: the two APIs differ in their addresses and in how they authenticate.
//
// Requests have a token of the Application Default Credentials: of the file that
// GOOGLE_APPLICATION_CREDENTIALS names (a key of a service account, or a federation of workload
// identities), of gcloud auth application-default login, or of the metadata server of Google Cloud.
package vertex

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2"
	auth "golang.org/x/oauth2/google"

	"github.com/pawl-run/pawl"
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
	HTTPClient *http.Client       // nil: http.DefaultClient; no redirect is followed
	Price      *pawl.Price        // nil: that of the price table
}

// A Model is a Gemini model on Vertex AI. It may be used by many runs at once.
type Model struct {
	*google.Model
	name  string
	login *login
	err   error
}

// New returns the model vertex/NAME, such as vertex/gemini-3-flash, in a project and a
// location. Empty are GOOGLE_CLOUD_PROJECT, and GOOGLE_CLOUD_LOCATION or else global. What is
// missing is reported by Ready, and by the first call.
func New(project, location, name string, o *Options) *Model {
	if o == nil {
		o = &Options{}
	}
	project = cmp.Or(project, os.Getenv("GOOGLE_CLOUD_PROJECT"))
	location = cmp.Or(location, os.Getenv("GOOGLE_CLOUD_LOCATION"), "global")
	m := &Model{name: "vertex/" + name, login: &login{tokens: o.Tokens}, err: placed(project, location)}
	client := http.Client{}
	if o.HTTPClient != nil {
		client = *o.HTTPClient
	}
	client.Transport = &transport{client.Transport, m.login}
	m.Model = google.New(name, &google.Options{
		BaseURL:    cmp.Or(strings.TrimRight(o.BaseURL, "/"), host(location)) + "/v1/projects/" + project + "/locations/" + location + "/publishers/google",
		HTTPClient: &client, Price: o.Price, Key: m.login.token, Provider: "vertex",
	})
	return m
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

// Describe returns the name vertex/NAME, the endpoint, and the price.
func (m *Model) Describe() pawl.ModelInfo {
	if m.err != nil {
		return pawl.ModelInfo{Name: m.name}
	}
	return m.Model.Describe()
}

// Ready returns an error if the model cannot be called, because there is no project or no
// token. It asks for a token, but calls no model.
func (m *Model) Ready() error {
	if m.err != nil {
		return m.err
	}
	ctx, cancel := context.WithTimeout(context.Background(), tokenTime)
	defer cancel()
	if _, err := m.login.token(ctx, ""); err != nil {
		return fmt.Errorf("no key for %s: %w", m.name, err)
	}
	return nil
}

// Stream sends the request and yields the reply as it arrives.
func (m *Model) Stream(ctx context.Context, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
	return func(yield func(pawl.Chunk, error) bool) {
		if m.err != nil {
			yield(pawl.Chunk{}, &pawl.ModelError{Class: pawl.ClassAuth, Message: m.err.Error(), Err: m.err})
			return
		}
		for c, err := range m.Model.Stream(ctx, r) {
			if e, ok := errors.AsType[*pawl.ModelError](err); ok && e.Class == pawl.ClassAuth {
				e.Message += "; the identity needs the role Vertex AI User in the project, and the API aiplatform.googleapis.com must be enabled there"
			}
			if !yield(c, err) {
				return
			}
		}
	}
}

// A transport puts requests of the Gemini API into the form of Vertex AI.
type transport struct {
	http.RoundTripper
	login *login
}

// RoundTrip sends a request to the model's address at Vertex AI, with its token.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Path = strings.Replace(r.URL.Path, "/v1beta/models/", "/models/", 1)
	r.Header.Set("Authorization", "Bearer "+r.Header.Get("X-Goog-Api-Key"))
	r.Header.Del("X-Goog-Api-Key")
	if quota := t.login.quota(); quota != "" {
		r.Header.Set("X-Goog-User-Project", quota)
	}
	if t.RoundTripper == nil {
		return http.DefaultTransport.RoundTrip(r)
	}
	return t.RoundTripper.RoundTrip(r)
}

// A login gets tokens, and keeps one until it expires.
type login struct {
	mu     sync.Mutex
	tokens oauth2.TokenSource // nil: none was needed yet
	found  bool               // they are the default credentials
	payer  string             // the project whose quota they use; empty: that of the model
}

func (l *login) quota() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.payer
}

// token is the google.Options.Key of a model: a token that was refused is not given again, if
// the default credentials have another.
func (l *login) token(ctx context.Context, refused string) (string, error) {
	type given struct {
		token string
		err   error
	}
	done := make(chan given, 1)
	go func() { // since the SDK knows no context here
		token, err := l.fetch(refused)
		done <- given{token, err}
	}()
	select {
	case g := <-done:
		return g.token, g.err
	case <-ctx.Done():
		return "", fmt.Errorf("%s (%w)", remedy, ctx.Err())
	}
}

func (l *login) fetch(refused string) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t, err := l.next()
	if err == nil && t.AccessToken == refused && l.found {
		l.tokens = nil // it is valid by its date, so the source would give it again
		t, err = l.next()
	}
	if err != nil {
		return "", fmt.Errorf("%s (%s)", remedy, provider.Clip(err.Error()))
	}
	return t.AccessToken, nil
}

func (l *login) next() (*oauth2.Token, error) {
	if l.tokens == nil {
		ctx := context.WithValue(context.Background(), oauth2.HTTPClient, &http.Client{Timeout: tokenTime})
		c, err := auth.FindDefaultCredentials(ctx, scope)
		if err != nil {
			return nil, err
		}
		var file struct {
			Quota string `json:"quota_project_id"`
		}
		_ = json.Unmarshal(c.JSON, &file) // there is none on Google Cloud
		l.tokens, l.found, l.payer = c.TokenSource, true, cmp.Or(os.Getenv("GOOGLE_CLOUD_QUOTA_PROJECT"), file.Quota)
	}
	return l.tokens.Token()
}
