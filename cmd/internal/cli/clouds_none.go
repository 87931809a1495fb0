//go:build !clouds

package cli

import (
	"fmt"
	"net/http"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/spec"
)

// cloud returns an error: this program was built without the SDKs of the clouds.
func cloud(e spec.Endpoint, _, _ string, _ http.Header) (pawl.Model, error) {
	return nil, fmt.Errorf("%s needs a released pawl, or go build -tags clouds", e.Wire)
}
