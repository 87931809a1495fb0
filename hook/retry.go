package hook

import (
	"context"
	"strings"
	"unicode"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
)

// Retry rejects useless replies of a turn, at most attempts times in a run. unusable returns
// what is wrong with a reply, for the model; empty: nothing is. Nil is [Unusable].
//
// The number of retries is read from the log, so that the hook serves any number of runs, and a
// resumed run has no more retries than before. The machine asks for one reply at most three
// times. It retries an empty reply, and a failed call to a provider, by itself.
func Retry(attempts int, unusable func(pawl.Reply) string) engine.Hook {
	return retry{attempts, unusable}
}

type retry struct {
	attempts int
	unusable func(pawl.Reply) string
}

// Name returns "retry".
func (retry) Name() string { return "retry" }

// Entry rejects a useless reply of a turn.
func (r retry) Entry(_ context.Context, s *pawl.State, e pawl.Entry) engine.Direction {
	reply, ok := e.Event.(pawl.ModelReplied)
	if !ok || reply.Purpose != pawl.PurposeTurn || r.attempts <= 0 {
		return engine.Direction{}
	}
	unusable := r.unusable
	if unusable == nil {
		unusable = Unusable
	}
	why := unusable(reply.Reply)
	if why == "" || r.unusable == nil && reply.Reply.Stop != pawl.StopRefusal && s.Declaration().Output != nil {
		return engine.Direction{} // the schema already checks an answer
	}
	return engine.Direction{Retry: true, Budget: r.attempts, Reason: why}
}

// empties are words that stand for no answer.
var empties = map[string]bool{"null": true, "none": true, "nil": true, "undefined": true, "n/a": true}

// Unusable says why a reply is useless: the model refuses, or the reply has neither a call nor
// text. A JSON document, even an empty one, is an answer.
func Unusable(r pawl.Reply) string {
	for _, p := range r.Parts {
		if _, ok := p.(pawl.Call); ok {
			return ""
		}
	}
	text := strings.ToLower(strings.Trim(strings.TrimSpace(r.Text()), "`\"'."))
	switch {
	case r.Stop == pawl.StopRefusal:
		return "you refused; if all of it cannot be done, do what can"
	case strings.HasPrefix(text, "{") || strings.HasPrefix(text, "["):
	case empties[text], strings.IndexFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsSymbol(r) }) < 0:
		return "there is no answer in it"
	}
	return ""
}
