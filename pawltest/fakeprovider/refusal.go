package fakeprovider

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/pawl-run/pawl"
)

// A refusal is an error as a provider tells it. What is empty is filled in by
// the wire, from the class.
type refusal struct {
	class   pawl.Class
	status  int
	kind    string // type at Anthropic and OpenAI, status at Google
	code    string // code at OpenAI, reason at Google
	param   string
	message string
	after   time.Duration
	id      string // of the request
}

// invalid is a refusal of the request itself.
func invalid(param, message string) *refusal {
	return &refusal{class: pawl.ClassInvalid, param: param, message: message}
}

// say puts a refusal in the words of a wire.
func (r *refusal) say(w Wire) *refusal {
	dialectOf(w).word(r)
	return r
}

// header is what goes with it.
func (r *refusal) header() http.Header {
	h := http.Header{"Content-Type": {"application/json"}}
	if r.after > 0 {
		h.Set("Retry-After", strconv.FormatFloat(max(1, r.after.Round(time.Second).Seconds()), 'f', -1, 64))
		h.Set("Retry-After-Ms", strconv.FormatInt(r.after.Milliseconds(), 10))
	}
	return h
}

// words fills in what a class is called on a wire, and puts the brain's own
// message behind the provider's, by which clients tell some errors apart.
func (r *refusal) words(status int, kind, code, message string) {
	if r.status == 0 {
		r.status = status
	}
	if r.kind == "" {
		r.kind = kind
	}
	if r.code == "" {
		r.code = code
	}
	switch {
	case r.message == "":
		r.message = message
	case r.class != pawl.ClassInvalid && message != "":
		r.message = message + " " + r.message
	}
}

// refusalOf makes a refusal of what a brain failed with.
func refusalOf(err error) *refusal {
	var me *pawl.ModelError
	switch {
	case errors.As(err, &me):
		return &refusal{class: me.Class, message: me.Message, after: me.RetryAfter}
	case errors.Is(err, context.DeadlineExceeded):
		return &refusal{class: pawl.ClassOverloaded, message: "the brain took too long"}
	}
	return &refusal{class: pawl.ClassUnknown, message: err.Error()}
}
