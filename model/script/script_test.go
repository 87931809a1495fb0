package script_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/testkit/check"
	"github.com/pawl-run/pawl/model/script"
)

// ask gives what the model streams at a turn, pieces joined by "|", and how it ends.
func ask(ctx context.Context, m pawl.Model, r pawl.Request) (streamed string, reply *pawl.Reply, err error) {
	var pieces []string
	for c, e := range m.Stream(ctx, r) {
		switch {
		case e != nil:
			err = e
		case c.Reply != nil:
			reply = c.Reply
		case c.Call != "":
			pieces = append(pieces, "call:"+c.Call)
		case c.Thinking != "":
			pieces = append(pieces, "think:"+c.Thinking)
		default:
			pieces = append(pieces, c.Text)
		}
	}
	return strings.Join(pieces, "|"), reply, err
}

func request(turn, attempt int) pawl.Request {
	r := pawl.Request{Attempt: attempt, Messages: []pawl.Message{{Role: pawl.RoleUser, Parts: []pawl.Part{pawl.Text{Text: "hello"}}}}}
	for range turn - 1 {
		r.Messages = append(r.Messages,
			pawl.Message{Role: pawl.RoleAssistant, Parts: []pawl.Part{pawl.Text{Text: "so"}}},
			pawl.Message{Role: pawl.RoleUser, Parts: []pawl.Part{pawl.ToolResult{Content: []byte(`"a result"`)}}})
	}
	return r
}

func parse(t *testing.T, doc string) *script.Model {
	t.Helper()
	m, err := script.Parse("dir/demo.yaml", []byte(doc))
	must(t, err)
	return m
}

func args(r *pawl.Reply) string {
	var all []string
	for _, p := range r.Parts {
		if c, ok := p.(pawl.Call); ok {
			all = append(all, c.Tool+"#"+c.Ref+string(c.Args))
		}
	}
	return strings.Join(all, " ")
}

func TestReplyHasEverythingWritten(t *testing.T) {
	m := parse(t, `
replies:
  - thinking: Hm {{turn}}.
    text: Let me look.
    calls: [{tool: search, args: {q: shoes}, id: x}]
    usage: {input: 100, output: 20, cache_read: 3, cache_write: 4, reasoning: 5}
    stop: length
    chunks: 3
price: {input: 3, output: 15}
`)
	streamed, got, err := ask(t.Context(), m, request(1, 1))
	must(t, err)
	want := &pawl.Reply{
		Parts: []pawl.Part{
			pawl.Thinking{Text: "Hm 1.", Model: "script/demo.yaml"},
			pawl.Text{Text: "Let me look."},
			pawl.Call{Ref: "x", Tool: "search", Args: []byte(`{"q":"shoes"}`)},
		},
		Stop:  pawl.StopLength,
		Usage: pawl.Usage{Input: 100, Output: 20, CacheRead: 3, CacheWrite: 4, Reasoning: 5},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("reply (-want +got):\n%s", d)
	}
	if want := "think:Hm 1.|Let |me l|ook.|call:search"; streamed != want {
		t.Errorf("streamed %q, want %q", streamed, want)
	}
	info := pawl.ModelInfo{Name: "script/demo.yaml", Price: &pawl.Price{Input: 3, Output: 15}}
	if d := cmp.Diff(info, m.Describe()); d != "" {
		t.Errorf("describe (-want +got):\n%s", d)
	}
}

