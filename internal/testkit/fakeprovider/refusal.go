package fakeprovider

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
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

// words are what a wire calls the classes of errors. [pawl.ClassUnknown] stands
// for those that are missing.
type words map[pawl.Class]struct {
	status              int
	kind, code, message string
}

// say puts a refusal in the words of a wire. The brain's own message goes behind
// the provider's, by which clients tell some errors apart.
func (r *refusal) say(w Wire) *refusal {
	d := dialectOf(w)
	if r.class == pawl.ClassInvalid && r.param != "" && d.param != "" {
		r.message, r.param = fmt.Sprintf(d.param, r.param, r.message), ""
	}
	class := r.class
	if class == pawl.ClassNetwork {
		class = pawl.ClassOverloaded
	}
	said, ok := d.words[class]
	if !ok {
		said = d.words[pawl.ClassUnknown]
	}
	r.status, r.kind, r.code = cmp.Or(r.status, said.status), cmp.Or(r.kind, said.kind), cmp.Or(r.code, said.code)
	if r.message == "" || said.message != "" && r.class != pawl.ClassInvalid {
		r.message = strings.TrimSuffix(said.message+" "+r.message, " ")
	}
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
