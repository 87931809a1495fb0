package modeltest

import (
	"strings"

	"github.com/pawl-run/pawl"
)

// full is a reply with something of everything.
func full() pawl.Reply {
	return pawl.Reply{Parts: []pawl.Part{
		pawl.Text{Text: "Let me see." + awkward + strings.Repeat("Well … ", 50)}, call("", "add", `{"a":1,"b":2}`), call("", "look_up", `{"q":"x"}`),
	}}
}

// whole gets a full reply, with thinking.
func (c *check) whole() *outcome {
	c.Helper()
	reply := full()
	reply.Parts = append([]pawl.Part{pawl.Thinking{Text: "Hm. " + strings.Repeat("é ", 60)}}, reply.Parts...)
	m, _ := c.says(reply)
	o := c.stream(c.Context(), m, thoughtful("Hi."))
	_, err := o.end()
	c.ok(err, "asking")
	return o
}

var streams = []rule{
	{"stream/last", "the last chunk, and only it, has the reply and nothing beside it; no error comes with it", func(c *check) {
		o := c.whole()
		for i, chunk := range o.chunks {
			switch last := i == len(o.chunks)-1; {
			case o.errs[i] != nil:
				c.failf("an error comes with a reply: %v", o.errs[i])
			case last != (chunk.Reply != nil):
				c.failf("chunk %d of %d: %+v", i+1, len(o.chunks), chunk)
			case last && (chunk.Text != "" || chunk.Thinking != "" || chunk.Call != ""):
				c.failf("the last chunk shows something beside the reply: %+v", chunk)
			}
		}
	}},
	{"stream/chunks", "the chunks of text and of thinking, joined, are the text and the thinking of the reply", func(c *check) {
		o := c.whole()
		reply, _ := o.end()
		var text, thought string
		for _, chunk := range o.chunks {
			text, thought = text+chunk.Text, thought+chunk.Thinking
		}
		want := saidIn(reply.Parts)
		c.same(want.Text, text, "what was streamed of the text")
		c.same(want.Thought, thought, "what was streamed of the thinking")
	}},
	{"stream/calls", "each call is announced by the name of its tool, in order", func(c *check) {
		var names []string
		o := c.whole()
		for _, chunk := range o.chunks {
			if chunk.Call != "" {
				names = append(names, chunk.Call)
			}
		}
		c.same([]string{"add", "look_up"}, names, "what was announced")
	}},
	{"stream/error", "an error is the last thing that a sequence yields, and comes once, without a reply", func(c *check) {
		m, _ := c.fails(&pawl.ModelError{Class: pawl.ClassOverloaded, Message: "busy"})
		o := c.stream(c.Context(), m, hello("Hi."))
		for i, chunk := range o.chunks {
			if last := i == len(o.chunks)-1; last != (o.errs[i] != nil) || chunk.Reply != nil {
				c.failf("chunk %d of %d: %+v, %v", i+1, len(o.chunks), chunk, o.errs[i])
			}
		}
		if len(o.chunks) == 0 {
			c.failf("the provider failed, and the sequence yielded nothing")
		}
	}},
}
