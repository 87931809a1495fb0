package fakeprovider

import (
	"cmp"
	"encoding/json"
	"math/rand/v2"
	"unicode/utf8"

	"github.com/pawl-run/pawl"
)

// An answer is a reply on its way to a wire: what faults change before it is
// written.
type answer struct {
	items []item
	stop  pawl.StopReason
	usage pawl.Usage

	filter string // why it stopped the reply, in its own words

	id   func(prefix string, n int) string
	rand *rand.Rand

	// What a fault wants otherwise than the wire's own way.
	reason   string // the stop reason in the wire's words
	token    string // Google: to go on with the rest
	early    bool   // usage in full already at the beginning, and again later
	silent   bool   // no usage at all
	unsigned bool   // no signatures
}

// An item is a piece of an answer, in the order in which it is sent.
type item struct {
	kind   kind
	text   string // what it says; of a call, its arguments as they were written
	opaque json.RawMessage
	id     string
	name   string
	bare   bool            // a call whose arguments are left out altogether
	noID   bool            // a call without an id
	cites  []pawl.Citation // the sources of a text
}

type kind int

const (
	saying kind = 1 + iota
	thinking
	calling
)

// answerOf makes an answer of a brain's reply.
func answerOf(in *inbound, r *pawl.Reply) *answer {
	a := &answer{stop: r.Stop, filter: r.Filter, usage: r.Usage, rand: in.rand, id: in.id}
	size := 0
	for i, p := range r.Parts {
		switch p := p.(type) {
		case pawl.Text:
			a.items = append(a.items, item{kind: saying, text: p.Text})
		case pawl.Thinking:
			if in.quiet {
				continue
			}
			a.items = append(a.items, item{kind: thinking, text: p.Text, opaque: p.Opaque})
		case pawl.Call:
			a.items = append(a.items, item{kind: calling, text: written(p.Args), name: p.Tool, id: cmp.Or(p.Ref, p.ID, in.callID(i))})
		case pawl.Citation:
			if n := len(a.items); n > 0 && a.items[n-1].kind == saying {
				a.items[n-1].cites = append(a.items[n-1].cites, p)
			}
			continue
		default:
			continue // a reply has no other parts
		}
		size += len(a.items[len(a.items)-1].text)
	}
	if a.stop == 0 || a.stop == pawl.StopEnd {
		a.stop = pawl.StopEnd
		if a.count(calling) > 0 {
			a.stop = pawl.StopCalls
		}
	}
	if a.usage == (pawl.Usage{}) {
		a.usage = in.cache(pawl.Usage{Input: (len(in.Body) + 3) / 4, Output: max(1, (size+3)/4)})
	}
	if most := in.Decoded.MaxTokens; most > 0 && a.usage.Output > most {
		a.keep(size * most / a.usage.Output)
		a.usage.Output, a.usage.Reasoning, a.stop = most, min(a.usage.Reasoning, most), pawl.StopLength
	}
	return a
}

// keep leaves so many bytes of what an answer says, thinking included. A call that does not fit
// is left out.
func (a *answer) keep(bytes int) {
	for i := range a.items {
		it := &a.items[i]
		if len(it.text) <= bytes {
			bytes -= len(it.text)
			continue
		}
		if it.kind == saying || it.kind == thinking {
			for bytes > 0 && !utf8.RuneStart(it.text[bytes]) {
				bytes--
			}
			it.text, it.cites = it.text[:bytes], nil
			i++
		}
		a.items = a.items[:i]
		return
	}
}

// written is what the model wrote as arguments: a JSON string that holds no
// JSON is how pawl keeps text that was none.
func written(args json.RawMessage) string {
	var s string
	if len(args) > 0 && args[0] == '"' && json.Unmarshal(args, &s) == nil && !json.Valid([]byte(s)) {
		return s
	}
	return cmp.Or(string(args), "{}")
}

// because is the reason for stopping in a wire's words, other for those it has no
// word for.
func (a *answer) because(other string, words map[pawl.StopReason]string) string {
	return cmp.Or(a.reason, words[a.stop], other)
}

func (a *answer) count(k kind) int {
	n := 0
	for _, it := range a.items {
		if it.kind == k {
			n++
		}
	}
	return n
}

// last is the last item of a kind, or nil.
func (a *answer) last(k kind) *item {
	for i := len(a.items) - 1; i >= 0; i-- {
		if a.items[i].kind == k {
			return &a.items[i]
		}
	}
	return nil
}

// The most pieces a text is sent in, so that a large one does not take long.
const mostPieces = 64

// pieces splits a text as a model writes it, a few letters at a time and never
// within one. Joined they are the text.
func (a *answer) pieces(text string) []string {
	var list []string
	size := max(8, len(text)/mostPieces*2)
	for len(text) > 0 {
		n := min(1+a.rand.IntN(2*size), len(text))
		if len(list) == 0 && n == len(text) {
			n = (n + 1) / 2 // there is always a middle to strike at
		}
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n++
		}
		list = append(list, text[:n])
		text = text[n:]
	}
	return list
}
