package script_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/model/script"
)

// FuzzYAML: what a script says survives being written and read.
func FuzzYAML(f *testing.F) {
	for _, text := range []string{
		"", "a: b", "- x", "\ta", "a\nb", "a\nb\n", "a \nb", "  a\nb", "a\n\n", "\na", "a\r\nb", "true", "1", "~", "# c", "a # b", "'q'", `"q"`,
		"\x00", "\x1b[1m", "---", "a\n---\nb", "%x", "@x", "&a", "*a", "!a", "\u2028", "\u0085", "a\n \nb", " ", "\n", `{"a":1}`, "[1]", "é😀", "a:\n  b",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.ToValidUTF8(text, "?")
		if strings.Contains(text, "{{turn}}") {
			t.Skip()
		}
		doc := &script.Script{Name: "x", Replies: []script.Reply{
			{Text: &text, Calls: []script.Call{{Tool: "t", Args: map[string]any{text: text}}, {Tool: "t", Raw: &text}}},
			{Thinking: text + ".", Error: &script.Error{Class: pawl.ClassNetwork, Message: text}},
		}}
		if data, err := doc.YAML(); err != nil { // which compares
			t.Errorf("%q: %v\n%s", text, err, data)
		}
	})
}

// TestStrict: a strict script answers what was recorded, in its place, and nothing else.
func TestStrict(t *testing.T) {
	m := parse(t, `
strict: true
replies: [{text: one}, {text: two}]
purposes: {judge: [{turn: 2, text: good}, {turn: 4, attempts: [{error: {class: network}}, {text: bad}]}]}
steps: {draft: [{text: first}]}
children: {c_1: {replies: [{text: child}], children: {c_2: {replies: [{text: grandchild}]}}}}
`)
	judge := func(turn, attempt int) pawl.Request {
		r := request(1, attempt)
		r.Purpose, r.Turn = pawl.PurposeJudge, turn
		return r
	}
	of := func(run string, turn int) pawl.Request {
		r := request(turn, 1)
		r.Run = run
		return r
	}
	step := func(label string) pawl.Request {
		r := request(1, 1)
		r.Step = label
		return r
	}
	landing := request(2, 1)
	landing.Purpose = pawl.PurposeFinal
	for _, c := range []struct {
		name string
		r    pawl.Request
		want string
	}{
		{"a turn", request(1, 1), "one"},
		{"past the last", request(3, 1), "has 2 replies and this is turn 3"},
		{"a judge", judge(2, 1), "good"},
		{"its second try", judge(4, 2), "bad"},
		{"a judge in another turn", judge(3, 1), `no reply for purpose "judge" in turn 3`},
		{"a landing", landing, "no reply for purpose"},
		{"a step", step("draft"), "first"},
		{"its second round", step("draft@2"), "1 reply for step draft and this is request 2"},
		{"a child", of("R.c_1", 1), "child"},
		{"a child past its last", of("R.c_1", 2), "has 1 reply and this is turn 2"},
		{"a grandchild of a run with a dot", of("my.run.c_1.c_2", 1), "grandchild"},
		{"a child without a script", of("R.c_9", 1), "one"},
	} {
		got, _, err := ask(t.Context(), m, c.r)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	if want := []string{"replies[1]"}; !slices.Equal(m.Unasked(), want) {
		t.Errorf("not asked for: %v, want %v", m.Unasked(), want)
	}
}

// TestRecordRefuses what a script cannot say.
func TestRecordRefuses(t *testing.T) {
	judge := request(1, 1)
	judge.Purpose, judge.Turn = pawl.PurposeJudge, 1
	turn := func(n int) pawl.Request {
		r := request(n, 1)
		r.Run, r.Turn, r.Purpose = "R", n, pawl.PurposeTurn
		return r
	}
	say := pawl.Say("yes")
	marked := pawl.Say("turn {{turn}}")
	for want, list := range map[string][]script.Exchange{
		"cannot tell their requests apart": {{Request: judge, Reply: &say}, {Request: judge, Reply: &say}},
		"which a script replaces":          {{Request: turn(1), Reply: &marked}},
		"not UTF-8":                        {{Request: turn(1), Reply: &pawl.Reply{Repaired: true}}},
		"needs those in between":           {{Request: turn(1), Reply: &say}, {Request: turn(3), Reply: &say}},
	} {
		if _, err := script.Record("R", list); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	// A reply of a fallback stands without the failures before it.
	doc, err := script.Record("R", []script.Exchange{
		{Request: turn(1), Err: &pawl.ModelError{Class: pawl.ClassAuth}},
		{Request: turn(1), Fallback: 1, Err: &pawl.ModelError{Class: pawl.ClassLost}},
		{Request: turn(1), Fallback: 1, Reply: &say},
	})
	if err != nil || len(doc.Replies) != 1 || doc.Replies[0].Text == nil || *doc.Replies[0].Text != "yes" {
		t.Errorf("%+v, %v", doc, err)
	}
}

// TestRecordHosted: what a provider ran is in the script of a run, as it was.
func TestRecordHosted(t *testing.T) {
	reply := &pawl.Reply{Parts: []pawl.Part{pawl.Text{Text: "Two."}}, Stop: pawl.StopEnd, Usage: pawl.Usage{Input: 1, Output: 2, Searches: 1, Sessions: 1}, Hosted: []pawl.HostedCall{
		{Call: pawl.Call{Tool: "web_search", Args: []byte(`{"n":12345678901,"q":"a"}`)}, Result: []byte(`[{"title":"A","score":0.5}]`)},
		{Call: pawl.Call{Tool: "web_search", Args: []byte(`{"q":"b"}`)}, Error: "too_many_requests"},
	}}
	asked := request(1, 1)
	asked.Purpose, asked.Turn = pawl.PurposeTurn, 1
	doc, err := script.Record("r", []script.Exchange{{Request: asked, Reply: reply}})
	must(t, err)
	doc.Name = "x"
	text, err := doc.YAML()
	must(t, err)
	m, err := script.Parse("x", text)
	must(t, err)
	for chunk, err := range m.Stream(t.Context(), asked) {
		must(t, err)
		if chunk.Reply == nil {
			continue
		}
		if got := chunk.Reply; got.Usage != reply.Usage || len(got.Hosted) != 2 || string(got.Hosted[0].Call.Args) != string(reply.Hosted[0].Call.Args) ||
			string(got.Hosted[0].Result) != `[{"score":0.5,"title":"A"}]` || got.Hosted[1].Error != "too_many_requests" {
			t.Errorf("the script says %+v\n%s", got, text)
		}
	}
}
