package modeltest

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/wire"
)

var opaques = []rule{
	{"opaque/back", "what a model thought goes back with its calls as it came and in its place, on every later request", func(c *check) {
		m, b := c.says(
			pawl.Reply{Parts: []pawl.Part{pawl.Thinking{Text: "First thought." + awkward}, call("", "add", `{"a":1,"b":2}`), call("", "look_up", `{"q":"x"}`)}},
			pawl.Reply{Parts: []pawl.Part{pawl.Thinking{Text: "Second thought."}, pawl.Text{Text: "And now"}, call("", "add", `{"a":3,"b":4}`)}},
			pawl.Reply{Parts: []pawl.Part{pawl.Thinking{Text: "Third thought."}, pawl.Text{Text: "But then"}, pawl.Thinking{Text: "Fourth thought."}, call("", "add", `{"a":5,"b":6}`)}},
			pawl.Say("Done."))
		r := thoughtful("Think.")
		var opaque []json.RawMessage
		for i := range 3 {
			reply := c.reply(m, r)
			opaque = append(opaque, hidden(reply.Parts)...)
			r.Messages = c.onward(r.Messages, reply, 1+2*i)
		}
		c.same("Done.", c.reply(m, r).Text(), "the reply to a conversation with thoughts")
		c.reads(r.Messages, c.last(b).Messages)

		if len(opaque) == 0 {
			c.failf("nothing in the replies could go back: no Thinking has an opaque part")
		}
		body := c.bodies()[3]
		texts := leaves(body)
		for _, o := range opaque {
			for _, s := range leaves(o) {
				if !slices.Contains(texts, s) && !bytes.Contains(body, []byte(s)) {
					c.failf("%.200q, a piece of the opaque part %.500s, is not in the body that was sent later:\n%.5000s", s, o, body)
				}
			}
			// In order: what is found is behind what was found before.
			if i := slices.Index(texts, longest(o)); i >= 0 {
				texts = texts[i+1:]
			} else if slices.Contains(leaves(body), longest(o)) {
				c.failf("the opaque part %.500s does not go back in its order:\n%.5000s", o, body)
			}
		}
	}},
	{"opaque/silent", "thinking that shows no text goes back all the same, when there is anything of it", func(c *check) {
		m, b := c.says(
			pawl.Reply{Parts: []pawl.Part{pawl.Thinking{}, call("", "add", `{"a":1,"b":2}`)}},
			pawl.Reply{Parts: []pawl.Part{pawl.Thinking{Text: "A thought."}, pawl.Thinking{}, pawl.Text{Text: "Well"}, call("", "add", `{"a":3,"b":4}`)}},
			pawl.Say("Done."))
		r := thoughtful("Think.")
		for i := range 2 {
			r.Messages = c.onward(r.Messages, c.reply(m, r), 1+i)
		}
		c.same("Done.", c.reply(m, r).Text(), "the reply to a conversation with hidden thoughts")
		c.reads(r.Messages, c.last(b).Messages)
	}},
	{"opaque/foreign", "what another model thought does not go to this one", func(c *check) {
		m, b := c.says(pawl.Say("Yes."))
		r := talk()
		r.Messages[1].Parts = append([]pawl.Part{
			pawl.Thinking{Text: "Foreign thought.", Opaque: json.RawMessage(`{"type":"thinking","thinking":"Foreign thought.","signature":"foreign-sign","reasoning_content":"Foreign thought.","text":{"thoughtSignature":"foreign-sign"}}`), Model: "other/model"},
		}, r.Messages[1].Parts...)
		c.reply(m, r)
		for _, msg := range c.last(b).Messages {
			for _, p := range msg.Parts {
				if t, ok := p.(pawl.Thinking); ok && (strings.Contains(t.Text, "Foreign") || bytes.Contains(t.Opaque, []byte("oreign"))) {
					c.failf("the provider read the thought of another model: %+v", t)
				}
			}
		}
		if body := c.bodies()[0]; bytes.Contains(body, []byte("foreign-sign")) {
			c.failf("the opaque part of another model was sent:\n%s", body)
		}
	}},
}

// hidden lists the opaque parts of a reply.
func hidden(parts []pawl.Part) []json.RawMessage {
	var list []json.RawMessage
	for _, p := range parts {
		if t, ok := p.(pawl.Thinking); ok && len(t.Opaque) > 0 {
			list = append(list, t.Opaque)
		}
	}
	return list
}

// leaves lists the strings in a JSON text that are no keys, in their order.
func leaves(raw []byte) (list []string) {
	wire.Scalars(raw, func(kind byte, text string) {
		if kind == '"' && text != "" {
			list = append(list, text)
		}
	})
	return list
}

// longest is the string of an opaque part that tells it from others.
func longest(raw []byte) string {
	most := ""
	for _, s := range leaves(raw) {
		if len(s) > len(most) {
			most = s
		}
	}
	return most
}
