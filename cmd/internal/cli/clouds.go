//go:build clouds

package cli

import (
	"net/http"

	"golang.org/x/oauth2"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/model/azure"
	"github.com/pawl-run/pawl/model/bedrock"
	"github.com/pawl-run/pawl/model/vertex"
	"github.com/pawl-run/pawl/spec"
)

// cloud makes a model of the cloud that the wire names. Without a key it has the login of the
// cloud, which its SDK finds.
func cloud(e spec.Endpoint, name, key string, header http.Header) (pawl.Model, error) {
	switch e.Wire {
	case "azure":
		return azure.New(e.BaseURL, name, &azure.Options{Provider: e.Provider, APIKey: key, Header: header}), nil
	case "bedrock":
		return bedrock.New("", name, &bedrock.Options{Provider: e.Provider, BaseURL: e.BaseURL, BearerToken: key, Header: header}), nil
	default:
		o := &vertex.Options{Provider: e.Provider, BaseURL: e.BaseURL, Header: header}
		if key != "" {
			o.Tokens = oauth2.StaticTokenSource(&oauth2.Token{AccessToken: key})
		}
		return vertex.New("", "", name, o), nil
	}
}
