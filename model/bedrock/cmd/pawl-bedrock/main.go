// Command pawl-bedrock serves the models of Amazon Bedrock to pawl, which starts it for a run
// that names one.
package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/model/bedrock"
	"github.com/pawl-run/pawl/model/pipe"
)

func main() { os.Exit(pipe.Main(open)) }

func open(name string, at pipe.Endpoint) (pawl.Model, error) {
	model, ok := strings.CutPrefix(name, "bedrock/")
	if !ok {
		return nil, fmt.Errorf("pawl-bedrock has no model %s", name)
	}
	return bedrock.New("", model, &bedrock.Options{Provider: at.Provider, BaseURL: at.BaseURL, BearerToken: at.Key, HTTPClient: at.Client()}), nil
}
