package pawltest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/pawl-run/pawl"
)

// NewServer starts a fake provider that answers with the replies of a model, such as a [Script].
// It speaks two wires and streams both: Chat Completions at URL/v1/chat/completions and
// Anthropic's Messages at URL/v1/messages. It takes any key and any name of a model. It passes
// on texts, calls of tools and their results, and leaves out everything else. An error of the
// model becomes the status that a provider would send. The server ends with the test.
//
//	s := pawltest.NewServer(t, pawltest.Script(t, "testdata/refund.script.yaml"))
//	t.Setenv("ANTHROPIC_BASE_URL", s.URL)
func NewServer(t testing.TB, model pawl.Model) *httptest.Server {
	mux := http.NewServeMux()
	mux.Handle("POST /v1/chat/completions", wire{model, readChat, writeChat})
	mux.Handle("POST /v1/messages", wire{model, readMessages, writeMessages})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

// wire answers the requests of one provider's API.
type wire struct {
	model pawl.Model
	read  func(body []byte) (pawl.Request, error)
	write func(model string, r pawl.Reply) (whole any, events []event)
}

// An event is one of a stream.
type event struct {
	name string // empty: it has none
	data any
}

func (x wire) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Model  string
		Stream bool
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 64<<20))
	request, wrong := x.read(body)
	if err = errors.Join(err, wrong, json.Unmarshal(body, &asked)); err != nil {
		refuse(w, &pawl.ModelError{Class: pawl.ClassInvalid, Message: err.Error()})
		return
	}
	var reply pawl.Reply
	for c, err := range x.model.Stream(r.Context(), request) {
		if err != nil {
			refuse(w, err)
			return
		}
		if c.Reply != nil {
			reply = *c.Reply
		}
	}
	whole, events := x.write(asked.Model, reply)
	if !asked.Stream {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(whole)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range events {
		if e.name != "" {
			fmt.Fprintf(w, "event: %s\n", e.name)
		}
		data, _ := json.Marshal(e.data)
		if end, ok := e.data.(string); ok {
			data = []byte(end)
		}
		fmt.Fprintf(w, "data: %s\n\n", data)
	}
}

func refuse(w http.ResponseWriter, err error) {
	status, text := http.StatusInternalServerError, err.Error()
	if me, ok := errors.AsType[*pawl.ModelError](err); ok {
		status, text = cmp.Or(statuses[me.Class], status), me.Message
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(object{"type": "error", "error": object{"type": "error", "message": text}})
}

// statuses are the HTTP statuses with which a provider reports errors; others are reported as 500.
var statuses = map[pawl.Class]int{
	pawl.ClassRateLimit: http.StatusTooManyRequests, pawl.ClassOverloaded: http.StatusServiceUnavailable,
	pawl.ClassQuota: http.StatusPaymentRequired, pawl.ClassAuth: http.StatusUnauthorized,
	pawl.ClassNotFound: http.StatusNotFound, pawl.ClassInvalid: http.StatusBadRequest,
	pawl.ClassRefused: http.StatusBadRequest, pawl.ClassTooLong: http.StatusBadRequest,
}

type object = map[string]any
