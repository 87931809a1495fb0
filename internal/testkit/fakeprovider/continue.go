package fakeprovider

import (
	"maps"
	"slices"

	"github.com/pawl-run/pawl"
)

// A rest is what is still to come of a reply that stopped at the most tokens of one response.
type rest struct {
	request string // the request that it belongs to, as a digest
	answer  answer
}

// asked is a digest of a request without what changes when it goes on: the token, and the limit,
// which may be less.
func (in *inbound) asked(doc node) string {
	fields, _ := doc.object()
	fields = maps.Clone(fields)
	delete(fields, "continuationToken")
	if config, ok := doc.at("generationConfig").object(); ok {
		config = maps.Clone(config)
		delete(config, "maxOutputTokens")
		if fields["generationConfig"] = config; len(config) == 0 {
			delete(fields, "generationConfig")
		}
	}
	return in.memory.name(string(marshal(fields)))
}

// interrupt stops an answer after k bytes of its last text, or half, and keeps the rest. What
// was said until then is read again by the request that goes on, from the cache.
func (in *inbound) interrupt(a *answer, k int) bool {
	at := slices.IndexFunc(a.items, func(it item) bool { return it.kind == saying && len(it.text) > 1 })
	if at < 0 {
		return false
	}
	doc, _ := parse(in.Body)
	said := shorten(a.items[at].text, k)
	later := answer{stop: a.stop, usage: a.usage, items: slices.Clone(a.items[at:])}
	later.items[0].text = a.items[at].text[len(said):]
	a.items = append(a.items[:at:at], item{kind: saying, text: said})
	a.usage.Output = max(a.usage.Reasoning, a.usage.Output/2)
	later.usage = pawl.Usage{Input: a.usage.Input + a.usage.Output, CacheRead: a.usage.Input, Output: later.usage.Output - a.usage.Output}
	a.reason, a.token = "CONTINUATION", in.memory.token(in.id("rest", 0))
	in.memory.mu.Lock()
	defer in.memory.mu.Unlock()
	in.memory.rests[a.token] = rest{in.asked(doc), later}
	return true
}

// resume reads the token of a request that goes on with a reply, and checks that the request is
// the one that the reply is to.
func (in *inbound) resume(doc node) {
	token := doc.at("continuationToken")
	if !token.has() {
		return
	}
	in.token = token.text()
	in.memory.mu.Lock()
	kept, known := in.memory.rests[in.token]
	in.memory.mu.Unlock()
	if !known || kept.request != in.asked(doc) {
		in.wrong("", "Invalid continuation token: it does not belong to this request.")
	}
}

// resumed is the rest of the reply that the request goes on with; nil: it goes on with none.
func (in *inbound) resumed() *answer {
	if in.token == "" {
		return nil
	}
	in.memory.mu.Lock()
	defer in.memory.mu.Unlock()
	a := in.memory.rests[in.token].answer
	a.items, a.id, a.rand = slices.Clone(a.items), in.id, in.rand
	return &a
}
