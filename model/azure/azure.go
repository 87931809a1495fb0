// Package azure implements OpenAI's models on Azure, behind version 1 of the API of an Azure
// OpenAI resource. Requests and replies are those of package model/openai, through the Responses
// API unless the resource has only Chat Completions. A model is named by its deployment.
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
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/model/internal/provider"
	"github.com/pawl-run/pawl/model/openai"
)

const (
	scope  = "https://cognitiveservices.azure.com/.default" // what a token is for
	remedy = "set AZURE_OPENAI_API_KEY, or log in with az login, or set AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET"
)

// Options are what a model may be given beside its name.
type Options struct {
	APIKey     string                 // empty: AZURE_OPENAI_API_KEY, unless there is a Provider, and if that is empty, too, the credential counts
	Provider   string                 // comes before the / of the model's name; empty: azure
	Credential azcore.TokenCredential // nil: azidentity.DefaultAzureCredential
	HTTPClient *http.Client           // nil: http.DefaultClient; no redirect is followed
	Price      *pawl.Price            // nil: that of the model sheet for a deployment with the name of a model
	Header     http.Header            // sent with each request
}

// A Model is a deployment at Azure. It may be used by many runs at once.
type Model struct{ cloud }

type cloud = provider.Cloud

// New returns the model azure/NAME, for a deployment with that name. The endpoint is that of
// the resource, such as https://contoso.openai.azure.com; empty is AZURE_OPENAI_ENDPOINT. What
// is missing is reported by Ready, and by the first call.
func New(endpoint, deployment string, o *Options) *Model {
	o = cmp.Or(o, &Options{})
	base, err := base(cmp.Or(endpoint, os.Getenv("AZURE_OPENAI_ENDPOINT")))
	key := o.APIKey
	if o.Provider == "" {
		key = cmp.Or(key, os.Getenv("AZURE_OPENAI_API_KEY"))
	}
	prefix := cmp.Or(o.Provider, "azure")
	w := &openai.Options{API: openai.Responses, BaseURL: base, HTTPClient: o.HTTPClient, Price: o.Price, Provider: prefix, Header: o.Header}
	if key != "" && o.Credential == nil {
		if w.Header = o.Header.Clone(); w.Header == nil {
			w.Header = http.Header{}
		}
		w.Header.Set("Api-Key", key)
	} else {
		w.Key = (&provider.Login{Fetch: fetch(o.Credential), Remedy: remedy}).Token
	}
	return &Model{provider.Behind(w.Key, prefix+"/"+deployment, openai.New(deployment, w), err, "; the identity needs the role Cognitive Services OpenAI User on the resource")}
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

// fetch gets a token of a credential; nil is what the environment has.
func fetch(credential azcore.TokenCredential) func(context.Context) (string, time.Time, error) {
	return func(ctx context.Context) (string, time.Time, error) {
		c := credential
		if c == nil {
			standard, err := azidentity.NewDefaultAzureCredential(nil)
			if err != nil {
				return "", time.Time{}, err
			}
			c = standard
		}
		t, err := c.GetToken(ctx, policy.TokenRequestOptions{Scopes: []string{scope}})
		return t.Token, t.ExpiresOn, err
	}
}
