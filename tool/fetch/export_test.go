package fetch

import (
	"crypto/tls"
	"net/http"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/web"
)

// Lookup has a tool take names for what the test says they resolve to.
func Lookup(t pawl.Tool, to func(host string) string) { t.(*fetcher).dialer.Lookup = to }

// Special is what is said of an address.
var Special = web.Special

// Trust has a tool take the certificates of a test's site.
func Trust(t pawl.Tool, c *tls.Config) {
	t.(*fetcher).client.Transport.(*http.Transport).TLSClientConfig = c
}

// Readable is the title and the text of a page.
var Readable = readable
