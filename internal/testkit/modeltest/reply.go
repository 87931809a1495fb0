package modeltest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pawl-run/pawl"
)

var replies = []rule{
	{"reply/text", "the run gets exactly the text that the provider sent", func(c *check) {
		for _, text := range []string{"Yes.", "a" + awkward + "b", strings.Repeat("long é😀 ", 40_000)} {
			m, _ := c.says(short(pawl.Say(text)))
			if got := c.reply(m, hello("Hi.")).Text(); got != text {
				c.failf("the provider said %.200q (%d bytes), and the reply is %.200q (%d bytes)", text, len(text), got, len(got))
			}
		}
	}},
	{"reply/calls", "the run gets every call, in order, with the arguments that the provider sent, to the digit", func(c *check) {
		want := pawl.Do(
			call("", "add", `{"a": 12345678901234567890, "b": 1.50}`), call("", "add", `{"a":1e3,"b":-0.1}`), call("", "now", `{}`),
			call("", "look_up", string(must(json.Marshal(map[string]any{"q": awkward, "list": []any{nil, true, map[string]any{"é": 1}}})))))
		m, _ := c.says(want, pawl.Reply{Parts: append([]pawl.Part{pawl.Text{Text: "Let me see."}}, want.Parts...)})
		r := hello("Hi.")
		r.Tools = toolbox
		c.same(saidIn(want.Parts).Calls, saidIn(c.reply(m, r).Parts).Calls, "what the run gets of the calls")
		got := saidIn(c.reply(m, r).Parts)
		c.same(saidIn(want.Parts).Calls, got.Calls, "what the run gets of calls behind a text")
		c.same("Let me see.", got.Text, "the text before them")
	}},
	{"reply/ids", "calls that the provider gave the same id, or none, are still as many calls, whose results pair", func(c *check) {
		for _, ref := range []string{"same", ""} {
			one, two := call("", "add", `{"a":1,"b":1}`), call("", "add", `{"a":2,"b":2}`)
			one.Ref, two.Ref = ref, ref
			m, b := c.says(pawl.Do(one, two), pawl.Do(one), pawl.Say("Done."))
			r := hello("Add.")
			r.Tools = toolbox
			first := c.reply(m, r)
			c.same(saidIn([]pawl.Part{one, two}).Calls, saidIn(first.Parts).Calls, fmt.Sprintf("what the run gets of two calls with the id %q", ref))
			r.Messages = c.onward(r.Messages, first, 1)
			r.Messages = c.onward(r.Messages, c.reply(m, r), 3)
			c.same("Done.", c.reply(m, r).Text(), "the reply after them")
			c.reads(r.Messages, c.last(b).Messages)
		}
	}},
	{"reply/thinking", "the run gets what the model thought", func(c *check) {
		m, _ := c.says(pawl.Reply{Parts: []pawl.Part{pawl.Thinking{Text: "Hm." + awkward}, pawl.Text{Text: "Yes."}}})
		c.same(said{Text: "Yes.", Thought: "Hm." + awkward}, saidIn(c.reply(m, thoughtful("Hi.")).Parts), "the reply")
	}},
	{"reply/citations", "the run gets the sources that the provider names, each after the text that it supports", func(c *check) {
		c.unless(c.options.Lacks.Citations, "citations")
		bern, more := pawl.Citation{Title: "Bern", URL: "https://example.org/bern?a=1&b=<2>", Quote: "Bern is a city."}, pawl.Citation{URL: "https://example.org/more"}
		m, _ := c.says(pawl.Reply{Parts: []pawl.Part{pawl.Text{Text: "Bern is a city."}, bern, more}})
		var text strings.Builder
		var got []pawl.Citation
		for _, p := range c.reply(m, hello("What is Bern?")).Parts {
			switch p := p.(type) {
			case pawl.Text:
				text.WriteString(p.Text)
			case pawl.Citation:
				p.Opaque, p.Model = nil, ""
				got = append(got, p)
				c.same("Bern is a city.", text.String(), "the text before a citation")
			}
		}
		if len(got) == 2 && got[0].Quote == "" { // some wires have no place for it
			bern.Quote = ""
		}
		c.same([]pawl.Citation{bern, more}, got, "the sources")
	}},
	{"reply/usage", "the run gets the tokens that the provider counted, cached and thought ones among them", func(c *check) {
		for _, used := range []pawl.Usage{{Input: 12, Output: 3}, {Input: 1200, Output: 340, CacheRead: 1000, CacheWrite: 100, Reasoning: 40}} {
			lacks := c.options.Lacks
			for _, l := range []struct {
				lacks bool
				n     *int
			}{{lacks.CacheWrite, &used.CacheWrite}, {lacks.Reasoning, &used.Reasoning}} {
				if l.lacks {
					*l.n = 0
				}
			}
			reply := pawl.Say("Yes.")
			reply.Usage = used
			m, _ := c.says(reply)
			c.same(used, c.reply(m, hello("Hi.")).Usage, "the usage")
		}
	}},
	{"reply/stop", "the run gets why the model stopped", func(c *check) {
		do := pawl.Do(call("", "add", `{"a":1,"b":2}`))
		for _, each := range []struct {
			stop  pawl.StopReason
			reply pawl.Reply
		}{
			{pawl.StopEnd, pawl.Say("Yes.")}, {pawl.StopCalls, do}, {pawl.StopLength, pawl.Say("And so")},
			{pawl.StopLength, do}, {pawl.StopRefusal, pawl.Say("I will not.")}, {pawl.StopPause, pawl.Say("Wait.")},
		} {
			if slices.Contains(c.options.Stops, each.stop) {
				continue
			}
			each.reply.Stop = each.stop
			m, _ := c.says(each.reply)
			r := hello("Hi.")
			r.Tools = toolbox
			reply := c.reply(m, r)
			got := reply.Stop
			if got == 0 {
				if got = pawl.StopEnd; len(saidIn(reply.Parts).Calls) > 0 {
					got = pawl.StopCalls
				}
			}
			if got != each.stop {
				c.failf("the provider stopped for %v, and the reply says %v", each.stop, got)
			}
			if each.stop != pawl.StopLength {
				c.same(saidIn(each.reply.Parts), saidIn(reply.Parts), fmt.Sprintf("the reply that ended for %v", each.stop))
			}
		}
	}},
}

