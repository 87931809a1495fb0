// Command pawl-vertex serves the models of Google Vertex AI to pawl, which starts it for a
// run that names one.
package main

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/oauth2"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/model/pipe"
	"github.com/pawl-run/pawl/model/vertex"
)

func main() { os.Exit(pipe.Main(open)) }

func open(name string, at pipe.Endpoint) (pawl.Model, error) {
	model, ok := strings.CutPrefix(name, "vertex/")
	if !ok {
		return nil, fmt.Errorf("pawl-vertex has no model %s", name)
	}
	o := &vertex.Options{Provider: at.Provider, BaseURL: at.BaseURL, HTTPClient: at.Client()}
	if at.Key != "" {
		o.Tokens = oauth2.StaticTokenSource(&oauth2.Token{AccessToken: at.Key})
	}
	return vertex.New("", "", model, o), nil
}
