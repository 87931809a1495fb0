package modeltest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/pawl-run/pawl"
)

// awkward is text that breaks careless encoders.
const awkward = " <b>\"é\" & \\ 😀\u2028\r\n\tdata: [DONE]\n\n{}\x7f "

// pixel is a PNG of one transparent pixel.
var pixel, _ = base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==")

// talk is a conversation with something of everything that every wire can carry.
func talk() pawl.Request {
	r := hello("Question one." + awkward)
	r.System = "Be brief." + awkward
	r.Tools = toolbox
	r.Messages = append(r.Messages,
		assistant(pawl.Text{Text: "Let me see."}, call("c_1", "add", `{"a": 2, "b": 3}`), call("c_2", "add", `{"a": 4, "b": 5}`), call("c_3", "look_up", `{"q": "x"}`)),
		user(result("c_1", "add", `5`), result("c_2", "add", `{"sum": 9}`), result("c_3", "look_up", `"found`+`\n\"it\""`), pawl.Text{Text: "And then?"}),
		assistant(call("c_4", "look_up", `{"q":"y","deep":{"n":12345678901234567890}}`)),
		user(result("c_4", "look_up", `"nothing"`)),
		assistant(pawl.Text{Text: "There is nothing."}),
		user(pawl.Text{Text: "One more thing."}, pawl.Text{Text: "What is it?"}),
	)
	return r
}