// short says that a reply has few tokens, so that no provider cuts it.
func short(r pawl.Reply) pawl.Reply {
	r.Usage = pawl.Usage{Input: 20, Output: 10}
	return r
}

// thoughtful asks for thinking, and has tools.
func thoughtful(text string) pawl.Request {
	r := hello(text)
	r.Tools = toolbox
	r.MaxTokens, r.Sampling.Effort = 8192, "high"
	return r
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

var odds = []rule{
	{"odd/arguments", "whatever arguments a model writes, the reply is a typed error or has them as valid JSON, and the conversation goes on after it", func(c *check) {
		for name, args := range map[string]string{
			"no JSON": `"{'a': 1"`, "half a pair": `{"a":"\ud83d"}`, "another half": `{"a":"\udc00 x"}`, "deep": strings.Repeat(`{"a":`, 2000) + "1" + strings.Repeat("}", 2000),
			"deep list": `{"a":` + strings.Repeat("[", 500) + strings.Repeat("]", 500) + "}", "huge": `{"a":"` + allKinds()[:1<<20] + `"}`,
			"null": `null`, "list": `[1]`, "string": `"x"`, "number": `7`, "twice": `{"a":1,"a":2}`, "beyond numbers": `{"a":1e999,"b":-1E+400}`,
			"NUL": `{"a":"\u0000"}`, "JSON in a string": `"{\"a\":1}"`, "empty key": `{"":{}}`, "white space": " {\n\"a\" : 1 } ",
		} {
			c.odd(name, pawl.Do(pawl.Call{Tool: "add", Args: json.RawMessage(args)}))
		}
	}},
	{"odd/names", "whatever a model calls a tool, the reply is a typed error or has the call, and the conversation goes on after it", func(c *check) {
		for _, name := range []string{"no_such_tool", "with space", "dotted.name", "é😀", strings.Repeat("long", 50), "quote\"\n"} {
			c.odd(name, pawl.Do(pawl.Call{Tool: name, Args: json.RawMessage(`{}`)}))
		}
	}},
	{"odd/text", "whatever text a model writes, the reply is a typed error or valid UTF-8, and the conversation goes on after it", func(c *check) {
		for name, text := range map[string]string{
			"invalid UTF-8": "a \xff\xfe b \xed\xa0\x80", "NUL": "a\x00b", "marks": "\ufeff\u202e\u2029x", "spaces": " x \n", "half a letter": "x\xf0\x9f",
		} {
			c.odd(name, pawl.Say(text))
		}
	}},
}

// odd gets an odd reply, goes on with it if it is one, and asks something plain
// in the end.
func (c *check) odd(name string, odd pawl.Reply) {
	c.Helper()
	m, _ := c.says(short(odd), pawl.Say("Going on."))
	r := hello("Hi.")
	r.Tools = toolbox
	reply, err := c.stream(c.Context(), m, r).end()
	if err == nil {
		for _, p := range reply.Parts {
			switch p := p.(type) {
			case pawl.Call:
				if len(p.Args) > 0 && !json.Valid(p.Args) {
					c.failf("%s: the arguments are not JSON: %.200q", name, p.Args)
				}
			case pawl.Text:
				if !utf8.ValidString(p.Text) {
					c.failf("%s: the text is not UTF-8: %.200q", name, p.Text)
				}
			}
		}
		if says := saidIn(reply.Parts); says.Text == "" && len(says.Calls) == 0 {
			c.failf("%s: the reply is empty, and no error", name)
		}
		r.Messages = c.onward(r.Messages, reply, 1)
	} else if typed(err) == nil {
		c.failf("%s: the error is not a *pawl.ModelError: %v", name, err)
	}
	next, err := c.stream(c.Context(), m, r).end()
	if err != nil {
		c.failf("%s: the request after it: %.1000v", name, err)
	}
	c.same("Going on.", next.Text(), name+": the reply after it")
}
