package telemetry

import (
	"net/http"

	"github.com/pawl-run/pawl/internal/traceparent"
)

// Transport returns base, nil for [http.DefaultTransport], with trace context added to
// requests: the headers traceparent and tracestate. Use it in the client of a model's adapter
// if the server should join our traces, such as a gateway of your own; otherwise providers get
// no trace context. Headers that a request already has stay.
func Transport(base http.RoundTripper) http.RoundTripper {
	if base == nil {
		base = http.DefaultTransport
	}
	return tracing{base}
}

type tracing struct{ base http.RoundTripper }

// RoundTrip sends the request.
func (t tracing) RoundTrip(r *http.Request) (*http.Response, error) {
	if p := traceparent.From(r.Context()); p.ID != "" && r.Header.Get(traceparent.Header) == "" {
		r = r.Clone(r.Context()) // which is not the transport's to change
		r.Header.Set(traceparent.Header, p.ID)
		if p.State != "" {
			r.Header.Set(traceparent.State, p.State)
		}
	}
	return t.base.RoundTrip(r)
}
