// Package server serves runs over HTTP: it starts them, shows them as they go,
// takes what people say to them, and goes on with them.
package server

import (
	"net/http"

	"github.com/pawl-run/pawl"
)

// A Store is the journal of the runs that are served.
type Store interface {
	pawl.Journal
	pawl.Mailbox
	pawl.Blobs
}

// Options are what may be said of a server. The zero value is right.
type Options struct {
	// Hosts are the values of Host that requests may name beside the addresses
	// of this machine's loopback, such as runs.example.org behind a proxy.
	Hosts []string
}

// A Server serves the runs of one journal. It is an http.Handler.
type Server struct {
	journal Store
	host    Host
	keys    []Key
	options Options
	mux     *http.ServeMux
}
