package server

import (
	"io"
	"net/http"

	"github.com/pawl-run/pawl/server/client"
)

func (s *Server) agents(x *exchange) (any, error) {
	all, err := s.host.Agents(x.Context())
	if all == nil {
		all = []client.Agent{}
	}
	return client.Agents{Agents: all}, err
}

func (s *Server) health(x *exchange) (any, error) {
	x.ResponseWriter.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(x.ResponseWriter, "ok\n")
	return nil, nil
}

func (s *Server) metrics(x *exchange) (any, error) {
	if s.options.Metrics == nil {
		return nil, refusal(http.StatusNotFound, "this server has no metrics")
	}
	s.options.Metrics.ServeHTTP(x.ResponseWriter, x.Request)
	s.WriteMetrics(x.ResponseWriter)
	return nil, nil
}

// plain is the page of a server without an inspector.
const plain = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Pawl</title>
<h1>Pawl</h1>
<p>This is a server of runs. Programs talk to it as <code>/openapi.json</code> says, which takes the token that it was started with.</p>
</html>
`

func (s *Server) page(x *exchange) (any, error) {
	nowhere := refusal(http.StatusNotFound, "no page at "+x.URL.Path+"; see GET /openapi.json")
	if s.options.UI != nil {
		kept := x.ResponseWriter.Header().Get("Cache-Control")
		x.ResponseWriter.Header().Del("Cache-Control") // the same for all clients
		w := &found{ResponseWriter: x.ResponseWriter}
		if s.options.UI.ServeHTTP(w, x.Request); w.not {
			x.ResponseWriter.Header().Set("Cache-Control", kept)
			return nil, nowhere
		}
		return nil, nil
	}
	if x.URL.Path != "/" {
		return nil, nowhere
	}
	x.ResponseWriter.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = io.WriteString(x.ResponseWriter, plain)
	return nil, nil
}

// found intercepts the not-found status, so that it becomes a problem document.
type found struct {
	http.ResponseWriter
	not bool
}

func (w *found) WriteHeader(status int) {
	if w.not = status == http.StatusNotFound; !w.not {
		w.ResponseWriter.WriteHeader(status)
	}
}

func (w *found) Write(b []byte) (int, error) {
	if w.not {
		return len(b), nil
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap is for http.ResponseController.
func (w *found) Unwrap() http.ResponseWriter { return w.ResponseWriter }
