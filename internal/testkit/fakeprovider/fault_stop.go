package fakeprovider

import (
	"net/http"
	"slices"
	"unicode/utf8"

	"github.com/pawl-run/pawl"
)

// Faults of why a reply stopped, and of what it says of itself.
var stops = []entry{
	{"truncated-arguments", 15, "The last call's arguments end after K bytes, or half, and the reply claims to be complete.", spoken, onReply(func(x strike, a *answer) bool { return a.truncate(x.k) })},
	{"length-mid-call", 17, "The reply reaches its limit after K bytes, or half, of the last call's arguments.", spoken, onReply(func(x strike, a *answer) bool {
		return a.truncate(x.k) && a.stopped(pawl.StopLength) && x.spent(a)
	})},
	{"length-after-calls", 17, "The reply reaches its limit just after its calls, all of which are readable.", nil, onReply(func(x strike, a *answer) bool {
		return a.count(calling) > 0 && a.stopped(pawl.StopLength) && x.spent(a)
	})},
	{"length-mid-text", 17, "The reply reaches its limit after K bytes, or half, of its text.", nil, onReply(func(x strike, a *answer) bool {
		it := a.last(saying)
		if it == nil {
			return false
		}
		it.text = shorten(it.text, x.k)
		return a.stopped(pawl.StopLength) && x.spent(a)
	})},
	{"capped-unsaid", 18, "The last call's arguments end after K bytes, or half, because the reply reached its limit, which only its usage shows.", spoken, onReply(func(x strike, a *answer) bool {
		return a.truncate(x.k) && x.spent(a)
	})},
	{"drop-called-length", 19, "The reply breaks off and claims that it reached its limit, though its usage is far below.", nil, onReply(func(x strike, a *answer) bool {
		if it := a.last(calling); it != nil && x.in.Wire != Google {
			a.truncate(x.k)
		} else if it := a.last(saying); it != nil {
			it.text = shorten(it.text, x.k)
		} else {
			return false
		}
		a.usage.Output = min(a.usage.Output, 7)
		a.usage.Reasoning = min(a.usage.Reasoning, a.usage.Output)
		return a.stopped(pawl.StopLength)
	})},
	{"response-incomplete", 22, "The response ends with response.incomplete in place of response.completed.", []Wire{Responses}, onReply(func(x strike, a *answer) bool {
		return a.stopped(pawl.StopLength) && x.spent(a)
	})},
	{"unknown-stop-reason", 22, "The stop reason is unknown.", nil, sets(func(a *answer) { a.reason = "out_of_ink" })},
	{"no-content", 24, "The reply is empty, and claims to be complete.", nil, onReply(func(_ strike, a *answer) bool {
		a.items, a.usage.Output, a.usage.Reasoning = nil, 0, 0
		return a.stopped(pawl.StopEnd)
	})},
	{"no-content-billed", 25, "The reply is empty, though its usage has output.", nil, onReply(func(_ strike, a *answer) bool {
		a.items = nil
		a.usage.Output = max(a.usage.Output, 100)
		return a.stopped(pawl.StopEnd)
	})},
	{"no-content-unbilled", 25, "The reply is empty, and its usage is zero.", nil, onReply(func(_ strike, a *answer) bool {
		a.items, a.usage = nil, pawl.Usage{}
		return a.stopped(pawl.StopEnd)
	})},
	{"refusal", 26, "The model refuses, after the text that it has said.", nil, onReply(func(_ strike, a *answer) bool {
		a.items = slices.DeleteFunc(a.items, func(it item) bool { return it.kind == calling })
		a.append("")
		return a.stopped(pawl.StopRefusal)
	})},
	{"content-filter", 26, "A filter stops the reply before it says anything.", nil, onReply(func(_ strike, a *answer) bool {
		a.items = nil
		return a.stopped(pawl.StopRefusal)
	})},
	{"refusal-after-reasoning", 27, "The model thinks, and then refuses without a word.", nil, onReply(func(_ strike, a *answer) bool {
		a.items = slices.DeleteFunc(a.items, func(it item) bool { return it.kind != thinking })
		if len(a.items) == 0 {
			a.items = []item{{kind: thinking, text: "That is not for me to say."}}
		}
		return a.stopped(pawl.StopRefusal)
	})},
	{"recitation", 26, "A filter stops the reply after the text that it has said, and says which.", []Wire{Google}, onReply(func(_ strike, a *answer) bool {
		a.items = slices.DeleteFunc(a.items, func(it item) bool { return it.kind == calling })
		a.append("")
		a.reason = "RECITATION"
		return true
	})},
	{"continuation", 69, "The reply stops after K bytes, or half, of its text, with a token to go on with.", []Wire{Google}, onReply(func(x strike, a *answer) bool { return x.in.interrupt(a, x.k) })},
	{"malformed-function-call", 28, "The model wrote a call that Google cannot read, so the reply is empty.", []Wire{Google}, sets(func(a *answer) { a.items, a.reason = nil, "MALFORMED_FUNCTION_CALL" })},
	{"unexpected-tool-call", 28, "The model called a tool when it could not, so the reply is empty.", []Wire{Google}, sets(func(a *answer) { a.items, a.reason = nil, "UNEXPECTED_TOOL_CALL" })},
	{"prompt-blocked", 29, "The prompt is blocked: there are neither candidates nor a finish reason.", []Wire{Google}, instead(func(x strike) *outcome { return x.in.blocked() })},
	{"window-exceeded", 52, "The reply reaches the end of the context window.", []Wire{Anthropic}, sets(func(a *answer) { a.reason = "model_context_window_exceeded" })},
	{"early-usage", 57, "The full usage comes at the beginning, and its totals come again later.", nil, sets(func(a *answer) { a.early = true })},
	{"no-usage", 58, "The reply does not report its usage.", nil, sets(func(a *answer) { a.silent = true })},
	{"pause-turn", 62, "The provider wants the turn sent again to continue it.", []Wire{Anthropic}, onReply(func(_ strike, a *answer) bool {
		a.items = slices.DeleteFunc(a.items, func(it item) bool { return it.kind == calling })
		a.append("")
		return a.stopped(pawl.StopPause)
	})},
}

// blocked is how Google refuses a prompt for its content.
func (in *inbound) blocked() *outcome {
	doc := object{
		"promptFeedback": object{"blockReason": "PROHIBITED_CONTENT"}, "modelVersion": in.Model, "responseId": in.id("", 0),
		"usageMetadata": object{"promptTokenCount": 20, "totalTokenCount": 20},
	}
	out := &outcome{status: http.StatusOK, header: (&refusal{}).header(), units: [][]byte{marshal(doc)}}
	if in.Stream {
		out.stream(in, []frame{{data: doc}})
	}
	return out
}

func onReply(f func(x strike, a *answer) bool) deed { return deed{reply: f} }

// sets strikes every reply.
func sets(f func(a *answer)) deed {
	return onReply(func(_ strike, a *answer) bool {
		f(a)
		return true
	})
}

func (a *answer) stopped(r pawl.StopReason) bool {
	a.stop = r
	return true
}

// spent makes the usage that of a reply that met its limit.
func (x strike) spent(a *answer) bool {
	a.usage.Output = max(1, x.in.Decoded.MaxTokens)
	a.usage.Reasoning = min(a.usage.Reasoning, a.usage.Output)
	return true
}

// truncate ends the last call's arguments after k bytes.
func (a *answer) truncate(k int) bool {
	it := a.last(calling)
	if it == nil || it.text == "" {
		return false
	}
	it.text = shorten(it.text, k)
	return true
}

func shorten(s string, k int) string {
	n := place(k, len(s))
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
