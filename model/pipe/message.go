package pipe

import (
	"encoding/gob"
	"errors"
	"net/http"

	"github.com/pawl-run/pawl"
)

// The calls of the protocol, which are paths. A program of another release that does not
// know them answers 404.
const (
	callDescribe = "/1/describe"
	callStream   = "/1/stream"
)

// Messages are of encoding/gob: it keeps the bytes of JSON texts, which a provider may want
// back as they came, and needs no other form of a request. A program of an older or newer
// release leaves out the fields that it does not know.
func init() { //nolint:gochecknoinits // gob has one table for the process
	for _, part := range []pawl.Part{pawl.Text{}, pawl.Citation{}, pawl.Thinking{}, pawl.Call{}, pawl.ToolResult{}, pawl.File{}} {
		gob.Register(part)
	}
}

// An Endpoint is where a model is, if that is not where its provider has it: a gateway, or
// another account.
type Endpoint struct {
	Provider string // comes before the / of its models' names, in place of the adapter's own name
	BaseURL  string
	Key      string            // empty: the login of the provider
	Headers  map[string]string // sent with each request
}

// Client returns a client that sends the headers with each request. If there are none, it is nil,
// which adapters take for the default client.
func (e Endpoint) Client() *http.Client {
	if len(e.Headers) == 0 {
		return nil
	}
	return &http.Client{Transport: e}
}

// RoundTrip sends a request with the headers.
func (e Endpoint) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, value := range e.Headers {
		r.Header.Set(name, value)
	}
	return http.DefaultTransport.RoundTrip(r)
}

// A question is the body of each call.
type question struct {
	Model   string
	At      Endpoint
	Files   []pawl.File // for callDescribe: does the model take them?
	Request pawl.Request
}

// An answer is that to callDescribe.
type answer struct {
	Info  pawl.ModelInfo
	Ready string // why the model cannot be called; empty: it can
	Takes string // why it does not take the files
}

// A chunk is a part of the answer to callStream: a [pawl.Chunk], or the error that ends it.
type chunk struct {
	pawl.Chunk

	Error *pawl.ModelError
}

// failure is an error without its cause, which only this process knows.
func failure(err error) chunk {
	e := pawl.ModelError{Class: pawl.ClassUnknown, Message: err.Error()}
	if me, ok := errors.AsType[*pawl.ModelError](err); ok {
		e = *me
		if e.Message == "" && e.Err != nil {
			e.Message = e.Err.Error()
		}
		e.Err = nil
	}
	return chunk{Error: &e}
}
