package telemetry

import (
	"net/http"

	"github.com/pawl-run/pawl/internal/traceparent"
)

// Transport returns base, nil for [http.DefaultTransport], with the place in the
// trace added to what it sends: the headers traceparent and tracestate. Give a
// model's adapter a client of it where the far side is to know of our traces, as
// a gateway of one's own; without it no provider is told. What a request says
// already stands.
func Transport(base http.RoundTripper) http.RoundTripper {
	if base == nil {
		base = http.DefaultTransport
	}
	return telling{base}
}

type telling struct{ base http.RoundTripper }

// RoundTrip sends the request.
func (t telling) RoundTrip(r *http.Request) (*http.Response, error) {
	if p := traceparent.From(r.Context()); p.ID != "" && r.Header.Get(traceparent.Header) == "" {
		r = r.Clone(r.Context()) // which is not the transport's to change
		r.Header.Set(traceparent.Header, p.ID)
		if p.State != "" {
			r.Header.Set(traceparent.State, p.State)
		}
	}
	return t.base.RoundTrip(r)
}