func TestReplyDependsOnTheRequestAlone(t *testing.T) {
	const body = `replies: [{text: one}, {attempts: [{error: {class: rate_limit, message: slow down, retry_after: 10ms}}, {text: two}]}, {text: three}]`
	for _, c := range []struct {
		repeat        string
		turn, attempt int
		want          string
	}{
		{"none", 1, 1, "one"},
		{"none", 1, 4, "one"},
		{"none", 2, 1, "model: rate_limit: slow down"},
		{"none", 2, 2, "two"},
		{"none", 2, 9, "two"},
		{"none", 3, 0, "three"},
		{"none", 4, 1, "model: invalid: script demo.yaml has 3 replies and this is turn 4; add one, or repeat: last or all"},
		{"last", 9, 1, "three"},
		{"all", 4, 1, "one"},
		{"all", 5, 2, "two"},
	} {
		// A model of its own for each request: nothing can have been remembered.
		_, reply, err := ask(t.Context(), parse(t, body+"\nrepeat: "+c.repeat), request(c.turn, c.attempt))
		var got string
		if err != nil {
			got = err.Error()
		} else {
			got = reply.Text()
		}
		if got != c.want {
			t.Errorf("repeat %s, turn %d, attempt %d: %q, want %q", c.repeat, c.turn, c.attempt, got, c.want)
		}
	}
	_, _, err := ask(t.Context(), parse(t, body), request(2, 1))
	var me *pawl.ModelError
	if !errors.As(err, &me) || me.RetryAfter != 10*time.Millisecond {
		t.Errorf("error %#v, want a retry after 10ms", err)
	}
}

func TestArguments(t *testing.T) {
	for _, c := range []struct{ call, want string }{
		{`{tool: t}`, `t#{}`},
		{`{tool: t, args: [1, 2.5, true, null, "<&>"]}`, `t#[1,2.5,true,null,"<&>"]`},
		{`{tool: t, args: text}`, `t#"text"`},
		{`{tool: t, args: {n: 12345678901234567890, m: {b: 1, a: 2}}}`, `t#{"m":{"a":2,"b":1},"n":12345678901234567890}`},
		{`{tool: t, args: {a: 1e2, b: 18446744073709551616, c: 12345678901234567890.5, d: "5", e: [-0.50, 1E+3], f: 007, g: '1e2', h: {x: 1.0}}}`, `t#{"a":1e2,"b":18446744073709551616,"c":12345678901234567890.5,"d":"5","e":[-0.50,1E+3],"f":7,"g":"1e2","h":{"x":1.0}}`},
		{`{"tool": "t", "args": {"v": 1e2, "w": "1e2", "x y": {"z": -1}}}`, `t#{"v":1e2,"w":"1e2","x y":{"z":-1}}`},
		{`{tool: t, args: 1e400}`, `t#1e400`},
		{`{tool: t, args: {1: one}}`, `t#{"1":"one"}`},
		{`{tool: t, args: {page: "{{turn}}", q: "p{{turn}}/{{turn}}", "{{turn}}": ["{{turn}}"]}}`, `t#{"page":2,"q":"p2/2","{{turn}}":[2]}`},
		{`{tool: t, raw: '{"a":'}`, `t#"{\"a\":"`},
		{`{tool: t, raw: ''}`, `t#""`},
		{`{tool: t, raw: '{"a":1,"a":{{turn}}}'}`, `t#{"a":1,"a":2}`},
		{`{tool: t, raw: ' [1, 2]'}`, `t# [1, 2]`},
		{`{tool: t, id: x}, {tool: nope, id: x}`, `t#x{} nope#x{}`},
	} {
		_, reply, err := ask(t.Context(), parse(t, "replies: [{text: a}, {calls: ["+c.call+"]}]"), request(2, 1))
		if err != nil {
			t.Errorf("%s: %v", c.call, err)
		} else if got := args(reply); got != c.want {
			t.Errorf("%s: %s, want %s", c.call, got, c.want)
		}
	}
}

func TestPurposes(t *testing.T) {
	m := parse(t, `
replies: [{text: a}]
purposes:
  judge: [{text: first}, {text: second}]
`)
	for _, c := range []struct {
		purpose pawl.Purpose
		turn    int
		want    string
	}{
		{"judge", 1, "first"}, {"judge", 2, "first"}, {"judge", 3, "second"}, {"judge", 8, "second"},
		{"landing", 5, "This is as far as I got before the run met its limit."},
		{"summary", 1, `model: invalid: script demo.yaml has no replies for purpose "summary"; add purposes: {summary: […]}`},
		{"turn", 1, "a"}, {"", 1, "a"},
	} {
		_, reply, err := ask(t.Context(), m, pawl.Request{Purpose: c.purpose, Messages: request(c.turn, 1).Messages})
		var got string
		if err != nil {
			got = err.Error()
		} else {
			got = reply.Text()
		}
		if got != c.want {
			t.Errorf("%s at turn %d: %q, want %q", c.purpose, c.turn, got, c.want)
		}
	}
}

