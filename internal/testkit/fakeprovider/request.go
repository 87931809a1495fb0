package fakeprovider

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/sheet"
)

// A Request is one request as the server saw it.
type Request struct {
	Wire     Wire // zero: no provider has the path
	Method   string
	Path     string
	Header   http.Header
	Body     []byte
	Model    string       // the model asked for
	Stream   bool         // whether a stream was asked for
	Decoded  pawl.Request // what the brain was asked, or would have been
	Problems []string     // what is wrong with it, in the provider's words; the first one is the answer
	Fault    Fault        // what it was given; the zero Fault: none
	Struck   bool         // whether the fault found what it strikes
	Status   int          // what it was answered; 0: nothing
	Decided  bool         // whether it was known by then how it is answered
	At       time.Time    // when it came
}

// An inbound is a request being read and answered.
type inbound struct {
	*Request
	place    int  // in the list of requests
	n        int  // of the requests the server answers, from 1
	stale    bool // its connection was given up
	memory   *memory
	rand     *rand.Rand
	dialect  dialect
	problems []*refusal

	plays     string  // the model that the server is
	prefix    *prefix // Anthropic: what the request says
	thinks    bool    // the request asks for thinking, or the model thinks by default
	manual    bool    // Anthropic: it asks for a budget
	silent    bool    // Anthropic: it turns thinking off
	quiet     bool    // Anthropic: the reply has no thinking
	omits     bool    // Anthropic: it gets no text of what the model thinks
	hides     bool    // Google: it asks for no thoughts to be shown
	token     string  // Google: that it goes on with
	usage     bool    // Chat: usage is wanted at the end of the stream
	encrypted bool    // Responses: reasoning is to be sent encrypted
	summary   bool    // Responses: reasoning is to be told in words
}

// traits are what the model of the request takes, by the model sheet. A name that the sheet does
// not know stands for the provider's model of today.
func (in *inbound) traits() sheet.Traits {
	provider := map[Wire]string{Anthropic: "anthropic", Chat: "openai", Responses: "openai", Google: "google"}[in.Wire]
	t, known := sheet.TraitsOf(provider, cmp.Or(in.plays, in.Model))
	if !known {
		t, _ = sheet.TraitsOf(provider, sheet.Default(provider))
	}
	return t
}

// wrong notes a problem with the request.
func (in *inbound) wrong(param, format string, args ...any) {
	message := format
	if len(args) > 0 {
		message = fmt.Sprintf(format, args...)
	}
	in.complain(invalid(param, message))
}

func (in *inbound) complain(r *refusal) {
	r.say(in.Wire)
	in.problems = append(in.problems, r)
	in.Problems = append(in.Problems, r.message)
}

// id makes an id that no other request gives.
func (in *inbound) id(prefix string, n int) string {
	return prefix + in.memory.name(fmt.Sprint(prefix, in.n, "/", n))
}

func (in *inbound) callID(n int) string {
	switch in.Wire {
	case Anthropic:
		return in.id("toolu_01", n)
	case Google:
		return in.id("", n)[:8]
	}
	return in.id("call_", n)
}
