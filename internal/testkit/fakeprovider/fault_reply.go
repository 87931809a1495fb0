package fakeprovider

import (
	"bytes"
	"strings"
)

// Faults of what a reply is made of.
var replies = []entry{
	{"no-signature", 30, "A part that must come back signed is sent without a signature.", []Wire{Anthropic, Responses, Google}, onReply(func(x strike, a *answer) bool {
		signed := a.count(thinking) > 0
		if x.in.Wire == Google {
			signed = x.in.signs(a)
		}
		a.unsigned = true
		return signed
	})},
	{"duplicate-ids", 36, "All calls, of this reply and others, have the id call_1.", nil, ids(func(item) string { return "call_1" })},
	{"repeated-calls", 36, "The reply repeats its calls, ids and all.", nil, onReply(func(_ strike, a *answer) bool {
		n := len(a.items)
		for _, it := range a.items[:n:n] {
			if it.kind == calling {
				a.items = append(a.items, it)
			}
		}
		return len(a.items) > n
	})},
	{"id-is-tool-name", 37, "Each call has the name of its tool as its id.", nil, ids(func(it item) string { return it.name })},
	{"odd-ids", 37, "The ids of calls have characters that other providers refuse, and are longer than those accept.", nil, ids(func(it item) string {
		return "functions." + it.name + ":0/" + it.id + strings.Repeat("+", 40)
	})},
	{"missing-id", 37, "No call has an id.", nil, onCalls(func(x strike, it *item) bool {
		it.noID = true
		return x.in.Wire != Google || x.in.demandsSignatures()
	})},
	{"unknown-tool", 63, "Each call is of a tool that was not offered: the tool's name with an x appended.", nil, onCalls(func(_ strike, it *item) bool {
		it.name += "x"
		return true
	})},
	{"empty-text-block", 49, "The reply begins with an empty text.", []Wire{Anthropic, Responses}, onReply(func(_ strike, a *answer) bool {
		at := 0
		for at < len(a.items) && a.items[at].kind == thinking {
			at++
		}
		a.items = append(a.items[:at:at], append([]item{{kind: saying}}, a.items[at:]...)...)
		return true
	})},
	{"surrogate-text", 46, "The text ends in the escape of half a character.", nil, deed{
		reply: func(_ strike, a *answer) bool { return a.append(halfLetter) },
		bytes: writes(halfLetter, `\ud83d`),
	}},
	{"broken-text", 48, "The text ends in a byte that is not UTF-8.", nil, deed{
		reply: func(_ strike, a *answer) bool { return a.append(badByte) },
		bytes: writes(badByte, "\xff"),
	}},
}

// arguments are the faults of the arguments of calls, each of all calls of the
// reply.
var arguments = []entry{
	{"empty-arguments", 42, "The arguments are an empty text.", spoken, args(func(string) string { return "" })},
	{"missing-arguments", 43, "A call has no arguments.", nil, onCalls(func(_ strike, it *item) bool {
		it.bare = true
		return true
	})},
	{"null-arguments", 43, "The arguments are null.", nil, args(func(string) string { return "null" })},
	{"array-arguments", 44, "The arguments are a list that contains the object.", nil, args(func(old string) string { return "[" + old + "]" })},
	{"string-arguments", 44, "The arguments are a string.", nil, args(func(string) string { return `"everything"` })},
	{"double-encoded-arguments", 44, "The arguments are JSON in a JSON string.", nil, args(func(old string) string { return string(quoted(old)) })},
	{"invalid-arguments", 45, "The arguments are not JSON.", spoken, args(func(old string) string { return "{'args': " + old })},
	{"surrogate-arguments", 46, "The arguments have the escape of half a character.", nil, args(func(old string) string { return inject(old, `"half":"\ud83d"`) })},
	{"broken-arguments", 48, "The arguments have a byte that is not UTF-8.", nil, deed{
		reply: args(func(old string) string { return inject(old, `"place":"`+badByte+`"`) }).reply,
		bytes: writes(badByte, "\xff"),
	}},
	{"huge-arguments", 68, "The arguments are K bytes long and more, or 1 MiB.", nil, onCalls(func(x strike, it *item) bool {
		it.text = inject(it.text, `"padding":"`+strings.Repeat("x", min(x.or(1<<20), mostBytes))+`"`)
		return true
	})},
	{"deep-arguments", 68, "The arguments are nested K deep, or 1000.", nil, onCalls(func(x strike, it *item) bool {
		n := min(x.or(1000), 9000) - 1 // Go reads no JSON that is deeper
		it.text = inject(it.text, `"deep":`+strings.Repeat("[", n)+strings.Repeat("]", n))
		return true
	})},
	{"duplicate-keys", 68, "The arguments have a key twice.", nil, args(func(old string) string { return inject(inject(old, `"twice":1`), `"twice":2`) })},
	{"huge-numbers", 68, "The arguments have numbers too large for any machine type.", nil, args(func(old string) string {
		return inject(old, `"big":1e999,"long":`+strings.Repeat("1234567890", 10))
	})},
}

// Letters for private use stand for half a letter and for a byte that is not
// UTF-8, which no JSON encoder writes, until the reply is bytes.
const (
	halfLetter = "\uE0D8"
	badByte    = "\uE0D9"
)

// writes puts what such a letter stands for in its place.
func writes(letter, as string) func(strike, *outcome) bool {
	return func(_ strike, o *outcome) bool {
		struck := false
		for i, u := range o.units {
			o.units[i] = bytes.ReplaceAll(u, []byte(letter), []byte(as))
			struck = struck || len(o.units[i]) != len(u)
		}
		return struck
	}
}

const mostBytes = 64 << 20

// onCalls strikes every call.
func onCalls(f func(x strike, it *item) bool) deed {
	return onReply(func(x strike, a *answer) bool {
		struck := false
		for i := range a.items {
			if a.items[i].kind == calling {
				struck = f(x, &a.items[i]) || struck
			}
		}
		return struck
	})
}

func ids(of func(it item) string) deed {
	return onCalls(func(_ strike, it *item) bool {
		it.id = of(*it)
		return true
	})
}

func args(f func(old string) string) deed {
	return onCalls(func(_ strike, it *item) bool {
		it.text = f(it.text)
		return true
	})
}

// inject puts a member at the end of an object; anything else becomes one.
func inject(args, member string) string {
	args = strings.TrimSpace(args)
	if !strings.HasPrefix(args, "{") || !strings.HasSuffix(args, "}") {
		args = "{}"
	}
	body := strings.TrimSpace(args[1 : len(args)-1])
	if body != "" {
		body += ","
	}
	return "{" + body + member + "}"
}