func TestExpect(t *testing.T) {
	m := parse(t, `replies: [{text: a, expect: hell}, {text: b, expect: other}]`)
	if _, _, err := ask(t.Context(), m, request(1, 1)); err != nil {
		t.Error(err)
	}
	_, _, err := ask(t.Context(), m, request(2, 1))
	want := `model: invalid: turn 2 expects the last user message to contain "other"; it says "a result"`
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestErrorAfterText(t *testing.T) {
	m := parse(t, `replies: [{text: half a, error: {class: truncated, usage: {output: 2}}}, {text: ""}, {error: {class: network}}, {error: {class: empty, usage: {}}}]`)
	streamed, reply, err := ask(t.Context(), m, request(1, 1))
	var me *pawl.ModelError
	if streamed != "half a" || reply != nil || !errors.As(err, &me) || me.Class != pawl.ClassTruncated || me.Usage.Output != 2 || !me.Billed {
		t.Errorf("streamed %q, reply %v, error %#v", streamed, reply, err)
	}
	if streamed, reply, err := ask(t.Context(), m, request(2, 1)); streamed != "" || err != nil || len(reply.Parts) != 0 {
		t.Errorf("an empty reply streamed %q, came as %+v, %v", streamed, reply, err)
	}
	for turn, billed := range map[int]bool{3: false, 4: true} { // what usage there is, zero included, is all that is billed
		if _, _, err := ask(t.Context(), m, request(turn, 1)); !errors.As(err, &me) || me.Billed != billed || me.Usage != (pawl.Usage{}) {
			t.Errorf("turn %d fails with %#v", turn, err)
		}
	}
}

func TestTimeIsTheContexts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := parse(t, `replies: [{text: abcd, chunks: 4, delay: 20ms}, {text: x, delay: 1h}, {hang: true, text: y}]`)
		start := time.Now()
		if s, _, err := ask(t.Context(), m, request(1, 1)); s != "a|b|c|d" || err != nil || time.Since(start) != 20*time.Millisecond {
			t.Errorf("streamed %q, %v, in %v", s, err, time.Since(start))
		}
		for turn, want := range map[int]string{2: "", 3: "y"} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			start := time.Now()
			s, reply, err := ask(ctx, m, request(turn, 1))
			if s != want || reply != nil || !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second {
				t.Errorf("turn %d: streamed %q, %v, %v after %v", turn, s, reply, err, time.Since(start))
			}
			cancel()
		}
	})
}

func TestBadScripts(t *testing.T) {
	for _, c := range []struct{ doc, want string }{
		{"replies:\n  - text: a\n    colour: red\n", `script dir/demo.yaml:3:5: unknown field "colour"`},
		{"replies:\n  - text: a\n    text: b\n", `script dir/demo.yaml:3:5: mapping key "text" already defined at [2:5]`},
		{"replies: [{text: a}\n", `script dir/demo.yaml:1:10: sequence end token ']' not found`},
		{"replies: [{error: {class: sad}}]", `class "sad" is not one of rate_limit, overloaded`},
		{"replies: [{text: a, stop: never}]", `stop reason "never" is not one of end, calls, length, refusal, pause`},
		{"replies: [{text: a, delay: soon}]", `duration`},
		{"replies: [{text: a, repeat: 1}]", `unknown field "repeat"`},
		{"replies: [{}]", `script: replies[0]: says nothing`},
		{"replies: [{attempts: []}]", `script: replies[0].attempts: no replies`},
		{"replies: [{text: a, attempts: [{text: b}]}]", `script: replies[0]: attempts stands alone`},
		{"replies: [{attempts: [{attempts: [{text: b}]}]}]", `script: replies[0].attempts[0]: attempts do not nest`},
		{"replies: [{error: {message: a}}]", `script: replies[0]: error has no class`},
		{"replies: [{hang: true, error: {class: empty}}]", `script: replies[0]: has both hang and error`},
		{"replies: [{calls: [{args: 1}]}]", `script: replies[0]: calls[0]: names no tool`},
		{"replies: [{calls: [{tool: t, args: 1, raw: a}]}]", `script: replies[0]: calls[0]: has both args and raw`},
		{"replies: [{calls: [{tool: t, args: .inf}]}]", `script: replies[0]: calls[0]: args have no JSON form`},
		{"replies: [{text: a, chunks: -1}]", `script: replies[0]: delay and chunks must not be below zero`},
		{"replies: [{text: a}]\nrepeat: ever", `script: repeat is "ever"; want last, all or none`},
		{"purposes: {turn: [{text: a}]}", `script: purposes.turn: the turns of the conversation belong under replies`},
		{"purposes: {judge: []}", `script: purposes.judge: no replies`},
		{"replies: [{text: a}]\nprice: {input: -1}", `script: price: want dollars a million tokens, none below zero`},
		{"replies: []", `script: no replies; want at least one`},
		{"", `script dir/demo.yaml: the file is empty`},
		{"replies: [{text: a}]\n---\nreplies: [{text: b}]", `script dir/demo.yaml: want one document`},
	} {
		_, err := script.Parse("dir/demo.yaml", []byte(c.doc))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: error %v, want one with %q", c.doc, err, c.want)
		}
	}
}

