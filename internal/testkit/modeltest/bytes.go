package modeltest

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/pawl-run/pawl"
)

var bodies = []rule{
	{"bytes/again", "the same request is sent as the same bytes", func(c *check) {
		m, _ := c.says(pawl.Say("Yes."))
		r := talk()
		r.Output = json.RawMessage(`{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"string"},"m":{"type":"string"}},"required":["z","a","m"],"additionalProperties":false}`)
		r.Sampling.Options = map[string]json.RawMessage{}
		for _, k := range []string{"z", "y", "a", "b", "q", "m"} {
			r.Sampling.Options["pawl"+k] = json.RawMessage(`{"y":1,"x":2}`)
		}
		for range 5 {
			c.reply(m, r)
		}
		sent := c.bodies()
		if len(sent) != 5 {
			c.failf("five requests had %d bodies", len(sent))
		}
		for _, body := range sent[1:] {
			if !bytes.Equal(sent[0], body) {
				c.failf("the same request was sent as\n%s\nand as\n%s", sent[0], body)
			}
		}
	}},
	{"bytes/prefix", "a conversation that grows is sent with the same bytes up to where the last request's ended, so that caches know it again", func(c *check) {
		if c.options.Sent == nil {
			c.bodies() // skips
		}
		var script []pawl.Reply
		for i := range 6 {
			script = append(script, pawl.Reply{Parts: []pawl.Part{
				pawl.Thinking{Text: fmt.Sprintf("Thought %d.", i)}, pawl.Text{Text: fmt.Sprintf("Step %d.", i)},
				call("", "add", fmt.Sprintf(`{"b":%d,"a":1}`, i)), call("", "look_up", `{"q":"x"}`),
			}})
		}
		m, _ := c.says(script...)
		r := thoughtful("Begin.")
		r.System = talk().System
		r.Messages = append(r.Messages, assistant(pawl.Text{Text: "Gladly."}), user(pawl.Text{Text: "The newest is number 0."}))
		for i := range script {
			reply := c.reply(m, r)
			r.Attempt, r.Run = i+2, fmt.Sprint("run ", i)
			r.Messages = c.onward(r.Messages, reply, 2*i+1)
			last := &r.Messages[len(r.Messages)-1]
			res := last.Parts[1].(pawl.ToolResult)
			res.Content = must(json.Marshal(fmt.Sprintf("The newest is number %d.", i+1)))
			last.Parts[1] = res
		}
		sent := c.bodies()
		for i := range sent[1:] {
			newest := fmt.Appendf(nil, "The newest is number %d.", i)
			end := bytes.LastIndex(sent[i], newest)
			if end < 0 {
				c.failf("%q is not in the body that was sent:\n%s", newest, sent[i])
			}
			end += len(newest)
			if !bytes.HasPrefix(sent[i+1], sent[i][:end]) {
				at := 0
				for sent[i][at] == sent[i+1][at] {
					at++
				}
				from := max(0, at-200)
				c.failf("request %d differs from the one before it at byte %d, where that goes on to %d as it should:\n…%s\n…%s", i+2, at, end, sent[i][from:min(len(sent[i]), at+200)], sent[i+1][from:min(len(sent[i+1]), at+200)])
			}
		}
	}},
}
