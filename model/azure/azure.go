// Package azure implements OpenAI's models on Azure, behind version 1 of the API of an Azure
// OpenAI resource: [New] uses Chat Completions, [NewResponses] the Responses API. Requests and
// replies are those of package model/openai. A model is named by its deployment.
//
// A request is authorised by the key of the resource, if there is one. Otherwise it has a token
// of Microsoft Entra ID from azidentity.DefaultAzureCredential: from environment variables, a
// workload or managed identity, or a person's login with az, azd or Azure PowerShell.
package azure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/model/internal/provider"
	"github.com/pawl-run/pawl/model/openai"
)

// scope is what a token is for.
const scope = "https://cognitiveservices.azure.com/.default"

// readyTime is how long Ready waits for a token, which the SDK may ask several services for.
const readyTime = 20 * time.Second

// Options are what a model may be given beside its name.
type Options struct {
	APIKey     string                 // empty: AZURE_OPENAI_API_KEY, unless there is a Provider, and if that is empty, too, the credential counts
	Provider   string                 // comes before the / of the model's name; empty: azure or azure-responses
	Credential azcore.TokenCredential // nil: azidentity.DefaultAzureCredential
	HTTPClient *http.Client           // nil: http.DefaultClient; no redirect is followed
	Price      *pawl.Price            // nil: that of the price table for a deployment with the name of a model
}

// A Model is a deployment at Azure. It may be used by many runs at once.
type Model struct {
	wire
	name  string
	login *login // nil: there is a key, or an error
	err   error
}

// wire is what both of package openai's models have.
type wire interface {
	pawl.Model
	pawl.Describer
	Takes(files []pawl.File) error
}

// New returns the model azure/NAME, for a deployment with that name. The endpoint is that of
// the resource, such as https://contoso.openai.azure.com; empty is AZURE_OPENAI_ENDPOINT. What
// is missing is reported by Ready, and by the first call.
func New(endpoint, deployment string, o *Options) *Model {
	return build("azure", endpoint, deployment, o, func(w *openai.Options) wire { return openai.New(deployment, w) })
}

// NewResponses is New for the model azure-responses/NAME, which is spoken to through the
// Responses API.
func NewResponses(endpoint, deployment string, o *Options) *Model {
	return build("azure-responses", endpoint, deployment, o, func(w *openai.Options) wire { return openai.NewResponses(deployment, w) })
}

func build(prefix, endpoint, deployment string, o *Options, open func(*openai.Options) wire) *Model {
	if o == nil {
		o = &Options{}
	}
	base, err := base(cmp.Or(endpoint, os.Getenv("AZURE_OPENAI_ENDPOINT")))
	key := o.APIKey
	if o.Provider == "" {
		key = cmp.Or(key, os.Getenv("AZURE_OPENAI_API_KEY"))
	}
	prefix = cmp.Or(o.Provider, prefix)
	m := &Model{name: prefix + "/" + deployment, err: err}
	w := &openai.Options{BaseURL: base, HTTPClient: o.HTTPClient, Price: o.Price, Provider: prefix, Header: http.Header{}}
	if key != "" && o.Credential == nil {
		w.Header.Set("Api-Key", key)
	} else {
		m.login = &login{credential: o.Credential}
		w.Key = m.login.token
	}
	m.wire = open(w)
	return m
}

// base is the address of the API of a resource.
func base(endpoint string) (string, error) {
	u, err := url.Parse(endpoint)
	switch {
	case endpoint == "":
		return "", errors.New("no endpoint for azure; set AZURE_OPENAI_ENDPOINT to that of the resource, such as https://NAME.openai.azure.com")
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return "", fmt.Errorf("AZURE_OPENAI_ENDPOINT is %q; write that of the resource, such as https://NAME.openai.azure.com", endpoint)
	}
	const path = "/openai/v1"
	return strings.TrimSuffix(strings.TrimRight(endpoint, "/"), path) + path, nil
}

// Describe returns the name azure/NAME, the endpoint, and the price.
func (m *Model) Describe() pawl.ModelInfo {
	if m.err != nil {
		return pawl.ModelInfo{Name: m.name}
	}
	return m.wire.Describe()
}

// Ready returns an error if the model cannot be called, because there is no endpoint, or
// neither a key nor a token. It asks for a token, but calls no model.
func (m *Model) Ready() error {
	if m.err != nil || m.login == nil {
		return m.err
	}
	ctx, cancel := context.WithTimeout(context.Background(), readyTime)
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
		for c, err := range m.wire.Stream(ctx, r) {
			if e, ok := errors.AsType[*pawl.ModelError](err); ok && e.Class == pawl.ClassAuth && m.login != nil {
				e.Message += "; the identity needs the role Cognitive Services OpenAI User on the resource"
			}
			if !yield(c, err) {
				return
			}
		}
	}
}

// A login gets tokens, and keeps one until shortly before it expires: not all credentials of
// the SDK do, and to ask az for one takes a second.
type login struct {
	mu         sync.Mutex
	credential azcore.TokenCredential
	last       azcore.AccessToken
}

const (
	early  = 5 * time.Minute
	remedy = "set AZURE_OPENAI_API_KEY, or log in with az login, or set AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET"
)

// token is the openai.Options.Key of a model: a token that was refused is not given again.
func (l *login) token(ctx context.Context, refused string) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last.Token != "" && l.last.Token != refused && time.Until(l.last.ExpiresOn) > early {
		return l.last.Token, nil
	}
	var err error
	if l.credential == nil {
		l.credential, err = standard()
	}
	if err == nil {
		l.last, err = l.credential.GetToken(ctx, policy.TokenRequestOptions{Scopes: []string{scope}})
	}
	if err != nil {
		return "", fmt.Errorf("%s (%s)", remedy, provider.Clip(err.Error()))
	}
	return l.last.Token, nil
}

// standard is what the environment has; a nil pointer would be no nil interface.
func standard() (azcore.TokenCredential, error) {
	c, err := azidentity.NewDefaultAzureCredential(nil)
	if err != nil {
		return nil, err
	}
	return c, nil
}
