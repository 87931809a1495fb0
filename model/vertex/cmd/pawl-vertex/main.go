// Command pawl-vertex serves the models of Google Vertex AI to pawl, which starts it for a
// run that names one.
package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/model/pipe"
	"github.com/pawl-run/pawl/model/vertex"
)

func main() { os.Exit(pipe.Main(open)) }

func open(name string) (pawl.Model, error) {
	model, ok := strings.CutPrefix(name, "vertex/")
	if !ok {
		return nil, fmt.Errorf("pawl-vertex has no model %s", name)
	}
	return vertex.New("", "", model, nil), nil
}
