// Command pawl-azure serves the models of Azure OpenAI to pawl, which starts it for a run
// that names one.
package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/model/azure"
	"github.com/pawl-run/pawl/model/pipe"
)

func main() { os.Exit(pipe.Main(open)) }

func open(name string, at pipe.Endpoint) (pawl.Model, error) {
	o := &azure.Options{Provider: at.Provider, APIKey: at.Key, HTTPClient: at.Client()}
	if provider, deployment, _ := strings.Cut(name, "/"); provider == "azure" {
		return azure.New(at.BaseURL, deployment, o), nil
	}
	return nil, fmt.Errorf("pawl-azure has no model %s", name)
}