var reads = []rule{
	{"read/system", "the provider reads the system prompt as it is, and none when there is none", func(c *check) {
		m, b := c.says(pawl.Say("Yes."))
		c.reply(m, talk())
		c.same(talk().System, c.last(b).System, "the system prompt")
		c.reply(m, hello("Hi."))
		c.same("", c.last(b).System, "the system prompt of a request without one")
	}},
	{"read/messages", "the provider reads every message: whose it is, its texts and its calls, in their order", func(c *check) {
		m, b := c.says(pawl.Say("Yes."))
		c.reply(m, talk())
		c.reads(talk().Messages, c.last(b).Messages)
	}},
	{"read/results", "the provider reads each result as that of its call, also of calls that are alike", func(c *check) {
		m, b := c.says(pawl.Say("Yes."))
		r := hello("Add.")
		r.Tools = toolbox
		r.Messages = append(r.Messages,
			assistant(call("c_1", "add", `{"a":1,"b":1}`), call("c_2", "add", `{"a":1,"b":1}`)),
			user(result("c_1", "add", `"first"`), result("c_2", "add", `{"second":["<é>",2.50,null]}`)),
			assistant(call("c_3", "add", `{"a":1,"b":1}`)),
			user(result("c_3", "add", `"third"`)))
		c.reply(m, r)
		c.reads(r.Messages, c.last(b).Messages)
	}},
	{"read/failed", "the provider reads which results tell of an error", func(c *check) {
		c.unless(c.options.Lacks.Failed, "failed results")
		m, b := c.says(pawl.Say("Yes."))
		r := hello("Add.")
		r.Tools = toolbox
		bad := result("c_1", "add", `"no such number"`)
		bad.Failed = true
		r.Messages = append(r.Messages, assistant(call("c_1", "add", `{"a":1,"b":1}`), call("c_2", "look_up", `{"q":"x"}`)), user(bad, result("c_2", "look_up", `"fine"`)))
		c.reply(m, r)
		got := turns(c.last(b).Messages)
		if results := got[len(got)-1].results; len(results) != 2 || !results[0].failed || results[1].failed {
			c.failf("of a failed result and one that did not fail the provider read %+v", results)
		}
	}},
	{"read/images", "the provider reads the pictures of messages and results, byte for byte", func(c *check) {
		m, b := c.says(pawl.Say("Yes."))
		r := hello("Look.")
		r.Tools = toolbox
		seen := result("c_1", "look_up", `"a picture"`)
		seen.Images = []pawl.File{{Type: "image/png", Data: pixel}}
		r.Messages[0].Parts = append(r.Messages[0].Parts, pawl.File{Type: "image/png", Data: append(bytes.Clone(pixel), 0, 1, 2)})
		r.Messages = append(r.Messages, assistant(call("c_1", "look_up", `{"q":"x"}`)), user(seen))
		c.reply(m, r)
		c.reads(r.Messages, c.last(b).Messages)
	}},
	{"read/tools", "the provider reads each tool's name, description and schema, in their order; a tool without arguments takes an object", func(c *check) {
		m, b := c.says(pawl.Say("Yes."))
		r := hello("Add.")
		r.Tools = append(append([]pawl.ToolInfo{}, toolbox...), pawl.ToolInfo{Name: "now", Description: "Tell the time."})
		c.reply(m, r)
		got := c.last(b).Tools
		if len(got) != len(r.Tools) {
			c.failf("of %d tools %d were read", len(r.Tools), len(got))
		}
		for i, want := range r.Tools {
			c.same([]string{want.Name, want.Description}, []string{got[i].Name, got[i].Description}, "the name and description of a tool")
			if want.Input != nil && !sameJSON(want.Input, got[i].Input) {
				c.failf("the schema of %s was read as %s, where it is %s", want.Name, got[i].Input, want.Input)
			}
		}
		var kind struct{ Type string }
		if in := got[2].Input; in != nil && (json.Unmarshal(in, &kind) != nil || !strings.EqualFold(kind.Type, "object")) {
			c.failf("the schema of a tool without arguments was read as %s", in)
		}
	}},
	{"read/without tools", "a conversation with calls can be sent when no tools are offered, as on the last turn of a run", func(c *check) {
		m, b := c.says(pawl.Say("Yes."))
		r := talk()
		r.Tools = nil
		c.reply(m, r)
		c.reads(r.Messages, c.last(b).Messages)
	}},
	{"read/ceiling", "the provider reads how much the reply may spend: MaxTokens, or else that of the sampling, or else 16384", func(c *check) {
		m, b := c.says(pawl.Say("Yes."))
		for _, n := range [][3]int{{777, 0, 777}, {777, 555, 777}, {0, 555, 555}, {0, 0, 16384}} {
			r := hello("Hi.")
			r.MaxTokens, r.Sampling.MaxTokens = n[0], n[1]
			c.reply(m, r)
			if got := c.last(b).MaxTokens; got != n[2] {
				c.failf("with a ceiling of %d and %d in the sampling, %d was read", n[0], n[1], got)
			}
		}
	}},
	{"read/temperature", "the provider reads the temperature", func(c *check) {
		c.unless(c.options.Lacks.Temperature, "a temperature")
		m, b := c.says(pawl.Say("Yes."))
		r := hello("Hi.")
		r.Sampling.Temperature = 0.5
		c.reply(m, r)
		c.same(0.5, c.last(b).Sampling.Temperature, "the temperature")
	}},
	{"read/effort", "the provider reads how much the model is to think", func(c *check) {
		m, b := c.says(pawl.Say("Yes."))
		r := hello("Hi.")
		r.MaxTokens, r.Sampling.Effort = 8192, "high"
		c.reply(m, r)
		c.same("high", c.last(b).Sampling.Effort, "the effort")
	}},
	{"read/schema", "the provider reads the schema of the reply", func(c *check) {
		c.unless(c.options.Lacks.Schema, "a schema of the reply")
		m, b := c.says(pawl.Say(`{"team":"sales"}`))
		r := hello("Who?")
		r.Output = json.RawMessage(`{"type":"object","properties":{"team":{"type":"string","enum":["sales","support"]}},"required":["team"],"additionalProperties":false}`)
		c.reply(m, r)
		if got := c.last(b).Output; !sameJSON(r.Output, got) {
			c.failf("the schema was read as %s, where it is %s", got, r.Output)
		}
	}},
	{"read/options", "further options are sent by their own names, whatever their value", func(c *check) {
		m, _ := c.says(pawl.Say("Yes."))
		r := hello("Hi.")
		r.Sampling.Options = map[string]json.RawMessage{"pawlList": json.RawMessage(`["pawlMarker",1]`), "pawlFlag": json.RawMessage(`true`)}
		c.reply(m, r)
		body := c.bodies()[0]
		for _, want := range []string{`"pawlList"`, `"pawlMarker"`, `"pawlFlag"`} {
			if !bytes.Contains(body, []byte(want)) {
				c.failf("%s is not in the body that was sent:\n%s", want, body)
			}
		}
	}},
	{"read/empty", "texts that are empty, results without content and tools without arguments do not make a request that is refused", func(c *check) {
		m, b := c.says(pawl.Say("Yes."))
		r := hello("Hi.")
		r.Tools = []pawl.ToolInfo{{Name: "now"}}
		r.Messages[0].Parts = append(r.Messages[0].Parts, pawl.Text{}, pawl.Text{Text: " \n"})
		r.Messages = append(r.Messages,
			assistant(pawl.Text{}, call("c_1", "now", `{}`)), user(result("c_1", "now", `""`)),
			assistant(pawl.Text{Text: " "}), user(pawl.Text{Text: "Well?"}))
		c.reply(m, r)
		if got := c.last(b).Messages; !strings.Contains(got[len(got)-1].Text(), "Well?") {
			c.failf("what was asked last was not read: %+v", got)
		}
	}},
}