func TestLoadReadsJSON(t *testing.T) {
	path := filepath.Join(t.TempDir(), "demo.json")
	doc := "\ufeff{\n\t\"replies\": [\n\t\t{\"text\": \"\\ud83d\\ude00 \\u00e9\\/ok\", \"calls\": [{\"tool\": \"t\", \"args\": {\"a\": \"{{turn}}\"}}]}\n\t]\n}\n"
	must(t, os.WriteFile(path, []byte(doc), 0o600))
	m, err := script.Load(path)
	must(t, err)
	_, reply, err := ask(t.Context(), m, request(1, 1))
	if err != nil || reply.Text() != "😀 é/ok" || args(reply) != `t#{"a":1}` {
		t.Errorf("reply %+v, %v", reply, err)
	}
	if m.Describe().Name != "script/demo.json" {
		t.Errorf("name %q", m.Describe().Name)
	}
	if _, err := script.Load(path + "x"); err == nil || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file gives %v", err)
	}
}

func TestReplies(t *testing.T) {
	m := script.Replies(pawl.Do(pawl.Call{Tool: "t", Args: []byte(`{"a":"{{turn}}"}`)}), pawl.Say("{{turn}}"))
	_, first, err := ask(t.Context(), m, request(1, 1))
	if err != nil || args(first) != `t#{"a":"{{turn}}"}` {
		t.Errorf("first reply %+v, %v", first, err)
	}
	first.Parts[0] = pawl.Text{Text: "changed"}
	if _, again, _ := ask(t.Context(), m, request(1, 1)); args(again) == "" {
		t.Error("a change to a reply reached the script")
	}
	if _, second, _ := ask(t.Context(), m, request(2, 1)); second.Text() != "{{turn}}" {
		t.Errorf("second reply %q, want it as given", second.Text())
	}
	if _, _, err := ask(t.Context(), m, request(3, 1)); err == nil || !strings.Contains(err.Error(), "has 2 replies and this is turn 3") {
		t.Errorf("after the end: %v", err)
	}
}

func TestConsumerMayStopEarly(t *testing.T) {
	m := parse(t, `replies: [{text: abcd, chunks: 4}]`)
	for range m.Stream(t.Context(), request(1, 1)) {
		break
	}
}

// TestPage holds that the page about scripts has every key.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/scripts.md")
	must(t, err)
	code := strings.Join(regexp.MustCompile("`[^`\n]+`").FindAllString(string(page), -1), " ")
	for _, v := range []any{script.Script{}, script.Reply{}, script.Part{}, script.Call{}, script.Hosted{}, script.Usage{}, script.Error{}, pawl.Price{}, pawl.Tier{}} {
		for f := range reflect.TypeOf(v).Fields() {
			key, _, _ := strings.Cut(f.Tag.Get("yaml")+f.Tag.Get("json"), ",")
			if key != "-" && !regexp.MustCompile(`\b`+key+`\b`).MatchString(code) {
				t.Errorf("docs/scripts.md has no key %s of %T", key, v)
			}
		}
	}
}

var must = check.Must
